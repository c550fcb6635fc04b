// So many at once, the others in the order in which they came.

export class Slots {
  #free
  #waiting = /** @type {(() => void)[]} */ ([])

  /** @param {number} count */
  constructor (count) {
    this.#free = count
  }

  /** Resolves when it is one's turn. @returns {Promise<() => void>} to be called once, when it is over */
  async take () {
    if (this.#free) this.#free--
    else await new Promise(resolve => { this.#waiting.push(() => resolve(undefined)) })
    return () => {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}
