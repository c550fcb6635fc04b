// A grid: a tile matrix set whose matrices are the zooms of a layer. Columns count eastwards and rows southwards, as in
// Web Mercator, and ids are the same: the zoom of a tile is the index of its matrix, plus as many as it takes for every
// matrix to fit into 2^z columns and rows. That is 0 for nearly all sets. WorldCRS84Quad begins with two tiles, and so
// with zoom 1.
import { TilecouchError } from '../errors.js'
import { fingerprint } from '../fingerprint.js'
import { EDGE, MAX_ZOOM } from '../grid.js'
import { outlineOf, project, reachOf } from './outline.js'
import { definitionOf, knownProj4, projectionOf, registerProjection } from './projections.js'

/** @typedef {import('../grid.js').Bbox} Bbox */
/** @typedef {import('../grid.js').TileRange} TileRange */
/** @typedef {import('./projections.js').Position} Position */

/**
 * @typedef {object} Matrix
 * @property {string} id in its set
 * @property {number} z
 * @property {Position} origin top left corner, easting first, in units of the system
 * @property {[number, number]} span width and height of a tile, in units of the system
 * @property {number} columns
 * @property {number} rows
 * @property {number} cellSize units of the system a pixel
 * @property {number} scaleDenominator
 */

/** @typedef {{code: string, uri: string, definition?: any, inDegrees: boolean, northingFirst: boolean}} System */

const KEPT = 32 // boxes of degrees whose outline in the system is remembered
const ROUGH = 1e-7 // of the width of a grid, by which such a box is wider: 10 cm for Switzerland
const KEPT_BOXES = 1024 // the same of whose outline only the box is remembered

const clamp = (value, low, high) => Math.min(Math.max(value, low), high)

export class Grid {
  /** @type {import('./projections.js').Projection | undefined} */
  #projection
  #reach
  /** @type {Map<string, Position[][]>} */
  #outlines = new Map()
  /** @type {Map<string, Bbox | undefined>} */
  #boxes = new Map()

  /**
   * @param {object} parts
   * @param {import('./sets.js').TileMatrixSet} parts.set
   * @param {Matrix[]} parts.matrices from the first zoom on
   * @param {System} parts.system
   * @param {number} parts.tileSize pixels
   * @param {string | object} parts.field of a layer document
   */
  constructor ({ set, matrices, system, tileSize, field }) {
    this.id = set.id
    this.title = set.title ?? set.id
    /** The TileMatrixSet as the OGC writes it, for tiles of this size. */
    this.set = set
    /** What a layer document has as its `grid`. */
    this.field = field
    /** A name that no other grid has: two layers may have sets of their own with one name. */
    this.uniqueId = typeof field === 'object' ? `${set.id}_${fingerprint(JSON.stringify(field))}` : set.id
    this.tileSize = tileSize
    this.crs = system.code
    this.crsUri = system.uri
    this.northingFirst = system.northingFirst
    /** Whether places are degrees: its columns are longitudes and its rows latitudes. */
    this.inDegrees = system.inDegrees
    this.isWebMercator = false
    this.matrices = matrices
    this.firstZoom = matrices[0].z
    this.lastZoom = matrices[matrices.length - 1].z
    this.isQuad = matrices.every((matrix, index) => !index || halves(matrices[index - 1], matrix))
    /** What proj4js is to be told of the system: a PROJ string, WKT or PROJJSON. */
    this.definition = system.definition ?? definitionOf(system.code)
  }

  /** @param {number} z @returns {Matrix} */
  matrix (z) {
    const matrix = this.matrices[z - this.firstZoom]
    if (!matrix) {
      throw new TilecouchError('BAD_TILE', {
        value: `zoom ${z}`, why: `${this.id} has zooms ${this.firstZoom} to ${this.lastZoom}`
      })
    }
    return matrix
  }

  /** The zoom of a matrix by its name, or undefined. @param {string} id */
  zoomOf (id) {
    return this.matrices.find(matrix => matrix.id === id)?.z
  }

  /** @param {number} z @param {number} x @param {number} y */
  check (z, x, y) {
    const value = `${z}/${x}/${y}`
    if (!Number.isInteger(z) || z < this.firstZoom || z > this.lastZoom) {
      throw new TilecouchError('BAD_TILE', { value, why: `${this.id} has zooms ${this.firstZoom} to ${this.lastZoom}` })
    }
    if (!this.has(z, x, y)) {
      const { columns, rows } = this.matrix(z)
      throw new TilecouchError('BAD_TILE', {
        value, why: `zoom ${z} of ${this.id} has columns 0 to ${columns - 1} and rows 0 to ${rows - 1}`
      })
    }
    return { z, x, y }
  }

  has (z, x, y) {
    const matrix = this.matrices[z - this.firstZoom]
    return matrix !== undefined && Number.isInteger(x) && Number.isInteger(y) &&
      x >= 0 && y >= 0 && x < matrix.columns && y < matrix.rows
  }

  /** @param {Position} lonLat @returns {Position} easting first */
  toCrs (lonLat) {
    return this.#transform.forward(lonLat)
  }

  /** @param {Position} position easting first @returns {Position} */
  toLonLat (position) {
    return this.#transform.inverse(position)
  }

  /**
   * Takes the projection that a map has, for all grids in this system, where the page did not register proj4js.
   * @param {import('./projections.js').Projection} projection
   */
  useProjection (projection) {
    registerProjection(this.crs, projection)
  }

  /** The proj4js of the page, or nothing. */
  get proj4 () {
    return knownProj4()
  }

  get #transform () {
    this.#projection ??= projectionOf(this.crs, this.definition)
    return this.#projection
  }

  /** A tile's box in the system. @returns {[number, number, number, number]} left, bottom, right, top */
  extent (z, x, y) {
    const { origin, span } = this.matrix(z)
    const [left, top] = [origin[0] + x * span[0], origin[1] - y * span[1]]
    return [left, top - span[1], left + span[0], top]
  }

  /** The smallest box of degrees around a tile. @returns {Bbox} */
  tileBounds (z, x, y) {
    return this.rangeBounds(z, { x0: x, y0: y, x1: x, y1: y })
  }

  /** All columns and rows of a zoom. @param {number} z @returns {TileRange} */
  whole (z) {
    const { columns, rows } = this.matrix(z)
    return { x0: 0, x1: columns - 1, y0: 0, y1: rows - 1 }
  }

  /**
   * The box of some columns and rows in the system.
   * @param {number} z @param {TileRange} range
   * @returns {[number, number, number, number]} left, bottom, right, top
   */
  rangeExtent (z, { x0, y0, x1, y1 }) {
    const [left, , , top] = this.extent(z, x0, y0)
    const [, bottom, right] = this.extent(z, x1, y1)
    return [left, bottom, right, top]
  }

  /** The smallest box of degrees around some columns and rows. @param {TileRange} range @returns {Bbox} */
  rangeBounds (/** @type {number} */ z, range) {
    const box = this.rangeExtent(z, range)
    return this.inDegrees ? clip(box) : boundsOf(reachOf(this, box))
  }

  /** A row counted from the south, or back: MBTiles and TMS count from the bottom of the matrix. */
  flipY (z, y) {
    return (this.matrices[z - this.firstZoom]?.rows ?? 2 ** z) - 1 - y
  }

  /** Where its tiles are, in degrees. @returns {Bbox} */
  get bounds () {
    return boundsOf(this.reach)
  }

  /** The same with an east end beyond 180 where it crosses the antimeridian. @returns {Bbox} */
  get reach () {
    this.#reach ??= this.inDegrees ? clip(this.box) : reachOf(this, this.box)
    return this.#reach
  }

  /** What all matrices cover, in the system. @returns {[number, number, number, number]} left, bottom, right, top */
  get box () {
    const boxes = this.matrices.map(({ z }) => this.rangeExtent(z, this.whole(z)))
    const each = (pick, side) => pick(...boxes.map(box => box[side]))
    return [each(Math.min, 0), each(Math.min, 1), each(Math.max, 2), each(Math.max, 3)]
  }

  /** Of its coarsest matrix, in the system. A set may begin with many tiles. */
  get width () {
    const [{ columns, span }] = this.matrices
    return columns * span[0]
  }

  /** The tile that a place lies in, or the nearest to it. */
  tileAt (lon, lat, z) {
    const { columns, rows } = this.matrix(z)
    const [column, row] = this.#place(this.toCrs([lon, lat]), z)
    return { z, x: clamp(Math.floor(column), 0, columns - 1), y: clamp(Math.floor(row), 0, rows - 1) }
  }

  /** Column and row of a place, with their fractions. @param {Position} position @returns {Position} */
  #place ([east, north], z) {
    const { origin, span } = this.matrix(z)
    return [(east - origin[0]) / span[0], (origin[1] - north) / span[1]]
  }

  /**
   * The tiles of a zoom among which all are that a box of degrees touches: one range, or two where degrees are columns
   * and the box crosses the antimeridian; none where the grid has nothing there.
   * @param {Bbox} bbox @param {number} z @returns {TileRange[]}
   */
  ranges (bbox, z) {
    if (z < this.firstZoom || z > this.lastZoom) return []
    const [west, , east] = bbox
    if (this.inDegrees && west > east) {
      const [right, left] = [[west, 180], [-180, east]]
        .map(([from, to]) => this.ranges([from, bbox[1], to, bbox[3]], z)[0])
      if (!right || !left) return [left, right].filter(Boolean)
      return left.x1 >= right.x0 ? [{ ...left, x1: right.x1 }] : [left, right]
    }
    const box = this.boxOf(bbox)
    if (!box) return []
    const { columns, rows } = this.matrix(z)
    const [[left, top], [right, bottom]] = [this.#place([box[0], box[3]], z), this.#place([box[2], box[1]], z)]
    const [x0, x1] = rangeOf(left, right, columns)
    const [y0, y1] = rangeOf(top, bottom, rows)
    return x0 <= x1 && y0 <= y1 ? [{ x0, x1, y0, y1 }] : []
  }

  /**
   * The smallest box in the system around a box of degrees, or nothing where the grid has nothing of it.
   * @param {Bbox} bbox @returns {Bbox | undefined} left, bottom, right, top
   */
  boxOf (bbox) {
    if (this.inDegrees) return bbox
    const key = bbox.join()
    if (!this.#boxes.has(key)) {
      const near = this.width * ROUGH
      remember(this.#boxes, key, boxAround(outlineOf(this, bbox, near).flat(), near), KEPT_BOXES)
    }
    return this.#boxes.get(key)
  }

  /** A box of degrees as rings in the system. @param {Bbox} bbox */
  outline (bbox) {
    const key = bbox.join()
    let rings = this.#outlines.get(key)
    if (!rings) {
      rings = outlineOf(this, bbox)
      remember(this.#outlines, key, rings, KEPT)
    }
    return rings
  }

  /**
   * Polygons as a sweep takes them: in parts of 2^z columns and rows of a zoom.
   * @param {Position[][][]} polygons in the system, see `project` @param {number} z
   */
  placed (polygons, z) {
    const across = 2 ** z
    return polygons.map(rings => rings.map(ring => ring.map(position => {
      const [column, row] = this.#place(position, z)
      return /** @type {Position} */ ([column / across, row / across])
    })))
  }

  /** Polygons of degrees in the system, without what lies outside of the grid. @param {Position[][][]} polygons */
  project (polygons) {
    return project(this, polygons)
  }
}

/** Whether each tile of a matrix is four of the next. @param {Matrix} before @param {Matrix} matrix */
const halves = (before, matrix) => [0, 1].every(axis =>
  Math.abs(before.span[axis] / matrix.span[axis] - 2) < 1e-6 &&
  Math.abs(before.origin[axis] - matrix.origin[axis]) < matrix.span[axis] * 1e-6)

/** The first and the last tile between two places, of so many; first > last where they are outside. */
function rangeOf (least, most, count) {
  const edge = EDGE * 2 ** MAX_ZOOM / 1024 // parts of a tile, which coordinates of a system lose
  const first = Math.floor(least + edge)
  const last = Math.max(first, Math.ceil(most - edge) - 1)
  return [Math.max(first, 0), Math.min(last, count - 1)]
}

/** @param {Position[]} positions @param {number} margin @returns {Bbox | undefined} */
function boxAround (positions, margin) {
  if (!positions.length) return
  const box = /** @type {Bbox} */ ([Infinity, Infinity, -Infinity, -Infinity])
  for (const [x, y] of positions) {
    box[0] = Math.min(box[0], x - margin)
    box[1] = Math.min(box[1], y - margin)
    box[2] = Math.max(box[2], x + margin)
    box[3] = Math.max(box[3], y + margin)
  }
  return box
}

/** Keeps a value, and so many others at most: the oldest goes. @param {Map<string, any>} kept */
function remember (kept, key, value, most) {
  if (kept.size >= most) kept.delete(/** @type {string} */ (kept.keys().next().value))
  kept.set(key, value)
}

/** @param {Bbox} box @returns {Bbox} */
const clip = ([west, south, east, north]) =>
  [Math.max(west, -180), Math.max(south, -90), Math.min(east, 180), Math.min(north, 90)]

/** A reach as a box of degrees. @param {Bbox} reach @returns {Bbox} */
function boundsOf ([west, south, east, north]) {
  if (east - west >= 360) return [-180, south, 180, north]
  return [west, south, east > 180 ? east - 360 : east, north]
}
