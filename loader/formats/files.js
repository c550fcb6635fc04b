// Opens files that others may have put there. Only regular files are read, and only up to a limit: a pipe waits for a
// writer, and a device may have no end.
import * as fs from 'node:fs'
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs'
import { lstat, open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { ignoring } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'

const SETTINGS = 1e6 // bytes of a file of settings, of keys, of an upstream
const { O_RDONLY, O_NONBLOCK = 0, O_NOFOLLOW = 0 } = constants // does not wait for the writer of a pipe

/**
 * The bytes of a file that is read at once, such as one of settings.
 * @param {string} file
 * @param {number} [most] bytes
 * @param {{links?: boolean}} [options] links: its name may be a link, else that is an error (ELOOP)
 */
export function readSmallFile (file, most = SETTINGS, { links = true } = {}) {
  const handle = openRegular(file, links)
  try {
    const { size } = check(fstatSync(handle), most)
    const bytes = Buffer.alloc(size)
    return bytes.subarray(0, readAllSync(handle, bytes, 0))
  } finally {
    closeSync(handle)
  }
}

/** A text without the byte order mark that some editors write. @param {Uint8Array} bytes */
export const plainTextOf = bytes => String(bytes).replace(/^\ufeff/, '')

/** The text of a small file, if the file exists. @param {string} file @param {{links?: boolean}} [options] */
export function readTextIfThere (file, options) {
  try {
    return String(readSmallFile(file, undefined, options))
  } catch (error) {
    return ifMissing(error)
  }
}

/** For `catch`: returns undefined if the file does not exist. */
export const ifMissing = ignoring('ENOENT', 'ENOTDIR')

/** Opens a regular file for reading. @param {boolean} [links] its name may be a link */
export function openRegular (file, links = true) {
  const handle = openSync(file, flagsOf(links))
  try {
    check(fstatSync(handle))
    return handle
  } catch (error) {
    closeSync(handle)
    throw error
  }
}

/**
 * Like openRegular, for asynchronous reading.
 * @param {string} file @param {{links?: boolean}} [options] links: its name may be a link (else ELOOP)
 */
export async function openFile (file, { links = true } = {}) {
  const handle = await open(file, flagsOf(links))
  try {
    return { handle, size: check(await handle.stat()).size }
  } catch (error) {
    await handle.close()
    throw error
  }
}

const [openDescriptor, statDescriptor, readDescriptor] = [promisify(fs.open), promisify(fs.fstat), promisify(fs.read)]

/**
 * Reads one of many files asynchronously. A descriptor costs less than half as much as a file handle.
 * @param {string} file
 * @param {{most?: number, links?: boolean}} [options] most: bytes; links: as openFile
 */
export async function readRegular (file, { most, links = true } = {}) {
  const descriptor = await openDescriptor(file, flagsOf(links))
  try {
    const bytes = Buffer.allocUnsafe(check(await statDescriptor(descriptor), most).size)
    const read = (into, offset, length, position) => readDescriptor(descriptor, into, offset, length, position)
    return bytes.subarray(0, await readAll({ read }, bytes, 0))
  } finally {
    closeSync(descriptor)
  }
}

const flagsOf = links => O_RDONLY | O_NONBLOCK | (links ? 0 : O_NOFOLLOW)

function check (stats, most = Infinity) {
  if (!stats.isFile()) throw new Error('it is no regular file')
  if (stats.size > most) throw new Error(`it has ${stats.size} bytes, more than ${most}`)
  return stats
}

// Folders below the target of an export: other users may have put links there.

/** Whether a folder exists. Throws if it is a link or a file. @param {string} folder @returns {Promise<boolean>} */
export async function isOwnFolder (folder) {
  const stats = await lstat(folder).catch(ifMissing)
  if (!stats) return false
  if (stats.isDirectory()) return true
  const kind = stats.isSymbolicLink() ? 'a link, and an export follows none' : 'no folder'
  throw new TilecouchError('TARGET_UNWRITABLE', { value: folder, why: `it is ${kind}` })
}

// Reads and writes ranges of files to their end: one call of the system may do less than it was asked for.

/** @typedef {import('node:fs/promises').FileHandle} FileHandle */

/** @param {Uint8Array} bytes filled @returns {number} how many: fewer only where the file ends */
export function readAllSync (fd, bytes, position) {
  let done = 0
  for (let read = -1; read && done < bytes.length; done += read) {
    read = readSync(fd, bytes, done, bytes.length - done, position + done)
  }
  return done
}

/**
 * @param {{read: (into: Uint8Array, offset: number, length: number, position: number) => Promise<{bytesRead: number}>}}
 *   handle
 * @param {Uint8Array} bytes filled
 */
export async function readAll (handle, bytes, position) {
  let done = 0
  for (let read = -1; read && done < bytes.length; done += read) {
    read = (await handle.read(bytes, done, bytes.length - done, position + done)).bytesRead
  }
  return done
}

export function writeAllSync (fd, bytes, position) {
  for (let done = 0; done < bytes.length;) done += writeSync(fd, bytes, done, bytes.length - done, position + done)
}

/** @param {FileHandle} handle */
export async function writeAll (handle, bytes, position) {
  for (let done = 0; done < bytes.length;) {
    done += (await handle.write(bytes, done, bytes.length - done, position + done)).bytesWritten
  }
}

// A file on this machine, read in pieces.

export class LocalFile {
  #file

  constructor (path) {
    this.path = path
    this.#file = openRegular(path)
    this.size = fstatSync(this.#file).size
  }

  /** Reads synchronously: the bytes are mostly in the page cache, and a promise would take longer than reading them. */
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
