// How fast it comes, and how long it will still take: of the last seconds, since lines change.

const SPAN = 10000 // milliseconds that are looked back on
const FEWEST = 1000 // milliseconds before anything is said
const STEP = 100 // milliseconds between two marks that are kept

export class Meter {
  #marks = /** @type {{at: number, bytes: number}[]} */ ([])

  /** @param {number} bytes received until now */
  mark (bytes, at = performance.now()) {
    const marks = this.#marks
    if (marks.length > 1 && at - marks[marks.length - 2].at < STEP) marks.pop()
    marks.push({ at, bytes })
    while (marks.length > 2 && marks[1].at <= at - SPAN) marks.shift()
  }

  /** Bytes a second; nothing as long as nobody knows. */
  rate (at = performance.now()) {
    const marks = this.#marks
    while (marks.length > 1 && marks[1].at <= at - SPAN) marks.shift() // nothing came for long: it is known that it was nothing
    const [first] = marks
    if (!first || at - first.at < FEWEST) return undefined
    return (marks[marks.length - 1].bytes - first.bytes) / (at - first.at) * 1000
  }

  /**
   * @param {{bytes: number, transfer: number} | undefined} total @param {number} bytes of images that are there
   * @returns {{rate?: number, remaining?: number}} bytes and seconds
   */
  foretell (total, bytes, at = performance.now()) {
    const rate = this.rate(at)
    if (!total) return { rate }
    const left = total.bytes ? Math.max(0, 1 - bytes / total.bytes) * (total.transfer ?? total.bytes) : 0
    return { rate, remaining: left ? rate && left / rate : 0 }
  }
}
