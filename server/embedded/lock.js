// One process owns a folder. The lock is a small LevelDB whose own file lock the system drops when a process dies,
// however it dies, so there are no stale locks and no process ids to compare. server.json tells other processes
// where the owner listens; it is a hint, and believed only when a server answers there.
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { TilecouchError } from '../../core/errors.js'
import { Level } from './level.js'

/** @param {string} dir */
export async function lockFolder (dir) {
  mkdirSync(dir, { recursive: true })
  const lock = new Level(join(dir, 'lock'))
  try {
    await lock.open()
  } catch (error) {
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
