// That a layer was pruned is said by its document: an edition whose image is nowhere is then no sign of damage. A removal says by
// itself what it took out (`removed:…`).
import { layerId } from '../../core/index.js'
import { beganAt } from '../../core/runs.js'

const dayOf = time => time.slice(0, 10)

/**
 * Once a day, since mirrors that prune as well write it too.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {() => string} now
 */
export async function markPruned (store, layer, now) {
  const time = now()
  await store.couch.update(layerId(layer), doc => !doc || dayOf(doc.pruned ?? '') >= dayOf(time) ? undefined : { ...doc, pruned: time })
}

/**
 * Whether an image that a run said may have been taken out: what was said before the last prune, as far as the day tells.
 * @param {{pruned?: string} | undefined} doc of the layer
 * @param {string} run
 */
export const mayBePruned = (doc, run) => dayOf(beganAt(run)) <= dayOf(doc?.pruned ?? '')
