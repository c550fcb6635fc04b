// Which tiles polygons touch, column by column from west to east. Edges are straight in longitude and latitude, as
// GeoJSON has them: in Web Mercator they bend, but still rise or fall all the way, so that the rows an edge crosses
// in a column are known from its two ends there. In other grids edges have points between (see grids/outline.js).
//
// The rows a polygon touches in a column are those its edges cross, and those inside it at the column's western side:
// from any place inside, straight west, one meets an edge or that side. Inside is by the even-odd rule, so that it does
// not matter which way round a ring goes.
import { extent } from './geojson.js'
import { EDGE, MAX_LATITUDE, latToY } from './grid.js'

/** @typedef {[number, number]} Run first and last row, inclusive */

const CHUNK = 256 // edges that are skipped together when a sweep begins in the middle of the world

/** Degrees on Web Mercator, where an edge that is straight in degrees bends. */
const world = { partsOf, toY: lat => latToY(lat, 0) }

/** Parts of 2^z columns and rows of another grid, in which edges are straight. */
export const plane = {
  partsOf: (rings, part) => rings.flatMap(ring => ring.slice(1).map((b, index) => {
    const [[x0, lat0], [x1, lat1]] = inOrder(ring[index], b)
    return { x0, x1, lat0, lat1, part }
  })),
  toY: y => Math.min(Math.max(y, 0), 1)
}

export class Sweep {
  /** @param {number[][][][]} polygons @param {typeof plane} [on] what the polygons are written in */
  constructor (polygons, on = world) {
    const edges = sorted(polygons.flatMap(on.partsOf))
    this.toY = on.toY
    this.size = edges.length
    const column = field => Float64Array.from(edges, edge => edge[field])
    this.x0 = column('x0') // west end, as a part of the world's width
    this.x1 = column('x1') // east end
    this.lat0 = column('lat0')
    this.lat1 = column('lat1')
    this.part = column('part') // edges of one part are one figure; parts may overlap
    const reachOf = chunk =>
      this.x1.subarray(chunk * CHUNK, (chunk + 1) * CHUNK).reduce((most, x) => Math.max(most, x), -Infinity)
    this.reach = Float64Array.from({ length: Math.ceil(this.size / CHUNK) }, (_, chunk) => reachOf(chunk))
  }

  /**
   * The columns from first to last in which anything is touched, ascending, each with its rows: ascending, apart, never
   * empty. Memory holds the edges under one column.
   * @returns {Generator<{x: number, runs: Run[]}>}
   */
  * columns (z, first, last) {
    const across = 2 ** z
    let active = []
    let next = 0
    for (let x = first; x <= last; x++) {
      if (!active.length) {
        if (next >= this.size) return
        x = Math.max(x, Math.floor(this.x0[next] * across)) // nothing before the next edge
        if (x > last) return
      }
      const left = x / across + EDGE
      const right = (x + 1) / across - EDGE
      active = active.filter(edge => this.x1[edge] > left)
      for (; next < this.size && this.x0[next] < right; next++) {
        if (next % CHUNK === 0 && this.reach[next / CHUNK] <= left) next += CHUNK - 1
        else if (this.x1[next] > left) active.push(next)
      }
      const runs = toRuns(this.#spans(active, left, right), across)
      if (runs.length) yield { x, runs }
    }
  }

  /**
   * What the polygons cover between two meridians, from north to south, as parts of the world's height; may overlap.
   */
  #spans (edges, left, right) {
    const spans = []
    const crossings = []
    for (const edge of edges) {
      const from = this.#y(edge, Math.max(this.x0[edge], left))
      const to = this.x1[edge] <= right ? this.toY(this.lat1[edge]) : this.#y(edge, right)
      if (from !== to) spans.push(from < to ? [from, to] : [to, from])
      if (this.x0[edge] <= left) crossings.push({ part: this.part[edge], y: from })
    }
    // every ring crosses a meridian an even number of times: in and out, in and out
    crossings.sort((a, b) => a.part - b.part || a.y - b.y)
    for (let index = 0; index + 1 < crossings.length; index += 2) {
      spans.push([crossings[index].y, crossings[index + 1].y])
    }
    return spans
  }

  #y (edge, x) {
    const { x0, x1, lat0, lat1, toY } = this
    if (x <= x0[edge]) return toY(lat0[edge])
    return toY(lat0[edge] + (lat1[edge] - lat0[edge]) * (x - x0[edge]) / (x1[edge] - x0[edge]))
  }
}

/** Overlapping spans as rows, each once. @returns {Run[]} */
function toRuns (spans, across) {
  /** @type {Run[]} */
  const runs = []
  let sliver
  for (const [from, to] of spans) {
    const first = Math.floor((from + EDGE) * across)
    const last = Math.min(across, Math.ceil((to - EDGE) * across)) - 1
    if (first <= last) runs.push([first, last])
    else if (to > 0 && from < 1) sliver = Math.min(Math.floor(from * across), across - 1)
  }
  // thinner than what counts as an edge, but somewhere
  if (!runs.length) return sliver === undefined ? [] : [[sliver, sliver]]
  runs.sort((a, b) => a[0] - b[0])
  const merged = [runs[0]]
  for (const [first, last] of runs) {
    const before = merged[merged.length - 1]
    if (first > before[1] + 1) merged.push([first, last])
    else if (last > before[1]) before[1] = last
  }
  return merged
}

/** The edges of a polygon, once for every time it lies on the world: twice at most, since it is no wider. */
function partsOf (polygon, index) {
  const [outline] = polygon
  if (outline.every(([, lat]) => lat >= MAX_LATITUDE) || outline.every(([, lat]) => lat <= -MAX_LATITUDE)) return []
  const [west, east] = extent(outline).map(toWorld)
  const edges = []
  const first = Math.floor(EDGE - east) + 1
  for (let turn = first; west + turn < 1 - EDGE; turn++) {
    const part = 2 * index + turn - first
    for (const ring of polygon) {
      for (let at = 1; at < ring.length; at++) edges.push(edgeOf(ring[at - 1], ring[at], turn, part))
    }
  }
  return edges
}

const toWorld = lon => lon / 360 + 0.5

/** From west to east, so that there and back is the same. */
const inOrder = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]) ? [a, b] : [b, a]

function edgeOf (a, b, turn, part) {
  const [[lon0, lat0], [lon1, lat1]] = inOrder(a, b)
  return { x0: toWorld(lon0) + turn, x1: toWorld(lon1) + turn, lat0, lat1, part }
}

/**
 * From west to east. An edge walked there and back, or shared by a hole and its outline, has the same on both sides: it
 * bounds nothing.
 */
function sorted (edges) {
  edges.sort((a, b) => a.x0 - b.x0 || a.part - b.part || a.lat0 - b.lat0 || a.x1 - b.x1 || a.lat1 - b.lat1)
  const kept = []
  for (const edge of edges) {
    const last = kept[kept.length - 1]
    const isSame = last && ['x0', 'x1', 'lat0', 'lat1', 'part'].every(field => edge[field] === last[field])
    if (isSame) kept.pop()
    else kept.push(edge)
  }
  return kept
}
