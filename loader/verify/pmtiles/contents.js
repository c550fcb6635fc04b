// Where the contents of an archive lie: each is decoded once, whatever the number of tiles that show it. Three typed arrays,
// 20 bytes a content, so that millions of them are no more than a map in a browser takes.
import { lowerBound } from '../../../core/search.js'

export const contentsDefaults = {
  most: 2 ** 23 // contents that are told apart; beyond them neither counts nor overlaps are looked at
}

const FIRST = 4096 // room to begin with

export class Contents {
  #offsets = new Float64Array(FIRST)
  #lengths = new Float64Array(FIRST)
  #ids = new Float64Array(FIRST)
  #isAscending = true
  count = 0
  /** Whether there were more than can be told apart. */
  isFull = false

  /** @param {number} offset @param {number} length @param {number} id */
  add (offset, length, id) {
    if (this.count >= contentsDefaults.most) {
      this.isFull = true
      return
    }
    if (this.count === this.#offsets.length) this.#grow()
    if (this.count && offset <= this.#offsets[this.count - 1]) this.#isAscending = false
    this.#offsets[this.count] = offset
    this.#lengths[this.count] = length
    this.#ids[this.count++] = id
  }

  #grow () {
    const longer = old => {
      const grown = new Float64Array(2 * old.length)
      grown.set(old)
      return grown
    }
    this.#offsets = longer(this.#offsets)
    this.#lengths = longer(this.#lengths)
    this.#ids = longer(this.#ids)
  }

  /** Whether there is a content just there; asked while they come in ascending order. */
  has (offset, length) {
    const at = lowerBound(this.#offsets, offset, this.count)
    return at < this.count && this.#offsets[at] === offset && this.#lengths[at] === length
  }

  /**
   * In the order of the file, those at one place with one length once.
   * @returns {Generator<{offset: number, length: number, id: number}>}
   */
  * sorted () {
    const order = Uint32Array.from({ length: this.count }, (_, index) => index)
    if (!this.#isAscending) order.sort((a, b) => this.#offsets[a] - this.#offsets[b] || this.#lengths[a] - this.#lengths[b] || a - b)
    let last = { offset: -1, length: -1 }
    for (const index of order) {
      const content = { offset: this.#offsets[index], length: this.#lengths[index], id: this.#ids[index] }
      if (content.offset !== last.offset || content.length !== last.length) yield last = content
    }
  }
}
