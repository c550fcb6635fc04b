// A zip of tile files: its directory, and every file in it against its check sum.
import { Readable, pipeline } from 'node:stream'
import { crc32, createInflateRaw } from 'node:zlib'
import yauzl from 'yauzl'
import { TilecouchError } from '../../../core/index.js'
import { LocalFile } from '../../sources/file.js'
import { sourceLimits } from '../../sources/limits.js'
import { unpack } from '../../sources/unpack.js'
import { CENTRAL_SIGNATURE, DEFLATED, LOCAL_HEADER, LOCAL_SIGNATURE, STORED, recognises } from '../../sources/zip.js'
import { Spool } from '../../spool.js'
import { decodeDefaults } from '../decode.js'
import { examineAll } from '../tiles.js'
import { Listing } from './listing.js'

const PIECE = 1e6 // bytes read at once of a file that is no tile
const BREATH = 1000 // files listed before others may go on
const EXTENSIONS = ['png', 'jpg', 'webp', 'avif', 'pbf']

export { recognises as isZip }

/**
 * @param {string} name
 * @param {import('../files.js').PickedOptions} options
 */
export async function verifyZip (name, options) {
  const { report, decode, signal, onProgress } = options
  const file = new LocalFile(name)
  const spool = await Spool.open()
  try {
    const listing = new Listing(options, spool)
    try {
      await list(name, file, listing, options)
    } catch (error) {
      if (error instanceof TilecouchError) throw error // of the temporary files, or Ctrl-C
      report.add('damaged-file', name, error.message)
    }
    const gone = await listing.end((times, where) => report.add('duplicate-tile', where, `${times} times`))
    const total = spool.count()
    const done = await examineAll(jobs(file, spool), { report, decode, unpacked: true, signal, onTile: now => onProgress?.({ ...now, total }) })
    return { tiles: done.tiles, bytes: done.bytes, checked: { decoded: done.decoded, types: done.types, ...(gone !== undefined && { gone }) } }
  } finally {
    file.close()
    await spool.close()
  }
}

/** @param {string} name @param {LocalFile} file @param {Listing} listing @param {import('../files.js').PickedOptions} options */
async function list (name, file, listing, { report, signal }) {
  // names as bytes: yauzl would end at the first that leads out of the archive
  const zip = await yauzl.openPromise(name, { autoClose: false, lazyEntries: true, decodeStrings: false, validateEntrySizes: true })
  try {
    let packed = 0
    let seen = 0
    for await (const entry of zip.eachEntry()) {
      if (++seen % BREATH === 0) await new Promise(resolve => { setImmediate(resolve) })
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      const path = Buffer.from(/** @type {any} */ (entry.fileName)).toString()
      packed += LOCAL_HEADER + entry.fileNameLength + entry.compressedSize
      if (packed > file.size) return void report.add('bad-structure', path, 'files overlap: what is behind this one was not looked at')
      const place = { offset: entry.relativeOffsetOfLocalHeader, packed: entry.compressedSize, size: entry.uncompressedSize, method: entry.compressionMethod, sum: entry.crc32 }
      const tile = listing.tile(path)
      if (entry.isEncrypted()) report.add('unreadable-tile', path, 'it is encrypted')
      else if (tile) listing.spool.add(tile.z, tile.x, tile.y, place.offset, place.packed, place.size, (place.sum * 256 + place.method) * 16 + EXTENSIONS.indexOf(tile.ext))
      else if (!path.endsWith('/')) await checkOther(file, path, place, listing, { report, signal })
    }
    const end = /** @type {any} */ (zip).readEntryCursor
    if (end + 4 <= file.size && file.readSync(end, 4).readUInt32LE() === CENTRAL_SIGNATURE) report.add('bad-structure', name, 'its directory goes on after the last file that it says it has')
  } finally {
    zip.close()
  }
}

/** A file beside the tiles: kept when it says something of them, unpacked for its check sum alone otherwise. */
async function checkOther (file, path, place, listing, { report, signal }) {
  try {
    if (listing.wants(path, place.size) && place.packed <= sourceLimits.metadata) {
      const bytes = await unpacked(packedBytes(file, place), place)
      if (crc32(bytes) !== place.sum) report.add('wrong-digest', path, 'its CRC-32 is another')
      else listing.keep(path, bytes)
      return
    }
    const { sum, size } = await sumOf(file, place, signal)
    if (size !== place.size) report.add('wrong-length', path, `${size} bytes, the directory says ${place.size}`)
    else if (sum !== place.sum) report.add('wrong-digest', path, 'its CRC-32 is another')
  } catch (error) {
    if (error instanceof TilecouchError) throw error
    report.add('unreadable-tile', path, error.message)
  }
}

async function sumOf (file, place, signal) {
  const { method, packed, size: most } = place
  const from = beginOf(file, place)
  const pieces = Readable.from(piecesOf(file, from, from + packed))
  let [sum, size] = [0, 0]
  for await (const chunk of method === STORED ? pieces : pipeline(pieces, createInflateRaw(), () => {})) {
    sum = crc32(chunk, sum)
    size += chunk.length
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    if (size > most) break
  }
  return { sum, size }
}

/** @returns {AsyncGenerator<import('../tiles.js').Job>} */
async function * jobs (file, spool) {
  for await (const { z, x, y, fields: [offset, packed, size, code] } of spool.tiles()) {
    const place = { offset, packed, size, method: Math.floor(code / 16) % 256, sum: Math.floor(code / 4096) }
    const ext = EXTENSIONS[code % 16]
    yield {
      where: `${z}/${x}/${y}`,
      size: Math.max(packed, size),
      read: () => unpacked(packedBytes(file, place), place),
      compare: ({ ext: found, bytes }) => [
        ...(found && found !== ext ? [/** @type {[string, string]} */ (['wrong-type', `${found}, the name says ${ext}`])] : []),
        ...(bytes.length !== size ? [/** @type {[string, string]} */ (['wrong-length', `${bytes.length} bytes, the directory says ${size}`])] : []),
        ...(bytes.length === size && crc32(bytes) !== place.sum ? [/** @type {[string, string]} */ (['wrong-digest', 'its CRC-32 is another'])] : [])
      ]
    }
  }
}

function * piecesOf (file, from, to) {
  for (let at = from; at < to; at += PIECE) yield file.readSync(at, Math.min(PIECE, to - at))
}

const packedBytes = (file, place) => file.readSync(beginOf(file, place), place.packed)

/** Where the bytes of a file in it begin. */
function beginOf (file, { offset, packed, method }) {
  if (method !== STORED && method !== DEFLATED) throw new Error(`it is packed by a method (${method}) other than deflate`)
  if (offset + LOCAL_HEADER + packed > file.size) throw new Error(`it would lie behind the end of the file, at byte ${offset}`)
  const header = file.readSync(offset, LOCAL_HEADER)
  if (header.readUInt32LE() !== LOCAL_SIGNATURE) throw new Error(`no file begins at byte ${offset}`)
  return offset + LOCAL_HEADER + header.readUInt16LE(26) + header.readUInt16LE(28)
}

// one byte more than it should have shows that it has more
const unpacked = (content, { method, size }) =>
  method === STORED ? content : unpack(content, 'deflate', Math.min(decodeDefaults.bytes, size) + 1)
