// Whether a database holds what its backup says, and nothing else: every document, every revision, the digest of every image.
import { digestsOf } from './ledger.js'

export const compareDefaults = {
  page: 1000, // documents compared at once
  named: 20 // differences that are told
}

/**
 * @param {import('../../core/mirror/index.js').CouchPeer} peer
 * @param {import('./ledger.js').Ledger} ledger
 * @param {{signal?: AbortSignal, onProgress?: (compared: number) => void}} [options]
 * @returns {Promise<{compared: number, differences: number, named: string[]}>}
 */
export async function compare (peer, ledger, { signal, onProgress } = {}) {
  const found = { compared: 0, differences: 0, named: /** @type {string[]} */ ([]) }
  const differ = what => {
    found.differences++
    if (found.named.length < compareDefaults.named) found.named.push(what)
  }
  for (let since = /** @type {string | number} */ (0); ;) {
    const { rows, last } = await peer.changes({ since, limit: compareDefaults.page, signal })
    const own = rows.filter(({ id }) => !id.startsWith('_design/'))
    await comparePage(peer, ledger, own, differ, signal)
    found.compared += own.length
    onProgress?.(found.compared)
    since = last
    if (rows.length < compareDefaults.page) break
  }
  for (const id of ledger.unseen(compareDefaults.named)) differ(`${id} is missing`)
  return found
}

async function comparePage (peer, ledger, rows, differ, signal) {
  /** @type {Map<string, {id: string, rev: string, digests: string}>} */
  const wanted = new Map()
  for (const { id, revs } of rows) {
    const leaves = ledger.leaves(id)
    if (!leaves.length) differ(`${id} should not be there`)
    ledger.see(id)
    for (const { rev, digests } of leaves) {
      if (!revs.includes(rev)) differ(`${id} lacks its revision ${rev}`)
      else if (digests) wanted.set(`${id} ${rev}`, { id, rev, digests })
    }
    for (const rev of revs) if (leaves.length && !leaves.some(leaf => leaf.rev === rev)) differ(`${id} has a revision of its own, ${rev}`)
  }
  const docs = await peer.couch.revisions([...wanted.values()].map(({ id, rev }) => ({ id, rev })), { attachments: false, signal })
  const found = new Map(docs.map(doc => [`${doc._id} ${doc._rev}`, doc]))
  for (const [key, { id, digests }] of wanted) {
    const doc = found.get(key)
    if (!doc) differ(`${key} cannot be read`)
    else if (digestsOf(doc) !== digests) differ(`${id} has other bytes`)
  }
}
