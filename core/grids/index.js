// Returns the grid of a layer: Web Mercator, unless the layer names another one. Grids are checked and cached here.
import { cached } from '../cache.js'
import { TilecouchError } from '../errors.js'
import { MAX_LATITUDE, MAX_ZOOM, WEB_MERCATOR, checkTile, tileAt, tileBounds, tileRanges } from '../grid.js'
import { isShallow } from '../rules.js'
import { isObject, isText } from '../values.js'
import { Grid } from './grid.js'
import { definitionOf } from './projections.js'
import { DEGREE, PIXEL, tileMatrixSets } from './sets.js'

export { definitionOf, projectionOf, registerProj4 } from './projections.js'

const MOST = 64 // grids in the cache
const LONGEST = 50_000 // characters of a set
const FURTHEST = 1e12 // units of a system: greater numbers lose too many digits in sums
const DEPTH = 16 // levels of nested lists and objects

/** Names that a layer may have as its `grid`. */
export const gridNames = () => Object.keys(tileMatrixSets)

/** @type {Map<string, Grid>} */
const gridsByText = new Map()

const bad = why => new TilecouchError('BAD_GRID', { why })

/**
 * @param {{grid?: string | object, tileSize?: number}} [layer] its document
 * @returns {Grid}
 */
export function gridOf ({ grid = WEB_MERCATOR, tileSize } = {}) {
  const key = `${typeof grid === 'string' ? grid : textOf(grid)} ${tileSize ?? ''}`
  return cached(gridsByText, key, () => makeGrid(grid, tileSize), MOST)
}

/** Cache of sets as JSON. @type {WeakMap<object, string>} */
const texts = new WeakMap()

function textOf (set) {
  const cachedText = isObject(set) && texts.get(set)
  if (cachedText) return cachedText
  if (!isShallow(set, DEPTH)) throw bad('it is nested too deep')
  const text = JSON.stringify(set)
  if (isObject(set)) texts.set(set, text)
  return text
}

/** Whether two layers have their tiles at the same places. */
export const isSameGrid = (a, b) => JSON.stringify(a.grid ?? WEB_MERCATOR) === JSON.stringify(b.grid ?? WEB_MERCATOR)

function makeGrid (field, tileSize) {
  const isNamed = typeof field === 'string'
  if (!isNamed && JSON.stringify(field)?.length > LONGEST) throw bad(`it has more than ${LONGEST} characters`)
  const set = isNamed ? Object.hasOwn(tileMatrixSets, field) && tileMatrixSets[field]() : field
  if (isNamed && !set) {
    throw bad(`there is no ${JSON.stringify(field)}: there are ${gridNames().join(', ')}, or a TileMatrixSet of the ` +
      'OGC as JSON')
  }
  checkSet(set)
  const size = tileSize ?? set.tileMatrices[0].tileWidth
  const system = systemOf(set)
  const first = firstZoomOf(set.tileMatrices)
  const sized = size === set.tileMatrices[0].tileWidth ? set : resized(set, size)
  const matrices = sized.tileMatrices.slice(0, MAX_ZOOM + 1 - first).map((matrix, index) => {
    const [a, b] = matrix.pointOfOrigin
    const cellSize = matrix.cellSize
    return {
      id: matrix.id,
      z: first + index,
      origin: /** @type {[number, number]} */ (system.northingFirst ? [b, a] : [a, b]),
      span: /** @type {[number, number]} */ ([cellSize * matrix.tileWidth, cellSize * matrix.tileHeight]),
      columns: matrix.matrixWidth,
      rows: matrix.matrixHeight,
      cellSize,
      scaleDenominator: matrix.scaleDenominator
    }
  })
  const parts = { set: sized, matrices, system, tileSize: size, field }
  return field === WEB_MERCATOR ? new WebMercatorGrid(parts) : new Grid(parts)
}

/** The same matrices with tiles of another size in pixels. The scales differ, so the name is another one, too. */
function resized (set, size) {
  const { uri, wellKnownScaleSet, ...otherFields } = set
  const tileMatrices = set.tileMatrices.map(matrix => {
    const factor = matrix.tileWidth / size
    return {
      ...matrix,
      scaleDenominator: Number((matrix.scaleDenominator * factor).toPrecision(16)),
      cellSize: matrix.cellSize * factor,
      tileWidth: size,
      tileHeight: size
    }
  })
  return { ...otherFields, id: `${set.id}_${size}`, tileMatrices }
}

function firstZoomOf (matrices) {
  let first = 0
  for (const [index, { matrixWidth, matrixHeight }] of matrices.entries()) {
    while (Math.max(matrixWidth, matrixHeight) > 2 ** (index + first)) first++
  }
  if (first > MAX_ZOOM) throw bad('it begins with too many tiles')
  return first
}

const AUTHORITY = /^(?:https?:\/\/www\.opengis\.net\/def\/crs\/|urn:ogc:def:crs:)(EPSG|OGC)[/:]+(?:[\d.]+[/:])?(\w+)$/
// systems whose first axis is northing, for sets without `orderedAxes`
const NORTHING_FIRST = new Set([
  2180, 2193, 3034, 3035, 4258, 4326, 31284, 31285, 31286, 31287, 31466, 31467, 31468, 31469
].map(code => `EPSG:${code}`))

/** The code of a system, such as EPSG:2056, from its address or else from its PROJJSON. */
function codeOf (uri, wkt) {
  const [, body, number] = AUTHORITY.exec(uri) ?? []
  if (body) return `${body}:${number}`
  if (/^(EPSG|OGC):\w+$/.test(uri)) return uri
  return isObject(wkt) && isObject(wkt.id) ? `${wkt.id.authority}:${wkt.id.code}` : undefined
}

/** The coordinate system of a set. */
function systemOf ({ crs, orderedAxes, proj4 }) {
  const { uri, wkt } = typeof crs === 'string' ? { uri: crs, wkt: undefined } : crs
  const code = typeof (uri ?? '') === 'string' ? codeOf(uri ?? '', wkt) : undefined
  if (!isText(100)(code) || !/^\w+:\w+$/.test(code)) {
    throw bad(`its crs ${JSON.stringify(uri ?? crs)?.slice(0, 60)} names no system: write ` +
      'http://www.opengis.net/def/crs/EPSG/0/2056, or PROJJSON with an id')
  }
  if (!wkt && !proj4 && !definitionOf(code)) {
    const how = 'add its PROJ string as "proj4", or write crs as {"wkt": PROJJSON}'
    throw bad(`the coordinate system ${code} is not known here: ${how}`)
  }
  const [first] = orderedAxes ?? []
  const northingFirst = first ? /^(y|n|lat)/i.test(first) : NORTHING_FIRST.has(code)
  const inDegrees = ['OGC:CRS84', 'EPSG:4326', 'EPSG:4258'].includes(code)
  const registered = code.startsWith('EPSG:') ? `http://www.opengis.net/def/crs/EPSG/0/${code.slice(5)}` : uri
  return { code, uri: registered, definition: proj4 ?? wkt, inDegrees, northingFirst }
}

const isCount = value => Number.isInteger(value) && value >= 1 && value <= 2 ** MAX_ZOOM
const isPlace = value => Number.isFinite(value) && Math.abs(value) <= FURTHEST
const isLength = value => isPlace(value) && value > 0
const isName = value => typeof value === 'string' && /^[\w.:-]{1,100}$/.test(value) && !/^\.+$/.test(value)
const isPair = value => Array.isArray(value) && value.length === 2 && value.every(isPlace)

/** @param {any} set */
function checkSet (set) {
  if (!isObject(set)) throw bad('it must be a name, or a TileMatrixSet of the OGC as JSON')
  if (!isName(set.id)) {
    throw bad(`its id ${JSON.stringify(set.id)?.slice(0, 60)} must be 1 to 100 letters, digits and . _ : -`)
  }
  if (typeof set.crs !== 'string' && !isObject(set.crs)) throw bad('it has no crs')
  for (const field of ['title', 'uri', 'wellKnownScaleSet', 'proj4']) {
    if (set[field] !== undefined && !isText(2000)(set[field])) throw bad(`its ${field} must be a text`)
  }
  const axes = set.orderedAxes
  const areAxes = Array.isArray(axes) && axes.length === 2 && axes.every(axis => typeof axis === 'string')
  if (axes !== undefined && !areAxes) {
    throw bad('its orderedAxes must be two names')
  }
  const { tileMatrices } = set
  if (!Array.isArray(tileMatrices) || !tileMatrices.length || tileMatrices.length > MAX_ZOOM + 1) {
    throw bad(`it must have 1 to ${MAX_ZOOM + 1} tileMatrices`)
  }
  tileMatrices.forEach((matrix, index) => checkMatrix(matrix, `tileMatrices[${index}]`))
  const [{ tileWidth }] = tileMatrices
  if (tileMatrices.some(matrix => matrix.tileWidth !== tileWidth)) throw bad('all matrices must have tiles of one size')
  if (new Set(tileMatrices.map(({ id }) => id)).size < tileMatrices.length) throw bad('two matrices have the same id')
  const cells = tileMatrices.map(({ cellSize }) => cellSize)
  if (cells.some((cell, index) => index && cell >= cells[index - 1])) {
    throw bad('its matrices must go from coarse to fine')
  }
}

function checkMatrix (matrix, where) {
  if (!isObject(matrix)) throw bad(`${where} must be an object`)
  if (!isName(matrix.id)) throw bad(`${where} has no id`)
  for (const field of ['scaleDenominator', 'cellSize']) {
    if (!isLength(matrix[field])) throw bad(`${where} has no ${field}`)
  }
  for (const field of ['matrixWidth', 'matrixHeight', 'tileWidth', 'tileHeight']) {
    if (!isCount(matrix[field])) throw bad(`${where} has no ${field}`)
  }
  if (!isPair(matrix.pointOfOrigin)) throw bad(`${where} has no pointOfOrigin`)
  if (matrix.tileWidth !== matrix.tileHeight) throw bad(`${where} has tiles that are not square`)
  if ((matrix.cornerOfOrigin ?? 'topLeft') !== 'topLeft') {
    throw bad(`${where} counts rows from the south: cornerOfOrigin must be topLeft`)
  }
  if (matrix.variableMatrixWidths?.length) throw bad(`${where} has variableMatrixWidths, which are not supported`)
}

/** Units of a system per pixel, for a scale. @param {{inDegrees: boolean}} system */
export const cellSizeOf = ({ inDegrees }, scaleDenominator) => scaleDenominator * PIXEL / (inDegrees ? DEGREE : 1)

// Web Mercator as a grid. It uses the arithmetic of core/grid.js, which needs no projection.

const RADIUS = 6378137 // metres

export class WebMercatorGrid extends Grid {
  constructor (parts) {
    super(parts)
    this.isWebMercator = true
  }

  check (z, x, y) {
    return checkTile(z, x, y)
  }

  ranges (bbox, z) {
    return tileRanges(bbox, z)
  }

  tileBounds (z, x, y) {
    return tileBounds(z, x, y)
  }

  rangeBounds (z, { x0, y0, x1, y1 }) {
    const [west, , , north] = tileBounds(z, x0, y0)
    const [, south, east] = tileBounds(z, x1, y1)
    return /** @type {import('../grid.js').Bbox} */ ([west, south, east, north])
  }

  tileAt (lon, lat, z) {
    return tileAt(lon, lat, z)
  }

  /** @returns {import('../grid.js').Bbox} */
  get reach () {
    return [-180, -MAX_LATITUDE, 180, MAX_LATITUDE]
  }

  toCrs ([lon, lat]) {
    const y = Math.log(Math.tan(Math.PI / 4 + lat * Math.PI / 360)) * RADIUS
    return /** @type {[number, number]} */ ([lon * Math.PI / 180 * RADIUS, y])
  }

  toLonLat ([x, y]) {
    const lat = (2 * Math.atan(Math.exp(y / RADIUS)) - Math.PI / 2) * 180 / Math.PI
    return /** @type {[number, number]} */ ([x / RADIUS * 180 / Math.PI, lat])
  }
}
