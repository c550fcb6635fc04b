// An area of the map: a box or polygons, and the tiles that it touches. Tiles are counted and listed by columns, so
// that a deep zoom is never held in memory. An area touches a tile if a part of it lies inside the tile; a common edge
// is not enough. An area is in a grid, by default Web Mercator.
import { cached } from './cache.js'
import { TilecouchError } from './errors.js'
import { fingerprint } from './fingerprint.js'
import { extent, readPolygons } from './geojson.js'
import { MAX_LATITUDE, MAX_ZOOM, parseBbox } from './grid.js'
import { gridOf } from './grids/index.js'
import { columnsById, rowsById } from './order.js'
import { Sweep, plane } from './sweep.js'

const KEPT_COLUMNS = 64 // columns whose rows has() keeps: callers ask for neighbouring tiles in a row

/**
 * `polygon` is GeoJSON, parsed: a Polygon, a MultiPolygon, or features and collections of them. With a box and a
 * polygon, the area is what lies in both.
 * @param {{bbox?: import('./grid.js').Bbox | string, polygon?: object, grid?: Grid}} options
 */
export function parseArea ({ bbox, polygon, grid = gridOf() }) {
  if (bbox === undefined && polygon === undefined) {
    throw new TilecouchError('BAD_AREA', { why: 'it has neither a bounding box nor a polygon' })
  }
  const boxes = bbox === undefined ? [] : [parseBbox(/** @type {any} */ (bbox))]
  if (polygon === undefined) return new Area({ bbox: boxes[0], boxes, grid })
  const polygons = readPolygons(polygon)
  const shape = { polygon, polygons, key: fingerprint(JSON.stringify(polygons)) }
  const area = new Area({ bbox: boxAround(polygons), boxes, shape, grid })
  if (area.isEmpty) throw new TilecouchError('BAD_AREA', { why: whyEmpty(polygons, grid) })
  return area
}

/** @param {import('./geojson.js').Polygon[]} polygons @param {Grid} grid */
function whyEmpty (polygons, grid) {
  if (!grid.isWebMercator) return `nothing of it is in the grid ${grid.id}`
  const beyond = polygons.every(([outline]) => outline.every(([, lat]) => Math.abs(lat) >= MAX_LATITUDE))
  return beyond
    ? `it lies beyond latitude ${MAX_LATITUDE.toFixed(2)}, where there are no tiles`
    : 'it has no inside: its edges cancel each other out'
}

/**
 * Makes an area from the form in which a document holds it: see toJSON.
 * @param {{boxes: import('./grid.js').Bbox[], polygon?: object, grid?: string | object}} stored
 */
export function areaFrom ({ boxes, polygon, grid }) {
  const [firstBox, ...otherBoxes] = boxes
  const area = parseArea({ bbox: polygon && !firstBox ? undefined : firstBox, polygon, grid: gridOf({ grid }) })
  return otherBoxes.reduce((narrowedArea, box) => narrowedArea.within(box), area)
}

/** @typedef {import('./grids/grid.js').Grid} Grid */
/**
 * @typedef {{polygon: object, polygons: import('./geojson.js').Polygon[], key: string}} Shape polygon: GeoJSON as given
 */

/**
 * The parts of some ranges that lie in another one.
 * @param {import('./grid.js').TileRange[]} ranges @param {import('./grid.js').TileRange} outer
 */
export const rangesIn = (ranges, outer) => ranges.map(range => ({
  x0: Math.max(range.x0, outer.x0),
  x1: Math.min(range.x1, outer.x1),
  y0: Math.max(range.y0, outer.y0),
  y1: Math.min(range.y1, outer.y1)
})).filter(({ x0, x1, y0, y1 }) => x0 <= x1 && y0 <= y1)

export class Area {
  #boxes
  #shape
  #grid
  /** @type {Map<number, Sweep[]>} */
  #sweeps
  /** @type {import('./grids/projections.js').Position[][][][] | undefined} */
  #figures
  /** @type {Map<string, import('./sweep.js').Run[]>} */
  #runsByColumn = new Map()

  /**
   * @param {{bbox: import('./grid.js').Bbox, boxes: import('./grid.js').Bbox[], shape?: Shape, grid: Grid,
   *   sweeps?: Map<number, Sweep[]>}} parts sweeps: of an area in Web Mercator with the same shape
   */
  constructor ({ bbox, boxes, shape, grid, sweeps = new Map() }) {
    /** The smallest box around the area as it was given; west > east when it crosses the antimeridian. */
    this.bbox = bbox
    this.#boxes = boxes
    this.#shape = shape
    this.#grid = grid
    this.#sweeps = sweeps
  }

  /** @returns {Grid} */
  get grid () {
    return this.#grid
  }

  /** The form in which a document holds the area: see areaFrom. */
  toJSON () {
    return {
      boxes: this.#boxes,
      ...(this.#shape && { polygon: this.#shape.polygon }),
      ...(!this.#grid.isWebMercator && { grid: this.#grid.field })
    }
  }

  /** Areas with the same boxes, polygons and grid have the same key. */
  get key () {
    const grid = this.#grid.isWebMercator ? '' : ` ${fingerprint(JSON.stringify(this.#grid.field))}`
    return `${this.#boxes.map(box => box.join(',')).join(' ')}${this.#shape ? ` ${this.#shape.key}` : ''}${grid}`
  }

  /** Whether no tile can touch the polygons. */
  get isEmpty () {
    return this.#sweepsOf(this.#grid.firstZoom).some(sweep => !sweep.size)
  }

  /** The same area in the grid of another layer. @param {Grid} grid */
  in (grid) {
    return grid === this.#grid ? this : new Area({ bbox: this.bbox, boxes: this.#boxes, shape: this.#shape, grid })
  }

  /** The part of the area that lies in a box as well. @param {import('./grid.js').Bbox} bbox */
  within (bbox) {
    const boxes = [...this.#boxes, bbox]
    const sweeps = this.#grid.isWebMercator ? this.#sweeps : undefined
    return new Area({ bbox: this.bbox, boxes, shape: this.#shape, grid: this.#grid, sweeps })
  }

  /**
   * The tiles of one zoom in columns, from west to east; a column that is touched in several places comes several
   * times, from north to south. Each tile is in exactly one.
   * @param {number} z
   * @param {number} [first] column @param {number} [last]
   * @returns {Generator<{z: number, x: number, y0: number, y1: number}>}
   */
  * columns (z, first = 0, last = 2 ** z - 1) {
    for (const { x, runs } of this.#columns(z, first, last)) {
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

  /** Counts the tiles in a range of zooms. Exact up to 2^53. @param {import('./grid.js').Zooms} zooms */
  count ({ min, max }) {
    let count = 0
    for (let z = min; z <= max; z++) {
      if (this.#sweepsOf(z).length) for (const { y0, y1 } of this.columns(z)) count += y1 - y0 + 1
      else for (const { x0, x1, y0, y1 } of this.#ranges(z)) count += (x1 - x0 + 1) * (y1 - y0 + 1)
    }
    return count
  }

  /** Whether the area touches a tile; false for numbers that are no tile. */
  has (z, x, y) {
    const across = 2 ** z
    if (!Number.isInteger(z) || z < 0 || z > MAX_ZOOM || !Number.isInteger(x) || x < 0 || x >= across) return false
    return this.column(z, x).some(([first, last]) => y >= first && y <= last) && Number.isInteger(y)
  }

  /** Whether the area touches any tile in a range of columns and rows. */
  touches (/** @type {number} */ z, /** @type {import('./grid.js').TileRange} */ { x0, x1, y0, y1 }) {
    for (const { runs } of this.#columns(z, x0, x1)) {
      if (runs.some(([first, last]) => first <= y1 && last >= y0)) return true
    }
    return false
  }

  /**
   * The rows of one column that the area touches, as ascending separate ranges.
   * @returns {import('./sweep.js').Run[]}
   */
  column (z, x) {
    return cached(this.#runsByColumn, `${z}/${x}`, () => {
      const [column] = this.#columns(z, x, x)
      return column?.runs ?? []
    }, KEPT_COLUMNS)
  }

  /** @returns {Generator<{x: number, runs: import('./sweep.js').Run[]}>} ascending */
  * #columns (z, first, last) {
    const sweeps = this.#sweepsOf(z)
    for (const { x0, x1, y0, y1 } of this.#ranges(z)) {
      const [from, to] = [Math.max(first, x0), Math.min(last, x1)]
      /** @type {import('./sweep.js').Run[]} */
      const whole = [[y0, y1]]
      if (!sweeps.length) {
        for (let x = from; x <= to; x++) yield { x, runs: whole }
        continue
      }
      for (const { x, runs } of intersectColumns(sweeps.map(sweep => sweep.columns(z, from, to)))) {
        const inside = inBoth(runs, whole)
        if (inside.length) yield { x, runs: inside }
      }
    }
  }

  /**
   * The parts of the area that are no rectangles of tiles at a zoom: its polygons and, in most other grids, its boxes.
   * A tile of the area touches all of them.
   * @returns {Sweep[]}
   */
  #sweepsOf (z) {
    const grid = this.#grid
    return cached(this.#sweeps, grid.isWebMercator ? 0 : z, () => {
      if (grid.isWebMercator) return this.#shape ? [new Sweep(this.#shape.polygons)] : []
      if (z < grid.firstZoom || z > grid.lastZoom) return []
      this.#figures ??= [
        ...(this.#shape ? [grid.project(this.#shape.polygons)] : []),
        ...(grid.inDegrees ? [] : this.#boxes.map(box => grid.outline(box).map(ring => [ring])))
      ]
      return this.#figures.map(figure => new Sweep(grid.placed(figure, z), plane))
    })
  }

  /**
   * The tiles of one zoom as rectangles, from west to east. Undefined for polygons, and for boxes that are no
   * rectangles in the grid.
   * @returns {import('./grid.js').TileRange[] | undefined}
   */
  rectangles (z) {
    return this.#sweepsOf(z).length ? undefined : this.#ranges(z)
  }

  /** The ranges of tiles that lie in every box, from west to east. @returns {import('./grid.js').TileRange[]} */
  #ranges (z) {
    const grid = this.#grid
    if (z < grid.firstZoom || z > grid.lastZoom) return []
    let ranges = [grid.whole(z)]
    for (const box of this.#boxes) {
      const boxRanges = grid.ranges(box, z)
      ranges = ranges.flatMap(range => rangesIn(boxRanges, range))
    }
    return ranges.sort((a, b) => a.x0 - b.x0)
  }
}

/**
 * Columns that all sweeps touch, with the rows that all of them touch there.
 * @param {Generator<{x: number, runs: import('./sweep.js').Run[]}>[]} sweeps
 * @returns {Generator<{x: number, runs: import('./sweep.js').Run[]}>}
 */
function * intersectColumns ([firstColumns, ...otherColumns]) {
  const cursors = otherColumns.map(columns => ({ columns, step: columns.next() }))
  for (const { x, runs } of firstColumns) {
    let inside = runs
    for (const cursor of cursors) {
      while (!cursor.step.done && cursor.step.value.x < x) cursor.step = cursor.columns.next()
      inside = cursor.step.done || cursor.step.value.x > x ? [] : inBoth(inside, cursor.step.value.runs)
    }
    if (inside.length) yield { x, runs: inside }
  }
}

/** @param {import('./sweep.js').Run[]} a ascending, separate @param {import('./sweep.js').Run[]} b likewise */
function inBoth (a, b) {
  /** @type {import('./sweep.js').Run[]} */
  const both = []
  for (const [from, to] of a) {
    for (const [first, last] of b) {
      if (first <= to && last >= from) both.push([Math.max(first, from), Math.min(last, to)])
    }
  }
  return both
}

/**
 * The smallest box around polygons: it leaves out the widest gap between them around the world.
 * @param {import('./geojson.js').Polygon[]} polygons
 * @returns {import('./grid.js').Bbox}
 */
function boxAround (polygons) {
  let [south, north] = [90, -90]
  const spans = polygons.map(([outline]) => {
    const [west, east] = extent(outline)
    for (const [, lat] of outline) {
      south = Math.min(south, lat)
      north = Math.max(north, lat)
    }
    const turn = 360 * Math.floor((west + 180) / 360)
    return [west - turn, east - turn]
  }).sort((a, b) => a[0] - b[0])

  // a gap is between the east end of the spans so far and the west end of the next span; the last gap crosses the
  // antimeridian to the first span
  let reach = spans.reduce((most, [, east]) => Math.max(most, east - 360), spans[0][1])
  let gap = { width: 0, from: 180, to: -180 }
  const [first] = spans[0]
  const nextSpans = spans.slice(1).map(([west, east]) => ({ start: west, west, east }))
  nextSpans.push({ start: first + 360, west: first, east: reach })
  for (const { start, west, east } of nextSpans) {
    if (start - reach > gap.width) gap = { width: start - reach, from: reach, to: west }
    reach = Math.max(reach, east)
  }
  return gap.width ? [gap.to, south, gap.from > 180 ? gap.from - 360 : gap.from, north] : [-180, south, 180, north]
}

/**
 * Makes a predicate for tiles in this area and these zooms. Either may be missing.
 * @param {Area} [area]
 * @param {import('./grid.js').Zooms} [zooms]
 * @returns {(z: number, x: number, y: number) => boolean}
 */
export const selectorOf = (area, zooms) => (z, x, y) =>
  (!zooms || (z >= zooms.min && z <= zooms.max)) && (!area || area.has(z, x, y))
