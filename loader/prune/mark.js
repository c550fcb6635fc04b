// That something was taken out of the past of a layer is said by its document: what then looks odd, such as the same image
// twice in a row, is no sign of damage.
import { layerId } from '../../core/index.js'

/**
 * Once in the life of a layer.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {() => string} now
 */
export async function markPruned (store, layer, now) {
  await store.couch.update(layerId(layer), doc => !doc || doc.pruned ? undefined : { ...doc, pruned: now() })
}
