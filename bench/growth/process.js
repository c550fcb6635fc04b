// The CouchDB that is measured, seen from the system: how much memory it has, what it reads of its files, and what of that comes
// from the disk. Only Linux tells, and only of processes of one's own on this machine.
import { readFile, readdir, readlink } from 'node:fs/promises'
import { readFileSync } from 'node:fs'

const EVERY = 100 // milliseconds between two looks at the memory
const LISTENS = '0A' // state of a socket in /proc/net/tcp
const LOCAL = ['127.0.0.1', 'localhost', '[::1]']

/**
 * The process that listens on the port of a URL.
 * @param {string} url
 * @returns {Promise<number | undefined>} nothing: it is not here, or not ours to look at
 */
export async function processOf (url) {
  const { hostname, port } = new URL(url)
  if (!LOCAL.includes(hostname)) return undefined
  const tables = await Promise.all(['tcp', 'tcp6'].map(name => readFile(`/proc/net/${name}`, 'utf8').catch(() => '')))
  const sockets = new Set(tables.flatMap(text => listenersOf(text, Number(port))))
  const processes = sockets.size ? await readdir('/proc') : [] // else another system
  for (const pid of processes) if (/^\d+$/.test(pid) && await holds(pid, sockets)) return Number(pid)
}

/**
 * Inodes of the sockets that listen on a port.
 * @param {string} text /proc/net/tcp @param {number} port
 */
export function listenersOf (text, port) {
  return text.split('\n').slice(1).map(line => line.trim().split(/\s+/))
    .filter(([, local, , state]) => state === LISTENS && parseInt(local.split(':')[1], 16) === port)
    .map(columns => columns[9])
}

async function holds (pid, sockets) {
  const folder = `/proc/${pid}/fd`
  for (const name of await readdir(folder).catch(() => [])) {
    const [, inode] = /^socket:\[(\d+)\]$/.exec(await readlink(`${folder}/${name}`).catch(() => '')) ?? []
    if (sockets.has(inode)) return true
  }
  return false
}

/** @param {string} text lines of names and numbers @returns {Record<string, number>} */
export const numbersOf = text => Object.fromEntries([...text.matchAll(/^(\w+):\s*(\d+)/gm)].map(([, name, number]) => [name, Number(number)]))

const told = (pid, file) => numbersOf(readFileSync(`/proc/${pid}/${file}`, 'utf8'))

/** Resident memory in MB, without the processes that run JavaScript for it. @param {number} pid */
const memoryOf = pid => told(pid, 'status').VmRSS * 1024 / 1e6

/**
 * @template T
 * @param {number | undefined} pid
 * @param {() => Promise<T>} task
 * @returns {Promise<{result: T, peak: number | null}>} peak: MB
 */
export async function watching (pid, task) {
  let peak = pid ? memoryOf(pid) : 0
  const timer = pid && setInterval(() => { peak = Math.max(peak, memoryOf(pid)) }, EVERY)
  try {
    const result = await task()
    return { result, peak: pid ? Math.round(peak) : null }
  } finally {
    clearInterval(timer)
  }
}

/**
 * What a process reads while a task runs so many times, in bytes a time. What comes through sockets is not counted; the bytes by which
 * its threads wake each other are, one each.
 * @param {number | undefined} pid @param {number} times @param {(time: number) => Promise<any>} task
 * @returns {Promise<{bytes: number, disk: number} | null>} disk: those that were not in the page cache
 */
export async function readsOf (pid, times, task) {
  if (!pid) return null
  const before = told(pid, 'io')
  for (let time = 0; time < times; time++) await task(time)
  const after = told(pid, 'io')
  const each = name => Math.round((after[name] - before[name]) / times)
  return { bytes: each('rchar'), disk: each('read_bytes') }
}
