// Folders below a target that an export writes into: others may have planted links there.
import { lstat } from 'node:fs/promises'
import { TilecouchError } from '../errors.js'

/** Whether a folder is there. Throws if it is a link or a file. @param {string} folder @returns {Promise<boolean>} */
export async function isOwnFolder (folder) {
  const found = await lstat(folder).catch(error => { if (error.code !== 'ENOENT') throw error })
  if (!found) return false
  if (found.isDirectory()) return true
  const what = found.isSymbolicLink() ? 'a link, and an export follows none' : 'no folder'
  throw new TilecouchError('TARGET_UNWRITABLE', { value: folder, why: `it is ${what}` })
}
