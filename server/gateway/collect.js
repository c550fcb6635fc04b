// Many small calls become few large ones: what arrives within some milliseconds, or while as many as may be are under way.

/**
 * @template C, A
 */
export class Collector {
  /** @type {{call: C, weight: number, resolve: (answer: A) => void, reject: (error: unknown) => void}[]} */
  #waiting = []
  #running = new Set()
  /** @type {NodeJS.Timeout | undefined} */
  #timer

  /**
   * @param {(calls: C[]) => Promise<A[]>} run an answer for each call, in their order
   * @param {{wait: number, most: number, atOnce: number}} options wait: milliseconds; most: weight of what goes together; atOnce: runs under way
   */
  constructor (run, { wait, most, atOnce }) {
    this.run = run
    this.options = { wait, most, atOnce }
  }

  /** @param {C} call @param {number} [weight] @returns {Promise<A>} */
  add (call, weight = 1) {
    return new Promise((resolve, reject) => {
      this.#waiting.push({ call, weight, resolve, reject })
      this.#timer ??= setTimeout(() => this.#start(), this.options.wait)
    })
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drain () {
    while (this.#waiting.length || this.#running.size) {
      this.#start()
      await Promise.race(this.#running)
    }
  }

  #start () {
    clearTimeout(this.#timer)
    this.#timer = undefined
    while (this.#waiting.length && this.#running.size < this.options.atOnce) {
      const run = this.#runSome(this.#take()).finally(() => {
        this.#running.delete(run)
        // what has gathered meanwhile has waited long enough
        if (this.#waiting.length) this.#start()
      })
      this.#running.add(run)
    }
  }

  #take () {
    let [count, weight] = [0, 0]
    do weight += this.#waiting[count++].weight
    while (count < this.#waiting.length && weight + this.#waiting[count].weight <= this.options.most)
    return this.#waiting.splice(0, count)
  }

  async #runSome (entries) {
    try {
      const answers = await this.run(entries.map(({ call }) => call))
      entries.forEach(({ resolve }, index) => resolve(answers[index]))
    } catch (error) {
      for (const { reject } of entries) reject(error)
    }
  }
}
