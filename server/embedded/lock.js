// One process owns a data folder. The lock is a small LevelDB, whose file lock the system releases however a process
// ends: there are no stale locks and no process ids to compare. server.json tells other processes of the same user
// where the owner listens (loader/store/embedded.js). No other user may read the folder.
import { randomBytes } from 'node:crypto'
import {
  accessSync, chmodSync, constants, mkdirSync, readdirSync, realpathSync, rmSync, statSync
} from 'node:fs'
import { join } from 'node:path'
import { attempt } from '../../core/values.js'
import { TilecouchError } from '../../loader/errors.js'
import { replaceFile } from '../../loader/formats/atomic-file.js'
import { isDiskFull } from '../../loader/formats/system.js'
import { passwordFile, readPassword } from '../../loader/store/embedded.js'
import { promisedLevel } from './level.js'

const OURS = /^(databases|lock|server\.json|password)(\.new)?$/
const IGNORED = /^(\..*|lost\+found)$/ // also on an empty disk

// Folders locked by this process. LevelDB may not even try to lock one twice: closing the second handle on the lock
// file would drop the lock of the first.
/** @type {Set<string>} */
const locked = (globalThis[Symbol.for('tilecouch embedded folders')] ??= new Set())

export async function lockFolder (dir) {
  makePrivate(dir)
  const realDir = realpathSync(dir)
  if (locked.has(realDir)) throw new TilecouchError('EMBEDDED_LOCKED', { dir })
  locked.add(realDir)
  const lock = promisedLevel(join(dir, 'lock'))
  try {
    await lock.open()
  } catch (error) {
    locked.delete(realDir)
    if (isDiskFull(error)) throw new TilecouchError('DISK_FULL', { where: dir }, { cause: error })
    if (/lock/i.test(String(error?.message).replace(dir, ''))) {
      throw new TilecouchError('EMBEDDED_LOCKED', { dir }, { cause: error })
    }
    throw error
  }
  const file = join(dir, 'server.json')
  return {
    /** @param {any} server url; uuid: that of GET /; secret: the server can prove that it knows it; hasAdmin */
    async announce (server) {
      await writePrivate(file, JSON.stringify({ ...server, pid: process.pid }))
    },
    async release () {
      attempt(() => rmSync(file, { force: true })) // a remaining file is harmless: the server is asked for a proof
      await lock.close()
      locked.delete(realDir)
    }
  }
}

/**
 * Takes away the rights of other users, which folders of older versions may give. A folder with files of other programs
 * is refused.
 */
function makePrivate (dir) {
  try {
    mkdirSync(dir, { recursive: true, mode: 0o700 })
    accessSync(dir, constants.R_OK | constants.W_OK | constants.X_OK)
  } catch (error) {
    const why = ['EEXIST', 'ENOTDIR'].includes(error.code) ? 'is not a folder' : `cannot be used: ${error.message}`
    throw new TilecouchError('EMBEDDED_FOLDER', { dir, why }, { cause: error })
  }
  const names = readdirSync(dir).filter(name => !IGNORED.test(name))
  if (names.length && !names.some(name => OURS.test(name))) throw new TilecouchError('EMBEDDED_FOLDER', { dir })
  attempt(() => chmodSync(dir, statSync(dir).mode & 0o7700)) // fails if the folder belongs to another user
}

/** Replaces a link rather than follow it: the folder may have come with a project. */
const writePrivate = (file, text) => replaceFile(file, text, { temporary: `${file}.new`, mode: 0o600, flush: true })

/** The password of the admin of this folder, made once. @param {string} dir locked */
export async function passwordOf (dir) {
  const file = passwordFile(dir)
  try {
    return readPassword(dir)
  } catch (error) {
    if (error.code !== 'ENOENT') {
      const why = error.code === 'ELOOP' ? 'it is a link' : error.message
      throw new TilecouchError('EMBEDDED_PASSWORD', { file, why }, { cause: error })
    }
  }
  const password = randomBytes(24).toString('base64url')
  await writePrivate(file, `${password}\n`)
  return password
}
