// Which parts of a long file are wanted, in memory that does not grow with what is wanted.

export const blockDefaults = {
  size: 65536, // bytes: a part is wanted whole or not at all
  most: 2 ** 23, // parts that are told apart; those of longer files are larger
  gap: 4, // parts that are fetched although they are not wanted, rather than asking twice
  run: 8e6 // bytes asked for at once
}

export class Blocks {
  #bits
  #length

  /** @param {number} length of the file, in bytes */
  constructor (length) {
    this.#length = length
    this.size = Math.max(blockDefaults.size, Math.ceil(length / blockDefaults.most))
    this.#bits = new Uint8Array(Math.ceil(length / this.size / 8))
  }

  /** @param {number} offset @param {number} length */
  add (offset, length) {
    for (let block = Math.floor(offset / this.size); block * this.size < offset + length; block++) this.#bits[block >> 3] |= 1 << (block & 7)
  }

  /** Bytes that `ranges` comes to. */
  get bytes () {
    let bytes = 0
    for (const { from, to } of this.ranges()) bytes += to - from
    return bytes
  }

  /**
   * What is to be fetched, ascending.
   * @returns {Generator<{from: number, to: number}>}
   */
  * ranges () {
    const most = Math.max(1, Math.floor(blockDefaults.run / this.size))
    let [first, last] = [-1, -1]
    const range = () => ({ from: first * this.size, to: Math.min((last + 1) * this.size, this.#length) })
    for (const block of this.#blocks()) {
      if (first >= 0 && (block - last > blockDefaults.gap + 1 || block - first >= most)) {
        yield range()
        first = block
      } else if (first < 0) first = block
      last = block
    }
    if (first >= 0) yield range()
  }

  * #blocks () {
    for (let byte = 0; byte < this.#bits.length; byte++) {
      for (let bit = 0; this.#bits[byte] >> bit; bit++) if (this.#bits[byte] >> bit & 1) yield byte * 8 + bit
    }
  }
}
