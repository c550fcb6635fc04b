// Reads a store without the gateway's name and password while it lets everybody read: to check them costs CouchDB 0.2 ms a
// request. Whatever refuses nobody is asked again with them, so that a store may be closed at any time.

export const nobodyDefaults = {
  refused: 600000 // milliseconds in which a store that has refused nobody is not tried again
}

/** Failures that a name and password may mend. Proxies have pages of their own for those who have none. */
const REFUSALS = new Set(['UNAUTHORIZED', 'FORBIDDEN', 'BAD_ANSWER'])
const STATUSES = new Set([301, 302, 303, 307, 308, 405, 407])

export class AsNobody {
  #until = 0

  /** @param {Partial<typeof nobodyDefaults> & {clock?: {now: () => number}}} [options] */
  constructor ({ refused = nobodyDefaults.refused, clock = Date } = {}) {
    this.refused = refused
    this.clock = clock
  }

  /**
   * @template T
   * @param {(nobody: boolean) => Promise<T>} read
   * @returns {Promise<T>}
   */
  async read (read) {
    if (this.clock.now() < this.#until) return read(false)
    try {
      return await read(true)
    } catch (error) {
      if (!REFUSALS.has(error.code) && !STATUSES.has(error.details?.status)) throw error
    }
    const answer = await read(false)
    this.#until = this.clock.now() + this.refused
    return answer
  }
}
