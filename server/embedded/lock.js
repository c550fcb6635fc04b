// One process owns a folder. The lock is a small LevelDB whose own file lock the system drops when a process dies,
// however it dies, so there are no stale locks and no process ids to compare. server.json tells other processes
// where the owner listens; it is a hint, and believed only when a server answers there.
import { mkdirSync, readFileSync, realpathSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TilecouchError } from '../../core/errors.js'
import { Level, isDiskFull } from './level.js'

// Folders this process has. LevelDB may not even try to lock one twice: closing its second handle on the lock file
// drops the lock the process holds through the first.
/** @type {Set<string>} */
const held = (globalThis[Symbol.for('tilecouch embedded folders')] ??= new Set())

/** @param {string} dir */
export async function lockFolder (dir) {
  mkdirSync(dir, { recursive: true })
  const real = realpathSync(dir)
  if (held.has(real)) throw new TilecouchError('EMBEDDED_LOCKED', { dir })
  held.add(real)
  const lock = new Level(join(dir, 'lock'))
  try {
    await lock.open()
  } catch (error) {
    held.delete(real)
    if (isDiskFull(error)) throw new TilecouchError('DISK_FULL', { where: dir }, { cause: error })
    if (/lock/i.test(String(error?.message).replace(dir, ''))) throw new TilecouchError('EMBEDDED_LOCKED', { dir }, { cause: error })
    throw error
  }
  const file = join(dir, 'server.json')
  return {
    /** @param {string} url @param {string} uuid what GET / of this server answers */
    announce (url, uuid) {
      writeFileSync(`${file}.new`, JSON.stringify({ url, pid: process.pid, uuid }))
      renameSync(`${file}.new`, file)
    },
    async release () {
      rmSync(file, { force: true })
      await lock.close()
      held.delete(real)
    }
  }
}

/**
 * The URL of the server that runs on a folder, if one answers.
 * @param {string} dir
 * @returns {Promise<string | null>}
 */
export async function findEmbedded (dir) {
  try {
    const { url, uuid } = JSON.parse(readFileSync(join(dir, 'server.json'), 'utf8'))
    const answer = await fetch(url, { signal: AbortSignal.timeout(2000) })
    const welcome = /** @type {any} */ (await answer.json())
    return welcome.uuid === uuid ? url : null // another server may have the port by now
  } catch {
    return null
  }
}
