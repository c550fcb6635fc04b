// What is kept beside a tree from one run to the next: up to where the changes of the store are in it. It may be behind the
// files, never ahead of them.
import { readFile, rename, writeFile } from 'node:fs/promises'
import os from 'node:os'

/**
 * @typedef {object} Kept
 * @property {import('../store/follow.js').Place} place
 * @property {boolean} whole every tree is what the store was at that place
 * @property {string} selection what of the layer is in the trees
 * @property {string} store which one it is of; empty: nobody can tell
 * @property {number[]} [spent] times that no new file may carry, see times.js
 * @property {string} boot the start of the system that this was written in
 */

/** @returns {Promise<Kept | undefined>} nothing when there is none, or none that can be read */
export async function readKept (file) {
  try {
    const kept = JSON.parse(await readFile(file, 'utf8'))
    const { since, identity } = kept?.place ?? {}
    return since !== undefined && typeof identity === 'string' && typeof kept.selection === 'string' ? kept : undefined
  } catch (error) {
    if (error.code === 'ENOENT' || error instanceof SyntaxError) return undefined
    throw error
  }
}

/** @param {string} file @param {Kept} kept @param {string} tmp */
export async function keep (file, kept, tmp) {
  const temporary = `${tmp}/place-${process.pid}`
  await writeFile(temporary, JSON.stringify(kept, null, 2) + '\n')
  await rename(temporary, file)
}

/** What of a layer is exported, as a text that is the same for the same. */
export function selectionOf ({ area, zooms, editions }) {
  return JSON.stringify({ zooms: zooms ?? null, area: area?.key ?? null, editions })
}

/**
 * Which start of the system this is. What was written under another one may not have reached the disk.
 * @returns {Promise<string>}
 */
export async function bootOf () {
  try {
    return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
  } catch {
    return new Date(Math.round((Date.now() / 1000 - os.uptime()) / 60) * 60000).toISOString()
  }
}
