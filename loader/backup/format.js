// The format of a backup file, which docs/backup.md describes, and its limits. Writer and reader share them. A document
// that exceeds a limit is left out of the backup and reported, because readers would refuse the file. A file is:
//   magic, then blocks: one header, documents, one trailer; then the length of the trailer, to find it from the end.
//   A block: its kind, the lengths of its JSON (in gzip) and of the attachments, both of these, and a CRC-32 of it all.
import { promisify } from 'node:util'
import { crc32, gzip as gzipWith } from 'node:zlib'
import { TilecouchError } from '../errors.js'
import { digestOf } from '../store/tile.js'
import { isObject } from '../../core/values.js'

export const FORMAT = 1
export const MAGIC = Buffer.from(`tilecouch backup ${FORMAT}\n`)
export const END = Buffer.from('end\n')

export const HEADER = 'H' // kinds of blocks
export const DOCUMENTS = 'D'
export const TRAILER = 'T'

export const HEAD = 9 // bytes of a block before its contents
export const CHECK = 4 // bytes after them
export const FOOTER = 4 + END.length // bytes after the trailer
export const PAGES = 2 ** 32 // of a file at most

export const formatDefaults = {
  json: 16 * 2 ** 20, // bytes of a block's JSON in the file at most
  unpacked: 32 * 2 ** 20, // bytes of it unpacked
  values: 2e6, // lists, objects and texts in it: an empty list has two bytes, and takes fifty in memory
  depth: 100, // of nested lists and objects
  wanted: 2 * 2 ** 20, // characters of JSON after which a new block starts
  bytes: 128 * 2 ** 20, // bytes of a block's attachments
  level: 6 // of gzip
}

const FIELDS = new Set(['_id', '_rev', '_revisions', '_deleted', '_attachments']) // of CouchDB
const ID = 1000 // letters of an id; the id of a tile has at most a hundred
const REVISION = /^[A-Za-z0-9_.]{1,64}$/
const NAME = 255 // letters of the name of an attachment

const [QUOTE, BACKSLASH, COMMA, LIST, LIST_END, OBJECT, OBJECT_END] = Buffer.from('"\\,[]{}')

const gzip = promisify(gzipWith)

/**
 * @param {string} kind
 * @param {any} value JSON, or a value for JSON.stringify
 * @param {Uint8Array[]} [attachments] bytes after the JSON
 */
export async function encodeBlock (kind, value, attachments = []) {
  const json = await gzip(typeof value === 'string' ? value : JSON.stringify(value), { level: formatDefaults.level })
  const head = Buffer.alloc(HEAD)
  head.write(kind, 0, 'latin1')
  head.writeUInt32BE(json.length, 1)
  head.writeUInt32BE(attachments.reduce((sum, { length }) => sum + length, 0), 5)
  const block = Buffer.concat([head, json, ...attachments, Buffer.alloc(CHECK)])
  block.writeUInt32BE(crc32(block.subarray(0, -CHECK)), block.length - CHECK)
  return block
}

/** Encodes the end of a file. @param {number} length of the trailer's block */
export function encodeFooter (length) {
  const footer = Buffer.alloc(FOOTER)
  footer.writeUInt32BE(length)
  END.copy(footer, 4)
  return footer
}

/**
 * `why` may quote the file: control characters are removed.
 * @param {string} file @param {string} why @param {number} [at] byte
 */
export const damaged = (file, why, at) =>
  new TilecouchError('BACKUP_DAMAGED', { file, at, why: why.slice(0, 300).replace(/\p{Cc}/gu, '\ufffd') })

/**
 * @typedef {object} Header
 * @property {number} format
 * @property {string} program that wrote it
 * @property {string} id of this backup
 * @property {string} made when the backup began
 * @property {string} store id, which mirrors share
 * @property {string} database id, which no other database has
 * @property {string} name of the database
 * @property {number} [q] its shards
 * @property {string | number} since the place in the feed where the backup begins
 * @property {{id: string, made: string, file: string} | null} base the backup that it continues
 *
 * @typedef {object} Trailer
 * @property {string} id as in the header
 * @property {string} finished
 * @property {'store' | 'tile'} moment the whole store as it was at one moment, or only each tile
 * @property {string | number} seq the place where the next backup begins
 * @property {string} purged how often the database was purged
 * @property {boolean} noted the database has a note of this backup
 * @property {number} [tokens] of the store, which are not in the file
 * @property {any} security its _security, null where it was not readable
 * @property {Counts} counts
 * @property {string} sha256 of everything before the trailer
 * @property {string} [signer] of a signed file of an earlier version: the signature follows the JSON
 *
 * documents: revisions of documents; bytes: of attachments
 * @typedef {{blocks: number, documents: number, deleted: number, tiles: number, attachments: number, bytes: number}}
 *   Counts
 */

/** @returns {Counts} */
export const noCounts = () => ({ blocks: 0, documents: 0, deleted: 0, tiles: 0, attachments: 0, bytes: 0 })

/**
 * Returns which limit JSON exceeds, if any. A few bytes of gzip may unpack to a million lists, or to a million nested
 * ones, so the lists are counted before the JSON is parsed.
 */
function excessOf (json) {
  const { values, depth: deepest } = formatDefaults
  let count = 0
  let depth = 0
  let inText = false
  for (let index = 0; index < json.length; index++) {
    const byte = json[index]
    if (inText) {
      if (byte === BACKSLASH) index++
      else if (byte === QUOTE) inText = false
    } else if (byte === QUOTE) inText = true
    else if (byte === LIST || byte === OBJECT) {
      if (++depth > deepest) return `lists nested more than ${deepest} deep`
      count++
    } else if (byte === LIST_END || byte === OBJECT_END) depth--
    else if (byte === COMMA) count++
    if (count > values) return `more than ${values} values`
  }
}

/** Parses JSON within the limits. @param {Buffer} json @returns {any} */
export function parseBounded (json) {
  const excess = excessOf(json)
  if (excess) throw new Error(excess)
  return JSON.parse(json.toString())
}

/** The JSON of a document, or the limit that it exceeds. @returns {{json?: string, excess?: string}} */
export function boundedJson (doc) {
  try {
    const json = JSON.stringify(doc)
    const bytes = Buffer.from(`[[${json}`) // in the file it is inside a list in an object
    const isLarge = bytes.length > formatDefaults.unpacked - 100
    const excess = isLarge ? `more than ${formatDefaults.unpacked} bytes` : excessOf(bytes)
    return excess ? { excess } : { json }
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return { excess: `lists nested more than ${formatDefaults.depth} deep` }
  }
}
const isLength = value => Number.isSafeInteger(value) && value >= 0

/**
 * Returns the documents of a block with the bytes of their attachments. The file is not trusted: everything is checked.
 * @param {any} block its JSON @param {Buffer} bytes after it @param {(why: string) => Error} toError
 * @returns {any[]}
 */
export function documentsOf (block, bytes, toError) {
  if (!isObject(block) || !isLength(block.page) || block.page >= PAGES || !Array.isArray(block.docs)) {
    throw toError('a block lacks its documents')
  }
  let offset = 0
  for (const doc of block.docs) {
    const fault = documentFault(doc)
    if (fault) throw toError(`it contains an invalid document: ${fault}`)
    for (const [name, attachment] of Object.entries(doc._attachments ?? {})) {
      const length = attachment.encoded_length ?? attachment.length
      attachment.data = bytes.subarray(offset, offset += length)
      if (attachment.data.length !== length) throw toError(`bytes of ${doc._id} are missing`)
      if (digestOf(attachment.data) !== attachment.digest) {
        throw toError(`the bytes of ${doc._id}, ${name}, do not match their digest`)
      }
    }
  }
  if (offset !== bytes.length) throw toError('a block has more bytes than its documents')
  return block.docs
}

/** Returns the fault of a document; its bytes are not checked. @param {any} doc @returns {string | undefined} */
export function documentFault (doc) {
  if (!isObject(doc)) return 'not an object'
  const { _id: id, _rev: rev, _revisions: revisions, _deleted: gone, _attachments: attachments } = doc
  if (typeof id !== 'string' || !id || id.length > ID) return 'a bad id'
  if (id.startsWith('_')) return `${id}: design and local documents are not taken from a file`
  const unknown = Object.keys(doc).find(key => key.startsWith('_') && !FIELDS.has(key))
  if (unknown) return `${id} has a field ${unknown}`
  const { start, ids } = isObject(revisions) ? revisions : {}
  const isHistory = Number.isSafeInteger(start) && Array.isArray(ids) && ids.length > 0 && ids.length <= start &&
    ids.every(revision => REVISION.test(revision))
  if (!isHistory || rev !== `${start}-${ids[0]}`) return `${id} has no valid revision`
  if (gone !== undefined && gone !== true) return `${id} has a bad field _deleted`
  if (attachments === undefined) return undefined
  if (!isObject(attachments)) return `${id} has a bad field _attachments`
  const badAttachment = Object.entries(attachments).find(([name, attachment]) => !isAttachment(name, attachment))
  return badAttachment && `${id} has a bad attachment`
}

function isAttachment (name, attachment) {
  if (!name || name.length > NAME || name.startsWith('_') || !isObject(attachment)) return false
  const { content_type: type, digest, length, encoded_length: encoded, encoding, stub, follows, data } = attachment
  const isEncoding = encoded === undefined || (isLength(encoded) && typeof encoding === 'string')
  return typeof type === 'string' && typeof digest === 'string' && isLength(length) && isEncoding &&
    stub === undefined && follows === undefined && data === undefined
}
