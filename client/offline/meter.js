// How fast it comes, and how long it will still take: of the last seconds, since lines change.

const SPAN = 10000 // milliseconds that are looked back on
const FEWEST = 1000 // milliseconds before anything is said

export class Meter {
  #marks = /** @type {{at: number, bytes: number}[]} */ ([])

  /** @param {number} bytes received until now */
  mark (bytes, at = performance.now()) {
    this.#marks.push({ at, bytes })
    while (this.#marks.length > 2 && this.#marks[1].at <= at - SPAN) this.#marks.shift()
  }

  /** Bytes a second; nothing as long as nobody knows. */
  rate (at = performance.now()) {
    const [first] = this.#marks
    const last = this.#marks.at(-1)
    if (!first || !last || at - first.at < FEWEST) return undefined
    return (last.bytes - first.bytes) / (at - first.at) * 1000
  }
}
