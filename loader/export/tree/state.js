// The state of a tree, which one run stores for the next: the place in the change feed that the tree has reached, and
// the times that no new file may have. The place may be behind the files, but never ahead of them.
import { readFile } from 'node:fs/promises'
import os from 'node:os'
import { toSeconds } from '../../../core/index.js'
import { jsonOf } from '../../../core/values.js'
import { ifMissing } from '../../formats/files.js'
import { replaceFile } from '../../formats/atomic-file.js'

const MOST = 2000 // spent times in memory; if there are more, new files get the time of writing

/**
 * @typedef {object} TreeState
 * @property {import('../../store/follow.js').FeedPosition} place
 * @property {boolean} whole every tree matches the store at that place
 * @property {string} selection the exported part of the layer
 * @property {string} store its identity; empty: unknown
 * @property {number[]} [spent] times that no new file may have, in seconds since 1970
 * @property {string} boot id of the boot during which this was written
 */

/** @returns {Promise<TreeState | undefined>} undefined if it is missing or damaged */
export async function readState (file) {
  const state = jsonOf(await readFile(file, 'utf8').catch(ifMissing) ?? '')
  const { since, identity } = state?.place ?? {}
  return since !== undefined && typeof identity === 'string' && typeof state.selection === 'string' ? state : undefined
}

/** @param {TreeState} state @param {string} tmp a folder of the same file system */
export async function writeState (file, state, tmp) {
  await replaceFile(file, JSON.stringify(state, null, 2) + '\n', { temporary: `${tmp}/place-${process.pid}` })
}

/** The exported part of a layer as a text. Equal parts have equal texts. */
export function selectionOf ({ area, zooms, editions }) {
  return JSON.stringify({ zooms: zooms ?? null, area: area?.key ?? null, editions })
}

/** The id of this boot of the system. Files of an earlier boot may not have reached the disk. */
export async function bootOf () {
  try {
    return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
  } catch {
    return new Date(Math.round((Date.now() / 1000 - os.uptime()) / 60) * 60000).toISOString()
  }
}

/**
 * The times of files. A file has the time of its version, and web servers only compare that to decide whether a cached
 * image is valid. Therefore the time of a replaced image is spent: a new file gets the next second.
 */
export class FileTimes {
  /** Seconds since 1970. @type {Set<number>} */
  #spent = new Set()
  /** Whether the list has to be written. */
  isChanged = false

  /** @param {unknown} list of the stored state */
  open (list) {
    for (const second of Array.isArray(list) ? list : []) if (Number.isInteger(second)) this.#spent.add(second)
  }

  get list () {
    return [...this.#spent]
  }

  get #isFull () {
    return this.#spent.size >= MOST
  }

  /** The time for a new file of a version. @param {string} time of the version */
  next (time) {
    let second = this.#isFull ? Math.max(toSeconds(time), Math.floor(Date.now() / 1000)) : toSeconds(time)
    while (this.#spent.has(second)) second++
    return new Date(second * 1000).toISOString()
  }

  /** Whether a file may be a version. @param {number} mtime in milliseconds @param {string} time of the version */
  fits (mtime, time) {
    const since = toSeconds(time)
    if (mtime === since * 1000) return true
    if (mtime < since * 1000 || mtime % 1000) return false
    if (this.#isFull) return true
    for (let second = mtime / 1000 - 1; second >= since; second--) if (!this.#spent.has(second)) return false
    return true
  }

  /** Whether a file certainly belongs to a version later than a time. */
  isLater (mtime, time) {
    let second = mtime / 1000
    while (this.#spent.has(second - 1)) second--
    return !this.#isFull && second > toSeconds(time)
  }

  /** @param {number} mtime of a file whose image no longer exists */
  spend (mtime) {
    const second = mtime / 1000
    if (!Number.isInteger(second) || this.#spent.has(second) || this.#isFull) return
    this.#spent.add(second)
    this.isChanged = true
  }
}
