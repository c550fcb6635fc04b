// Messages of long commands. Progress is a bar on a terminal, a line every few seconds elsewhere, nothing with --json.
import { bytes, count, countWords, duration, plural, secondsSince, table } from './output.js'

const BAR = 24 // characters
const TERMINAL_PAUSE = 100 // milliseconds between two drawings of the bar
const MANY = 1e6 // tiles to be fetched
const LINE_PAUSE = 5000 // milliseconds between two lines

export class ProgressLine {
  #started = performance.now()
  #shown = 0

  /** @param {import('./output.js').Output} output @param {string} [counted] noun in the plural */
  constructor (output, counted = 'tiles') {
    this.output = output
    this.counted = counted
    this.#shown = output.isTerminal ? 0 : this.#started
  }

  /**
   * Draws at most every 0.1 s on a terminal, every 5 s elsewhere.
   * @param {number} tiles done
   * @param {number | undefined} total undefined while unknown
   * @param {(rate: number) => string[]} parts more to show; rate: tiles a second
   */
  draw (tiles, total, parts) {
    if (!this.#isDue()) return
    const rate = tiles / ((performance.now() - this.#started) / 1000)
    const eta = total && rate ? [`ETA ${duration((total - tiles) / rate)}`] : []
    this.#write([...this.#begin(tiles, total), ...parts(rate), ...eta].join('  '))
  }

  /** Of an archive that is read before its tiles are known. */
  drawReading ({ bytes: done, total }) {
    if (this.#isDue()) this.#write(`Reading: ${bytes(done)} of ${bytes(total)}`)
  }

  #isDue () {
    if (this.output.json) return false
    const time = performance.now()
    if (time - this.#shown < (this.output.isTerminal ? TERMINAL_PAUSE : LINE_PAUSE)) return false
    this.#shown = time
    return true
  }

  #write (line) {
    this.output.stderr.write(this.output.isTerminal ? `\r${line}\u001b[K` : line + '\n')
  }

  #begin (tiles, total) {
    if (!total) return [`${count(tiles)} ${this.counted}`]
    const done = Math.min(1, tiles / total)
    const filled = Math.round(done * BAR)
    const bar = `[${'#'.repeat(filled)}${'-'.repeat(BAR - filled)}] ${Math.floor(done * 100)}%`
    return [bar, `${count(tiles)}/${count(total)} ${this.counted}`]
  }

  end () {
    if (this.output.isTerminal && !this.output.json) this.output.stderr.write('\r\u001b[K')
  }

  /** For the next of several tasks. */
  restart () {
    this.end()
    this.#started = performance.now()
    this.#shown = this.output.isTerminal ? 0 : this.#started
  }
}

/**
 * Runs a task that takes long, and reports its summary at the end; when it is stopped or fails, what it did until then.
 * @template T
 * @param {ProgressLine} progress
 * @param {() => Promise<T>} task
 * @param {(summary: any, seconds: number, ended?: 'stopped' | 'given up') => void} report
 * @returns {Promise<T>}
 */
export async function reportEnd (progress, task, report) {
  const started = performance.now()
  try {
    const summary = await task()
    progress.end()
    report(summary, secondsSince(started))
    return summary
  } catch (error) {
    progress.end()
    if (error.summary) report(error.summary, secondsSince(started), error.code === 'ABORTED' ? 'stopped' : 'given up')
    throw error
  }
}

/** Progress of a load. */
export class Progress extends ProgressLine {
  #total
  #title
  #ended = false

  /**
   * @param {import('./output.js').Output} output
   * @param {import('../sources/index.js').Source} source its tiles are counted during the load
   * @param {string} [title] of one load among several
   */
  constructor (output, source, title) {
    super(output)
    this.#title = title
    this.#total = source.total
    if (!output.json && output.isTerminal && !this.#total) this.#count(source)
  }

  // counting a folder takes a while, and the load goes on meanwhile
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
      // the load meets the same error and reports it
    }
  }

  show ({ tiles, missing, bytes: size, unchanged, failed }, tuner) {
    this.draw(tiles + missing, this.#total, rate => [
      bytes(size), `${count(Math.round(rate))}/s`, ...countWords({ unchanged, missing, failed }),
      `${tuner.batch}x${tuner.concurrency}`, ...(this.#title ? [this.#title] : [])
    ])
  }

  end () {
    this.#ended = true
    super.end()
  }
}

/**
 * Notes how many tiles a command is about to fetch.
 * @param {import('./output.js').Output} output @param {string} layer @param {import('../seed/plan.js').Plan} plan
 */
export function announce (output, layer, { tiles, bytes: size, zooms }) {
  const rows = zooms.map(zoom => [zoom.z, zoom.tiles, zoom.bytes === null ? 'unknown' : bytes(zoom.bytes)])
  output.note([
    `${layer}: ${plural(tiles, 'tile')}, ${size === null ? 'of unknown size: the layer has none yet' : `about ${bytes(size)}`}`,
    ...table(['zoom', 'tiles', 'about'], rows).map(line => `  ${line}`),
    ...(tiles > MANY
      ? [`More than ${plural(MANY, 'tile')}: check that the tile server allows it, and that the disk has room. Ctrl-C stops.`]
      : [])
  ].join('\n'))
}

/**
 * Messages of commands that keep running (--live): the store is away, or back.
 * @param {import('./output.js').Output} output
 * @param {string} waiting the first message
 * @returns {(state: {state: 'following' | 'away', error?: any}) => void} for `onState` of loader/repeat.js
 */
export function reportStates (output, waiting) {
  let wasAway = false
  return ({ state, error }) => {
    if (state === 'away') output.note(`The store is away: ${error.message}. Trying again.`)
    else output.note(wasAway ? 'The store is back.' : `${waiting} Ctrl-C ends it.`)
    wasAway = state === 'away'
  }
}
