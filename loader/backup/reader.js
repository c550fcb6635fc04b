// Reads backup files, which anybody may have written. Nothing of a block is returned before the whole block has been
// checked.
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
    const whole = createHash('sha256').update(MAGIC)
    const counts = noCounts()
    /** @type {string | undefined} */
    let id
    for (;;) {
      const read = await readBlock(bytes, name)
      const { kind, value, attachments, head, body, at } = read
      if ((id === undefined) !== (kind === HEADER)) throw damaged(name, 'its header is in the wrong place', at)
      if (kind === TRAILER) {
        const { sha256 } = checkTrailer(read, { id, counts }, name)
        if (whole.digest('hex') !== sha256) throw damaged(name, 'it was changed after it was written', at)
        await checkEnd(bytes, head.length + body.length, name)
        yield { kind: 'trailer', trailer: value }
        return
      }
      whole.update(head).update(body)
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
  const cut = () => damaged(name, 'it is cut off', bytes.at)
  const head = await bytes.take(HEAD)
  if (head.length < HEAD) throw cut()
  const kind = head.toString('latin1', 0, 1)
  const [json, rest] = [head.readUInt32BE(1), head.readUInt32BE(5)]
  const isKind = [HEADER, DOCUMENTS, TRAILER].includes(kind)
  const isTooLong = json > formatDefaults.json || rest > formatDefaults.bytes
  if (!isKind || isTooLong) throw damaged(name, 'no block begins here', at)
  const body = await bytes.take(json + rest + CHECK)
  if (body.length < json + rest + CHECK) throw cut()
  if (crc32(body.subarray(0, -CHECK), crc32(head)) !== body.readUInt32BE(json + rest)) {
    throw damaged(name, 'a block has a wrong checksum', at)
  }
  const packed = body.subarray(0, json)
  let value
  try {
    value = parseBounded(await unpack(packed, { limit: formatDefaults.unpacked }))
  } catch (error) {
    throw damaged(name, `a block is not JSON: ${error.message}`, at)
  }
  return { kind, value, attachments: body.subarray(json, json + rest), head, body, at }
}

const isText = value => typeof value === 'string' && value.length > 0 && value.length < 1000
const isPlace = value => Number.isInteger(value) || (typeof value === 'string' && value.length < 100000)

/** @returns {Header} */
function checkHeader (value, name, at) {
  const { format, id, made, store, database, name: called, q, since, base } = value ?? {}
  const isShards = q === undefined || (Number.isInteger(q) && q > 0 && q <= MOST_SHARDS)
  const isBase = base === null || [base?.id, base?.made, base?.file].every(isText)
  const isNamed = [id, made, store, database, called].every(isText)
  const isValid = format === FORMAT && isNamed && isShards && isPlace(since) && isBase
  if (!isValid) throw damaged(name, 'its header lacks something', at)
  return value
}

/** @returns {Trailer} */
function checkTrailer (block, { id, counts }, name) {
  const { value, attachments, at } = block
  const { moment, finished, seq, purged, sha256, signer, tokens = 0, counts: stated } = value ?? {}
  const isSigned = signer === undefined ? !attachments.length : isText(signer) && attachments.length === SIGNATURE
  const isComplete = isPlace(seq) && [finished, purged, sha256].every(isText) && isSigned && Number.isInteger(tokens)
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
  #have = /** @type {Buffer} */ (Buffer.alloc(0))
  at = 0

  constructor (chunks) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** Takes bytes; fewer at the end. @param {number} size */
  async take (size) {
    const parts = [this.#have]
    let length = this.#have.length
    while (length < size) {
      const { done, value } = await this.#chunks.next()
      if (done) break
      parts.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
      length += value.length
    }
    const all = parts.length > 1 ? Buffer.concat(parts, length) : parts[0]
    const taken = all.subarray(0, size)
    this.#have = all.subarray(taken.length)
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
    /** Bytes from a place to the end. A stream of Node would close the file. @param {number} [at] */
    read: (at = 0) => chunksOf(handle, at),
    close: () => handle.close()
  }
}

async function * chunksOf (handle, at) {
  for (;;) {
    const { buffer, bytesRead } = await handle.read(Buffer.allocUnsafe(CHUNK), { position: at })
    if (!bytesRead) return
    at += bytesRead
    yield buffer.subarray(0, bytesRead)
  }
}

/** The parts of a file. @param {string} file @returns {AsyncGenerator<Part>} */
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
  /** @template T @param {number} at @param {(bytes: Bytes) => Promise<T>} take */
  const from = async (at, take) => {
    if (at < 0) throw damaged(file, 'it is cut off', opened.size)
    const bytes = new Bytes(opened.read(at))
    try {
      return await take(bytes)
    } finally {
      await bytes.end()
    }
  }
  try {
    const header = await from(0, async bytes => {
      checkMagic(await bytes.take(MAGIC.length), file)
      const { value } = await readBlock(bytes, file)
      return checkHeader(value, file, MAGIC.length)
    })
    const footer = await from(opened.size - FOOTER, bytes => bytes.take(FOOTER))
    if (!footer.subarray(4).equals(END)) throw damaged(file, 'it is cut off', opened.size)
    const at = opened.size - FOOTER - footer.readUInt32BE()
    const block = await from(at, bytes => readBlock(bytes, file))
    if (block.kind !== TRAILER) throw damaged(file, 'it has no trailer', at)
    return { header, trailer: checkTrailer(block, { id: header.id, counts: block.value?.counts ?? {} }, file) }
  } finally {
    await opened.close()
  }
}
