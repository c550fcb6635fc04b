// Writes findings to a file, one JSON object a line. It writes synchronously, because findings may come faster than a
// stream writes them.
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { TilecouchError } from '../errors.js'

const GATHERED = 64e3 // characters written at once

export class FindingList {
  #file
  #lines = ''

  /** @param {string} name of the file, which is emptied; `-` is the stream @param {NodeJS.WritableStream} stdout */
  constructor (name, stdout) {
    this.name = name
    this.stdout = stdout
    if (name !== '-') this.#file = this.#attempt(() => openSync(name, 'w'))
  }

  add (finding) {
    this.#lines += JSON.stringify(finding) + '\n'
    if (this.#lines.length > GATHERED) this.#write()
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
      throw new TilecouchError('TARGET_UNWRITABLE', { value: this.name, why: error.message }, { cause: error })
    }
  }
}
