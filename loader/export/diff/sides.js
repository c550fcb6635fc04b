// The two sides of a comparison, each a layer as of a time. They give what they hold in the order of ids.
import { endOf, formatReference, gridOf, isSameGrid, parseReference } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { LATEST } from '../../store/list.js'

/**
 * A tile as one side has it, without bytes.
 * @typedef {object} Entry
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {number} size bytes
 * @property {string} [time]
 * @property {string} id of the document
 * @property {string} layer
 * @property {boolean} [current]
 *
 * @typedef {object} Wanted
 * @property {import('../../../core/area.js').Area} [area]
 * @property {import('../../../core/grid.js').Zooms} [zooms]
 * @property {AbortSignal} [signal]
 *
 * @typedef {object} Side
 * @property {string} name as people write it
 * @property {string} layer
 * @property {string} [time] exact: the last second that counts; without it a layer is taken as it is now
 * @property {Record<string, any>} doc fields of its layer
 * @property {() => AsyncIterable<Entry>} entries what exists, in the order of ids
 */

/**
 * @param {import('../../store/index.js').Store} store
 * @param {[string, string]} texts such as `osm@2023`
 * @param {Wanted} wanted
 * @returns {Promise<[Side, Side]>}
 */
export async function openSides (store, [from, to], wanted) {
  const first = await openLayer(store, parseReference(from), wanted)
  const second = await openLayer(store, parseReference(to), wanted)
  if (isSameGrid(first.doc, second.doc)) return [first, second]
  const [grid, otherGrid] = [first, second].map(({ doc }) => gridOf(doc).id)
  throw new TilecouchError('OTHER_GRID', { what: first.name, grid, other: second.name, otherGrid })
}

/**
 * @param {import('../../store/index.js').Store} store
 * @param {{layer: string, time?: string}} reference
 * @param {Wanted} wanted
 * @returns {Promise<Side>}
 */
async function openLayer (store, { layer, time }, wanted) {
  const when = time === undefined ? undefined : endOf(time)
  const doc = await store.layer(layer)
  const area = wanted.area?.in(gridOf(doc))
  return {
    name: formatReference(layer, time),
    layer,
    ...(when && { time: when }),
    doc,
    entries: () => store.list(layer, { time: when ?? LATEST, ...wanted, area })
  }
}
