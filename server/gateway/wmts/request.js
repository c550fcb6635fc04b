// Parses requests to the WMTS, by address (RESTful) or by parameters (KVP), and finds the tile of a GetTile in the
// store. Only the format, the matrix set, the zooms and the bounds in the capabilities are served.
import { formatOfLayer, formats } from '../../../core/formats.js'
import { isLayer } from '../../../core/index.js'
import { matrixSetOf, zoomsOf } from '../../../core/wmts.js'
import { coveredOrWhole } from '../coverage.js'
import { OwsError, invalid } from './errors.js'
import { resolveTime } from './times.js'

/**
 * @typedef {{layer: string, style: string, format: string, set: string, matrix: string, row: string, column: string,
 *   time?: string}} TileRequest as written
 * @typedef {{operation: 'GetCapabilities', time?: string} | {operation: 'GetTile', tile: TileRequest}} WmtsRequest
 *   time: as written
 */

const VERSION = '1.0.0'

/** Parameters of GetTile besides service, request and version, in the order in which they are checked. */
const TILE = ['Layer', 'Style', 'Format', 'TileMatrixSet', 'TileMatrix', 'TileRow', 'TileCol']

/**
 * /wmts?SERVICE=WMTS&REQUEST=…: names in any case, values as in the capabilities. Unknown parameters are ignored. If
 * a name is given twice, the first value counts.
 * @returns {WmtsRequest}
 */
export function parseKvp (query) {
  /** @type {Map<string, string>} */
  const values = new Map()
  for (const [name, value] of query) if (!values.has(name.toLowerCase())) values.set(name.toLowerCase(), value)
  const valueOf = name => values.get(name.toLowerCase())
  const required = name => {
    const value = valueOf(name)
    if (!value) throw new OwsError('MissingParameterValue', `the request has no ${name}`, name)
    return value
  }

  const service = required('service')
  if (service.toUpperCase() !== 'WMTS') throw invalid('service', service, 'this is a WMTS')
  const operation = required('request')
  if (operation === 'GetCapabilities') {
    const versions = valueOf('AcceptVersions')
    if (versions && !versions.split(',').some(version => version.trim() === VERSION)) {
      const text = `this gateway has WMTS ${VERSION}, not ${versions.slice(0, 60)}`
      throw new OwsError('VersionNegotiationFailed', text)
    }
    return { operation, time: valueOf('Time') }
  }
  if (operation === 'GetFeatureInfo') {
    const text = 'these layers are pictures: points have no information'
    throw new OwsError('OperationNotSupported', text, operation, 501)
  }
  if (operation !== 'GetTile') throw invalid('request', operation, 'it takes GetCapabilities or GetTile')
  const version = required('version')
  if (version !== VERSION) throw invalid('version', version, `only ${VERSION} is supported here`)
  const [layer, style, format, set, matrix, row, column] = TILE.map(required)
  return { operation, tile: { layer, style, format, set, matrix, row, column, time: valueOf('Time') } }
}

const FILE = /^([^.]+)\.([A-Za-z0-9]{1,5})$/

/** Extension -> content type; with other spellings that clients use. */
const TYPES = new Map([
  ...Object.values(formats).map(({ ext, type }) => /** @type {const} */ ([ext, type])),
  ['jpeg', formats.jpeg.type],
  ['mvt', formats.mvt.type]
])

const TILE_PATH = 6 // segments of an address without a time
const YEAR = /^\d{4}/

/**
 * /wmts/1.0.0/WMTSCapabilities.xml or
 * /wmts/{layer}/{style}/[{Time}/]{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}.{ext}
 * @param {string[]} path segments after /wmts/, decoded
 * @returns {WmtsRequest}
 */
export function parseRest (path) {
  if (path.length === 2 && path[0] === '1.0.0' && path[1] === 'WMTSCapabilities.xml') {
    return { operation: 'GetCapabilities' }
  }
  const timeSegments = path.length - TILE_PATH // programs do not encode the slashes of start/end/step
  const isTile = timeSegments === 0 || timeSegments === 1 || (timeSegments <= 3 && YEAR.test(path[2]))
  if (timeSegments < 0 || !isTile || path[0] === '1.0.0') {
    const where = 'tiles are at layer/style/TileMatrixSet/TileMatrix/TileRow/TileCol.ext; ' +
      '1.0.0/WMTSCapabilities.xml lists them'
    throw new OwsError('NoApplicableCode', `nothing at ${path.join('/').slice(0, 60)}: ${where}`, undefined, 404)
  }
  const [layer, style, ...place] = path
  const time = timeSegments > 0 ? place.splice(0, timeSegments).join('/') : undefined
  const [set, matrix, row, file] = place
  const [, column, extension] = FILE.exec(file) ?? []
  if (column === undefined) {
    throw invalid('TileCol', file, 'an address ends in a column and an extension, such as 412.png')
  }
  const format = TYPES.get(extension.toLowerCase())
  if (!format) throw invalid('Format', extension, `extensions are ${[...TYPES.keys()].join(', ')}`)
  return { operation: 'GetTile', tile: { layer, style, format, set, matrix, row, column, time } }
}

/** The only style of a layer: its images are already drawn. */
export const STYLE = 'default'

const INDEX = /^-?(?:0|[1-9]\d{0,14})$/ // large and negative numbers match: they are out of range

/**
 * The requested tile of the store. Throws an error that names the wrong parameter.
 * @param {{get: (name: string) => Promise<Record<string, any>>}} layers @param {TileRequest} request
 * @param {string} [addressTime] the time of the address
 * @returns {Promise<{kind: 'tile', layer: string, time?: string, z: number, x: number, y: number, ext: string}>}
 */
export async function resolveTile (layers, request, addressTime) {
  const { layer: name, style, format, set, matrix, row, column, time } = request
  const moment = resolveTime(time, addressTime)
  if (!isLayer(name)) throw invalid('Layer', name, 'no layer has such a name')
  const layer = await layers.get(name)
  if (style !== STYLE) throw invalid('Style', style, `the style is ${STYLE}`)
  const { id, name: shortId, grid } = matrixSetOf(layer)
  if (set !== id && set !== shortId) throw invalid('TileMatrixSet', set, `${name} is in ${id}`)
  const { type, ext } = formatOfLayer(layer)
  if (format.toLowerCase() !== type) throw invalid('Format', format, `${name} is ${type}`)
  const { min, max } = zoomsOf(layer)
  const [first, last] = [grid.matrix(min).id, grid.matrix(max).id]
  const z = grid.zoomOf(matrix) ?? NaN
  if (!(z <= max)) throw invalid('TileMatrix', matrix, `${name} has ${first} to ${last}`)
  if (z < min) throw new OwsError('TileOutOfRange', `TileMatrix ${matrix}: ${name} begins at ${first}`, 'TileMatrix')
  const { x0, x1, y0, y1 } = coveredOrWhole(layer, z)
  const y = resolveIndex('TileRow', row, y0, y1)
  const x = resolveIndex('TileCol', column, x0, x1)
  return { kind: 'tile', layer: name, ...(moment && { time: moment }), z, x, y, ext }
}

function resolveIndex (parameter, text, least, most) {
  if (!INDEX.test(text)) throw invalid(parameter, text, 'indexes are whole numbers')
  const value = +text
  if (value >= least && value <= most) return value
  throw new OwsError('TileOutOfRange', `${parameter} ${value}: the layer has ${least} to ${most} there`, parameter)
}
