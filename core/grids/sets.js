// The tile matrix sets that a layer may name. The numbers come from the OGC's register, swisstopo and the German
// surveying authorities (AdV).

/**
 * A TileMatrixSet 2.0 of the OGC, as JSON.
 * @typedef {object} TileMatrixSet
 * @property {string} id
 * @property {string} [title]
 * @property {string} [uri]
 * @property {string | {uri: string} | {wkt: object | string}} crs
 * @property {string} [proj4] PROJ string of a system that is not in projections.js; not a field of the standard
 * @property {string[]} [orderedAxes]
 * @property {string} [wellKnownScaleSet]
 * @property {TileMatrix[]} tileMatrices
 *
 * @typedef {object} TileMatrix
 * @property {string} id
 * @property {number} scaleDenominator
 * @property {number} cellSize units of the system per pixel
 * @property {'topLeft' | 'bottomLeft'} [cornerOfOrigin]
 * @property {[number, number]} pointOfOrigin in the order of the system's axes
 * @property {number} tileWidth
 * @property {number} tileHeight
 * @property {number} matrixWidth
 * @property {number} matrixHeight
 */

export const PIXEL = 0.00028 // metres per pixel: with this the standard converts cell sizes to scales
const TILE = 256 // pixels
export const DEGREE = Math.PI * 6378137 / 180 // metres at the equator
const EPSG = 'http://www.opengis.net/def/crs/EPSG/0/'
const REGISTER = 'http://www.opengis.net/def/tilematrixset/OGC/1.0/'

/** A double has 16 digits. */
const rounded = value => Number(value.toPrecision(16))

/** @returns {TileMatrix} */
const matrix = (id, cellSize, pointOfOrigin, /** @type {number[]} */ [matrixWidth, matrixHeight], metres = 1) => ({
  id: `${id}`,
  scaleDenominator: rounded(cellSize * metres / PIXEL),
  cellSize,
  cornerOfOrigin: 'topLeft',
  pointOfOrigin,
  tileWidth: TILE,
  tileHeight: TILE,
  matrixWidth,
  matrixHeight
})

/**
 * A set in which each matrix has half the cell size of the one before.
 * @param {any} parts @returns {TileMatrixSet}
 */
function quad ({ origin, cellSize, levels, size = [1, 1], metres = 1, ...set }) {
  const tileMatrices = Array.from({ length: levels }, (_, level) =>
    matrix(level, cellSize / 2 ** level, origin, size.map(count => count * 2 ** level), metres))
  return { ...set, tileMatrices }
}

const MERCATOR_EDGE = 20037508.342789244 // metres from the middle of the world to its edge
const UPS_EDGE = 16440759.350252 // metres from the pole to the edge of its square
const upsQuad = (id, title, code) => quad({
  id,
  title,
  uri: `${REGISTER}${id}`,
  crs: `${EPSG}${code}`,
  orderedAxes: ['E', 'N'],
  origin: [2e6 - UPS_EDGE, 2e6 + UPS_EDGE],
  cellSize: 2 * UPS_EDGE / TILE,
  levels: 25
})

const SWISS = { west: 2420000, north: 1350000, width: 480000, height: 320000 } // metres
const SWISS_CELLS = [
  4000, 3750, 3500, 3250, 3000, 2750, 2500, 2250, 2000, 1750, 1500, 1250, 1000, 750, 650, 500, 250, 100, 50, 20, 10, 5,
  2.5, 2, 1.5, 1, 0.5, 0.25, 0.1
]

function swiss () {
  const { west, north, width, height } = SWISS
  const size = cell => [width, height].map(metres => Math.ceil(metres / (cell * TILE)))
  return SWISS_CELLS.map((cell, level) => matrix(level, cell, [west, north], size(cell)))
}

/** Name -> makes the set. @type {Record<string, () => TileMatrixSet>} */
export const tileMatrixSets = {
  WebMercatorQuad: () => quad({
    id: 'WebMercatorQuad',
    title: 'Web Mercator for the world',
    uri: `${REGISTER}WebMercatorQuad`,
    crs: `${EPSG}3857`,
    orderedAxes: ['X', 'Y'],
    wellKnownScaleSet: 'http://www.opengis.net/def/wkss/OGC/1.0/GoogleMapsCompatible',
    origin: [-MERCATOR_EDGE, MERCATOR_EDGE],
    cellSize: 2 * MERCATOR_EDGE / TILE,
    levels: 31
  }),
  WorldCRS84Quad: () => quad({
    id: 'WorldCRS84Quad',
    title: 'Longitude and latitude for the world',
    uri: `${REGISTER}WorldCRS84Quad`,
    crs: 'http://www.opengis.net/def/crs/OGC/1.3/CRS84',
    orderedAxes: ['Lon', 'Lat'],
    wellKnownScaleSet: 'http://www.opengis.net/def/wkss/OGC/1.0/GoogleCRS84Quad',
    origin: [-180, 90],
    cellSize: 180 / TILE,
    metres: DEGREE,
    size: [2, 1],
    levels: 30
  }),
  EuropeanETRS89_LAEAQuad: () => quad({
    id: 'EuropeanETRS89_LAEAQuad',
    title: 'Equal areas for Europe (ETRS89, LAEA)',
    uri: `${REGISTER}EuropeanETRS89_LAEAQuad`,
    crs: `${EPSG}3035`,
    orderedAxes: ['Y', 'X'],
    origin: [5500000, 2000000],
    cellSize: 17578.125,
    levels: 16
  }),
  LV95: () => ({
    id: 'LV95',
    title: 'Switzerland (CH1903+, LV95), as swisstopo has it',
    crs: `${EPSG}2056`,
    orderedAxes: ['E', 'N'],
    tileMatrices: swiss()
  }),
  DE_EPSG_25832_ADV: () => quad({
    id: 'DE_EPSG_25832_ADV',
    title: 'Germany (ETRS89, UTM zone 32), as the AdV has it',
    crs: `${EPSG}25832`,
    orderedAxes: ['E', 'N'],
    origin: [-46133.17, 6301219.54],
    cellSize: 4891.96981025128,
    levels: 16
  }),
  UPSArcticWGS84Quad: () => upsQuad('UPSArcticWGS84Quad', 'The Arctic (UPS North)', 5041),
  UPSAntarcticWGS84Quad: () => upsQuad('UPSAntarcticWGS84Quad', 'The Antarctic (UPS South)', 5042)
}
