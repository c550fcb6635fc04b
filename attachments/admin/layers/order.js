// Moves a layer up or down among the layers of its group: as few documents as possible get another `order`.
import { isValue, layerRules } from '../../../core/rules.js'
import { limitsOf } from '../../../core/record-values.js'
import { fieldsBetween, record, save } from '../edit.js'

const STEP = 10 // between two new orders, so that others fit between them
const [, MOST] = limitsOf(layerRules.order)

/**
 * The orders that change when a layer moves.
 * @param {{layer: string, order?: number}[]} layers of one group, in the order of the list
 * @param {number} from @param {number} to its places
 * @returns {Map<string, number>} layer -> its new order
 */
export function ordersAfter (layers, from, to) {
  const list = [...layers]
  const [moved] = list.splice(from, 1)
  list.splice(to, 0, moved)
  const last = Math.max(from, to)
  const changed = new Map()
  let before = -1
  for (const [index, { layer, order }] of list.entries()) {
    const isAscending = order !== undefined && isValue(order, layerRules.order) && order > before
    if (isAscending) {
      before = order
      continue
    }
    if (index > last && order === undefined) break // layers without an order come last, by name
    // use the room between the two neighbours, if there is some: the following layers then stay unchanged
    const next = list[index + 1]?.order
    const room = next === undefined ? 0 : next - before
    const step = before < 0 ? STEP + 1 : STEP
    before += room > 1 && room <= 2 * STEP ? 1 + ((room - 2) >> 1) : step
    changed.set(layer, before)
  }
  if (before <= MOST) return changed
  return ordersAfter(layers.map(({ layer }) => ({ layer })), from, to) // there is no room: renumber from the start
}

/** @param {import('../app.js').App} app @param {Map<string, number>} orders */
export async function writeOrders (app, orders) {
  const docs = new Map(app.docs.all('layer').map(doc => [doc.layer, doc]))
  for (const [layer, order] of orders) {
    const doc = docs.get(layer)
    if (!doc || doc.order === order) continue
    const { before, after } = await save(app.couch, doc, { order })
    app.docs.put(after)
    await record(app, { what: 'layer', done: 'changed', layer, fields: fieldsBetween(before, { order }) })
  }
}
