// The directories of a PMTiles archive, to the last entry. A directory that cannot be read costs its own entries, not the
// others; whatever they lead to, each byte of them is read once and no more of them than the file holds.
import { readVarint } from 'pmtiles'
import { ID_LIMIT } from '../../sources/pmtiles/ids.js'
import { directoryDefaults } from '../../sources/pmtiles/directory.js'
import { canUnpack, unpack } from '../../sources/unpack.js'

const USUAL_DEPTH = 2 // directories on the way to a tile: more is discouraged

/** @typedef {{id: number, run: number, offset: number, length: number}} Entry offset: within its section */

export class Directories {
  #file
  #header
  #tell
  #leafBytes = 0
  entries = 0
  addressed = 0
  /** Whether nothing had to be passed over. */
  isWhole = true

  /**
   * @param {{readSync: (offset: number, length: number) => Buffer}} file
   * @param {import('./header.js').Header} header
   * @param {(code: string, where: string, why: string) => void} tell
   */
  constructor (file, header, tell) {
    this.#file = file
    this.#header = header
    this.#tell = tell
  }

  /**
   * The entries of tiles, in the order in which they stand.
   * @returns {AsyncGenerator<Entry>}
   */
  async * tiles () {
    if (!canUnpack(this.#header.packing)) return this.#give('root directory', `its compression, ${this.#header.packing}, cannot be unpacked here`)
    yield * this.#walk(this.#header.root, 'root directory', 0, ID_LIMIT, 1)
    const unused = this.#header.leaves.length - this.#leafBytes
    if (this.isWhole && unused > 0) this.#tell('unused-bytes', 'leaf directories', `${unused} bytes`)
  }

  async * #walk (place, name, from, to, depth) {
    const entries = await this.#read(place, name, depth)
    let next = from // the least id that may come
    for (let index = 0; index < entries.length; index++) {
      const entry = entries[index]
      const { id, run, offset, length } = entry
      const end = id + (run || 1)
      if (id < next || end > to) {
        this.#tell(id < next && index ? 'duplicate-tile' : 'bad-structure', `tile id ${id}`, `${name}: it should lie within ${next} and ${to}`)
        this.isWhole = false
        continue
      }
      next = end
      const section = run ? this.#header.data : this.#header.leaves
      if (!length || offset + length > section.length) {
        this.#wrong(`tile id ${id}`, length ? `${run ? 'its bytes' : 'its directory'} would end at byte ${offset + length} of ${section.length}` : 'it has no bytes')
        continue
      }
      if (run) {
        this.entries++
        this.addressed += run
        yield entry
        continue
      }
      this.#leafBytes += length
      if (this.#leafBytes > this.#header.leaves.length) {
        this.#wrong(`tile id ${id}`, 'leaf directories lead to one another, or share bytes')
        this.#leafBytes = Infinity // once is enough
        return
      }
      const limit = index + 1 < entries.length ? Math.min(to, entries[index + 1].id) : to
      yield * this.#walk({ offset: this.#header.leaves.offset + offset, length }, `leaf directory of tile id ${id}`, id, Math.max(limit, id), depth + 1)
      if (this.#leafBytes === Infinity) return
    }
  }

  async #read ({ offset, length }, name, depth) {
    if (depth > directoryDefaults.depth) return this.#give(name, `directories lie ${depth} deep`)
    if (depth === USUAL_DEPTH + 1) this.#tell('odd-structure', name, `directories lie ${depth} deep`)
    if (length > directoryDefaults.packed) return this.#give(name, `it has ${length} bytes`)
    let bytes
    try {
      bytes = await unpack(this.#file.readSync(offset, length), this.#header.packing, directoryDefaults.unpacked)
    } catch (error) {
      return this.#give(name, error.message)
    }
    return this.#parse(bytes, name)
  }

  /** @returns {Entry[]} */
  #parse (bytes, name) {
    const at = { buf: bytes, pos: 0 }
    try {
      const count = number(at)
      if (count > directoryDefaults.entries || count > bytes.length / 4) return this.#give(name, `${bytes.length} bytes cannot hold ${count} entries`)
      if (!count) this.#wrong(name, 'it is empty')
      const column = () => Float64Array.from({ length: count }, () => number(at))
      const [steps, runs, lengths, offsets] = [column(), column(), column(), column()]
      if (at.pos !== bytes.length) this.#wrong(name, `${bytes.length - at.pos} bytes behind its end`)
      const entries = []
      for (let index = 0, id = 0, end = 0; index < count; index++) {
        id += steps[index]
        if (!offsets[index] && !index) return this.#give(name, 'its first entry follows upon none')
        const offset = offsets[index] ? offsets[index] - 1 : end
        end = offset + lengths[index]
        entries.push({ id, run: runs[index], offset, length: lengths[index] })
      }
      return entries
    } catch (error) {
      return this.#give(name, error.message)
    }
  }

  #wrong (where, why) {
    this.#tell('bad-structure', where, why)
    this.isWhole = false
  }

  /** @returns {never[]} */
  #give (name, why) {
    this.#tell('damaged-file', name, why)
    this.isWhole = false
    return []
  }
}

function number (at) {
  if (at.pos >= at.buf.length) throw new Error('it ends before its last entry')
  const value = readVarint(at)
  if (at.pos > at.buf.length) throw new Error('it ends in the middle of a number')
  if (!Number.isSafeInteger(value)) throw new Error(`a number of ${value}`)
  return value
}
