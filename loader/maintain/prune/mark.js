// Writes into the document of a layer when it was pruned and which times were dropped. Missing versions of these times
// are no fault and are not written back (core/store/limits.js). Removals have their own documents (`removed:…`).
import { layerId, parseTileId } from '../../../core/index.js'
import { beganAt } from '../../../core/runs.js'
import { joinSpans } from '../../../core/store/limits.js'

const MOST = 2000 // spans

const dayOf = time => time.slice(0, 10)

/**
 * Call it before the first removal. It writes the time only once a day, because mirrors that prune write it, too.
 * @param {import('../../store/index.js').Store} store
 * @param {string} layer
 * @param {string} time
 * @param {string} run of the prune
 * @param {import('./plan.js').PrunePlan} plan
 * @param {string[]} editionTimes more times, beside the moments of the plan
 */
export async function markPruned (store, layer, time, run, plan, editionTimes) {
  const spans = plan.dropped(editionTimes, run)
  // later loads into times that are still not kept are dropped as well
  const renewSpan = ([from, until, earlier]) => [from, until, plan.keepsIn(from, until) ? earlier : run]
  await store.couch.update(layerId(layer), doc => {
    if (!doc) return undefined
    const marks = pruneMarks({ ...doc, dropped: doc.dropped?.map(renewSpan) }, { dropped: spans, pruned: time })
    const isMarked = dayOf(doc.pruned ?? '') >= dayOf(time)
    if (isMarked && JSON.stringify(marks.dropped) === JSON.stringify(doc.dropped)) return undefined
    return { ...doc, ...marks, ...(isMarked && { pruned: doc.pruned }) }
  })
}

/**
 * Combines the marks of several documents of a layer: the time of the latest prune and all dropped times.
 * @param {{pruned?: string, dropped?: import('../../../core/store/limits.js').Dropped[]}[]} docs
 */
export function pruneMarks (...docs) {
  const pruned = docs.flatMap(doc => doc.pruned ?? []).sort().at(-1)
  // only the newest spans: versions of earlier times may be written back then
  const dropped = joinSpans(docs.flatMap(doc => doc.dropped ?? [])).slice(-MOST)
  return { ...(pruned && { pruned }), ...(dropped.length && { dropped }) }
}

/**
 * Statements whose images are lost. Those of a mirrored part that has not the tile are not: another writer loaded it
 * here. Earlier tilecouch versions did not note dropped times: then statements older than the day of the last prune are
 * left out, because it may have removed them. A prune keeps the newest version of a tile.
 * @param {string} id of the tile
 * @param {Pick<import('../../../core/store/settle.js').Settled, 'unknown' | 'before'>} settled
 * @param {{limits: import('../../../core/store/limits.js').Limits, doc?: {pruned?: string, dropped?: any}}} layer
 */
export function lostStatements (id, { unknown, before }, { limits, doc }) {
  const { z, x, y } = parseTileId(id)
  if (limits.mayLack(z, x, y)) return []
  return doc?.dropped ? unknown : unknown.filter(({ time, run }) =>
    time > (before.at(-1)?.time ?? '') || dayOf(beganAt(run)) > dayOf(doc?.pruned ?? ''))
}
