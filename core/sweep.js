// Finds the tiles that polygons touch, column by column from west to east. Edges are straight in longitude and
// latitude, as in GeoJSON. In Web Mercator they bend, but rise or fall all the way: the two ends of an edge in a column
// give the rows that it crosses. In other grids, edges have points in between (see grids/outline.js).
//
// In a column, a polygon touches the rows that its edges cross, and the rows inside it at the column's western side. A
// line straight west from any place inside meets an edge or that side. Inside is by the even-odd rule, so that the
// direction of a ring does not matter.
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
  /** @param {number[][][][]} polygons @param {typeof plane} [system] the system of the coordinates */
  constructor (polygons, system = world) {
    const edges = sorted(polygons.flatMap(system.partsOf))
    this.toY = system.toY
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
   * The columns from first to last that the polygons touch, ascending. Each has its ranges of rows: ascending,
   * separate, never empty. Memory holds only the edges of one column.
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
   * The spans from north to south that the polygons cover between two meridians. They are parts of the world's height,
   * and may overlap.
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

/** Merges overlapping spans into ranges of rows. @returns {Run[]} */
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
  // all spans are thinner than the tolerance of an edge: take the row of one
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

/** The edges of a polygon, for each copy of it on the world: at most two, as it is not wider than the world. */
function partsOf (polygon, index) {
  const [outline] = polygon
  if (outline.every(([, lat]) => lat >= MAX_LATITUDE) || outline.every(([, lat]) => lat <= -MAX_LATITUDE)) return []
  const [west, east] = extent(outline).map(toWorld)
  const edges = []
  const first = Math.floor(EDGE - east) + 1
  for (let turn = first; west + turn < 1 - EDGE; turn++) {
    const part = 2 * index + turn - first
    for (const ring of polygon) {
      for (let end = 1; end < ring.length; end++) edges.push(edgeOf(ring[end - 1], ring[end], turn, part))
    }
  }
  return edges
}

const toWorld = lon => lon / 360 + 0.5

/** Orders the ends of an edge from west to east, so that both directions are equal. */
const inOrder = (a, b) => a[0] < b[0] || (a[0] === b[0] && a[1] < b[1]) ? [a, b] : [b, a]

function edgeOf (a, b, turn, part) {
  const [[lon0, lat0], [lon1, lat1]] = inOrder(a, b)
  return { x0: toWorld(lon0) + turn, x1: toWorld(lon1) + turn, lat0, lat1, part }
}

/**
 * Sorts edges from west to east, and removes pairs of equal edges. An edge that is walked there and back, or shared by
 * a hole and its outline, bounds nothing.
 */
function sorted (edges) {
  edges.sort((a, b) => a.x0 - b.x0 || a.part - b.part || a.lat0 - b.lat0 || a.x1 - b.x1 || a.lat1 - b.lat1)
  const singleEdges = []
  for (const edge of edges) {
    const last = singleEdges[singleEdges.length - 1]
    const isSame = last && ['x0', 'x1', 'lat0', 'lat1', 'part'].every(field => edge[field] === last[field])
    if (isSame) singleEdges.pop()
    else singleEdges.push(edge)
  }
  return singleEdges
}
