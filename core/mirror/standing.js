// How a replication stands, and for how long the target is known to lack nothing.

/** @typedef {'reading' | 'following' | 'away'} State */

export class Standing {
  #state = /** @type {State} */ ('reading')
  #error
  #complete = /** @type {number | undefined} */ (undefined) // until then the target has everything
  #isBehind = false // the source has told of changes that are not there yet
  #heard = 0 // when the source said something last

  /** @param {number} poll milliseconds in which a source that is followed says something @param {() => void} onChange */
  constructor (poll, onChange) {
    this.poll = poll
    this.onChange = onChange
  }

  get state () {
    return this.#state
  }

  /** The source has answered. @param {boolean} isBehind with changes, or there are more */
  hear (isBehind) {
    this.#heard = Date.now()
    if (this.#state !== 'following') return
    if (!isBehind) this.#complete = this.#heard
    else if (!this.#isBehind) {
      this.#complete = this.#heard
      this.#isBehind = true
    }
  }

  /** Everything is there that the source told of last. @param {boolean} follows goes on to listen */
  reach (follows) {
    this.#complete = this.#heard
    this.#isBehind = false
    if (follows) this.set('following')
  }

  /** @param {State} state @param {any} [error] */
  set (state, error) {
    const changed = state !== this.#state || error?.code !== this.#error?.code
    // nobody knows what came since it was last heard of
    if (this.#state === 'following' && state !== 'following' && !this.#isBehind) this.#complete = this.#heard
    this.#state = state
    this.#error = error
    if (changed) this.onChange()
  }

  status () {
    const now = Date.now()
    const isThere = this.#state === 'following' && !this.#isBehind && now - this.#heard <= 1.5 * this.poll
    const complete = isThere ? now : this.#state === 'following' && !this.#isBehind ? this.#heard : this.#complete
    return {
      state: this.#state,
      lag: complete === undefined ? undefined : (now - complete) / 1000,
      upToDate: complete,
      error: this.#error?.code,
      reason: this.#error?.message
    }
  }
}
