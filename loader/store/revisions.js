// Documents that are written beside or instead of others, with their revisions. Everything here follows from what is
// stored alone, revisions included: CouchDB and the embedded store compute revisions differently, and a repair on both
// sides of a replication must write the same document.
import { hash } from 'node:crypto'
import { TILE_ATTACHMENT } from '../../core/index.js'
import { generation } from '../../core/mirror/index.js'

/** JSON that is the same for equal values: fields in the order of their names. @returns {string} */
export function canonical (value) {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null'
  const fields = Object.keys(value).filter(name => value[name] !== undefined).sort()
  return `{${fields.map(name => `${JSON.stringify(name)}:${canonical(value[name])}`).join(',')}}`
}

const md5 = text => hash('md5', text)

/** The fields of a document that are not the database's. */
export const fieldsOf = doc => Object.fromEntries(Object.entries(doc).filter(([name]) => !name.startsWith('_')))

const imageOf = doc => doc._attachments?.[TILE_ATTACHMENT]

/** Revisions below a revision, or at the beginning of a branch. @param {string | undefined} parent */
function revisionsUnder (parent, text) {
  const [start, above] = parent ? [generation(parent) + 1, [parent.slice(parent.indexOf('-') + 1)]] : [1, []]
  return { start, ids: [md5(`${parent ?? ''} ${text}`), ...above] }
}

const under = (doc, { start, ids }) => ({ ...doc, _rev: `${start}-${ids[0]}`, _revisions: { start, ids } })

/** @param {any} doc without revision; an attachment with its bytes and digest @param {string} [parent] */
export function written (doc, parent) {
  const fields = { _id: doc._id, ...fieldsOf(doc) }
  const image = imageOf(doc)
  if (!image) return under(fields, revisionsUnder(parent, canonical(fields)))
  const shown = { ...fields, [TILE_ATTACHMENT]: [image.content_type, image.digest] }
  const revisions = revisionsUnder(parent, canonical(shown))
  const { digest, length, follows, stub, ...sent } = image
  // CouchDB takes it as it is given: with none, replicators would never send the bytes
  return under({ ...fields, _attachments: { [TILE_ATTACHMENT]: { ...sent, revpos: revisions.start } } }, revisions)
}

/** The end of a leaf. */
export const tombstone = (id, rev) => under({ _id: id, _deleted: true }, revisionsUnder(rev, 'deleted'))

// Every leaf of documents, those that were ended as well.

/**
 * @returns {Promise<Map<string, {living: any[], ended: any[]}>>} without bytes; nothing of documents that there never
 *   were
 */
export async function readLeaves (couch, ids, signal) {
  const leavesById = new Map()
  for (const [id, leaves] of await couch.leaves(ids, { signal })) {
    const [living, ended] = [leaves.filter(doc => !doc._deleted), leaves.filter(doc => doc._deleted)]
    if (leaves.length) leavesById.set(id, { living, ended })
  }
  return leavesById
}
