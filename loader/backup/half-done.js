// A backup holds a moment of the store, and that moment may lie between two requests of a load or a removal. Nobody goes on with
// those in the restored store, so that the tiles they had in hand are settled there.
import { tileId } from '../../core/index.js'
import { versions } from '../store/columns.js'
import { settleAll } from '../store/settle.js'
import { Store } from '../store/index.js'
import { walk } from '../store/walk.js'

/** @param {import('../store/couch.js').Couch} couch @param {AbortSignal} [signal] */
export async function settleHalfDone (couch, signal) {
  for (const { layer } of await new Store(couch).layers()) await settleAll(couch, layer, halfDone(couch, layer, signal), { signal })
}

/** Tiles whose head is older than their past. One without a head was left like that by somebody. @returns {AsyncGenerator<string>} */
async function * halfDone (couch, layer, signal) {
  for await (const { z, x, y, rows } of walk(couch, versions, layer, { signal })) {
    const id = tileId(layer, z, x, y)
    const head = rows.find(row => row.id === id)
    if (head && rows.some(({ key }) => key[4] > head.key[4])) yield id
  }
}
