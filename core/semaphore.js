// Limits how many tasks run at once; the others wait in the order in which they came.

export class Semaphore {
  #free
  #waiting = /** @type {(() => void)[]} */ ([])

  constructor (count) {
    this.#free = count
  }

  /** Waits for a turn. @returns {Promise<() => void>} to be called once, when the task is over */
  async acquire () {
    if (this.#free) this.#free--
    else await new Promise(resolve => { this.#waiting.push(() => resolve(undefined)) })
    return () => {
      const next = this.#waiting.shift()
      if (next) next()
      else this.#free++
    }
  }

  /**
   * Runs a task when it is its turn. Unlike a queue of tasks, this does not hold on to what they answer.
   * @template T
   * @param {() => Promise<T>} task
   */
  async run (task) {
    const release = await this.acquire()
    try {
      return await task()
    } finally {
      release()
    }
  }
}
