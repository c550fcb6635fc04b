// Areas of the map: a box, or polygons, as the tiles they touch. They are counted and walked by columns, so that a zoom
// is never held in memory, however deep it is. A tile is touched when some of the area lies inside it; one that only
// meets its edge from outside is not.
import { TilecouchError } from './errors.js'
import { fingerprint } from './fingerprint.js'
import { readPolygons } from './geojson.js'
import { MAX_LATITUDE, MAX_ZOOM, parseBbox, tileRanges } from './grid.js'
import { columnsById, rowsById } from './order.js'
import { Sweep } from './sweep.js'

const KEPT_COLUMNS = 64 // columns whose rows has() remembers: neighbours are asked for together

/**
 * `polygon` is GeoJSON, parsed: a Polygon, a MultiPolygon, or features and collections of them. With a box as well,
 * what lies in both.
 * @param {{bbox?: import('./grid.js').Bbox | string, polygon?: object}} what
 */
export function parseArea ({ bbox, polygon }) {
  if (bbox === undefined && polygon === undefined) {
    throw new TilecouchError('BAD_AREA', { why: 'it has neither a bounding box nor a polygon' })
  }
  const boxes = bbox === undefined ? [] : [parseBbox(/** @type {any} */ (bbox))]
  if (polygon === undefined) return new Area({ bbox: boxes[0], boxes })
  const polygons = readPolygons(polygon)
  const sweep = new Sweep(polygons)
  if (!sweep.size) {
    const beyond = polygons.every(([outline]) => outline.every(([, lat]) => Math.abs(lat) >= MAX_LATITUDE))
    const why = beyond
      ? `it lies beyond latitude ${MAX_LATITUDE.toFixed(2)}, where there are no tiles`
      : 'it has no inside: its edges cancel each other out'
    throw new TilecouchError('BAD_AREA', { why })
  }
  return new Area({ bbox: around(polygons), boxes, sweep, shape: fingerprint(JSON.stringify(polygons)), polygon })
}

/** An area as a document holds it, and back. @param {{boxes: import('./grid.js').Bbox[], polygon?: object}} stored */
export function areaFrom ({ boxes, polygon }) {
  const [first, ...others] = boxes
  const area = parseArea({ bbox: polygon && !first ? undefined : first, polygon })
  return others.reduce((rest, box) => rest.within(box), area)
}

export class Area {
  #boxes
  #sweep
  #shape
  #polygon
  /** @type {Map<string, import('./sweep.js').Run[]>} */
  #kept = new Map()

  /**
   * @param {{bbox: import('./grid.js').Bbox, boxes: import('./grid.js').Bbox[], sweep?: Sweep, shape?: string,
   *   polygon?: object}} parts
   */
  constructor ({ bbox, boxes, sweep, shape = '', polygon }) {
    /** The smallest box around the area as it was given; west > east when it crosses the antimeridian. */
    this.bbox = bbox
    this.#boxes = boxes
    this.#sweep = sweep
    this.#shape = shape
    this.#polygon = polygon
  }

  /** As a document holds it: see areaFrom. */
  toJSON () {
    return { boxes: this.#boxes, ...(this.#polygon && { polygon: this.#polygon }) }
  }

  /** Tells areas apart: those of the same boxes and polygons have the same key. */
  get key () {
    return `${this.#boxes.map(box => box.join(',')).join(' ')}${this.#shape && ` ${this.#shape}`}`
  }

  /** What of the area touches a box as well. @param {import('./grid.js').Bbox} bbox */
  within (bbox) {
    const boxes = [...this.#boxes, bbox]
    return new Area({ bbox: this.bbox, boxes, sweep: this.#sweep, shape: this.#shape, polygon: this.#polygon })
  }

  /**
   * The tiles of one zoom in columns, from west to east; a column that is touched in several places comes several
   * times, from north to south. Each tile is in one of them.
   * @param {number} z
   * @returns {Generator<{z: number, x: number, y0: number, y1: number}>}
   */
  * columns (z) {
    for (const { x, runs } of this.#columns(z, 0, 2 ** z - 1)) {
      for (const [y0, y1] of runs) yield { z, x, y0, y1 }
    }
  }

  /**
   * The tiles of one zoom, one by one, in the order of their ids: the order in which a store is written and read
   * fastest.
   * @param {number} z
   * @returns {Generator<{z: number, x: number, y: number}>}
   */
  * tiles (z) {
    for (const { x, runs } of columnsById(z, (first, last) => this.#columns(z, first, last))) {
      for (const y of rowsById(runs)) yield { z, x, y }
    }
  }

  /** Tiles in a range of zooms. Exact up to 2^53. @param {import('./grid.js').Zooms} zooms */
  count ({ min, max }) {
    let count = 0
    for (let z = min; z <= max; z++) {
      if (this.#sweep) for (const { y0, y1 } of this.columns(z)) count += y1 - y0 + 1
      else for (const { x0, x1, y0, y1 } of this.#ranges(z)) count += (x1 - x0 + 1) * (y1 - y0 + 1)
    }
    return count
  }

  /** Whether the area touches a tile. What is no tile, it does not touch. */
  has (z, x, y) {
    const across = 2 ** z
    if (!Number.isInteger(z) || z < 0 || z > MAX_ZOOM || !Number.isInteger(x) || x < 0 || x >= across) return false
    return this.column(z, x).some(([first, last]) => y >= first && y <= last) && Number.isInteger(y)
  }

  /** The rows of one column that the area touches: ascending, apart. @returns {import('./sweep.js').Run[]} */
  column (z, x) {
    const key = `${z}/${x}`
    let runs = this.#kept.get(key)
    if (!runs) {
      const [column] = this.#columns(z, x, x)
      runs = column?.runs ?? []
      if (this.#kept.size >= KEPT_COLUMNS) this.#kept.delete(/** @type {string} */ (this.#kept.keys().next().value))
      this.#kept.set(key, runs)
    }
    return runs
  }

  /** @returns {Generator<{x: number, runs: import('./sweep.js').Run[]}>} ascending */
  * #columns (z, first, last) {
    for (const { x0, x1, y0, y1 } of this.#ranges(z)) {
      const [from, to] = [Math.max(first, x0), Math.min(last, x1)]
      if (!this.#sweep) {
        for (let x = from; x <= to; x++) yield { x, runs: [[y0, y1]] }
        continue
      }
      for (const { x, runs } of this.#sweep.columns(z, from, to)) {
        /** @type {import('./sweep.js').Run[]} */
        const inside = runs.filter(run => run[1] >= y0 && run[0] <= y1)
          .map(run => [Math.max(run[0], y0), Math.min(run[1], y1)])
        if (inside.length) yield { x, runs: inside }
      }
    }
  }

  /**
   * The tiles of one zoom as rectangles, from west to east; nothing for polygons, which are none.
   * @returns {import('./grid.js').TileRange[] | undefined}
   */
  rectangles (z) {
    return this.#sweep ? undefined : this.#ranges(z)
  }

  /** What is in every box, from west to east. @returns {import('./grid.js').TileRange[]} */
  #ranges (z) {
    const last = 2 ** z - 1
    let ranges = [{ x0: 0, x1: last, y0: 0, y1: last }]
    for (const box of this.#boxes) {
      const others = tileRanges(box, z)
      ranges = ranges.flatMap(range => others.map(other => ({
        x0: Math.max(range.x0, other.x0),
        x1: Math.min(range.x1, other.x1),
        y0: Math.max(range.y0, other.y0),
        y1: Math.min(range.y1, other.y1)
      }))).filter(({ x0, x1, y0, y1 }) => x0 <= x1 && y0 <= y1)
    }
    return ranges.sort((a, b) => a.x0 - b.x0)
  }
}

/**
 * The smallest box around polygons: of all ways to go round the world, the one that leaves out the widest gap.
 * @param {import('./geojson.js').Polygon[]} polygons
 * @returns {import('./grid.js').Bbox}
 */
function around (polygons) {
  let [south, north] = [90, -90]
  const spans = polygons.map(([outline]) => {
    let [west, east] = [Infinity, -Infinity]
    for (const [lon, lat] of outline) {
      west = Math.min(west, lon)
      east = Math.max(east, lon)
      south = Math.min(south, lat)
      north = Math.max(north, lat)
    }
    const turn = 360 * Math.floor((west + 180) / 360)
    return [west - turn, east - turn]
  }).sort((a, b) => a[0] - b[0])

  // from the end of what came before to the beginning of the next; the last gap leads over the antimeridian to the
  // first
  let reach = spans.reduce((most, [, east]) => Math.max(most, east - 360), spans[0][1])
  let gap = { width: 0, from: 180, to: -180 }
  const [first] = spans[0]
  const nexts = spans.slice(1).map(([west, east]) => ({ at: west, west, east }))
  nexts.push({ at: first + 360, west: first, east: reach })
  for (const { at, west, east } of nexts) {
    if (at - reach > gap.width) gap = { width: at - reach, from: reach, to: west }
    reach = Math.max(reach, east)
  }
  return gap.width ? [gap.to, south, gap.from > 180 ? gap.from - 360 : gap.from, north] : [-180, south, 180, north]
}

/**
 * A test for tiles: which of them are in this area and these zooms. Either may be missing.
 * @param {Area} [area]
 * @param {import('./grid.js').Zooms} [zooms]
 * @returns {(z: number, x: number, y: number) => boolean}
 */
export const selectorOf = (area, zooms) => (z, x, y) =>
  (!zooms || (z >= zooms.min && z <= zooms.max)) && (!area || area.has(z, x, y))
