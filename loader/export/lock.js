// One export at a time into one target. The lock is a file that names its holder, so that the lock of a process that was
// killed is told from that of one at work.
import { randomUUID } from 'node:crypto'
import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { TilecouchError } from '../../core/index.js'

/**
 * @param {string} file of the lock
 * @param {string} target as the message names it
 * @returns {Promise<() => Promise<void>>} gives it back
 */
export async function lock (file, target) {
  const own = JSON.stringify({ pid: process.pid, host: hostname(), id: randomUUID() })
  while (!await take(file, own)) {
    const held = await read(file)
    if (held === undefined) continue // given back since
    const holder = parse(held)
    if (holder && await isAlive(holder)) {
      const where = holder.host === hostname() ? '' : ` on ${holder.host}`
      throw new TilecouchError('TARGET_UNWRITABLE', { value: target, why: `process ${holder.pid}${where} writes it already; if it does not, remove ${file}` })
    }
    await clear(file, held)
  }
  return async () => {
    if (await read(file) === own) await rm(file, { force: true })
  }
}

async function take (file, own) {
  try {
    await writeFile(file, own, { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    throw error
  }
}

async function read (file) {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (error.code === 'ENOENT') return undefined
    throw error
  }
}

function parse (text) {
  try {
    const { pid, host } = JSON.parse(text)
    return Number.isInteger(pid) && pid > 0 ? { pid, host } : undefined
  } catch {
    return undefined // killed while it wrote its name
  }
}

async function isAlive ({ pid, host }) {
  if (host !== hostname()) return true // nobody here can tell
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error.code === 'EPERM' // somebody else's
  }
}

/** Moved away before it is removed: of two that found the same stale lock, one removes it, and not the new lock of the other. */
async function clear (file, stale) {
  const aside = `${file}-${randomUUID()}`
  try {
    await rename(file, aside)
  } catch (error) {
    if (error.code === 'ENOENT') return
    throw error
  }
  const moved = await read(aside)
  if (moved !== stale && moved !== undefined) await take(file, moved)
  await rm(aside, { force: true })
}
