// Progress of long commands: the number done, the total, the rate and the time left. It is a bar on a terminal, a line
// every ten seconds elsewhere, and absent with --json.
//
//   const progress = new ProgressLine(output, 'documents')
//   progress.draw(done, total, () => [bytes(size)])
//   progress.end()
import { bytes, count, countWords, duration, linesOf, plural, table } from './output.js'

const BAR = 24 // characters
const TERMINAL_PAUSE = 100 // milliseconds between two drawings of the bar
const LINE_PAUSE = 10_000 // milliseconds between two lines
const WINDOW = 20_000 // milliseconds that a rate is measured over: a task may begin quickly and go on slowly
const SAMPLE = 1000 // milliseconds between two measurements
const MANY = 1e6 // tiles to be fetched

export class ProgressLine {
  isQuiet = false // while single changes are followed, nothing is drawn
  #shown = 0
  /** Measurements, the oldest first. @type {{time: number, done: number}[]} */
  #samples = []

  /**
   * @param {import('./output.js').Output} output
   * @param {string} [counted] noun in the plural
   * @param {{title?: string, amount?: (number: number) => string, clock?: () => number}} [options] title: of one task
   *   among several; amount: how a number of the counted is written; clock: milliseconds
   */
  constructor (output, counted = 'tiles', { title = '', amount = count, clock = () => performance.now() } = {}) {
    this.output = output
    this.counted = counted
    this.title = title
    this.amount = amount
    this.clock = clock
    this.#reset()
  }

  #reset () {
    const time = this.clock()
    this.#samples = [{ time, done: 0 }]
    this.#shown = this.output.isTerminal ? 0 : time
  }

  /**
   * @param {number} done
   * @param {number | undefined} total undefined while unknown
   * @param {() => import('./output.js').Row[]} [parts] more to show
   */
  draw (done, total, parts = () => []) {
    if (!this.#isDue()) return
    const share = total ? Math.min(1, done / total) : undefined
    const rate = this.#rateOf(done, this.#shown)
    const figures = linesOf([
      this.title && `${this.title}:`,
      ...(share === undefined ? [this.#words(done)] : [percent(share), `${this.amount(done)} of ${this.#words(total)}`])
    ])
    const left = total && rate ? [`${duration(Math.max(0, total - done) / rate)} left`] : []
    const speed = rate ? [`${this.#words(rate < 10 ? +rate.toFixed(1) : Math.round(rate))}/s`] : []
    const more = linesOf(parts())
    if (share === undefined || !this.output.isTerminal) {
      return this.#write([...figures, ...speed, ...left, ...more].join('  '))
    }
    const lines = [[bar(share), ...figures, ...speed, ...left, ...more], [...figures, ...speed, ...left, ...more],
      [...figures, ...left, ...more], [...figures, ...left, ...more.slice(1)]].map(list => list.join('  '))
    this.#write(lines.find(line => line.length < this.output.columns) ?? lines[lines.length - 1])
  }

  /**
   * Draws the figures of a task.
   * @param {import('./task.js').TaskFigures} figures
   */
  drawFigures ({ title, unit, done = 0, total, failed, about = {} }) {
    if (title !== undefined) this.begin(title)
    if (unit) this.counted = unit
    this.draw(done, total, () => partsOf({ ...about, failed }))
  }

  /** Draws progress without a count. @param {() => string} line */
  drawLine (line) {
    if (this.#isDue()) this.#write(line())
  }

  #isDue () {
    const time = this.clock()
    const { json, isTerminal } = this.output
    if (json || this.isQuiet || time - this.#shown < (isTerminal ? TERMINAL_PAUSE : LINE_PAUSE)) return false
    this.#shown = time
    return true
  }

  #write (line) {
    if (this.output.isTerminal) this.output.drawBar(line)
    else this.output.note(line)
  }

  #words (number) {
    return [this.amount(number), this.counted].filter(Boolean).join(' ')
  }

  /** The recent rate per second. @returns {number | undefined} */
  #rateOf (done, time) {
    if (done < this.#samples[this.#samples.length - 1].done) this.#samples = [{ time, done }] // the count began again
    const samples = this.#samples
    while (samples.length > 1 && time - samples[1].time >= WINDOW) samples.shift()
    const [first] = samples
    const span = time - first.time
    const rate = 1000 * (done - first.done) / span
    if (time - samples[samples.length - 1].time >= SAMPLE) samples.push({ time, done })
    return span >= SAMPLE && rate > 0 ? rate : undefined // a few milliseconds give no rate
  }

  /** Removes the bar. */
  end () {
    this.output.endBar()
  }

  /** Restarts for the task of a title, unless it has begun. @param {string} title @returns {boolean} whether it did */
  begin (title) {
    const isNext = title !== this.title
    if (isNext) this.restart(title)
    return isNext
  }

  /** For the next of several tasks. @param {string} [title] */
  restart (title = this.title) {
    this.output.endBar()
    this.title = title
    this.#reset()
  }
}

/** `1.2 MB` and `3 failed`: the figures of a task that are numbers. @param {Record<string, any>} about */
function partsOf ({ bytes: size, ...about }) {
  const counts = Object.entries(about).filter(([, value]) => typeof value === 'number')
  return [size !== undefined && bytes(size), ...countWords(Object.fromEntries(counts))]
}

const percent = share => `${Math.floor(share * 100)}%`

function bar (share) {
  const filled = Math.round(share * BAR)
  return `[${'#'.repeat(filled)}${'-'.repeat(BAR - filled)}]`
}

/** Progress of an archive that is read before its tiles are known: `onReading` of its source. */
export class ReadingProgress extends ProgressLine {
  constructor (output) {
    super(output, '', { title: 'Reading', amount: bytes })
  }

  /** @param {{bytes: number, total: number}} done */
  show = ({ bytes: done, total }) => this.draw(done, total)
}

/** Progress of building an index or compacting a database: `onProgress` of publish, push, upgrade and compact. */
export class IndexProgress extends ProgressLine {
  constructor (output) {
    super(output, 'changes', { title: 'Index' })
  }

  /** @param {{step?: string, done?: number, total?: number, file?: number}} event file: bytes of a compaction */
  show = ({ done, total, file }) => {
    if (file !== undefined) this.drawLine(() => `Compacting: ${bytes(file)} on the disk`)
    else if (done !== undefined && total) this.draw(done, total)
  }
}

/**
 * `onProgress` of push, publish and upgrade.
 * @param {import('./output.js').Output} output @param {string} verb printed after the id of a design document
 * @returns {(event: import('../couchapp/push.js').PushEvent) => void}
 */
export function pushReport (output, verb) {
  const progress = new IndexProgress(output)
  return event => {
    if (event.step === 'index') progress.show(event)
    else output.note(`${event.id}: ${verb}`)
  }
}

/** Progress of tiles that are counted meanwhile: counting is slow in a folder, or if an index must be built first. */
export class CountingProgress extends ProgressLine {
  /** @type {number | undefined} undefined while it is not known */
  total
  #stop = new AbortController()

  /**
   * @param {import('./output.js').Output} output
   * @param {((signal: AbortSignal) => Promise<number>) | false} [countTiles] unless given, nothing is counted
   */
  constructor (output, countTiles) {
    super(output, 'tiles')
    if (countTiles) this.count(countTiles)
  }

  /**
   * @param {(signal: AbortSignal) => Promise<number>} countTiles
   * @param {string} [title] of one task among several
   */
  count (countTiles, title) {
    this.restart(title)
    this.total = undefined
    this.#stop = new AbortController()
    if (this.output.json) return
    // the task meets the same error and reports it
    countTiles(this.#stop.signal).then(total => { this.total = total }, () => {})
  }

  drawFigures (figures) {
    super.drawFigures({ ...figures, total: figures.total ?? this.total })
  }

  end () {
    this.#stop.abort()
    super.end()
  }
}

/**
 * Counts the tiles of a source, for CountingProgress; the load goes on meanwhile.
 * @param {import('../load/sources/index.js').Source} source
 */
export const countSource = source => async signal => {
  if (source.total) return source.total
  const tiles = source.tiles()[Symbol.asyncIterator]()
  let total = 0
  while (!(await tiles.next()).done) {
    signal.throwIfAborted()
    if (++total % 256 === 0) await new Promise(resolve => { setImmediate(resolve) })
  }
  return total
}

/**
 * Counts the tiles of a layer, for CountingProgress.
 * @param {import('../store/index.js').Store} store
 * @param {string} layer
 * @param {Parameters<import('../store/index.js').Store['count']>[1]} [selection] which of its tiles
 */
export const countLayer = (store, layer, selection) => async signal =>
  (await store.count(layer, { ...selection, signal })).tiles

/**
 * Notes how many tiles a command is about to fetch.
 * @param {import('./output.js').Output} output @param {string} layer @param {import('../load/seed/plan.js').Plan} plan
 */
export function announce (output, layer, { tiles, bytes: size, zooms }) {
  const rows = zooms.map(zoom => [zoom.z, zoom.tiles, zoom.bytes === null ? 'unknown' : bytes(zoom.bytes)])
  output.note(
    `${layer}: ${plural(tiles, 'tile')}, ` +
      `${size === null ? 'of unknown size: the layer has none yet' : `about ${bytes(size)}`}`,
    ...table(['zoom', 'tiles', 'about'], rows).map(line => `  ${line}`),
    tiles > MANY &&
      `More than ${plural(MANY, 'tile')}: check that the tile server allows it, and that the disk has room. ` +
        'Ctrl-C stops.'
  )
}
