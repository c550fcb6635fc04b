// Writes a list to a file, one JSON object a line. It writes synchronously, because findings may come faster than a
// stream writes them.
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { TilecouchError } from '../errors.js'

const GATHERED = 64e3 // characters written at once

const notWritable = (name, error) =>
  new TilecouchError('TARGET_UNWRITABLE', { value: name, why: error.message }, { cause: error })

export class JsonLines {
  #file
  #lines = ''

  /**
   * @param {string} name of the file, which is emptied; `-` is the stream
   * @param {object} [options]
   * @param {NodeJS.WritableStream} [options.stdout]
   * @param {number} [options.gathered] characters written at once, and lost at most if the process is killed
   * @param {(name: string, error: any) => TilecouchError} [options.errorOf] where the file cannot be written
   */
  constructor (name, { stdout = process.stdout, gathered = GATHERED, errorOf = notWritable } = {}) {
    this.name = name
    this.stdout = stdout
    this.gathered = gathered
    this.errorOf = errorOf
    if (name !== '-') this.#file = this.#attempt(() => openSync(name, 'w'))
  }

  add (value) {
    this.#lines += JSON.stringify(value) + '\n'
    if (this.#lines.length > this.gathered) this.#write()
  }

  #write () {
    if (this.#file === undefined) this.stdout.write(this.#lines)
    else this.#attempt(() => writeFileSync(this.#file, this.#lines))
    this.#lines = ''
  }

  close () {
    try {
      this.#write()
    } finally {
      if (this.#file !== undefined) closeSync(this.#file)
    }
  }

  #attempt (action) {
    try {
      return action()
    } catch (error) {
      throw this.errorOf(this.name, error)
    }
  }
}
