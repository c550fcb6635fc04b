// A zip of tile files. Its central directory says where each lies, so that nothing is unpacked before it is wanted.
import { createReadStream } from 'node:fs'
import path from 'node:path'
import { crc32 } from 'node:zlib'
import yauzl from 'yauzl'
import { Spool } from '../spool.js'
import { LocalFile } from './file.js'
import { sourceLimits } from './limits.js'
import { Listing } from './listing.js'
import { recogniser } from './magic.js'
import { breather, invalid, reading } from './reading.js'
import { unpack } from './unpack.js'

export const LOCAL_HEADER = 30 // bytes, then the name and extra fields
const USUAL_NAME = 128 // bytes of them that are read along
export const LOCAL_SIGNATURE = 0x04034b50
export const CENTRAL_SIGNATURE = 0x02014b50
export const [STORED, DEFLATED] = [0, 8] // methods
const WINDOW = 1e6 // bytes of the central directory read at once

export const recognises = recogniser('zip', /\.zip$/i)

/**
 * @param {string} name
 * @param {import('./index.js').SourceOptions} options
 * @returns {Promise<import('./index.js').Source>}
 */
export async function open (name, options) {
  return reading(name, async () => {
    const file = new LocalFile(name)
    const spool = await Spool.open()
    const close = async () => {
      file.close()
      await spool.close()
    }
    try {
      const listing = new Listing(name, options)
      await list(file, listing, spool, options.signal)
      return await listing.source({ name: path.basename(path.resolve(name)), tiles: () => tiles(name, file, spool), total: spool.count(), close })
    } catch (error) {
      await close()
      throw error
    }
  })
}

/** Enters the tiles of the central directory. */
async function list (file, listing, spool, signal) {
  const zip = await openZip(file)
  const breathe = breather(signal)
  let packed = 0
  for await (const entry of zip.eachEntry()) {
    // each file lies in a place of its own: what overlaps is a bomb
    packed += LOCAL_HEADER + entry.fileNameLength + entry.compressedSize
    if (packed > file.size) throw new Error('its files overlap')
    const tile = listing.tile(entry.fileName)
    if (tile) {
      checkEntry(entry, file.size)
      // the method beside the check sum, in one number
      spool.add(tile.z, tile.x, tile.y, entry.relativeOffsetOfLocalHeader, entry.compressedSize, entry.uncompressedSize, entry.crc32 * 256 + entry.compressionMethod)
    } else listing.note(entry.fileName, () => ({ length: entry.uncompressedSize, stream: () => zip.openReadStreamPromise(entry) }))
    const pause = breathe()
    if (pause) await pause
  }
  checkEnd(file, /** @type {any} */ (zip))
}

async function openZip (file) {
  try {
    return await yauzl.fromRandomAccessReaderPromise(new Window(file), file.size, { autoClose: false, validateEntrySizes: true })
  } catch (error) {
    throw /signature not found/.test(error.message) ? new Error('its directory is missing at the end: it was cut off, or is no zip', { cause: error }) : error
  }
}

function checkEntry (entry, size) {
  if (entry.isEncrypted()) throw new Error('it is encrypted: unpack it with its password, and load the folder')
  if (!(entry.relativeOffsetOfLocalHeader + LOCAL_HEADER + entry.compressedSize <= size)) throw new Error(`${entry.fileName} would lie behind its end`)
  if (entry.compressionMethod !== STORED && entry.compressionMethod !== DEFLATED) {
    throw new Error(`${entry.fileName} is packed by a method (${entry.compressionMethod}) other than deflate: unpack it, and load the folder`)
  }
}

// the number of files is a field of its own, and wraps around in old archives: what follows the last would be lost
function checkEnd (file, { readEntryCursor: end }) {
  if (end + 4 <= file.size && file.readSync(end, 4).readUInt32LE() === CENTRAL_SIGNATURE) throw new Error('its directory goes on after the last file that it says it has')
}

/** @returns {AsyncGenerator<import('./index.js').SourceTile>} in the order of their ids */
async function * tiles (name, file, spool) {
  for await (const { z, x, y, fields: [offset, packed, size, code], times } of spool.tiles()) {
    const read = async () => {
      const tile = `${z}/${x}/${y}`
      if (times > 1) throw invalid(name, `${tile} is in it ${times} times`)
      if (packed > sourceLimits.tile || size > sourceLimits.tile) throw invalid(name, `${tile} has ${size} bytes`)
      try {
        return await readFile(file, { offset, packed, size, method: code % 256, sum: Math.floor(code / 256) })
      } catch (error) {
        throw invalid(name, `${tile} cannot be read: ${error.message}`, error)
      }
    }
    yield { z, x, y, read }
  }
}

async function readFile (file, { offset, packed, size, method, sum }) {
  const bytes = file.readSync(offset, Math.min(LOCAL_HEADER + USUAL_NAME + packed, file.size - offset))
  if (bytes.length < LOCAL_HEADER || bytes.readUInt32LE() !== LOCAL_SIGNATURE) throw new Error(`no file begins at byte ${offset}`)
  const begin = LOCAL_HEADER + bytes.readUInt16LE(26) + bytes.readUInt16LE(28)
  const content = begin + packed <= bytes.length ? bytes.subarray(begin, begin + packed) : file.readSync(offset + begin, packed)
  const unpacked = method === STORED ? content : await unpack(content, 'deflate', Math.max(size, 1))
  if (unpacked.length !== size || crc32(unpacked) !== sum) throw new Error('its check sum is wrong')
  return unpacked
}

/** The file as yauzl reads it, in long pieces: it asks for every name by itself. */
class Window extends yauzl.RandomAccessReader {
  #file
  #bytes = Buffer.alloc(0)
  #offset = 0

  /** @param {LocalFile} file */
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
