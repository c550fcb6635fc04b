// Whether the store answers, told once for each change: several things ask it at the same time, and each has its own fate.

export class Health {
  #failing = new Map()
  #listeners

  /** @param {{onError: (error: Error) => void, onBack: () => void}} listeners */
  constructor (listeners) {
    this.#listeners = listeners
  }

  /**
   * @param {string} who
   * @param {any} error
   */
  fail (who, error) {
    const known = [...this.#failing.values()].some(({ code }) => code === error.code)
    this.#failing.set(who, error)
    if (!known) this.#listeners.onError(error)
  }

  /** @param {string} who */
  ok (who) {
    if (this.#failing.delete(who) && !this.#failing.size) this.#listeners.onBack()
  }

  get isGood () {
    return !this.#failing.size
  }
}
