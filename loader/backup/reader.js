// Reads backup files, which are not trusted: a block is returned only after the whole block has been checked.
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { isTileId } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { openFile } from '../formats/files.js'
import { sourceError } from '../formats/reading.js'
import { unpack } from '../formats/unpack.js'
import {
  CHECK, DOCUMENTS, END, FOOTER, FORMAT, HEAD, HEADER, MAGIC, TRAILER, damaged, documentsOf, formatDefaults, noCounts,
  parseBounded
} from './format.js'

const CHUNK = 1024 * 1024 // bytes read from a file at once
const MOST_SHARDS = 256 // that a file may ask for
const SIGNATURE = 64 // bytes after the trailer of a file that an earlier version signed
const AGE = /^(age-encryption\.org\/|-----BEGIN AGE)/

/**
 * @typedef {import('./format.js').Header} Header
 * @typedef {import('./format.js').Trailer} Trailer
 * @typedef {{page: number, docs: any[]}} Documents page: of several pages with a document, the last one counts
 * @typedef {{kind: 'header', header: Header} | {kind: 'documents', documents: Documents} |
 *   {kind: 'trailer', trailer: Trailer}} Part
 */

/**
 * @param {AsyncIterable<Uint8Array>} chunks
 * @param {string} name for errors
 * @returns {AsyncGenerator<Part>} the header, documents, the trailer; throws BACKUP_DAMAGED for anything else
 */
export async function * readBackup (chunks, name) {
  const bytes = new Bytes(chunks)
  try {
    checkMagic(await bytes.take(MAGIC.length), name)
    const hash = createHash('sha256').update(MAGIC)
    const counts = noCounts()
    /** @type {string | undefined} */
    let id
    for (;;) {
      const block = await readBlock(bytes, name)
      const { kind, value, attachments, head, body, at } = block
      if ((id === undefined) !== (kind === HEADER)) throw damaged(name, 'its header is in the wrong place', at)
      if (kind === TRAILER) {
        const { sha256 } = checkTrailer(block, { id, counts }, name)
        if (hash.digest('hex') !== sha256) throw damaged(name, 'it was changed after it was written', at)
        await checkEnd(bytes, head.length + body.length, name)
        yield { kind: 'trailer', trailer: value }
        return
      }
      hash.update(head).update(body)
      counts.blocks++
      if (kind === HEADER) {
        id = checkHeader(value, name, at).id
        yield { kind: 'header', header: value }
      } else {
        const docs = documentsOf(value, attachments, why => damaged(name, why, at))
        count(counts, docs)
        yield { kind: 'documents', documents: { page: value.page, docs } }
      }
    }
  } finally {
    await bytes.end()
  }
}

/** @param {import('./format.js').Counts} counts @param {any[]} docs with their bytes */
export function count (counts, docs) {
  for (const { _id: id, _deleted: gone, _attachments: attachments = {} } of docs) {
    counts.documents++
    if (gone) counts.deleted++
    if (isTileId(id)) counts.tiles++
    for (const { data } of Object.values(attachments)) {
      counts.attachments++
      counts.bytes += data.length
    }
  }
}

function checkMagic (bytes, name) {
  if (bytes.equals(MAGIC)) return
  const version = /^tilecouch backup (\d+)\n/.exec(bytes.toString('latin1'))?.[1]
  if (version && +version > FORMAT) {
    const why = `the backup has format ${version}, this tilecouch knows ${FORMAT}: upgrade it`
    throw new TilecouchError('CONFIG_INVALID', { file: name, why })
  }
  if (AGE.test(bytes.toString('latin1'))) throw damaged(name, 'it is encrypted: open it with `age -d` first', 0)
  throw damaged(name, MAGIC.indexOf(bytes) === 0 ? 'it is cut off' : 'it does not begin like a backup', 0)
}

async function readBlock (bytes, name) {
  const { at } = bytes
  const cutOff = () => damaged(name, 'it is cut off', bytes.at)
  const head = await bytes.take(HEAD)
  if (head.length < HEAD) throw cutOff()
  const kind = head.toString('latin1', 0, 1)
  const [jsonLength, attachmentsLength] = [head.readUInt32BE(1), head.readUInt32BE(5)]
  const isKind = [HEADER, DOCUMENTS, TRAILER].includes(kind)
  const isTooLong = jsonLength > formatDefaults.json || attachmentsLength > formatDefaults.bytes
  if (!isKind || isTooLong) throw damaged(name, 'no block begins here', at)
  const body = await bytes.take(jsonLength + attachmentsLength + CHECK)
  if (body.length < jsonLength + attachmentsLength + CHECK) throw cutOff()
  if (crc32(body.subarray(0, -CHECK), crc32(head)) !== body.readUInt32BE(jsonLength + attachmentsLength)) {
    throw damaged(name, 'a block has a wrong checksum', at)
  }
  const packed = body.subarray(0, jsonLength)
  let value
  try {
    value = parseBounded(await unpack(packed, { limit: formatDefaults.unpacked }))
  } catch (error) {
    throw damaged(name, `a block is not JSON: ${error.message}`, at)
  }
  return { kind, value, attachments: body.subarray(jsonLength, jsonLength + attachmentsLength), head, body, at }
}

const isText = value => typeof value === 'string' && value.length > 0 && value.length < 1000
const isSequence = value => Number.isInteger(value) || (typeof value === 'string' && value.length < 100000)

/** @returns {Header} */
function checkHeader (value, name, at) {
  const { format, id, made, store, database, name: databaseName, q, since, base } = value ?? {}
  const isShards = q === undefined || (Number.isInteger(q) && q > 0 && q <= MOST_SHARDS)
  const isBase = base === null || [base?.id, base?.made, base?.file].every(isText)
  const isNamed = [id, made, store, database, databaseName].every(isText)
  const isValid = format === FORMAT && isNamed && isShards && isSequence(since) && isBase
  if (!isValid) throw damaged(name, 'its header lacks something', at)
  return value
}

/** @returns {Trailer} */
function checkTrailer (block, { id, counts }, name) {
  const { value, attachments, at } = block
  const { moment, finished, seq, purged, sha256, signer, tokens = 0, counts: stated } = value ?? {}
  const isSigned = signer === undefined ? !attachments.length : isText(signer) && attachments.length === SIGNATURE
  const isComplete = isSequence(seq) && [finished, purged, sha256].every(isText) && isSigned && Number.isInteger(tokens)
  if (!isComplete || !['store', 'tile'].includes(moment)) throw damaged(name, 'its trailer lacks something', at)
  if (value.id !== id) throw damaged(name, 'its trailer is of another backup', at)
  if (Object.keys(counts).some(key => stated?.[key] !== counts[key])) throw damaged(name, 'its counts are wrong', at)
  return value
}

async function checkEnd (bytes, length, name) {
  const { at } = bytes
  const footer = await bytes.take(FOOTER)
  if (footer.length < FOOTER) throw damaged(name, 'it is cut off', bytes.at)
  if (footer.readUInt32BE() !== length || !footer.subarray(4).equals(END)) {
    throw damaged(name, 'its end was changed after it was written', at)
  }
  if ((await bytes.take(1)).length) throw damaged(name, 'it goes on after its end', at + FOOTER)
}

/** Takes bytes from chunks in pieces of any length. */
class Bytes {
  #chunks
  #buffered = /** @type {Buffer} */ (Buffer.alloc(0))
  at = 0

  constructor (chunks) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Takes bytes; fewer at the end. @param {number} size */
  async take (size) {
    const parts = [this.#buffered]
    let length = this.#buffered.length
    while (length < size) {
      const { done, value } = await this.#chunks.next()
      if (done) break
      parts.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
      length += value.length
    }
    const joined = parts.length > 1 ? Buffer.concat(parts, length) : parts[0]
    const taken = joined.subarray(0, size)
    this.#buffered = joined.subarray(taken.length)
    this.at += taken.length
    return taken
  }

  async end () {
    await this.#chunks.return?.()
  }
}

/** Opens a file, which has to be closed. @param {string} file */
async function openBackup (file) {
  const { handle, size } = await openFile(file).catch(error => { throw sourceError(file, error) })
  return {
    size,
    /** Reads from an offset to the end. A stream of Node would close the file. @param {number} [offset] */
    read: (offset = 0) => chunksOf(handle, offset),
    close: () => handle.close()
  }
}

async function * chunksOf (handle, offset) {
  for (;;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(CHUNK), { position: offset })
    if (!bytesRead) return
    offset += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** Reads the parts of a file. @param {string} file @returns {AsyncGenerator<Part>} */
export async function * readFileParts (file) {
  const opened = await openBackup(file)
  try {
    yield * readBackup(opened.read(), file)
  } finally {
    await opened.close()
  }
}

/** Reads only the header and the trailer of a file. @param {string} file */
export async function readEnds (file) {
  const opened = await openBackup(file)
  /** @template T @param {number} offset @param {(bytes: Bytes) => Promise<T>} take */
  const readAt = async (offset, take) => {
    if (offset < 0) throw damaged(file, 'it is cut off', opened.size)
    const bytes = new Bytes(opened.read(offset))
    try {
      return await take(bytes)
    } finally {
      await bytes.end()
    }
  }
  try {
    const header = await readAt(0, async bytes => {
      checkMagic(await bytes.take(MAGIC.length), file)
      const { value } = await readBlock(bytes, file)
      return checkHeader(value, file, MAGIC.length)
    })
    const footer = await readAt(opened.size - FOOTER, bytes => bytes.take(FOOTER))
    if (!footer.subarray(4).equals(END)) throw damaged(file, 'it is cut off', opened.size)
    const trailerOffset = opened.size - FOOTER - footer.readUInt32BE()
    const block = await readAt(trailerOffset, bytes => readBlock(bytes, file))
    if (block.kind !== TRAILER) throw damaged(file, 'it has no trailer', trailerOffset)
    return { header, trailer: checkTrailer(block, { id: header.id, counts: block.value?.counts ?? {} }, file) }
  } finally {
    await opened.close()
  }
}
