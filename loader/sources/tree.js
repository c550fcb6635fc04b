// The files of a folder that others may have filled: regular ones, and links that stay in it. What is given as the folder may
// be a link itself: whoever names it means what it leads to.
import { lstat, opendir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { TilecouchError } from '../../core/index.js'
import { openFile } from '../regular-file.js'
import { sourceLimits } from './limits.js'
import { breather } from './reading.js'

const BUFFER = 1000 // names asked for at once

export class FileTree {
  #folder
  #signal
  /** @type {Promise<string> | undefined} */
  #root

  /** @param {string} folder @param {AbortSignal} [signal] */
  constructor (folder, signal) {
    this.#folder = folder
    this.#signal = signal
  }

  /**
   * What lies in a folder of it, in any order.
   * @param {string} below its path from here
   * @param {(name: string) => boolean} wanted by its name
   */
  async * list (below, wanted) {
    const breathe = breather(this.#signal)
    let count = 0
    try {
      for await (const entry of await opendir(path.join(this.#folder, below), { bufferSize: BUFFER })) {
        const pause = breathe()
        if (pause) await pause
        if (!wanted(entry.name)) continue
        if (++count > sourceLimits.names) throw new Error(`it holds more than ${sourceLimits.names} files`)
        yield entry
      }
    } catch (error) {
      throw this.#failed(below, error)
    }
  }

  /**
   * Whether what was listed is a folder, or a link to one in here.
   * @param {string} below @param {import('node:fs').Dirent} entry
   */
  async isFolder (below, entry) {
    const name = path.join(below, entry.name)
    if (!entry.isSymbolicLink()) return entry.isDirectory()
    return this.#reading(name, async () => (await stat(await this.#inside(name))).isDirectory())
  }

  /**
   * Whether what was listed is no link that leads out of here.
   * @param {string} below @param {import('node:fs').Dirent} entry
   */
  async isHere (below, entry) {
    return !entry.isSymbolicLink() || this.#inside(path.join(below, entry.name)).then(() => true, error => error.code !== undefined)
  }

  /**
   * The bytes of a file.
   * @param {string} name its path from here
   * @param {number} [most] bytes
   */
  async read (name, most = sourceLimits.tile) {
    return this.#reading(name, async () => {
      const { handle, size } = await this.#open(name, most)
      try {
        const bytes = Buffer.allocUnsafe(size)
        let done = 0
        for (let read = -1; done < size && read; done += read) read = (await handle.read(bytes, done, size - done, done)).bytesRead
        return bytes.subarray(0, done)
      } finally {
        await handle.close()
      }
    })
  }

  /** Its bytes one after the other: for a list, however long. @param {string} name */
  async stream (name) {
    return this.#reading(name, async () => (await this.#open(name)).handle.createReadStream())
  }

  /** Whether there is a file of this name, or something else. @param {string} name */
  async has (name) {
    try {
      return Boolean(await lstat(path.join(this.#folder, name)))
    } catch (error) {
      if (error.code === 'ENOENT') return false
      throw this.#failed(name, error)
    }
  }

  async #open (name, most) {
    const file = path.join(this.#folder, name)
    try {
      return await openFile(file, { most, links: false })
    } catch (error) {
      if (error.code !== 'ELOOP' && error.code !== 'EMLINK') throw error
      return openFile(await this.#inside(name), { most, links: false })
    }
  }

  /** Where a link leads to. */
  async #inside (name) {
    const root = await (this.#root ??= realpath(this.#folder))
    const file = await realpath(path.join(this.#folder, name))
    const way = path.relative(root, file)
    if (way === '..' || way.startsWith(`..${path.sep}`) || path.isAbsolute(way)) throw new Error('it is a link that leads out of the folder')
    return file
  }

  async #reading (name, work) {
    try {
      return await work()
    } catch (error) {
      throw this.#failed(name, error)
    }
  }

  #failed (name, error) {
    return error instanceof TilecouchError ? error : new TilecouchError('SOURCE_UNREADABLE', { value: path.join(this.#folder, name), why: error.message }, { cause: error })
  }
}
