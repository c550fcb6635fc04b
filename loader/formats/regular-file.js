// Opens files that others may have put there. Only regular files are read, and only up to a limit: a pipe waits for a
// writer, and a device may have no end.
import * as fs from 'node:fs'
import { closeSync, constants, fstatSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { promisify } from 'node:util'
import { readAll, readAllSync } from './file-bytes.js'

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

/** A file, open for reading. @param {boolean} [links] its name may be a link */
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
 * As openRegular, for reading without waiting.
 * @param {string} file
 * @param {{most?: number, links?: boolean}} [options] most: bytes; links: its name may be a link (else ELOOP)
 */
export async function openFile (file, { most, links = true } = {}) {
  const handle = await open(file, flagsOf(links))
  try {
    return { handle, size: check(await handle.stat(), most).size }
  } catch (error) {
    await handle.close()
    throw error
  }
}

const [openDescriptor, statDescriptor, readDescriptor] = [promisify(fs.open), promisify(fs.fstat), promisify(fs.read)]

/**
 * The bytes of one file of many, without waiting: a descriptor costs less than half of what a handle does.
 * @param {string} file
 * @param {{most?: number, links?: boolean}} [options] as openFile
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
