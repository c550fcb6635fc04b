// The times that files carry. A file carries that of its version, and web servers tell by nothing else whether what somebody keeps is
// still right. So a time under which an image was shown that is no more is spent: what is stored anew for it carries the next second.
import { toSeconds } from '../../core/index.js'

const MOST = 2000 // times remembered; beyond those files carry the moment at which they are written

export class FileTimes {
  /** Seconds since 1970. @type {Set<number>} */
  #spent = new Set()
  /** Whether there is anything that has not been kept. */
  isChanged = false

  /** @param {unknown} list as it was kept */
  open (list) {
    for (const second of Array.isArray(list) ? list : []) if (Number.isInteger(second)) this.#spent.add(second)
  }

  get list () {
    return [...this.#spent]
  }

  get #isFull () {
    return this.#spent.size >= MOST
  }

  /** What a new file of a version carries. @param {string} time of the version */
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

  /** Whether a file is surely of a version later than a time. @param {number} mtime @param {string} time */
  isLater (mtime, time) {
    let second = mtime / 1000
    while (this.#spent.has(second - 1)) second--
    return !this.#isFull && second > toSeconds(time)
  }

  /** @param {number} mtime of a file whose image is no more */
  spend (mtime) {
    const second = mtime / 1000
    if (!Number.isInteger(second) || this.#spent.has(second) || this.#isFull) return
    this.#spent.add(second)
    this.isChanged = true
  }
}
