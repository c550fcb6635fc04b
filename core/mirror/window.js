// How far a replication has got, when parts of it end in any order: up to the first that has not ended.

export class Window {
  #open = /** @type {{seq: any, done: boolean}[]} */ ([])

  /** @param {string | number} since where it begins */
  constructor (since) {
    /** Everything up to here is done. */
    this.since = since
  }

  /** How many parts have begun and are not settled. */
  get size () {
    return this.#open.length
  }

  /**
   * The next part, which ends at a place.
   * @param {string | number} seq
   * @returns {() => void} to be called when it is done
   */
  begin (seq) {
    const part = { seq, done: false }
    this.#open.push(part)
    return () => {
      part.done = true
      while (this.#open[0]?.done) this.since = /** @type {{seq: any}} */ (this.#open.shift()).seq
    }
  }
}
