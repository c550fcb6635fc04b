// A file on this machine, read in pieces.
import { closeSync, fstatSync } from 'node:fs'
import { readAllSync } from './file-bytes.js'
import { openRegular } from './regular-file.js'

export class LocalFile {
  #file

  constructor (path) {
    this.path = path
    this.#file = openRegular(path)
    this.size = fstatSync(this.#file).size
  }

  /** Bytes, at once: they are in the page cache most of the time, and a promise would take longer than reading them. */
  readSync (offset, length) {
    if (!(offset + length <= this.size)) throw new Error(`it ends at byte ${this.size}, before byte ${offset + length}`)
    const bytes = Buffer.allocUnsafe(length)
    const done = readAllSync(this.#file, bytes, offset)
    if (done < length) throw new Error(`it ends at byte ${offset + done}: it was cut off while it was read`)
    return bytes
  }

  async read (offset, length) {
    return this.readSync(offset, length)
  }

  close () {
    closeSync(this.#file)
  }
}
