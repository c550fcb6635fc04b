// The outputs of commands: a file that gets its final name only when it is complete, or a stream such as standard
// output. Readers of the file see either the old content or the new one.
import { open, rename, rm, stat, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { ignoring } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'
import { ifMissing } from './files.js'
import { lock } from './lock.js'
import { isDiskFull } from './system.js'

const BUFFER = 65536 // bytes that are gathered before they are written

// codes of errors of the system and of SQLite, with which a target cannot be written
const OF_SYSTEM = /^(E[A-Z0-9]+|SQLITE_(IOERR|READONLY|CANTOPEN|CORRUPT|NOTADB|PERM|BUSY|LOCKED)\w*)$/

/** Turns failures of the file system into errors of the catalogue. */
export function targetError (error, target) {
  if (error instanceof TilecouchError) return error
  if (isDiskFull(error)) return new TilecouchError('DISK_FULL', { where: target }, { cause: error })
  if (typeof error.code === 'string' && OF_SYSTEM.test(error.code)) {
    return new TilecouchError('TARGET_UNWRITABLE', { value: target, why: error.message }, { cause: error })
  }
  return error
}

/** @template T @param {string} target @param {() => Promise<T>} action @returns {Promise<T>} */
export async function writingTo (target, action) {
  try {
    return await action()
  } catch (error) {
    throw targetError(error, target)
  }
}

/** @returns {Promise<import('node:fs').Stats | undefined>} */
export const find = name => writingTo(name, () => stat(name).catch(ifMissing))

let replaced = 0 // files, so that two writers of one name have temporary files of their own

/**
 * Writes a small file, for which processes need not wait for one another.
 * @param {string} file
 * @param {string | Uint8Array} content
 * @param {{temporary?: string, mode?: number, flush?: boolean}} [options] temporary: its name until it is complete
 */
export async function replaceFile (file, content, { temporary, ...options } = {}) {
  const part = temporary ?? `${file}.${process.pid}-${replaced++}.part`
  await rm(part, { force: true }) // a link would lead elsewhere
  await writeFile(part, content, { flag: 'wx', ...options })
  await rename(part, file)
}

/** A file that is written piece by piece, by one process at a time. */
export class AtomicFile {
  #part
  #mode
  #handle
  #unlock
  /** @type {Buffer[]} */
  #pieces = []
  #buffered = 0
  #isOpen = true

  /** @param {string} name @param {{mode?: number}} [options] */
  static async open (name, { mode = 0o666 } = {}) {
    const stats = await find(name)
    if (stats?.isDirectory()) throw new TilecouchError('TARGET_EXISTS', { value: name, why: 'it is a folder' })
    return writingTo(name, async () => {
      const unlock = await lock(`${name}.part-lock`, name)
      try {
        return new AtomicFile(name, mode, await openNew(`${name}.part`, mode), unlock)
      } catch (error) {
        await unlock()
        throw error
      }
    })
  }

  /** Use `AtomicFile.open`. */
  constructor (name, mode, handle, unlock) {
    this.name = name
    this.#part = `${name}.part`
    this.#mode = mode
    this.#handle = handle
    this.#unlock = unlock
  }

  /** @param {string | Uint8Array} data */
  async write (data) {
    const piece = Buffer.from(data)
    this.#pieces.push(piece)
    this.#buffered += piece.length
    if (this.#buffered >= BUFFER) await this.#flush()
  }

  async #flush () {
    const pieces = this.#pieces
    this.#pieces = []
    this.#buffered = 0
    await writingTo(this.name, () => this.#handle.appendFile(pieces.length === 1 ? pieces[0] : Buffer.concat(pieces)))
  }

  /** Discards everything written so far. */
  async restart () {
    this.#pieces = []
    this.#buffered = 0
    await writingTo(this.name, async () => {
      await this.#handle.close()
      this.#handle = await openNew(this.#part, this.#mode)
    })
  }

  /** @param {(part: string) => Promise<void>} [verify] reads it again before it gets its name */
  async finish (verify) {
    await this.#flush()
    await writingTo(this.name, async () => {
      await this.#handle.sync()
      await this.#handle.close()
      this.#isOpen = false
      await verify?.(this.#part)
      await rename(this.#part, this.name)
      // these file systems need no sync of a folder
      await syncPath(path.dirname(this.name), 'r').catch(ignoring('EINVAL', 'ENOTSUP', 'EPERM'))
    })
    await this.#unlock()
  }

  /** Removes the unfinished file. May be called after finish(). */
  async discard () {
    if (this.#isOpen) await this.#handle.close().catch(() => {})
    this.#isOpen = false
    await rm(this.#part, { force: true }).catch(() => {})
    await this.#unlock().catch(() => {})
  }
}

/** Creates an empty file in place of a leftover one. A link with this name is not followed. */
async function openNew (file, mode) {
  await rm(file, { force: true })
  return open(file, 'wx', mode)
}

/** Makes the content of a file durable, or the names in a folder. @param {'r' | 'r+'} flags r: for a folder */
export async function syncPath (file, flags) {
  const handle = await open(file, flags)
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

/** A stream instead of a file. It is written no faster than it is read. */
export class OutputStream {
  name = 'standard output'
  #failure = /** @type {Error | undefined} */ (undefined)

  /** @param {NodeJS.WritableStream} stream */
  constructor (stream) {
    this.stream = stream
    stream.on('error', error => { this.#failure ??= error })
  }

  /** @param {string | Uint8Array} data @returns {Promise<void>} */
  write (data) {
    return new Promise((resolve, reject) => {
      const fail = error => {
        const details = { value: this.name, why: error.message }
        reject(new TilecouchError('TARGET_UNWRITABLE', details, { cause: error }))
      }
      if (this.#failure) return fail(this.#failure)
      this.stream.write(data, error => error ? fail(error) : resolve())
    })
  }

  async finish () {}
  async discard () {}
}

/** @param {string} name `-` is the stream @param {NodeJS.WritableStream} stream */
export const openOutput = async (name, stream) => name === '-' ? new OutputStream(stream) : AtomicFile.open(name)
