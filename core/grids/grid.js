// A grid is a tile matrix set whose matrices are the zooms of a layer. Columns count eastwards and rows southwards, as
// in Web Mercator, and ids are the same. The zoom of a tile is the index of its matrix plus an offset, so that every
// matrix fits into 2^z columns and rows. The offset is 0 for nearly all sets. WorldCRS84Quad begins with two tiles, and
// therefore with zoom 1.
import { cached } from '../cache.js'
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
 * @property {number} cellSize units of the system per pixel
 * @property {number} scaleDenominator
 */

/** @typedef {{code: string, uri: string, definition?: any, inDegrees: boolean, northingFirst: boolean}} System */

const KEPT = 32 // outlines of boxes of degrees in the cache
const ROUGH = 1e-7 // of the width of a grid: margin of a box in the cache, 10 cm for Switzerland
const KEPT_BOXES = 1024 // boxes around such outlines in the cache

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
    /** The field `grid` of the layer document. */
    this.field = field
    /** A unique name: two layers may have different sets with the same id. */
    this.uniqueId = typeof field === 'object' ? `${set.id}_${fingerprint(JSON.stringify(field))}` : set.id
    this.tileSize = tileSize
    this.crs = system.code
    this.crsUri = system.uri
    this.northingFirst = system.northingFirst
    /** Whether coordinates are degrees: columns are longitudes and rows are latitudes. */
    this.inDegrees = system.inDegrees
    this.isWebMercator = false
    this.matrices = matrices
    this.firstZoom = matrices[0].z
    this.lastZoom = matrices[matrices.length - 1].z
    this.isQuad = matrices.every((matrix, index) => !index || isHalved(matrices[index - 1], matrix))
    /** The definition of the system for proj4js: a PROJ string, WKT or PROJJSON. */
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
   * Uses the projection of a map library for all grids in this system, if the page did not register proj4js.
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

  /** Converts a row to one counted from the south, or back. MBTiles and TMS count from the bottom of the matrix. */
  flipY (z, y) {
    return (this.matrices[z - this.firstZoom]?.rows ?? 2 ** z) - 1 - y
  }

  /** The box of all tiles in degrees. @returns {Bbox} */
  get bounds () {
    return boundsOf(this.reach)
  }

  /** Like bounds, but east is greater than 180 if the box crosses the antimeridian. @returns {Bbox} */
  get reach () {
    this.#reach ??= this.inDegrees ? clip(this.box) : reachOf(this, this.box)
    return this.#reach
  }

  /** The box of all matrices in the system. @returns {[number, number, number, number]} left, bottom, right, top */
  get box () {
    const boxes = this.matrices.map(({ z }) => this.rangeExtent(z, this.whole(z)))
    const each = (pick, side) => pick(...boxes.map(box => box[side]))
    return [each(Math.min, 0), each(Math.min, 1), each(Math.max, 2), each(Math.max, 3)]
  }

  /** The width of the coarsest matrix in the system. A set may begin with many tiles. */
  get width () {
    const [{ columns, span }] = this.matrices
    return columns * span[0]
  }

  /** The tile that contains a place, or the tile nearest to it. */
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
   * Ranges with all tiles of a zoom that a box of degrees touches. One range, or two in a grid of degrees if the box
   * crosses the antimeridian, or none if the grid has no tiles there.
   * @param {Bbox} bbox @param {number} z @returns {TileRange[]}
   */
  ranges (bbox, z) {
    if (z < this.firstZoom || z > this.lastZoom) return []
    const [west, south, east, north] = bbox
    if (this.inDegrees && west > east) {
      // a box that ends at the antimeridian does not cross it: as in core/grid.js
      if (east === -180) return this.ranges([west, south, 180, north], z)
      if (west === 180) return this.ranges([-180, south, east, north], z)
      const [right, left] = [[west, 180], [-180, east]].map(([from, to]) => this.ranges([from, south, to, north], z)[0])
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
   * The smallest box in the system around a box of degrees, or undefined if the box is outside the grid.
   * @param {Bbox} bbox @returns {Bbox | undefined} left, bottom, right, top
   */
  boxOf (bbox) {
    if (this.inDegrees) return bbox
    const near = this.width * ROUGH
    return cached(this.#boxes, bbox.join(), () => boxAround(outlineOf(this, bbox, near).flat(), near), KEPT_BOXES)
  }

  /** Converts a box of degrees to rings in the system. @param {Bbox} bbox */
  outline (bbox) {
    return cached(this.#outlines, bbox.join(), () => outlineOf(this, bbox), KEPT)
  }

  /**
   * Polygons as core/sweep.js needs them: with coordinates as fractions of 2^z columns and rows.
   * @param {Position[][][]} polygons in the system, see `project` @param {number} z
   */
  placed (polygons, z) {
    const side = 2 ** z
    return polygons.map(rings => rings.map(ring => ring.map(position => {
      const [column, row] = this.#place(position, z)
      return /** @type {Position} */ ([column / side, row / side])
    })))
  }

  /** Converts polygons of degrees to the system, clipped to the grid. @param {Position[][][]} polygons */
  project (polygons) {
    return project(this, polygons)
  }
}

/** Whether each tile of a matrix covers four tiles of the next one. @param {Matrix} before @param {Matrix} matrix */
const isHalved = (before, matrix) => [0, 1].every(axis =>
  Math.abs(before.span[axis] / matrix.span[axis] - 2) < 1e-6 &&
  Math.abs(before.origin[axis] - matrix.origin[axis]) < matrix.span[axis] * 1e-6)

/** The first and last tile between two places, of `count` tiles; first > last if both places are outside. */
function rangeOf (least, most, count) {
  const edge = EDGE * 2 ** MAX_ZOOM / 1024 // part of a tile: the rounding error of coordinates of a system
  const first = Math.floor(least + edge)
  const last = Math.max(first, Math.ceil(most - edge) - 1)
  return [Math.max(first, 0), Math.min(last, count - 1)]
}

/** @param {Position[]} positions @param {number} [margin] @returns {Bbox | undefined} undefined without positions */
export function boxAround (positions, margin = 0) {
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

/** @param {Bbox} box @returns {Bbox} */
const clip = ([west, south, east, north]) =>
  [Math.max(west, -180), Math.max(south, -90), Math.min(east, 180), Math.min(north, 90)]

/** Converts a reach to a box of degrees. @param {Bbox} reach @returns {Bbox} */
function boundsOf ([west, south, east, north]) {
  if (east - west >= 360) return [-180, south, 180, north]
  return [west, south, east > 180 ? east - 360 : east, north]
}
