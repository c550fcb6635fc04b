// Reads facts about processes from /proc, which only Linux has.
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
  const parentOf = id => +(read(`/proc/${id}/stat`)?.split(') ').at(-1)?.split(' ')[1] ?? 0)
  return readdirSync('/proc')
    .filter(name => /^\d+$/.test(name) && parentOf(name) === pid && read(`/proc/${name}/cmdline`)?.includes(program))
      .map(Number)
}

/** The peak memory of a process, in bytes. @param {number | string} pid */
export const peakOf = pid => 1024 * Number(/^VmHWM:\s+(\d+)/m.exec(read(`/proc/${pid}/status`) ?? '')?.[1] ?? 0)

/** The open files of a process, and the flags they were opened with. @param {number} pid */
export const filesOf = pid => readdirSync(`/proc/${pid}/fd`).map(fd => ({
  name: linkOf(`/proc/${pid}/fd/${fd}`),
  flags: /^flags:\s+(\d*)$/m.exec(read(`/proc/${pid}/fdinfo/${fd}`) ?? '')?.[1] ?? ''
}))

/** The processor time that a process has used, in seconds. @param {number} pid */
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
    return undefined // the file was closed meanwhile
  }
}
