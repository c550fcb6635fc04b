// Editions whose moments are not kept: as of then the map is not what they loaded any more. Last of all, so that until then
// the store says what there was.
import { endLeaves } from '../remove/documents.js'
import { removeDefaults } from '../remove/defaults.js'
import { Purger } from '../remove/purge.js'

/**
 * @param {import('../store/index.js').Store} store
 * @param {{id: string, rev: string}[]} editions at the revisions that were looked at
 * @param {{tally: import('../remove/tally.js').Tally, purge?: boolean, batch: number, signal?: AbortSignal}} options
 * @returns {Promise<number>} how many went
 */
export async function removeEditions (store, editions, { tally, purge, batch, signal }) {
  const purger = purge ? new Purger(store.couch, { heard: removeDefaults.heard, onPurged: documents => { tally.purged += documents } }) : undefined
  let went = 0
  for (let at = 0; at < editions.length; at += batch) {
    const { gone, changed, refused } = await endLeaves(store.couch, editions.slice(at, at + batch), signal)
    went += gone.size
    tally.changed += changed.length // loaded again meanwhile
    for (const { id, reason } of refused) tell(tally, id, reason)
    await purger?.take(gone)
  }
  await purger?.finish()
  return went
}

function tell (tally, id, reason) {
  tally.refused++
  if (tally.named.length < removeDefaults.named) tally.named.push({ id, what: 'refused', reason })
}
