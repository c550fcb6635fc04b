// From the words of a GetTile to a tile of the store, or to the parameter that is wrong. It serves what the capabilities
// offer: the layer's format, the matrix set of its tile size, its zooms and its bounds.
import { checkTile } from '../../../core/grid.js'
import { isLayer } from '../../../core/ids.js'
import { formats } from '../../../core/images.js'
import { endOf } from '../../../core/times.js'
import { OwsError, invalid } from './exception.js'
import { limitsOf, matrixSetOf, zoomsOf } from './matrix-sets.js'

/** @typedef {{layer: string, style: string, format: string, set: string, matrix: string, row: string, column: string, time?: string}} Wanted as written */

/** The only style of a layer: its pictures are drawn already. */
export const STYLE = 'default'

const NOW = /^(?:default|current|\{time\})?$/i // clients that know no dimensions leave the word in the address template as it is
const ZOOM = /^(?:0|[1-9]\d?)$/
const INDEX = /^-?(?:0|[1-9]\d{0,14})$/ // a number that is too big or negative is one out of range

/** @param {Record<string, any>} layer */
export const formatOf = layer => Object.values(formats).find(({ ext }) => ext === layer.format) ?? formats.png

/**
 * @param {{get: (name: string) => Promise<Record<string, any>>}} layers
 * @param {Wanted} wanted
 * @returns {Promise<{kind: 'tile', layer: string, time?: string, z: number, x: number, y: number, ext: string}>}
 */
export async function resolveTile (layers, { layer: name, style, format, set, matrix, row, column, time }) {
  if (!isLayer(name)) throw invalid('Layer', name, 'no layer has such a name')
  const at = resolveTime(time)
  const layer = await layers.get(name)
  if (style !== STYLE) throw invalid('Style', style, `the style is ${STYLE}`)
  const { type, ext } = formatOf(layer)
  if (format.toLowerCase() !== type) throw invalid('Format', format, `${name} is ${type}`)
  const known = matrixSetOf(layer)
  if (set !== known.id && set !== known.name) throw invalid('TileMatrixSet', set, `${name} is in ${known.id}`)
  const { min, max } = zoomsOf(layer)
  const z = ZOOM.test(matrix) ? +matrix : NaN
  if (!(z <= max)) throw invalid('TileMatrix', matrix, `${name} has ${min} to ${max}`)
  if (z < min) throw new OwsError('TileOutOfRange', `TileMatrix ${z}: ${name} begins at ${min}`, 'TileMatrix')
  const { minRow, maxRow, minCol, maxCol } = limitsOf(layer, z)
  const y = index('TileRow', row, minRow, maxRow)
  const x = index('TileCol', column, minCol, maxCol)
  return { kind: 'tile', layer: name, ...(at && { time: at }), ...checkTile(z, x, y), ext }
}

/**
 * What a Time asks for: nothing for the newest, else the last second of what was written. Clients write fractions and
 * offsets, tile addresses do not have them.
 * @param {string} [time]
 */
function resolveTime (time = '') {
  if (NOW.test(time)) return
  try {
    return endOf(time)
  } catch {
    throw invalid('Time', time, 'times are current, 2024, 2024-03, 2024-03-01 or 2024-03-01T12:00:00Z')
  }
}

function index (parameter, text, least, most) {
  if (!INDEX.test(text)) throw invalid(parameter, text, 'indexes are whole numbers')
  const value = +text
  if (value < least || value > most) throw new OwsError('TileOutOfRange', `${parameter} ${value}: the layer has ${least} to ${most} there`, parameter)
  return value
}
