// Makes documents with revisions, to write them beside or instead of stored ones. They depend only on the stored
// documents: CouchDB and the embedded store compute revisions differently, and a repair on both sides of a replication
// must write the same document.
import { hash } from 'node:crypto'
import { TILE_ATTACHMENT } from '../../core/index.js'
import { generation } from '../../core/mirror/index.js'
import { canonical } from '../../core/values.js'
import { imageOf } from './tile.js'

const md5 = text => hash('md5', text)

/** The fields of a document without those of CouchDB. */
export const fieldsOf = doc => Object.fromEntries(Object.entries(doc).filter(([name]) => !name.startsWith('_')))

/** The revisions of a child of `parent`; of a new branch without it. @param {string | undefined} parent */
function revisionsUnder (parent, text) {
  const [start, ancestors] = parent ? [generation(parent) + 1, [parent.slice(parent.indexOf('-') + 1)]] : [1, []]
  return { start, ids: [md5(`${parent ?? ''} ${text}`), ...ancestors] }
}

const withRevisions = (doc, { start, ids }) => ({ ...doc, _rev: `${start}-${ids[0]}`, _revisions: { start, ids } })

/** A document with its revision. @param {any} doc an attachment with bytes and digest @param {string} [parent] */
export function written (doc, parent) {
  const fields = { _id: doc._id, ...fieldsOf(doc) }
  const image = imageOf(doc)
  if (!image) return withRevisions(fields, revisionsUnder(parent, canonical(fields)))
  const hashedFields = { ...fields, [TILE_ATTACHMENT]: [image.content_type, image.digest] }
  const revisions = revisionsUnder(parent, canonical(hashedFields))
  const { digest, length, follows, stub, ...sent } = image
  // CouchDB stores revpos as it is sent: without it, replicators would never send the bytes
  return withRevisions(
    { ...fields, _attachments: { [TILE_ATTACHMENT]: { ...sent, revpos: revisions.start } } }, revisions
  )
}

/** The revision that deletes a leaf. */
export const tombstone = (id, rev) => withRevisions({ _id: id, _deleted: true }, revisionsUnder(rev, 'deleted'))

/**
 * Reads all leaves of documents, deleted ones included.
 * @returns {Promise<Map<string, {living: any[], ended: any[]}>>} without bytes; without documents that never existed
 */
export async function readLeavesByState (couch, ids, signal) {
  const leavesById = new Map()
  for (const [id, leaves] of await couch.leaves(ids, { signal })) {
    const [living, ended] = [leaves.filter(doc => !doc._deleted), leaves.filter(doc => doc._deleted)]
    if (leaves.length) leavesById.set(id, { living, ended })
  }
  return leavesById
}
