// The CouchDB that is measured, seen from the system: how much memory it has, what it reads of its files, and what of that comes from
// the disk. Only Linux tells, and only of processes of one's own on this machine.
import { readFile } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { listenerOf, usageOf } from '../usage.js'

const EVERY = 500 // milliseconds between two looks at the memory
const LOCAL = ['127.0.0.1', 'localhost', '[::1]']

/**
 * The process behind a URL.
 * @param {string} url
 * @returns {Promise<number | undefined>} nothing: it is not here, or not ours to look at
 */
export async function processOf (url) {
  const { hostname, port } = new URL(url)
  const pid = LOCAL.includes(hostname) ? await listenerOf(Number(port)) : null
  return pid ? countsOf(pid).then(() => pid, () => undefined) : undefined
}

/**
 * The most memory of CouchDB and of the processes that run JavaScript for it, while something is done.
 * @template T
 * @param {number | undefined} pid
 * @param {() => Promise<T>} task
 * @returns {Promise<{result: T, peak: number | null}>} peak: MB
 */
export async function watching (pid, task) {
  if (!pid) return { result: await task(), peak: null }
  const end = new AbortController()
  let peak = 0
  const look = async () => {
    while (!end.signal.aborted) {
      peak = Math.max(peak, (await usageOf(pid))?.rss ?? 0)
      await sleep(EVERY, undefined, { signal: end.signal }).catch(() => {})
    }
  }
  const looking = look()
  try {
    const result = await task()
    end.abort()
    await looking
    return { result, peak: Math.round(peak / 1e6) }
  } finally {
    end.abort()
  }
}

/** @param {string} text lines of names and numbers, as of /proc/PID/io @returns {Record<string, number>} */
export const numbersOf = text => Object.fromEntries([...text.matchAll(/^(\w+): (\d+)$/gm)].map(([, name, number]) => [name, Number(number)]))

const countsOf = async pid => numbersOf(await readFile(`/proc/${pid}/io`, 'utf8'))

/**
 * What a process reads while a task runs so many times, in bytes a time. What comes through sockets is not counted; the bytes by which
 * its threads wake each other are, one each.
 * @param {number | undefined} pid @param {number} times @param {(time: number) => Promise<any>} task
 * @returns {Promise<{bytes: number, disk: number} | null>} disk: what was not in the page cache, in whole pages and read ahead
 */
export async function readsOf (pid, times, task) {
  if (!pid) return null
  const before = await countsOf(pid)
  for (let time = 0; time < times; time++) await task(time)
  const after = await countsOf(pid)
  const each = name => Math.round((after[name] - before[name]) / times)
  return { bytes: each('rchar'), disk: each('read_bytes') }
}
