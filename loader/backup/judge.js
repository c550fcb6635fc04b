// Documents out of a file that anybody may have written: what is not as a backup writes it is refused before anything is done with it.
import { digestOf } from '../store/tile.js'

const FIELDS = new Set(['_id', '_rev', '_revisions', '_deleted', '_attachments']) // of CouchDB's own
const ID = 1000 // letters of an id at most; a tile's has a hundred
const REVISION = /^[A-Za-z0-9_.]{1,64}$/
export const PAGES = 2 ** 32 // that a file has at most
const NAME = 255 // letters of the name of an attachment

const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)
const isLength = value => Number.isSafeInteger(value) && value >= 0

/**
 * The documents of a block, each with the bytes of its attachments.
 * @param {any} block its JSON
 * @param {Buffer} bytes behind it
 * @param {(why: string) => Error} wrong
 * @returns {any[]}
 */
export function judge (block, bytes, wrong) {
  if (!isObject(block) || !isLength(block.page) || block.page >= PAGES || !Array.isArray(block.docs)) throw wrong('a block lacks its documents')
  let at = 0
  for (const doc of block.docs) {
    const bad = badIn(doc)
    if (bad) throw wrong(`it holds a document that is none: ${bad}`)
    for (const [name, attachment] of Object.entries(doc._attachments ?? {})) {
      const length = attachment.encoded_length ?? attachment.length
      attachment.data = bytes.subarray(at, at += length)
      if (attachment.data.length !== length) throw wrong(`bytes of ${doc._id} are missing`)
      if (digestOf(attachment.data) !== attachment.digest) throw wrong(`the bytes of ${doc._id}, ${name}, are not those that were stored`)
    }
  }
  if (at !== bytes.length) throw wrong('a block has more bytes than its documents')
  return block.docs
}

/** What is wrong with a document, its bytes aside, if anything is. @param {any} doc @returns {string | undefined} */
export function badIn (doc) {
  if (!isObject(doc)) return 'no object'
  const { _id: id, _rev: rev, _revisions: revisions, _deleted: gone, _attachments: attachments } = doc
  if (typeof id !== 'string' || !id || id.length > ID) return 'a bad id'
  if (id.startsWith('_')) return `${id}, and design documents and the like are not taken from a file`
  const unknown = Object.keys(doc).find(key => key.startsWith('_') && !FIELDS.has(key))
  if (unknown) return `${id} has a field ${unknown}`
  const { start, ids } = isObject(revisions) ? revisions : {}
  if (!Number.isSafeInteger(start) || !Array.isArray(ids) || !ids.length || ids.length > start || !ids.every(one => REVISION.test(one)) || rev !== `${start}-${ids[0]}`) return `${id} has no proper revision`
  if (gone !== undefined && gone !== true) return `${id} has a bad field _deleted`
  if (attachments === undefined) return undefined
  if (!isObject(attachments)) return `${id} has a bad field _attachments`
  const bad = Object.entries(attachments).find(([name, attachment]) => !isAttachment(name, attachment))
  return bad && `${id} has a bad attachment`
}

function isAttachment (name, attachment) {
  if (!name || name.length > NAME || name.startsWith('_') || !isObject(attachment)) return false
  const { content_type: type, digest, length, encoded_length: encoded, encoding, stub, follows, data } = attachment
  return typeof type === 'string' && typeof digest === 'string' && isLength(length) && (encoded === undefined || (isLength(encoded) && typeof encoding === 'string')) &&
    stub === undefined && follows === undefined && data === undefined
}
