// How a load is going: a bar on a terminal, a line every few seconds elsewhere, nothing with --json.
import { bytes, count, duration } from './output.js'

const BAR = 24 // characters
const TERMINAL_PAUSE = 100 // milliseconds between two drawings of the bar
const LINE_PAUSE = 5000 // milliseconds between two lines

export class Progress {
  #started = performance.now()
  #shown = 0
  #total
  #ended = false

  /**
   * @param {import('./output.js').Output} output
   * @param {import('../sources/index.js').Source} source counted beside the load, so that the rest can be told
   */
  constructor (output, source) {
    this.output = output
    this.#shown = output.isTerminal ? 0 : this.#started
    if (!output.json && output.isTerminal) this.#count(source)
  }

  // a folder may take a while to count, and the load goes on meanwhile; that it cannot be counted is the load's to say
  async #count (source) {
    try {
      const tiles = source.tiles()[Symbol.asyncIterator]()
      let total = 0
      while (!(await tiles.next()).done) {
        if (this.#ended) return
        if (++total % 256 === 0) await new Promise(resolve => { setImmediate(resolve) })
      }
      this.#total = total
    } catch {
      // the load meets the same and reports it
    }
  }

  /** @param {import('../store/writer.js').WriteSummary} summary @param {import('../store/tuner.js').Tuner} tuner */
  show (summary, tuner) {
    if (this.output.json) return
    const time = performance.now()
    if (time - this.#shown < (this.output.isTerminal ? TERMINAL_PAUSE : LINE_PAUSE)) return
    this.#shown = time
    const line = this.#line(summary, tuner, (time - this.#started) / 1000)
    this.output.stderr.write(this.output.isTerminal ? `\r${line}\u001b[K` : line + '\n')
  }

  #line ({ tiles, bytes: size, unchanged, failed }, tuner, seconds) {
    const rate = tiles / seconds
    const parts = []
    if (this.#total) {
      const done = Math.min(1, tiles / this.#total)
      const filled = Math.round(done * BAR)
      parts.push(`[${'#'.repeat(filled)}${'-'.repeat(BAR - filled)}] ${Math.floor(done * 100)}%`)
      parts.push(`${count(tiles)}/${count(this.#total)} tiles`)
    } else parts.push(`${count(tiles)} tiles`)
    parts.push(bytes(size), `${count(Math.round(rate))}/s`)
    if (this.#total && rate) parts.push(`ETA ${duration((this.#total - tiles) / rate)}`)
    if (unchanged) parts.push(`${count(unchanged)} unchanged`)
    if (failed) parts.push(`${count(failed)} failed`)
    parts.push(`${tuner.batch}x${tuner.concurrency}`)
    return parts.join('  ')
  }

  end () {
    this.#ended = true
    if (this.output.isTerminal && !this.output.json) this.output.stderr.write('\r\u001b[K')
  }
}
