// /wmts/1.0.0/WMTSCapabilities.xml and /wmts/{layer}/{style}/[{Time}/]{TileMatrixSet}/{TileMatrix}/{TileRow}/{TileCol}.{ext}
import { formats } from '../../../core/images.js'
import { OwsError, invalid } from './exception.js'

const FILE = /^([^.]+)\.([A-Za-z0-9]{1,5})$/

/** Extension -> content type; what browsers and clients write besides is here too. */
const TYPES = new Map([...Object.values(formats).map(({ ext, type }) => /** @type {const} */ ([ext, type])), ['jpeg', formats.jpeg.type], ['mvt', formats.mvt.type]])

/**
 * @param {string[]} path segments after /wmts/, decoded
 * @returns {{operation: 'GetCapabilities'} | {operation: 'GetTile', tile: import('./tile.js').Wanted}}
 */
export function parseRest (path) {
  if (path.length === 2 && path[0] === '1.0.0' && path[1] === 'WMTSCapabilities.xml') return { operation: 'GetCapabilities' }
  if (path.length !== 6 && path.length !== 7) throw nothing(path)
  const [layer, style, ...rest] = path
  const time = path.length === 7 ? rest.shift() : undefined
  const [set, matrix, row, file] = rest
  const [, column, extension] = FILE.exec(file) ?? []
  if (column === undefined) throw invalid('TileCol', file, 'an address ends in a column and an extension, such as 412.png')
  const format = TYPES.get(extension.toLowerCase())
  if (!format) throw invalid('Format', extension, `extensions are ${[...TYPES.keys()].join(', ')}`)
  return { operation: 'GetTile', tile: { layer, style, format, set, matrix, row, column, time } }
}

const nothing = path => new OwsError('NoApplicableCode', `nothing at ${path.join('/').slice(0, 60)}: tiles are at layer/style/TileMatrixSet/TileMatrix/TileRow/TileCol.ext, and 1.0.0/WMTSCapabilities.xml says which`, undefined, 404)
