// /wmts?SERVICE=WMTS&REQUEST=…: names in any case, values as the capabilities have them. What a parameter means is
// resolved in tile.js; here it is only read. Parameters nobody knows are left alone, and of two with one name the first counts.
import { OwsError, invalid, missing } from './exception.js'

const VERSION = '1.0.0'

/** Parameters of GetTile besides service, request and version, in the order they are missed. */
const TILE = ['Layer', 'Style', 'Format', 'TileMatrixSet', 'TileMatrix', 'TileRow', 'TileCol']

/**
 * @param {URLSearchParams} query
 * @returns {{operation: 'GetCapabilities'} | {operation: 'GetTile', tile: import('./tile.js').Wanted}}
 */
export function parseKvp (query) {
  /** @type {Map<string, string>} */
  const values = new Map()
  for (const [name, value] of query) if (!values.has(name.toLowerCase())) values.set(name.toLowerCase(), value)
  const given = name => values.get(name.toLowerCase())
  const required = name => given(name) || fail(missing(name))

  const service = required('service')
  if (service.toUpperCase() !== 'WMTS') throw invalid('service', service, 'this is a WMTS')
  const operation = required('request')
  if (operation === 'GetCapabilities') return capabilities(given('AcceptVersions'))
  if (operation === 'GetFeatureInfo') throw new OwsError('OperationNotSupported', 'these layers hold pictures: there is nothing to ask about a point', operation)
  if (operation !== 'GetTile') throw invalid('request', operation, 'there are GetCapabilities and GetTile')

  const version = required('version')
  if (version !== VERSION) throw invalid('version', version, `only ${VERSION} is spoken here`)
  const [layer, style, format, set, matrix, row, column] = TILE.map(required)
  return { operation, tile: { layer, style, format, set, matrix, row, column, time: given('Time') } }
}

function capabilities (versions) {
  if (versions && !versions.split(',').some(version => version.trim() === VERSION)) {
    throw new OwsError('VersionNegotiationFailed', `of WMTS there is ${VERSION} here, and not ${versions.slice(0, 60)}`)
  }
  return /** @type {const} */ ({ operation: 'GetCapabilities' })
}

/** @returns {never} */
function fail (error) {
  throw error
}
