// The way to the store: whether it answers is told to whom it concerns, and it is not waited for longer than is good.

/** What is answered when it takes longer. */
export const LATE = Symbol('late')

/** @typedef {import('../source/couch-source.js').CouchSource} CouchSource */

export class Line {
  #offline
  #couch
  #patience

  /** @param {any} offline the OfflineStore @param {CouchSource | undefined} couch none: nobody is asked @param {{patience: number}} limits */
  constructor (offline, couch, { patience }) {
    this.#offline = offline
    this.#couch = couch
    this.#patience = patience
  }

  /** Whether anybody is ever asked. */
  get isThere () {
    return Boolean(this.#couch)
  }

  /** Whether the store did not answer when it was last asked. */
  get isDown () {
    return this.#offline.isOnline === false
  }

  /**
   * @template T
   * @param {(couch: CouchSource) => Promise<T>} question @param {AbortSignal} [signal]
   * @returns {Promise<T>}
   */
  async ask (question, signal) {
    const tell = isOnline => { if (!signal?.aborted) this.#offline.heard?.(isOnline) }
    try {
      const answer = await question(/** @type {CouchSource} */ (this.#couch))
      tell(true)
      return answer
    } catch (error) {
      if (error.code === 'UNREACHABLE') tell(false)
      throw error
    }
  }

  /**
   * What the network says; what is here, when it fails or takes long.
   * @template T
   * @param {() => Promise<T>} asked @param {() => Promise<T | undefined>} here
   */
  async first (asked, here) {
    const asking = asked()
    asking.catch(() => {}) // heard here, or when there is nothing here
    const answer = await this.patiently(asking).catch(() => LATE)
    return answer === LATE ? await here() ?? asking : /** @type {T} */ (answer)
  }

  /**
   * What the network says, however long that takes; what is here, when it fails.
   * @template T
   * @param {() => Promise<T>} asked @param {() => Promise<T | undefined>} here
   */
  async orElse (asked, here) {
    try {
      return await asked()
    } catch (error) {
      const found = await here()
      if (found === undefined || found === null) throw error
      return found
    }
  }

  /**
   * The answer, or LATE, at once where none is to be expected. What was asked goes on.
   * @template T
   * @param {Promise<T>} asked
   * @returns {Promise<T | typeof LATE>}
   */
  patiently (asked) {
    if (this.isDown) return Promise.resolve(LATE)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(LATE), this.#patience)
      asked.finally(() => clearTimeout(timer)).then(resolve, reject)
    })
  }
}
