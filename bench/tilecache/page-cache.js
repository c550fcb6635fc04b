// What the system keeps in memory of files, made to be forgotten: by /proc/sys/vm/drop_caches where that may be written, else file by
// file with posix_fadvise, which leaves names and inodes in memory. Which of the two it was is part of the result.
import { execFile } from 'node:child_process'
import { open, readdir, writeFile } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { findProgram } from '../programs/program.js'

export const DROP = 'drop_caches'
export const ADVISE = 'posix_fadvise'
const CONTROL = '/proc/sys/vm/drop_caches'
const EVERYTHING = '3' // pages, and also names and inodes
const evict = fileURLToPath(new URL('evict.py', import.meta.url))

/**
 * @typedef {object} PageCache
 * @property {string | undefined} how DROP, ADVISE, or nothing
 * @property {string} [why] it cannot be dropped
 * @property {(signal?: AbortSignal) => Promise<void>} drop
 * @property {() => Promise<{bytes: number, resident: number} | undefined>} look how much of the files is in memory; nothing where no program says so
 */

/**
 * @param {() => Promise<string[]>} list the files concerned
 * @param {{control?: string, env?: NodeJS.ProcessEnv}} [options] control: that of the kernel
 * @returns {Promise<PageCache>}
 */
export async function openPageCache (list, { control = CONTROL, env = process.env } = {}) {
  const fincore = findProgram(undefined, 'fincore', env)
  const look = async () => {
    if (!fincore) return undefined
    const rows = (await feed(fincore, ['--bytes', '--noheadings', '--output', 'SIZE,RES', ...await list()])).trim().split('\n').map(line => line.trim().split(/\s+/).map(Number))
    return rows.reduce((sum, [bytes, resident]) => ({ bytes: sum.bytes + bytes, resident: sum.resident + resident }), { bytes: 0, resident: 0 })
  }
  if (await mayWrite(control)) {
    const drop = async signal => {
      await feed('sync', [], { signal }) // only what is on the disk is dropped
      await writeFile(control, EVERYTHING, { signal })
    }
    return { how: DROP, drop, look }
  }
  const python = findProgram(env.PYTHON, 'python3', env)
  if (python && await feed(python, ['-c', 'import os; os.posix_fadvise']).then(() => true, () => false)) {
    return { how: ADVISE, drop: async signal => void await feed(python, [evict], { signal, input: (await list()).join('\n') }), look }
  }
  return { how: undefined, why: `${control} may not be written, and there is no python3 with posix_fadvise`, drop: async () => {}, look }
}

const mayWrite = file => open(file, 'w').then(handle => handle.close()).then(() => true, () => false)

/**
 * @param {string} file @param {string[]} args
 * @param {{signal?: AbortSignal, input?: string}} [options]
 * @returns {Promise<string>} what it printed
 */
const feed = (file, args, { signal, input = '' } = {}) => new Promise((resolve, reject) => {
  const child = execFile(file, args, { signal, maxBuffer: 1e7 }, (error, stdout, stderr) => error ? reject(new Error(`${path.basename(file)}: ${stderr || error.message}`, { cause: error })) : resolve(stdout))
  child.stdin?.on('error', () => {}).end(input)
})

/**
 * All files below a folder whose names match.
 * @param {string} folder @param {(name: string) => boolean} [wanted]
 */
export const filesIn = async (folder, wanted = () => true) => (await readdir(folder, { recursive: true, withFileTypes: true }))
  .filter(entry => entry.isFile() && wanted(entry.name)).map(entry => path.join(entry.parentPath, entry.name))
