// What the processes of a server have used: time on the processors and memory, as Linux counts them. Elsewhere there is no figure.
import { readFile, readdir, readlink } from 'node:fs/promises'

const TICKS = 100 // a second, in which Linux counts the time of a process for everybody

/**
 * A process and all that it started.
 * @param {number} pid
 * @returns {Promise<{cpu: number, rss: number} | null>} cpu: seconds so far; rss: bytes
 */
export async function usageOf (pid) {
  const sum = { cpu: 0, rss: 0 }
  for (const one of await familyOf(pid)) {
    const own = await ownUsage(one)
    if (one === pid && !own) return null
    sum.cpu += own?.cpu ?? 0 // a child may have ended meanwhile
    sum.rss += own?.rss ?? 0
  }
  return sum
}

const text = file => readFile(file, 'utf8').catch(() => '')

async function familyOf (pid) {
  const threads = await readdir(`/proc/${pid}/task`).catch(() => [])
  const children = (await Promise.all(threads.map(thread => text(`/proc/${pid}/task/${thread}/children`)))).join(' ').split(' ').filter(Boolean)
  return [pid, ...(await Promise.all(children.map(child => familyOf(Number(child))))).flat()]
}

async function ownUsage (pid) {
  const [stat, status] = await Promise.all([text(`/proc/${pid}/stat`), text(`/proc/${pid}/status`)])
  const rss = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1]
  if (!stat || !rss) return null
  return { cpu: ticksOf(stat) / TICKS, rss: Number(rss) * 1024 }
}

/** Time of a process and of its children that have ended. A name may hold spaces and brackets, so fields are counted behind it. @param {string} stat */
export const ticksOf = stat => stat.slice(stat.lastIndexOf(')') + 2).split(' ').slice(11, 15).reduce((sum, field) => sum + Number(field), 0)

/**
 * The process that listens on a port of this machine, when we may look.
 * @param {number} port
 * @returns {Promise<number | null>}
 */
export async function listenerOf (port) {
  const sockets = new Set((await text('/proc/net/tcp') + await text('/proc/net/tcp6')).split('\n').flatMap(line => listeningSocket(line, port) ?? []))
  if (!sockets.size) return null
  for (const pid of (await readdir('/proc')).filter(name => /^\d+$/.test(name))) {
    for (const fd of await readdir(`/proc/${pid}/fd`).catch(() => [])) {
      if (sockets.has(await readlink(`/proc/${pid}/fd/${fd}`).catch(() => ''))) return Number(pid)
    }
  }
  return null
}

const LISTENING = '0A'

/** The socket of a line of /proc/net/tcp. @param {string} line @param {number} port @returns {string | null} as the folder of a process names it */
export function listeningSocket (line, port) {
  const [, local = '', , state, , , , , , inode] = line.trim().split(/\s+/)
  return state === LISTENING && parseInt(local.split(':')[1], 16) === port ? `socket:[${inode}]` : null
}
