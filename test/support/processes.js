// What Linux says of processes. On other systems nothing.
import { readFileSync, readdirSync, readlinkSync } from 'node:fs'

function read (file) {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return undefined
  }
}

/** @param {number} pid @returns {number[] | undefined} */
export function childrenOf (pid, program = '') {
  if (read('/proc/self/stat') === undefined) return undefined
  const parentOf = other => +(read(`/proc/${other}/stat`)?.split(') ').at(-1)?.split(' ')[1] ?? 0)
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && parentOf(name) === pid && read(`/proc/${name}/cmdline`)?.includes(program))
      .map(Number)
}

/** The most memory that it had at any time, in bytes. @param {number | string} pid */
export const peakOf = pid => 1024 * Number(/^VmHWM:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1] ?? 0)

/** Its open files and how they were opened. @param {number} pid */
export const filesOf = pid => readdirSync(`/proc/${pid}/fd`).map(fd => ({
  name: linkOf(`/proc/${pid}/fd/${fd}`),
  flags: /^flags:\s+(\d*)$/m.exec(read(`/proc/${pid}/fdinfo/${fd}`) ?? '')?.[1] ?? ''
}))

/** How long a processor has worked for it, in seconds. @param {number} pid */
export function workOf (pid) {
  const [user = 0, system = 0] = read(`/proc/${pid}/stat`)?.split(') ').at(-1)?.split(' ').slice(11, 13).map(Number) ??
    []
  return (user + system) / 100
}

/** @param {number} pid */
export const isRunning = pid => !/^Z|^X|^$/.test(read(`/proc/${pid}/stat`)?.split(') ').at(-1) ?? '')

function linkOf (file) {
  try {
    return readlinkSync(file)
  } catch {
    return undefined // it was closed meanwhile
  }
}
