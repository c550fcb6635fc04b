// Reads a folder of z/x/y.ext files that others may have filled: regular files, and links that stay in it. The folder
// itself may be a link.
import { lstat, opendir, realpath, stat } from 'node:fs/promises'
import path from 'node:path'
import { compareInner, compareRows, gridOf } from '../../../core/index.js'
import { shared } from '../../../core/promises.js'
import { ifMissing, openFile, plainTextOf, readRegular } from '../files.js'
import { GONE_LIST, readGone } from '../gone.js'
import { breather, sourceLimits, unreadable } from '../reading.js'
import { NUMBER, parseTileName } from '../names.js'

export const MARK = '.tilecouch.json' // says that an export made the folder, and of what

const BUFFER = 1000 // names asked for at once

/** @type {import('../reading.js').OnFault} */
const throwCause = (code, where, why, cause) => { if (cause) throw cause }

export class FolderReader {
  #folder
  #signal
  #onFault
  #tms
  #grid
  #root = shared(() => realpath(this.#folder))

  /**
   * @param {string} folder
   * @param {{scheme?: string, grid?: string | object, signal?: AbortSignal,
   *   onFault?: import('../reading.js').OnFault}} [options] onFault:
   *   by default read errors are thrown
   */
  constructor (folder, { scheme, grid, signal, onFault = throwCause } = {}) {
    this.#folder = folder
    this.#tms = scheme === 'tms'
    this.#grid = gridOf({ grid })
    this.#signal = signal
    this.#onFault = onFault
  }

  /** Folders whose names are numbers, in the order of ids. @param {string} [below] path from here */
  async numbers (below = '') {
    const numbers = []
    for await (const entry of this.#listed(below, name => /^\d+$/.test(name))) {
      const where = path.posix.join(below, entry.name)
      try {
        if (!await this.isFolder(below, entry)) continue
      } catch (error) {
        this.#onFault('unreadable-tile', where, error.message, error)
        continue
      }
      if (NUMBER.test(entry.name)) numbers.push(+entry.name)
      else this.#onFault('not-a-tile-name', where, 'numbers have no zeros in front')
    }
    return numbers.sort(compareInner)
  }

  /** The tiles of a column in the order of ids, each with its path from the folder. */
  async tiles (z, x) {
    const tiles = []
    const below = `${z}/${x}`
    for await (const { name } of this.#listed(below, () => true)) {
      const where = `${below}/${name}`
      const tile = parseTileName(z, x, name, (code, why) => this.#onFault(code, where, why))
      if (!tile) continue
      const y = this.#tms && !tile.isOutside ? this.#grid.flipY(z, tile.y) : tile.y
      tiles.push({ ...tile, path: where, y })
    }
    return tiles.sort((a, b) => compareRows(a.y, b.y) || (a.path < b.path ? -1 : 1))
  }

  async * #listed (below, isWanted) {
    try {
      yield * this.list(below, isWanted)
    } catch (error) {
      if (error.code === 'ABORTED') throw error
      this.#onFault('unreadable-tile', below || '.', error.message, error)
    }
  }

  /** The text of a file beside the tiles, if it exists. @param {string} name @returns {Promise<string | undefined>} */
  async text (name) {
    return await this.has(name) ? plainTextOf(await this.read(name, sourceLimits.metadata)) : undefined
  }

  /** The gone tiles of a diff, which the caller closes. @param {string} [file] for messages */
  async gone (file = GONE_LIST) {
    if (!await this.has(GONE_LIST)) return undefined
    const options = { file, tms: this.#tms, grid: this.#grid.field, signal: this.#signal }
    return readGone(await this.stream(GONE_LIST), options)
  }

  /**
   * Lists the entries of a folder, in any order.
   * @param {string} below its path from here
   * @param {(name: string) => boolean} isWanted by its name
   */
  async * list (below, isWanted) {
    const breathe = breather(this.#signal)
    let count = 0
    try {
      for await (const entry of await opendir(path.join(this.#folder, below), { bufferSize: BUFFER })) {
        const pause = breathe()
        if (pause) await pause
        if (!isWanted(entry.name)) continue
        if (++count > sourceLimits.names) throw new Error(`it holds more than ${sourceLimits.names} files`)
        yield entry
      }
    } catch (error) {
      throw unreadable(path.join(this.#folder, below), error)
    }
  }

  /** Whether a listed entry is a folder, or a link to one in here. @param {import('node:fs').Dirent} entry */
  async isFolder (below, entry) {
    const name = path.join(below, entry.name)
    if (!entry.isSymbolicLink()) return entry.isDirectory()
    return this.#reading(name, async () => (await stat(await this.#inside(name))).isDirectory())
  }

  /** Whether a listed entry is no link that leads out of here. @param {import('node:fs').Dirent} entry */
  async isHere (below, entry) {
    if (!entry.isSymbolicLink()) return true
    return this.#inside(path.join(below, entry.name)).then(() => true, error => error.code !== undefined)
  }

  /** The bytes of a file. @param {string} name its path from here @param {number} [most] bytes */
  async read (name, most = sourceLimits.tile) {
    return this.#reading(name, () => this.#find(name, file => readRegular(file, { most, links: false })))
  }

  /** Reads a file as a stream, for lists of any length. */
  async stream (name) {
    const { handle } = await this.#reading(name, () => this.#find(name, file => openFile(file, { links: false })))
    return handle.createReadStream()
  }

  /** Whether this name exists, as a file or anything else. */
  async has (name) {
    return Boolean(await this.#reading(name, () => lstat(path.join(this.#folder, name)).catch(ifMissing)))
  }

  /**
   * A file of this name, or the one in here that it is a link to.
   * @template T
   * @param {string} name
   * @param {(file: string) => Promise<T>} use refuses links
   */
  async #find (name, use) {
    try {
      return await use(path.join(this.#folder, name))
    } catch (error) {
      if (error.code !== 'ELOOP' && error.code !== 'EMLINK') throw error
      return use(await this.#inside(name))
    }
  }

  /** The target of a link, which must be in the folder. */
  async #inside (name) {
    const root = await this.#root()
    const file = await realpath(path.join(this.#folder, name))
    const relativePath = path.relative(root, file)
    if (relativePath === '..' || relativePath.startsWith(`..${path.sep}`) || path.isAbsolute(relativePath)) {
      throw new Error('it is a link that leads out of the folder')
    }
    return file
  }

  async #reading (name, work) {
    try {
      return await work()
    } catch (error) {
      throw unreadable(path.join(this.#folder, name), error)
    }
  }
}
