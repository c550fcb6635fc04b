// What a seed has done so far. Every tile it looked at is in exactly one of: fresh, new, changed, unchanged, missing, failed,
// outside; in a dry run, in fresh, stale or outside.

export const SHOWN_FAILURES = 1000 // kept for the summary; all are counted, and given to onFailure

export class Tally {
  tiles = 0 // looked at
  fresh = 0 // in the store and not to be asked for
  stale = 0 // a dry run: to be asked for
  fetched = 0 // got from the upstream, or confirmed by it
  new = 0
  changed = 0
  unchanged = 0
  missing = 0 // the upstream has none
  outside = 0 // of a list: the upstream does not have such tiles
  failed = 0
  requests = 0 // to the upstream that were answered, or given up
  bytes = 0 // of the tiles written
  /** @type {Record<string, number>} tiles got, by content type */
  types = {}
  /** @type {{id: string, code: string, reason: string}[]} the first of them */
  failures = []
  #onFailure

  /** @param {(failure: {id: string, code: string, reason: string}) => void} [onFailure] */
  constructor (onFailure) {
    this.#onFailure = onFailure
  }

  /** @param {{id: string, code: string, reason: string}} failure */
  fail (failure) {
    this.failed++
    if (this.failures.length < SHOWN_FAILURES) this.failures.push(failure)
    this.#onFailure?.(failure)
  }
}
