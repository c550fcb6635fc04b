// Locks a target, so that one process at a time writes it. The lock is a file that names its holder: the lock of a
// process that was killed can be told from that of a running one.
import { randomUUID } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import { hostname, uptime } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { jsonOf } from '../../core/values.js'
import { TilecouchError } from '../errors.js'
import { readTextIfThere } from './files.js'
import { isRunning } from './system.js'

export const lockDefaults = {
  pause: 20, // milliseconds before looking again, while another one removes a stale lock
  clearing: 10000, // milliseconds after which a process that was removing it, or writing its name, was killed
  boot: 60000 // milliseconds by which the clock may have been wrong when the system started
}

/** Locks of this process: after the restart of a container, the process before may have had the same number. */
const ownLocks = new Set()

/**
 * @param {string} file of the lock
 * @param {string} target as the message names it
 * @returns {Promise<() => Promise<void>>} gives it back
 */
export async function lock (file, target) {
  const id = randomUUID()
  const content = JSON.stringify({ pid: process.pid, host: hostname(), id })
  ownLocks.add(id)
  try {
    await acquire(file, content, target)
  } catch (error) {
    ownLocks.delete(id)
    throw error
  }
  return async () => {
    ownLocks.delete(id)
    if (readTextIfThere(file) === content) await rm(file, { force: true })
  }
}

async function acquire (file, own, target) {
  while (!await take(file, own)) {
    const text = readTextIfThere(file)
    if (text === undefined) continue // given back since
    const holder = parse(text)
    if (!holder && await age(file) < lockDefaults.clearing) {
      await sleep(lockDefaults.pause) // it is just being written
      continue
    }
    if (holder && await isAlive(holder, file)) {
      const where = holder.host === hostname() ? '' : ` on ${holder.host}`
      throw new TilecouchError('TARGET_UNWRITABLE', {
        value: target, why: `process ${holder.pid}${where} writes it already; if it does not, remove ${file}`
      })
    }
    await clear(file, text)
  }
}

async function take (file, own) {
  try {
    await writeFile(file, own, { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    await rm(file, { force: true }) // made, but the disk is full
    throw error
  }
}

/** Milliseconds since it was written; of what is not there, less than any. */
async function age (file) {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Infinity }))
  return Date.now() - mtimeMs
}

/** Nothing if the process was killed while it wrote its name. */
function parse (text) {
  const { pid, host, id } = jsonOf(text) ?? {}
  return Number.isInteger(pid) && pid > 0 ? { pid, host, id } : undefined
}

async function isAlive ({ pid, host, id }, file) {
  if (host !== hostname()) return true // nobody here can know
  if (pid === process.pid) return ownLocks.has(id)
  // from before the system started: another process has the number now
  if (await age(file) > uptime() * 1000 + lockDefaults.boot) return false
  return isRunning(pid)
}

/**
 * Removes a lock that nobody holds. Of many that found it, one at a time looks again and removes it; otherwise the
 * second would remove the new lock of the first.
 */
async function clear (file, stale) {
  const guard = `${file}-clearing`
  if (!await take(guard, '')) {
    await sleep(lockDefaults.pause)
    if (await age(guard) > lockDefaults.clearing) await rm(guard, { force: true })
    return
  }
  try {
    if (readTextIfThere(file) === stale) await rm(file, { force: true })
  } finally {
    await rm(guard, { force: true })
  }
}
