// So many at once, the others in the order in which they came.

export class Slots {
  #free
  #waiting = /** @type {(() => void)[]} */ ([])

  /** @param {number} count */
  constructor (count) {
    this.#free = count
  }

  /**
   * @template T
   * @param {() => Promise<T>} task
   * @returns {Promise<T>}
   */
  async run (task) {
    if (this.#free) this.#free--
    else await new Promise(resolve => { this.#waiting.push(() => resolve(undefined)) })
    try {
      return await task()
    } finally {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }
}
