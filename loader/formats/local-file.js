// A file on this machine, read in pieces.
import { closeSync, fstatSync, readSync } from 'node:fs'
import { openRegular } from '../regular-file.js'

export class LocalFile {
  #file

  /** @param {string} path */
  constructor (path) {
    this.path = path
    this.#file = openRegular(path)
    this.size = fstatSync(this.#file).size
  }

  /**
   * Bytes, at once: they are in the page cache most of the time, and a promise would take longer than reading them.
   * @param {number} offset @param {number} length
   */
  readSync (offset, length) {
    if (!(offset + length <= this.size)) throw new Error(`it ends at byte ${this.size}, before byte ${offset + length}`)
    const bytes = Buffer.allocUnsafe(length)
    for (let done = 0; done < length;) {
      const read = readSync(this.#file, bytes, done, length - done, offset + done)
      if (!read) throw new Error(`it ends at byte ${offset + done}: it was cut off while it was read`)
      done += read
    }
    return bytes
  }

  /** @param {number} offset @param {number} length */
  async read (offset, length) {
    return this.readSync(offset, length)
  }

  close () {
    closeSync(this.#file)
  }
}
