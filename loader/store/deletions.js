// A document that is written after its deletion begins a new history, beside the one that has ended.
//
// CouchDB by itself goes on with the history that ended, and still takes the attachment for one of its first revision.
// A mirror that knows that revision, and did not hear of the deletion, is then sent the new document without its image,
// and keeps the old one. So a second deletion is written first, which follows nothing: CouchDB continues the longest
// history, which is that one.
import { fingerprint } from '../../core/fingerprint.js'
import { generation, readLeaves } from '../../core/mirror/index.js'

const FEW = 10 // documents that are looked at without asking first whether anything was ever deleted
const MOST = 16 // histories that one document is given: each is read with it for ever

/** @param {string[]} ids of documents that are to be written anew @param {AbortSignal} [signal] */
export async function beginAnew (couch, ids, signal) {
  // a store in which nothing was ever deleted is filled without another look at each document
  if (!ids.length || (ids.length > FEW && !(await couch.request({ path: '', signal })).doc_del_count)) return
  const beginnings = []
  for (const [id, leaves] of await readLeaves(couch, ids, signal)) {
    if (!leaves.length || leaves.length >= MOST || !leaves.every(({ _deleted: isDeleted }) => isDeleted)) continue
    const start = Math.max(...leaves.map(({ _rev: rev }) => generation(rev))) + 1
    // other writers write the same
    const hash = fingerprint(`after ${leaves.map(({ _rev: rev }) => rev).sort().join(' ')}`)
    beginnings.push({ _id: id, _deleted: true, _rev: `${start}-${hash}`, _revisions: { start, ids: [hash] } })
  }
  // one that is refused is no loss: so is what comes next
  if (beginnings.length) await couch.bulk(beginnings, { newEdits: false, signal })
}
