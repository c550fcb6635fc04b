// A file of text that grows beside its name and appears whole: nobody reads half of it, and nothing is left of one given up.
import { open, rename, rm, stat } from 'node:fs/promises'
import { TilecouchError } from '../../core/index.js'
import { lock } from '../export/lock.js'
import { explain } from '../export/target.js'

const BUFFER = 65536 // characters gathered before they are written

export class WholeFile {
  #file
  #part
  #handle
  #unlock
  #text = ''

  /** @param {string} file */
  static async open (file) {
    let unlock
    try {
      if ((await stat(file).catch(() => undefined))?.isDirectory()) throw new TilecouchError('TARGET_EXISTS', { value: file, why: 'it is a folder' })
      unlock = await lock(`${file}.part-lock`, file)
      return new WholeFile(file, await open(`${file}.part`, 'w'), unlock)
    } catch (error) {
      await unlock?.()
      throw explain(error, file)
    }
  }

  /** Use `WholeFile.open`. */
  constructor (file, handle, unlock) {
    this.#file = file
    this.#part = `${file}.part`
    this.#handle = handle
    this.#unlock = unlock
  }

  /** @param {string} text */
  async write (text) {
    this.#text += text
    if (this.#text.length >= BUFFER) await this.#flush()
  }

  /** Forgets what was written. */
  async restart () {
    this.#text = ''
    await this.#try(async () => {
      await this.#handle.truncate(0)
      await this.#handle.close()
      this.#handle = await open(this.#part, 'w')
    })
  }

  async #flush () {
    const text = this.#text
    this.#text = ''
    await this.#try(() => this.#handle.writeFile(text))
  }

  async finish () {
    await this.#flush()
    await this.#try(async () => {
      await this.#handle.close()
      await rename(this.#part, this.#file)
      await this.#unlock()
    })
  }

  async discard () {
    await this.#handle.close().catch(() => {})
    await rm(this.#part, { force: true }).catch(() => {})
    await this.#unlock().catch(() => {})
  }

  async #try (action) {
    try {
      return await action()
    } catch (error) {
      throw explain(error, this.#file)
    }
  }
}
