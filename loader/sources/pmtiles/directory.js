// The directories of a PMTiles archive: a root that lists tiles, or leaf directories that do. Nothing in them is believed:
// ids ascend through the whole archive, everything lies inside its section, and no directory is met twice.
import { readVarint } from 'pmtiles'
import { unpack } from '../unpack.js'
import { ID_LIMIT } from './ids.js'

export const directoryDefaults = {
  packed: 16e6, // bytes of a directory, at most
  unpacked: 64e6, // bytes of it when it is unpacked
  entries: 2 ** 20, // of a directory; a leaf has some thousand
  depth: 4 // directories on the way to a tile; writers make two
}

/**
 * @typedef {{count: number, ids: Float64Array, runs: Float64Array, lengths: Float64Array, offsets: Float64Array}} Directory
 * @typedef {{id: number, run: number, offset: number, length: number}} Entry offset: in the tile data
 * @typedef {{read: (offset: number, length: number, most?: number) => Promise<Buffer>}} Bytes
 */

/**
 * @param {Uint8Array} bytes unpacked
 * @returns {Directory}
 */
export function parseDirectory (bytes) {
  if (!bytes.length || bytes[bytes.length - 1] & 0x80) throw new Error('a directory ends in the middle of a number')
  const at = { buf: bytes, pos: 0 }
  const number = () => {
    if (at.pos === bytes.length) throw new Error('a directory ends before its last entry')
    const value = readVarint(at)
    if (!Number.isSafeInteger(value)) throw new Error(`a directory holds a number of ${value}`)
    return value
  }
  const count = number()
  // an entry takes four bytes or more
  if (count > directoryDefaults.entries || count > bytes.length / 4) throw new Error(`a directory of ${bytes.length} bytes says that it has ${count} entries`)
  const column = () => new Float64Array(count)
  const [ids, runs, lengths, offsets] = [column(), column(), column(), column()]
  for (let index = 0, id = 0; index < count; index++) {
    const step = number()
    if (index && !step) throw new Error(`a directory lists tile ${id} twice`)
    ids[index] = id += step
  }
  for (let index = 0; index < count; index++) runs[index] = number()
  for (let index = 0; index < count; index++) {
    lengths[index] = number()
    if (!lengths[index]) throw new Error(`tile ${ids[index]} has no bytes`)
  }
  for (let index = 0; index < count; index++) {
    const value = number()
    if (!value && !index) throw new Error('the first entry of a directory follows upon none')
    offsets[index] = value ? value - 1 : offsets[index - 1] + lengths[index - 1]
  }
  if (at.pos !== bytes.length) throw new Error(`a directory has ${bytes.length - at.pos} bytes behind its end`)
  return { count, ids, runs, lengths, offsets }
}

/**
 * The entries of the tiles of an archive, in its order and some together. Leaves that hold nothing wanted are passed over.
 * @param {Bytes} bytes
 * @param {import('./header.js').ArchiveHeader} header
 * @param {(from: number, to: number) => boolean} wanted whether ids from `from` to before `to` are
 * @returns {AsyncGenerator<Entry[]>}
 */
export async function * walkDirectories (bytes, header, wanted) {
  let [entries, addressed, leaves] = [0, 0, 0]

  async function * walk ({ offset, length }, from, to, depth) {
    const directory = await readDirectory(bytes, header, offset, length, depth)
    checkOrder(directory, from, to)
    /** @type {Entry[]} */
    let tiles = []
    for (let index = 0; index < directory.count; index++) {
      const entry = { id: directory.ids[index], run: directory.runs[index], offset: directory.offsets[index], length: directory.lengths[index] }
      const section = entry.run ? header.data : header.leaves
      if (!(entry.offset + entry.length <= section.length)) throw new Error(`${entry.run ? 'tile' : 'the directory of tile'} ${entry.id} would end at byte ${entry.offset + entry.length} of ${section.length}`)
      if (entry.run) {
        if (header.entries && ++entries > header.entries) throw new Error(`it says that it has ${header.entries} entries, but it has more`)
        if (header.addressed && (addressed += entry.run) > header.addressed) throw new Error(`it says that it has ${header.addressed} tiles, but it has more`)
        tiles.push(entry)
        continue
      }
      // each leaf lies in a place of its own, so that together they are no longer than their section
      leaves += entry.length
      if (leaves > header.leaves.length) throw new Error('its leaf directories lead to one another')
      const end = index + 1 < directory.count ? directory.ids[index + 1] : to
      if (!wanted(entry.id, end)) continue
      yield tiles
      tiles = []
      yield * walk({ offset: header.leaves.offset + entry.offset, length: entry.length }, entry.id, end, depth + 1)
    }
    yield tiles
  }

  if (header.root.length) yield * walk(header.root, 0, ID_LIMIT, 1)
}

async function readDirectory (bytes, header, offset, length, depth) {
  if (depth > directoryDefaults.depth) throw new Error(`its directories lie ${depth} deep or more`)
  if (length > directoryDefaults.packed) throw new Error(`a directory has ${length} bytes`)
  const packed = await bytes.read(offset, length, header.leaves.offset + header.leaves.length)
  let unpacked
  try {
    unpacked = await unpack(packed, header.packing, directoryDefaults.unpacked)
  } catch (error) {
    throw new Error(`the directory at byte ${offset} cannot be read: ${error.message}`, { cause: error })
  }
  return parseDirectory(unpacked)
}

function checkOrder ({ count, ids, runs }, from, to) {
  for (let index = 0; index < count; index++) {
    const end = ids[index] + (runs[index] || 1)
    const limit = index + 1 < count ? ids[index + 1] : to
    if (ids[index] < from || end > limit) throw new Error(`tile ${ids[index]} is not where its directory should have it`)
  }
}
