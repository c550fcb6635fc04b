// Collects single items into batches: those that come within a moment, or while as many batches as allowed
// are under way, go into the next one together. What nobody waits for comes after what somebody waits for.

/** @template T */
export class Batches {
  /** Items with their weights, in the order of arrival. @type {Map<T, number>} */
  #waiting = new Map()
  /** The same that nobody waits for. @type {Map<T, number>} */
  #spare = new Map()
  /** @type {Set<Promise<void>>} */
  #running = new Set()
  /** @type {NodeJS.Timeout | NodeJS.Immediate | undefined} */
  #timer

  /**
   * @param {(items: T[]) => Promise<void>} run must not reject
   * @param {object} options
   * @param {number | (() => number)} options.most weight of a batch; a heavier item goes alone
   * @param {number} options.atOnce batches under way
   * @param {number} [options.wait] milliseconds to wait for more items; 0: until the end of this turn of the event loop
   * @param {number} [options.busyWait] the same while a batch is under way
   */
  constructor (run, { most, atOnce, wait = 0, busyWait = wait }) {
    this.run = run
    this.mostNow = typeof most === 'number' ? () => most : most
    this.options = { atOnce, wait, busyWait }
  }

  add (item, weight = 1) {
    this.#waiting.set(item, weight)
    this.#schedule()
  }

  /** Adds an item that nobody waits for: it fills up batches, and has batches of its own while one more may run. */
  addSpare (item) {
    this.#spare.set(item, 1)
    this.#schedule()
  }

  /** Somebody waits for a spare item now. @param {T} item */
  hurry (item) {
    if (this.#spare.delete(item)) this.add(item)
  }

  #schedule () {
    if (this.#timer) return
    const wait = this.#running.size ? this.options.busyWait : this.options.wait
    this.#timer = wait ? setTimeout(() => this.#start(), wait) : setImmediate(() => this.#start())
  }

  /** Takes back an item that is not under way. @param {T} item @returns {boolean} whether it was waiting */
  remove (item) {
    return this.#waiting.delete(item) || this.#spare.delete(item)
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drain () {
    while (this.#waiting.size || this.#spare.size || this.#running.size) {
      this.#start()
      await Promise.race(this.#running)
    }
  }

  #start () {
    clearTimeout(/** @type {any} */ (this.#timer))
    clearImmediate(/** @type {any} */ (this.#timer))
    this.#timer = undefined
    while (this.#mayStart()) {
      const run = this.run(this.#take()).finally(() => {
        this.#running.delete(run)
        // items that wait for more go on waiting, unless no batch is under way any more
        if (!this.#timer || !this.#running.size) this.#start()
      })
      this.#running.add(run)
    }
  }

  #mayStart () {
    const left = this.options.atOnce - this.#running.size
    return left > 0 && (this.#waiting.size > 0 || (this.#spare.size > 0 && (left > 1 || !this.#running.size)))
  }

  #take () {
    const most = this.mostNow()
    const items = []
    let sum = 0
    for (const queue of [this.#waiting, this.#spare]) {
      for (const [item, weight] of queue) {
        if (items.length && sum + weight > most) return items
        sum += weight
        items.push(item)
        queue.delete(item)
      }
    }
    return items
  }
}
