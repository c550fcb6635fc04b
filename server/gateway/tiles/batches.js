// Collects single items into batches. Items that arrive within a moment, or while the maximum number of batches is
// under way, go into the next batch. Spare items, for which no client waits, come last.

/** @template T */
export class Batches {
  /** Items with their weights, in the order of arrival. @type {Map<T, number>} */
  #waiting = new Map()
  /** Spare items with their weights. @type {Map<T, number>} */
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

  /** Adds a spare item. Spare items fill up batches, and form own batches only while one more batch may run. */
  addSpare (item) {
    this.#spare.set(item, 1)
    this.#schedule()
  }

  /** Moves a spare item to the other items, when a client waits for it. @param {T} item */
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
        // items continue to wait for more items while the timer runs and another batch is under way
        if (!this.#timer || !this.#running.size) this.#start()
      })
      this.#running.add(run)
    }
  }

  #mayStart () {
    const freeSlots = this.options.atOnce - this.#running.size
    return freeSlots > 0 && (this.#waiting.size > 0 || (this.#spare.size > 0 && (freeSlots > 1 || !this.#running.size)))
  }

  #take () {
    const maxWeight = this.mostNow()
    const items = []
    let sum = 0
    for (const queue of [this.#waiting, this.#spare]) {
      for (const [item, weight] of queue) {
        if (items.length && sum + weight > maxWeight) return items
        sum += weight
        items.push(item)
        queue.delete(item)
      }
    }
    return items
  }
}
