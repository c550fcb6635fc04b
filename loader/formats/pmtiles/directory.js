// The directories of a PMTiles archive: columns of variable-length numbers, packed. When all entries do not fit behind
// the header they lie in leaf directories, and the root directory says where those are.
import { gzipSync } from 'node:zlib'
import { PbfWriter } from 'pbf'
import { readVarint } from 'pmtiles'
import { TilecouchError } from '../../errors.js'
import { canUnpack, unpack } from '../unpack.js'
import { FIRST_BYTES, HEADER_BYTES, cannotUnpack } from './header.js'
import { ID_LIMIT } from './ids.js'

export const directoryLimits = {
  packed: 16e6, // bytes of a directory that is read, at most
  unpacked: 64e6, // bytes of it when it is unpacked
  entries: 2 ** 20, // of a directory; a leaf has some thousand
  depth: 4 // directories on the way to a tile; writers make two
}

export const directoryDefaults = {
  root: FIRST_BYTES - HEADER_BYTES, // bytes of a root directory that is written, at most
  tried: 16384, // entries from which on a root without leaves is not even tried
  leaf: 4096, // entries of a leaf, at least; as many as the official tools put into it
  leaves: 3500, // about so many fit into a root
  growth: 1.2 // of leaves whose root was too long
}

const USUAL_DEPTH = 2 // directories on the way to a tile: the format advises against more

/**
 * @typedef {object} Entry
 * @property {number} id of its first tile
 * @property {number} run tiles in a row that show the same; 0: it is a leaf directory
 * @property {number} offset within its section
 * @property {number} length bytes
 */

/**
 * Reads all directories, and checks everything in them: ids ascend through the whole archive, everything lies inside
 * its section, and the leaves together are no longer than their section. An unreadable part costs only its own entries.
 */
export class Directories {
  #file
  #header
  #onFault
  #isWanted
  #leafBytes = 0
  entries = 0
  addressed = 0
  /** False after a fault: then some entries may have been left out. */
  isWhole = true

  /**
   * @param {{read: (offset: number, length: number, until?: number) => Promise<Buffer>}} file
   * @param {import('./header.js').Header} header @param {import('../reading.js').OnFault} onFault
   * @param {(from: number, to: number) => boolean} isWanted whether any of the ids from `from` to before `to` is
   *   wanted; leaves without wanted ids are skipped
   */
  constructor (file, header, onFault, isWanted) {
    this.#file = file
    this.#header = header
    this.#onFault = onFault
    this.#isWanted = isWanted
  }

  /** @returns {AsyncGenerator<Entry[]>} groups of the entries of tiles, in order */
  async * tiles () {
    const { root, leaves, packing } = this.#header
    if (!canUnpack(packing)) return this.#damaged('root directory', cannotUnpack(packing))
    if (root.length) yield * this.#walk(root, 'root directory', 0, ID_LIMIT, 1)
    const unused = leaves.length - this.#leafBytes
    if (this.isWhole && unused > 0) this.#onFault('unused-bytes', 'leaf directories', `${unused} bytes`)
  }

  async * #walk (place, name, from, to, depth) {
    const entries = await this.#read(place, name, depth)
    let next = from // the least id that may come
    /** @type {Entry[]} */
    let tiles = []
    for (let index = 0; index < entries.length; index++) {
      const entry = entries[index]
      const { id, run, offset, length } = entry
      const end = id + (run || 1)
      if (id < next || end > to) {
        const code = id < next && index ? 'duplicate-tile' : undefined
        this.#wrong(`tile id ${id}`, `${name}: it should lie within ${next} and ${to}`, code)
        continue
      }
      next = end
      const section = run ? this.#header.data : this.#header.leaves
      if (!length || offset + length > section.length) {
        this.#wrong(`tile id ${id}`, length
          ? `its ${run ? 'bytes' : 'directory'} would end at byte ${offset + length} of ${section.length}`
          : 'it has no bytes')
        continue
      }
      if (run) {
        this.entries++
        this.addressed += run
        tiles.push(entry)
        continue
      }
      this.#leafBytes += length
      if (this.#leafBytes > this.#header.leaves.length) {
        this.#wrong(`tile id ${id}`, 'leaf directories lead to one another, or share bytes')
        this.#leafBytes = Infinity // report it only once
        break
      }
      const limit = Math.max(id, index + 1 < entries.length ? Math.min(to, entries[index + 1].id) : to)
      if (!this.#isWanted(id, limit)) continue
      yield tiles
      tiles = []
      const leaf = { offset: this.#header.leaves.offset + offset, length }
      yield * this.#walk(leaf, `leaf directory of tile id ${id}`, id, limit, depth + 1)
      if (this.#leafBytes === Infinity) return
    }
    yield tiles
  }

  async #read ({ offset, length }, name, depth) {
    if (depth > directoryLimits.depth) return this.#damaged(name, `directories lie ${depth} deep`)
    if (depth === USUAL_DEPTH + 1) this.#onFault('odd-structure', name, `directories lie ${depth} deep`)
    if (length > directoryLimits.packed) return this.#damaged(name, `it has ${length} bytes`)
    const { leaves, packing } = this.#header
    try {
      const bytes = await this.#file.read(offset, length, leaves.offset + leaves.length)
      const unpacked = await unpack(bytes, { coding: packing, limit: directoryLimits.unpacked })
      return parseDirectory(unpacked, why => this.#wrong(name, why))
    } catch (error) {
      if (error instanceof TilecouchError) throw error // of a server, or Ctrl-C
      return this.#damaged(name, error.message, error)
    }
  }

  #wrong (where, why, code = 'bad-structure') {
    this.isWhole = false
    this.#onFault(code, where, why)
  }

  /** @returns {never[]} */
  #damaged (name, why, cause = undefined) {
    this.isWhole = false
    this.#onFault('damaged-file', name, why, cause)
    return []
  }
}

/**
 * @param {Uint8Array} bytes unpacked
 * @param {(why: string) => void} reportFault called with faults that do not prevent reading
 * @returns {Entry[]}
 */
export function parseDirectory (bytes, reportFault) {
  if (!bytes.length || bytes[bytes.length - 1] & 0x80) throw new Error('it ends in the middle of a number')
  const cursor = { buf: bytes, pos: 0 }
  const readNumber = () => {
    if (cursor.pos === bytes.length) throw new Error('it ends before its last entry')
    const value = readVarint(cursor)
    if (!Number.isSafeInteger(value)) throw new Error(`it holds a number of ${value}`)
    return value
  }
  const count = readNumber()
  // an entry takes four bytes or more
  if (count > directoryLimits.entries || count > bytes.length / 4) {
    throw new Error(`${bytes.length} bytes cannot hold ${count} entries`)
  }
  const readColumn = () => Float64Array.from({ length: count }, readNumber)
  const [steps, runs, lengths, offsets] = [readColumn(), readColumn(), readColumn(), readColumn()]
  if (cursor.pos !== bytes.length) reportFault(`${bytes.length - cursor.pos} bytes behind its end`)
  const entries = []
  for (let index = 0, id = 0, end = 0; index < count; index++) {
    id += steps[index]
    if (!offsets[index] && !index) throw new Error('its first entry follows upon none')
    const offset = offsets[index] ? offsets[index] - 1 : end
    end = offset + lengths[index]
    entries.push({ id, run: runs[index], offset, length: lengths[index] })
  }
  return entries
}

/** @param {Entry[]} entries ascending @returns {Buffer} packed */
export function serialize (entries) {
  const columns = new PbfWriter()
  columns.writeVarint(entries.length)
  let last = 0
  for (const { id } of entries) {
    columns.writeVarint(id - last)
    last = id
  }
  for (const { run } of entries) columns.writeVarint(run)
  for (const { length } of entries) columns.writeVarint(length)
  let next = -1
  for (const { offset, length } of entries) {
    columns.writeVarint(offset === next ? 0 : offset + 1)
    next = offset + length
  }
  return gzipSync(columns.finish(), { level: 9 })
}

/**
 * Writes leaves if the entries do not fit into the root. Leaves have no leaves, so readers ask at most twice.
 * @param {{count: number, groups: (size?: number) => Iterable<Entry[]>}} entries
 * @param {{clear: () => Promise<void>, write: (bytes: Buffer) => Promise<void>}} leaves cleared for each attempt
 * @param {typeof directoryDefaults} [limits]
 * @returns {Promise<{root: Buffer, leaves: number}>} the root, and the bytes of the leaves written
 */
export async function writeDirectories (entries, leaves, limits = directoryDefaults) {
  if (entries.count < limits.tried) {
    const root = serialize([...entries.groups()].flat())
    if (root.length <= limits.root) return { root, leaves: 0 }
  }
  for (let size = Math.max(limits.leaf, entries.count / limits.leaves); ; size *= limits.growth) {
    await leaves.clear()
    const pointers = []
    let end = 0
    for (const group of entries.groups(Math.floor(size))) {
      const leaf = serialize(group)
      await leaves.write(leaf)
      pointers.push({ id: group[0].id, run: 0, offset: end, length: leaf.length })
      end += leaf.length
    }
    const root = serialize(pointers)
    if (root.length <= limits.root) return { root, leaves: end }
  }
}
