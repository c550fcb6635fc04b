// The file of a backup, byte by byte; docs/backup.md describes it.
//   magic, then blocks: one header, documents, one trailer; then the length of the trailer, so that it is found from the end.
// A block: its kind, the length of its JSON (in gzip) and of the bytes behind that, both, and a CRC-32 of all of it.
import { promisify } from 'node:util'
import { crc32, gzip as gzipWith } from 'node:zlib'
import { TilecouchError } from '../../core/index.js'

export const FORMAT = 1
export const MAGIC = Buffer.from(`tilecouch backup ${FORMAT}\n`)
export const END = Buffer.from('end\n')

/** Kinds of blocks. */
export const HEADER = 'H'
export const DOCUMENTS = 'D'
export const TRAILER = 'T'

export const HEAD = 9 // bytes of a block before its contents
export const CHECK = 4 // bytes behind them
export const FOOTER = 4 + END.length // bytes behind the trailer

export const formatDefaults = {
  json: 16 * 2 ** 20, // bytes of a block's JSON in the file at most
  unpacked: 32 * 2 ** 20, // bytes of it unpacked
  values: 2e6, // that it may name: an empty list has two bytes, and takes fifty in memory
  depth: 100, // of lists in lists
  wanted: 2 * 2 ** 20, // characters of JSON after which another block is begun
  bytes: 128 * 2 ** 20, // bytes of a block's attachments
  level: 6 // of gzip
}

const gzip = promisify(gzipWith)

/**
 * @param {string} kind
 * @param {any} value its JSON, or what becomes that
 * @param {Uint8Array[] | ((json: Buffer) => Uint8Array[])} [bytes] behind the JSON, which may depend on how that stands in the file
 * @returns {Promise<Buffer>}
 */
export async function encodeBlock (kind, value, bytes = []) {
  const json = await gzip(typeof value === 'string' ? value : JSON.stringify(value), { level: formatDefaults.level })
  const attachments = Array.isArray(bytes) ? bytes : bytes(json)
  const head = Buffer.alloc(HEAD)
  head.write(kind, 0, 'latin1')
  head.writeUInt32BE(json.length, 1)
  head.writeUInt32BE(attachments.reduce((sum, { length }) => sum + length, 0), 5)
  const block = Buffer.concat([head, json, ...attachments, Buffer.alloc(CHECK)])
  block.writeUInt32BE(crc32(block.subarray(0, -CHECK)), block.length - CHECK)
  return block
}

/** What stands behind the trailer. @param {number} length of its block */
export function encodeFooter (length) {
  const footer = Buffer.alloc(FOOTER)
  footer.writeUInt32BE(length)
  END.copy(footer, 4)
  return footer
}

/** What is wrong may quote the file, which could write anywhere on a terminal. @param {string} file @param {string} why @param {number} [at] byte */
export const damaged = (file, why, at) =>
  new TilecouchError('BACKUP_DAMAGED', { file, at, why: why.slice(0, 300).replace(/\p{Cc}/gu, '\ufffd') })

/**
 * What the header says.
 * @typedef {object} Header
 * @property {number} format
 * @property {string} program that wrote it
 * @property {string} id of this backup
 * @property {string} made when it began
 * @property {string} store that it is of, its mirrors included
 * @property {string} database that it is of, and no other
 * @property {string} name of the database
 * @property {number} [q] its shards
 * @property {string | number} since where in its changes the backup begins
 * @property {{id: string, made: string, file: string} | null} base that it goes on from
 *
 * @typedef {object} Trailer
 * @property {string} id as in the header
 * @property {string} finished
 * @property {'store' | 'tile'} moment what is as it was at one moment: the whole store, or each tile
 * @property {string | number} seq where a backup that goes on from this one begins
 * @property {string} purged how often the database was purged
 * @property {boolean} noted the database was told of it
 * @property {any} security its _security, null where it was not to be had
 * @property {Counts} counts
 * @property {string} sha256 of everything before the trailer
 * @property {string} [signer] id of the key that signed it; the signature of its JSON in the file stands behind it
 *
 * @typedef {{blocks: number, documents: number, deleted: number, tiles: number, attachments: number, bytes: number}} Counts documents: revisions of documents; bytes: of attachments
 */

/** @returns {Counts} */
export const noCounts = () => ({ blocks: 0, documents: 0, deleted: 0, tiles: 0, attachments: 0, bytes: 0 })
