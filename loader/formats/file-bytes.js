// Reads and writes ranges of files to their end: one call of the system may do less than it was asked for.
import { readSync, writeSync } from 'node:fs'

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
