// Reads zip files. The central directory says where each file lies, so that nothing is unpacked before it is wanted.
import { createReadStream } from 'node:fs'
import { Readable, pipeline } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import yauzl from 'yauzl'
import { TilecouchError } from '../../errors.js'
import { unpack } from '../../unpack.js'
import { EXTENSIONS } from '../names.js'
import { breather } from '../reading.js'
import { CENTRAL_SIGNATURE, LOCAL_HEADER, LOCAL_SIGNATURE } from './records.js'

const USUAL_NAME = 128 // bytes of name and extra fields that are read along with a file
const WINDOW = 1e6 // bytes of the central directory read at once
const PIECE = 1e6 // bytes of a file read at once, where it is read in pieces
const [STORED, DEFLATED] = [0, 8] // methods

/**
 * Where a file lies, and its fields in the directory.
 * @typedef {{offset: number, packed: number, size: number, method: number, sum: number}} Place
 */

/**
 * The files of a zip, in the order of its directory.
 * @param {import('../local-file.js').LocalFile} file
 * @param {{onFault: import('../reading.js').OnFault, signal?: AbortSignal}} options
 * @returns {AsyncGenerator<{name: string, place: Place, isEncrypted: boolean}>}
 */
export async function * readZip (file, { onFault, signal }) {
  try {
    yield * entriesOf(file, onFault, breather(signal))
  } catch (error) {
    if (error instanceof TilecouchError) throw error // of the reader, or Ctrl-C
    const isMissing = /signature not found/.test(error.message)
    onFault('damaged-file', file.path, isMissing ? 'its directory is missing at the end: it was cut off, or is no zip' : error.message, error)
  }
}

async function * entriesOf (file, onFault, takeBreak) {
  // names as bytes: yauzl would end at the first that leads out of the archive
  const options = { autoClose: false, decodeStrings: false, validateEntrySizes: true }
  const zip = await yauzl.fromRandomAccessReaderPromise(new Window(file), file.size, options)
  let packed = 0
  for await (const entry of zip.eachEntry()) {
    const name = yauzl.getFileNameLowLevel(entry.generalPurposeBitFlag, entry.fileNameRaw, entry.extraFields, false)
    // files that overlap are a bomb
    packed += LOCAL_HEADER + entry.fileNameLength + entry.compressedSize
    if (packed > file.size) return onFault('bad-structure', name, 'files overlap: what is behind this one was not looked at')
    const place = {
      offset: entry.relativeOffsetOfLocalHeader,
      packed: entry.compressedSize,
      size: entry.uncompressedSize,
      method: entry.compressionMethod,
      sum: entry.crc32
    }
    yield { name, place, isEncrypted: entry.isEncrypted() }
    const pause = takeBreak()
    if (pause) await pause
  }
  // the number of files is a separate field, and wraps around in old archives: what follows the last would be lost
  const end = /** @type {any} */ (zip).readEntryCursor
  if (end + 4 <= file.size && file.readSync(end, 4).readUInt32LE() === CENTRAL_SIGNATURE) {
    onFault('bad-structure', file.path, 'its directory goes on after the last file that it says it has')
  }
}

/** A place and the extension of a name as fields for a spool. */
export const fieldsOf = ({ offset, packed, size, method, sum }, ext) =>
  [offset, packed, size, (sum * 65536 + method) * 16 + EXTENSIONS.indexOf(ext)]

/** @returns {{place: Place, ext: string}} */
export function placeOf ([offset, packed, size, code]) {
  const method = Math.floor(code / 16) % 65536
  return { place: { offset, packed, size, method, sum: Math.floor(code / 16 / 65536) }, ext: EXTENSIONS[code % 16] }
}

/** Why a file cannot be read, as far as the directory shows it. @param {Place} place @param {number} size of the zip */
export function unreadableFile ({ offset, packed, method }, size) {
  if (!(offset + LOCAL_HEADER + packed <= size)) return `it would lie behind its end, at byte ${offset}`
  if (method !== STORED && method !== DEFLATED) return `it is packed by a method (${method}) other than deflate`
}

/**
 * The bytes of a file; one more than there should be shows that there are more.
 * @param {import('../local-file.js').LocalFile} file
 */
export async function readZipped (file, place) {
  const { offset, packed, size, method } = place
  const begin = beginOf(file, place, USUAL_NAME + packed)
  const content = begin.bytes.length >= begin.length + packed
    ? begin.bytes.subarray(begin.length, begin.length + packed)
    : file.readSync(offset + begin.length, packed)
  return method === STORED ? content : unpack(content, { coding: 'deflate-raw', limit: size + 1 })
}

/**
 * The same in pieces, for files that need not fit into memory. Its errors have the code of a fault as `fault`.
 * @param {import('../local-file.js').LocalFile} file
 * @returns {AsyncGenerator<Buffer>}
 */
export async function * streamZipped (file, place) {
  const from = place.offset + beginOf(file, place, 0).length
  const pieces = Readable.from(piecesOf(file, from, from + place.packed))
  const found = { size: 0, sum: 0 }
  // errors reach the reader through the last stream
  for await (const chunk of place.method === STORED ? pieces : pipeline(pieces, createInflateRaw(), () => {})) {
    found.size += chunk.length
    if (found.size > place.size) break
    found.sum = crc32(chunk, found.sum)
    yield chunk
  }
  const wrong = wrongContent(place, found)
  if (wrong) throw Object.assign(new Error(wrong[1]), { fault: wrong[0] })
}

/**
 * What is wrong with a content.
 * @param {Place} place @param {{size: number, sum: number}} content
 * @returns {[code: string, why: string] | undefined}
 */
export function wrongContent (place, { size, sum }) {
  if (size !== place.size) return ['wrong-length', `${size} bytes, the directory says ${place.size}`]
  if (sum !== place.sum) return ['wrong-digest', 'its check sum is wrong']
}

export const contentOf = bytes => ({ size: bytes.length, sum: crc32(bytes) })

/**
 * Reads the header of a file, and so many bytes behind it.
 * @returns {{bytes: Buffer, length: number}} length of the header
 */
function beginOf (file, place, more) {
  const why = unreadableFile(place, file.size)
  if (why) throw new Error(why)
  const bytes = file.readSync(place.offset, Math.min(LOCAL_HEADER + more, file.size - place.offset))
  if (bytes.readUInt32LE() !== LOCAL_SIGNATURE) throw new Error(`no file begins at byte ${place.offset}`)
  return { bytes, length: LOCAL_HEADER + bytes.readUInt16LE(26) + bytes.readUInt16LE(28) }
}

function * piecesOf (file, from, to) {
  for (let at = from; at < to; at += PIECE) yield file.readSync(at, Math.min(PIECE, to - at))
}

/** The file as yauzl reads it, in long pieces: it asks for every name by itself. */
class Window extends yauzl.RandomAccessReader {
  #file
  #bytes = Buffer.alloc(0)
  #offset = 0

  /** @param {import('../local-file.js').LocalFile} file */
  constructor (file) {
    super()
    this.#file = file
  }

  _readStreamForRange (start, end) {
    return createReadStream(this.#file.path, { start, end: end - 1 })
  }

  /** @type {yauzl.RandomAccessReader['read']} */
  read (buffer, offset, length, position, callback) {
    try {
      if (position < this.#offset || position + length > this.#offset + this.#bytes.length) {
        this.#bytes = this.#file.readSync(position, Math.max(length, Math.min(WINDOW, this.#file.size - position)))
        this.#offset = position
      }
      this.#bytes.copy(buffer, offset, position - this.#offset, position - this.#offset + length)
    } catch (error) {
      return void queueMicrotask(() => callback(error))
    }
    queueMicrotask(() => callback(null))
  }
}
