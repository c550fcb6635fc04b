// Reads the file of a backup from beginning to end, whoever wrote it: nothing of a block is given before all of it is right.
import { createHash } from 'node:crypto'
import { crc32 } from 'node:zlib'
import { TilecouchError, isTileId } from '../../core/index.js'
import { find } from '../export/target.js'
import { openFile } from '../regular-file.js'
import { unpack } from '../sources/unpack.js'
import { CHECK, DOCUMENTS, END, FOOTER, FORMAT, HEAD, HEADER, MAGIC, TRAILER, damaged, formatDefaults, noCounts } from './format.js'
import { judge } from './judge.js'

const CHUNK = 1024 * 1024 // bytes read from a file at once

/**
 * @typedef {{page: number, docs: any[], size: number}} Documents page: of what several say of one document the last is right
 * @typedef {{kind: 'header', header: import('./format.js').Header} | {kind: 'documents', documents: Documents} | {kind: 'trailer', trailer: import('./format.js').Trailer}} Part
 */

/** Bytes as they come, taken as they are wanted. */
class Bytes {
  #chunks
  #have = /** @type {Buffer} */ (Buffer.alloc(0))
  at = 0

  /** @param {AsyncIterable<Uint8Array>} chunks */
  constructor (chunks) {
    this.#chunks = chunks[Symbol.asyncIterator]()
  }

  /** As many, or fewer at the end. @param {number} wanted */
  async take (wanted) {
    const parts = [this.#have]
    let length = this.#have.length
    while (length < wanted) {
      const { done, value } = await this.#chunks.next()
      if (done) break
      parts.push(Buffer.from(value.buffer, value.byteOffset, value.byteLength))
      length += value.length
    }
    const all = parts.length > 1 ? Buffer.concat(parts, length) : parts[0]
    const taken = all.subarray(0, wanted)
    this.#have = all.subarray(wanted)
    this.at += taken.length
    return taken
  }

  async end () {
    await this.#chunks.return?.()
  }
}

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
      const { kind, value, attachments, block, at } = await readBlock(bytes, name)
      if ((id === undefined) !== (kind === HEADER)) throw damaged(name, 'its header is not where it has to be', at)
      if (kind === TRAILER) {
        const { sha256 } = checkTrailer(value, { id, counts }, name, at)
        if (whole.digest('hex') !== sha256) throw damaged(name, 'it is not what it was when it was written', at)
        await checkEnd(bytes, block.length, name)
        yield { kind: 'trailer', trailer: value }
        return
      }
      whole.update(block)
      counts.blocks++
      if (kind === HEADER) {
        id = checkHeader(value, name, at).id
        yield { kind: 'header', header: value }
      } else {
        const docs = judge(value, attachments, why => damaged(name, why, at))
        count(counts, docs)
        yield { kind: 'documents', documents: { page: value.page, docs, size: block.length } }
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
  if (version && +version > FORMAT) throw new TilecouchError('CONFIG_INVALID', { file: name, why: `the backup has format ${version}, this tilecouch knows ${FORMAT}: upgrade it` })
  throw damaged(name, MAGIC.indexOf(bytes) === 0 ? 'it is cut off' : 'it does not begin as a backup does', 0)
}

async function readBlock (bytes, name) {
  const { at } = bytes
  const cut = () => damaged(name, 'it is cut off', bytes.at)
  const head = await bytes.take(HEAD)
  if (head.length < HEAD) throw cut()
  const kind = head.toString('latin1', 0, 1)
  const [json, rest] = [head.readUInt32BE(1), head.readUInt32BE(5)]
  const isPossible = [HEADER, DOCUMENTS, TRAILER].includes(kind) && json <= formatDefaults.json && rest <= formatDefaults.bytes
  if (!isPossible) throw damaged(name, 'no block begins here', at)
  const body = await bytes.take(json + rest + CHECK)
  if (body.length < json + rest + CHECK) throw cut()
  const block = Buffer.concat([head, body])
  if (crc32(block.subarray(0, -CHECK)) !== block.readUInt32BE(block.length - CHECK)) throw damaged(name, 'a block is not what it was when it was written', at)
  let value
  try {
    value = JSON.parse((await unpack(body.subarray(0, json), 'gzip', formatDefaults.unpacked)).toString())
  } catch (error) {
    throw damaged(name, `a block holds no JSON: ${error.message}`, at)
  }
  return { kind, value, attachments: body.subarray(json, json + rest), block, at }
}

const isText = value => typeof value === 'string' && value.length > 0 && value.length < 1000
const isPlace = value => isText(value) || Number.isInteger(value) || (typeof value === 'string' && value.length < 100000)

/** @returns {import('./format.js').Header} */
function checkHeader (value, name, at) {
  const { format, id, made, store, database, since, base } = value ?? {}
  const isRight = format === FORMAT && [id, made, store, database].every(isText) && isPlace(since) && (base === null || (isText(base?.id) && isText(base.made) && isText(base.file)))
  if (!isRight) throw damaged(name, 'its header lacks something', at)
  return value
}

function checkTrailer (value, { id, counts }, name, at) {
  const { moment, seq, purged, sha256, counts: said } = value ?? {}
  if (!['store', 'tile'].includes(moment) || !isPlace(seq) || !isText(purged) || !isText(sha256)) throw damaged(name, 'its trailer lacks something', at)
  if (value.id !== id) throw damaged(name, 'its end is that of another one', at)
  if (Object.keys(counts).some(key => said?.[key] !== counts[key])) throw damaged(name, 'it does not hold as much as it says', at)
  return value
}

async function checkEnd (bytes, length, name) {
  const { at } = bytes
  const footer = await bytes.take(FOOTER)
  if (footer.length < FOOTER) throw damaged(name, 'it is cut off', bytes.at)
  if (footer.readUInt32BE() !== length || !footer.subarray(4).equals(END)) throw damaged(name, 'its end is not what it was when it was written', at)
  if ((await bytes.take(1)).length) throw damaged(name, 'something stands behind its end', at + FOOTER)
}

/** The parts of a file. @param {string} file */
export async function * readFileParts (file) {
  const handle = await openToRead(file)
  yield * readBackup(handle.createReadStream({ highWaterMark: CHUNK }), file)
}

async function openToRead (file) {
  try {
    return (await openFile(file)).handle
  } catch (error) {
    if (error.code === 'ENOENT') throw new TilecouchError('SOURCE_NOT_FOUND', { value: file }, { cause: error })
    throw new TilecouchError('SOURCE_UNREADABLE', { value: file, why: error.message }, { cause: error })
  }
}

/**
 * The header and the trailer of a file, and nothing between.
 * @param {string} file
 * @returns {Promise<{header: import('./format.js').Header, trailer: import('./format.js').Trailer}>}
 */
export async function readEnds (file) {
  const size = (await find(file))?.size ?? 0
  const handle = await openToRead(file)
  try {
    const part = async function * (start, end = size) {
      if (start < 0) throw damaged(file, 'it is cut off', size)
      const { bytesRead, buffer } = await handle.read(Buffer.alloc(Math.min(end, size) - start), { position: start })
      yield buffer.subarray(0, bytesRead)
    }
    const first = new Bytes(part(0, CHUNK))
    checkMagic(await first.take(MAGIC.length), file)
    const { value: header } = await readBlock(first, file)
    checkHeader(header, file, MAGIC.length)
    const footer = await new Bytes(part(size - FOOTER)).take(FOOTER)
    if (!footer.subarray(4).equals(END)) throw damaged(file, 'it is cut off', size)
    const at = size - FOOTER - footer.readUInt32BE()
    const { kind, value: trailer } = await readBlock(new Bytes(part(at, size - FOOTER)), file)
    if (kind !== TRAILER) throw damaged(file, 'it has no trailer', at)
    checkTrailer(trailer, { id: header.id, counts: trailer.counts ?? {} }, file, at)
    return { header, trailer }
  } finally {
    await handle.close()
  }
}
