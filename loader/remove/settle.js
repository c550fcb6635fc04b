// Looks once more at tiles whose head went or fell back. A load that looked at them before, and wrote after, has decided by
// what is not there any more:
//
//   - it copied the head that went to the past, to overwrite it: the copy goes, too
//   - it wrote an older version to the past of a head that is now older still, or gone: that version becomes the head
import { isSameVersion, pastOf } from '../../core/store/documents.js'
import { endSome } from './copies.js'
import { asHead, endLeaves, readTiles } from './documents.js'

/** @typedef {{id: string, gone?: any}} Touched gone: the document of the head that went or was overwritten */

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {Touched[]} touched
 * @param {import('./journal.js').Journal} journal
 * @param {AbortSignal} [signal]
 * @returns {Promise<Map<string, string>>} what was deleted: id -> revision of the deletion
 */
export async function settle (couch, touched, journal, signal) {
  const gone = new Map(touched.map(one => [one.id, one.gone])) // the last, where one was touched twice
  const tiles = await readTiles(couch, [...gone.keys()], signal)
  const copies = []
  const raised = []
  for (const { id, head, pasts } of tiles) {
    const left = pasts.filter(past => !isLeftOver(past, gone.get(id), head))
    copies.push(...pasts.filter(past => !left.includes(past)))
    const newest = left.at(-1)
    if (newest && (!head || newest.time > head.time)) raised.push({ id, head, newest })
  }
  const { gone: ended } = await endLeaves(couch, copies.map(({ _id: id, _rev: rev }) => ({ id, rev })))
  return new Map([...ended, ...await raise(couch, raised, journal, signal)])
}

/** A copy of what was removed, made for a step that then met a conflict: it was learnt at the same moment, too. */
const isLeftOver = (past, gone, head) => Boolean(gone) && isSameVersion(past, gone) && past.stored === gone.stored && head?.time !== past.time

/**
 * Makes the newest version the head. The one before it goes to the past first.
 * @param {import('../store/couch.js').Couch} couch
 * @param {{id: string, head?: any, newest: any}[]} tiles
 * @param {import('./journal.js').Journal} journal
 * @param {AbortSignal} [signal]
 */
async function raise (couch, tiles, journal, signal) {
  if (!tiles.length) return new Map()
  const read = async (ids, attachments) => {
    const docs = /** @type {Map<string, any>} */ (new Map())
    for (const { id, doc } of await couch.docs(ids, { attachments, signal })) docs.set(id, doc)
    return docs
  }
  const docs = await read(tiles.flatMap(({ head, newest }) => head ? [newest._id, head._id] : [newest._id]), true)
  const ready = tiles.filter(({ head, newest }) => docs.get(newest._id) && (!head || docs.get(head._id)?._rev === head._rev))
  const copies = ready.flatMap(({ head }) => head ? [pastOf(docs.get(head._id))] : [])
  if (copies.length) await couch.send(copies)
  const standing = await read(copies.map(({ _id }) => _id), false)
  const safe = ready.filter(tile => {
    const copy = tile.head && standing.get(`${tile.id}@${tile.head.time}`)
    return !tile.head || (copy && isSameVersion(copy, tile.head))
  })
  if (!safe.length) return new Map()
  await journal.note(new Map(safe.map(({ id, newest }) => [id, { time: newest.time, copy: newest._rev }])))
  // whoever is quicker here has decided by what is there now
  await couch.send(safe.map(({ head, newest }) => asHead(docs.get(newest._id), head?._rev)))
  const { gone } = await endSome(couch, safe.map(({ id }) => id), journal)
  return gone
}
