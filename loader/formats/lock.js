// Locks a target, so that one process at a time writes it. The lock is a file that names its holder: the lock of a
// process that was killed can be told from that of a running one.
import { randomUUID } from 'node:crypto'
import { lstat, rm, stat, writeFile } from 'node:fs/promises'
import { hostname, uptime } from 'node:os'
import { setTimeout as sleep } from 'node:timers/promises'
import { jsonOf } from '../../core/values.js'
import { TilecouchError } from '../errors.js'
import { readTextIfThere } from './files.js'
import { isRunning } from './system.js'

export const lockDefaults = {
  pause: 20, // milliseconds before looking again, while another process removes a stale lock
  clearing: 10000, // milliseconds after which a process that removes a lock, or writes its name, counts as killed
  boot: 60000 // milliseconds by which the clock may have been wrong when the system started
}

/** Locks of this process: after the restart of a container, the process before may have had the same number. */
const ownLocks = new Set()

/**
 * @param {string} file of the lock
 * @param {string} target as the message names it
 * @returns {Promise<() => Promise<void>>} gives the lock back
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

async function acquire (file, content, target) {
  while (!await take(file, content)) {
    const text = readTextIfThere(file)
    if (text === undefined) {
      await refuseLink(file, target)
      continue // the lock was given back
    }
    const holder = parse(text)
    if (!holder && await ageOf(file) < lockDefaults.clearing) {
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

/** A link to a missing file can neither be read nor created. */
async function refuseLink (file, target) {
  const entry = await lstat(file).catch(() => undefined)
  if (!entry?.isSymbolicLink()) return
  throw new TilecouchError('TARGET_UNWRITABLE', { value: target, why: `${file} is a link; remove it` })
}

async function take (file, content) {
  try {
    await writeFile(file, content, { flag: 'wx' })
    return true
  } catch (error) {
    if (error.code === 'EEXIST') return false
    await rm(file, { force: true }) // the file exists, but the disk is full
    throw error
  }
}

/** Milliseconds since a file was written; -Infinity if it does not exist. */
async function ageOf (file) {
  const { mtimeMs } = await stat(file).catch(() => ({ mtimeMs: Infinity }))
  return Date.now() - mtimeMs
}

/** Returns undefined if the process was killed while it wrote its name. */
function parse (text) {
  const { pid, host, id } = jsonOf(text) ?? {}
  return Number.isInteger(pid) && pid > 0 ? { pid, host, id } : undefined
}

async function isAlive ({ pid, host, id }, file) {
  if (host !== hostname()) return true // processes of other machines cannot be looked up
  if (pid === process.pid) return ownLocks.has(id)
  // the lock is older than the start of the system: another process may have the number now
  if (await ageOf(file) > uptime() * 1000 + lockDefaults.boot) return false
  return isRunning(pid)
}

/**
 * Removes a stale lock. Several processes may find it: one at a time reads it again and removes it. Otherwise the
 * second process would remove the new lock of the first.
 */
async function clear (file, stale) {
  const guard = `${file}-clearing`
  if (!await take(guard, '')) {
    await sleep(lockDefaults.pause)
    if (await ageOf(guard) > lockDefaults.clearing) await rm(guard, { force: true })
    return
  }
  try {
    if (readTextIfThere(file) === stale) await rm(file, { force: true })
  } finally {
    await rm(guard, { force: true })
  }
}
