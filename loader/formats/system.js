// Asks the operating system about its processes, disks and network addresses.
import { readdir, stat } from 'node:fs/promises'
import { networkInterfaces } from 'node:os'
import path from 'node:path'

/** Whether a process with this number runs here, whoever owns it. */
export function isRunning (pid) {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return error.code === 'EPERM' // it belongs to another user
  }
}

/** Whether an error of the file system, of SQLite or of LevelDB means that the disk is full. @param {any} error */
export const isDiskFull = ({ code, message }) => ['ENOSPC', 'EDQUOT', 'SQLITE_FULL'].includes(code) ||
  /database or disk is full|no space left on device/i.test(message)

/** Host names of URLs that mean this machine on every machine. */
export const LOOPBACK = /^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/

/** Whether a host is this machine. @param {string} host of a URL, in brackets where it is an IPv6 address */
export const isHere = host => LOOPBACK.test(host) ||
  Object.values(networkInterfaces()).flat().some(entry => entry?.address === host.replace(/^\[|\]$/g, ''))

const MOST_FILES = 100_000 // of a folder that are looked at

/** Bytes of all files in a folder. */
export async function sizeOfFolder (folder) {
  const names = (await readdir(folder, { recursive: true })).slice(0, MOST_FILES)
  const sizeIn = name => stat(path.join(folder, name)).then(stats => stats.isFile() ? stats.size : 0, () => 0)
  return (await Promise.all(names.map(sizeIn))).reduce((sum, size) => sum + size, 0)
}
