// The document of a layer says when it was pruned: a missing image of an older edition is then no sign of damage.
// Removals have documents of their own (`removed:…`).
import { layerId } from '../../core/index.js'
import { beganAt } from '../../core/runs.js'

const dayOf = time => time.slice(0, 10)

/**
 * Once a day, since mirrors that prune write it, too.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {() => string} now
 */
export async function markPruned (store, layer, now) {
  const time = now()
  await store.couch.update(layerId(layer), doc => !doc || dayOf(doc.pruned ?? '') >= dayOf(time) ? undefined : { ...doc, pruned: time })
}

/** Of two documents of a layer, the time of the later prune. @param {{pruned?: string}[]} docs */
export const lastPrune = (...docs) => docs.flatMap(({ pruned }) => pruned ?? []).sort().at(-1)

/**
 * Statements whose images are missing, without those that a prune may have removed: older ones than the last prune, to
 * the day. The newest version of a tile is never pruned.
 * @param {{pruned?: string} | undefined} doc of the layer
 * @param {Pick<import('../../core/store/settle.js').Settled, 'unknown' | 'before'>} settled
 */
export const lostStatements = (doc, { unknown, before }) => unknown.filter(({ time, run }) =>
  time > (before.at(-1)?.time ?? '') || dayOf(beganAt(run)) > dayOf(doc?.pruned ?? ''))
