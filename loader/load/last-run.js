// What the last run of a command left, so that the next one looks only at what was written since: a position in the
// change feed, and what else the command wants to know. It is a `_local` document, which is not replicated: another
// store has its own runs. A run that was killed, or left anything to do, writes none, and the one before stays true.
// Where anything is doubtful the command looks at everything.
import { canContinue, sequenceNumber } from '../../core/feed-position.js'
import { positionIn } from './baseline.js'

const FEW = 1000 // changes that are read in any case

const idOf = name => `_local/tilecouch-${name}`

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} name of the command, and of what it looks at
 * @param {AbortSignal} [signal]
 * @returns {Promise<{now: ReturnType<typeof positionIn>, last?: any}>} now: before anything is read
 */
export async function lastRun (couch, name, signal) {
  const info = await couch.request({ path: '', signal })
  const now = positionIn(info)
  // the copies of a cluster differ for a moment: what one of them has may be missing in an answer of another
  if (now.copies !== 1) return { now }
  const last = await couch.get(idOf(name), signal)
  if (!(sequenceNumber(last?.since) >= 0) || !canContinue(last, now)) return { now }
  // with as many changes as that, looking at everything takes less time than the feed
  const written = sequenceNumber(now.since) - sequenceNumber(last.since)
  return { now, ...(written <= Math.max(info.doc_count / 2, FEW) && { last }) }
}

/**
 * After a run that left nothing to do.
 * @param {ReturnType<typeof positionIn>} now
 * @param {object} found besides the position
 */
export async function noteRun (couch, name, now, found, signal) {
  const { copies, ...position } = now
  if (copies !== 1) return
  await couch.update(idOf(name), () => ({ ...position, ...found }), signal)
}
