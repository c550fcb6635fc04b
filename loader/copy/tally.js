// What a copy did, or would do.

const MOST_NAMED = 100 // tiles

export class Tally {
  tiles = 0 // looked at
  versions = 0 // written
  bytes = 0 // of them
  unchanged = 0 // versions that stood there
  extended = 0 // heads that stood there, and hold longer now
  moved = 0 // versions that were written by somebody else while they were copied
  editions = 0 // written
  failed = 0
  /** @type {{id: string, code: string, reason: string}[]} the first */
  failures = []

  /** @param {string} id @param {import('../../core/errors.js').TilecouchError} error */
  fail (id, { code, message }) {
    this.failed++
    if (this.failures.length < MOST_NAMED) this.failures.push({ id, code, reason: message })
  }
}
