// The directory entries of an archive, ascending, in a temporary file: there may be more of them than fit into memory.
// They are written once and read in order as often as wanted.
import { closeSync, openSync, readSync, rmSync, writeSync } from 'node:fs'

const FIELDS = 5
const CHUNK = 8192 // entries read and written at once

/**
 * @typedef {object} Entry
 * @property {number} id of its first tile
 * @property {number} run tiles in a row that show the same
 * @property {number} offset of its content in the archive's data
 * @property {number} length bytes
 * @property {number} [at] where the content lies now
 */

export class Entries {
  #file
  #fd
  #chunk = new Float64Array(FIELDS * CHUNK)
  #filled = 0
  #written = 0
  count = 0

  /** @param {string} file */
  constructor (file) {
    this.#file = file
    this.#fd = openSync(file, 'w+')
  }

  /** @param {Entry} entry */
  push ({ id, run, offset, length, at = 0 }) {
    this.#chunk.set([id, run, offset, length, at], this.#filled)
    this.#filled += FIELDS
    this.count++
    if (this.#filled === this.#chunk.length) this.#flush()
  }

  #flush () {
    const bytes = new Uint8Array(this.#chunk.buffer, 0, this.#filled * 8)
    for (let done = 0; done < bytes.length;) done += writeSync(this.#fd, bytes, done, bytes.length - done, this.#written + done)
    this.#written += bytes.length
    this.#filled = 0
  }

  /**
   * Groups of so many entries; the last may have fewer.
   * @param {number} [size]
   * @returns {Generator<Entry[]>}
   */
  * groups (size = CHUNK) {
    this.#flush()
    const chunk = new Float64Array(FIELDS * CHUNK)
    let group = /** @type {Entry[]} */ ([])
    for (let position = 0; position < this.#written;) {
      const read = this.#read(chunk, position)
      for (let index = 0; index < read / 8; index += FIELDS) {
        const [id, run, offset, length, at] = chunk.subarray(index, index + FIELDS)
        group.push({ id, run, offset, length, at })
        if (group.length === size) {
          yield group
          group = []
        }
      }
      position += read
    }
    if (group.length) yield group
  }

  #read (chunk, position) {
    const wanted = Math.min(chunk.byteLength, this.#written - position)
    let done = 0
    while (done < wanted) {
      const read = readSync(this.#fd, new Uint8Array(chunk.buffer), done, wanted - done, position + done)
      if (!read) throw new Error(`${this.#file} was cut off by somebody else`)
      done += read
    }
    return done
  }

  close () {
    closeSync(this.#fd)
    rmSync(this.#file, { force: true })
  }
}
