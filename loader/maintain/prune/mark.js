// The document of a layer says when it was pruned, and which times were dropped: what is missing of these is no sign of
// damage, and is not written back (core/store/limits.js). Removals have documents of their own (`removed:…`).
import { layerId } from '../../../core/index.js'
import { beganAt } from '../../../core/runs.js'
import { joinSpans } from '../../../core/store/limits.js'

const MOST = 2000 // spans

const dayOf = time => time.slice(0, 10)

/**
 * Before anything is removed. The time once a day, since mirrors that prune write it, too.
 * @param {import('../../store/index.js').Store} store
 * @param {string} layer
 * @param {string} time
 * @param {string} run of the prune
 * @param {import('./plan.js').PrunePlan} plan
 * @param {string[]} editionTimes beside the moments of the plan
 */
export async function markPruned (store, layer, time, run, plan, editionTimes) {
  const spans = plan.dropped(editionTimes, run)
  // what was loaded since then into times that are still not kept is dropped as well
  const renewed = ([from, until, earlier]) => [from, until, plan.keepsIn(from, until) ? earlier : run]
  await store.couch.update(layerId(layer), doc => {
    if (!doc) return undefined
    const marks = pruneMarks({ ...doc, dropped: doc.dropped?.map(renewed) }, { dropped: spans, pruned: time })
    const isMarked = dayOf(doc.pruned ?? '') >= dayOf(time)
    if (isMarked && JSON.stringify(marks.dropped) === JSON.stringify(doc.dropped)) return undefined
    return { ...doc, ...marks, ...(isMarked && { pruned: doc.pruned }) }
  })
}

/**
 * Of several documents of a layer, the time of the latest prune and everything that was dropped.
 * @param {{pruned?: string, dropped?: import('../../../core/store/limits.js').Dropped[]}[]} docs
 */
export function pruneMarks (...docs) {
  const pruned = docs.flatMap(doc => doc.pruned ?? []).sort().at(-1)
  // of too many, the newest: what is shown of earlier times may then be written back
  const dropped = joinSpans(docs.flatMap(doc => doc.dropped ?? [])).slice(-MOST)
  return { ...(pruned && { pruned }), ...(dropped.length && { dropped }) }
}

/**
 * Statements whose images are missing. Earlier versions did not note what a prune dropped: then without those that it
 * may have removed, which are older than the last prune, to the day. The newest version of a tile is never pruned.
 * @param {{pruned?: string, dropped?: any} | undefined} doc of the layer
 * @param {Pick<import('../../../core/store/settle.js').Settled, 'unknown' | 'before'>} settled
 */
export const lostStatements = (doc, { unknown, before }) => doc?.dropped
  ? unknown
  : unknown.filter(({ time, run }) =>
    time > (before.at(-1)?.time ?? '') || dayOf(beganAt(run)) > dayOf(doc?.pruned ?? ''))
