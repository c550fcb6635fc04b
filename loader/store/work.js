// Keeps a document in the store that shows what a long command does, its progress and its end (core/work.js).
//
//   const work = new Work(store.couch, { command: 'load', args: ['load', …], layer: 'osm', unit: 'tiles' })
//   work.show({ done: 12000, total: 90000 }) // as often as you like
//   await work.end(error) // without an error: it is done
//
// The command also works where nothing can be written: errors are ignored. Nothing is written to a store without
// layers: see isEmptyStore.
import { hostname } from 'node:os'
import { fromMilliseconds, scrubAll, workDefaults, workId, workState } from '../../core/index.js'
import { isUnwritable } from '../../core/mirror/index.js'
import { newRun, runAt } from '../../core/runs.js'
import { administrativeDefaults, briefRequest, isEmptyStore, removeOld, serverTime } from './administrative.js'

export const workWriterDefaults = {
  first: 500, // milliseconds until the first write: a command that ends sooner writes once
  pause: workDefaults.every * 1000, // milliseconds between two writes
  ...administrativeDefaults,
  failures: 20, // failures listed in the document
  window: 30_000 // milliseconds over which the rate is measured
}

const DAY = 86_400_000 // milliseconds
const MOST_TYPED = 4000 // characters of arguments as JSON: longer ones are left out
const FIRST = workId('2') // no tile of a layer called `work` lies between here and a run

/**
 * @typedef {object} Figures
 * @property {number} [done]
 * @property {number} [total]
 * @property {number} [failed]
 * @property {(string | {id: string, reason?: string, code?: string})[]} [failures] the first ones
 * @property {string} [unit] noun in the plural
 * @property {string} [layer]
 * @property {string} [edition]
 * @property {string[]} [args] arguments with which the command continues
 * @property {Record<string, any>} [about] small facts of this command
 *
 * @typedef {Figures & {command: string, every?: number, look?: () => Figures}} About every: seconds between two writes
 *   while nothing changes; look: returns the newest figures, called before each write
 */

export class Work {
  /** @type {Record<string, any>} */
  #figures
  #look
  #every
  #started
  /** When how much was done. @type {{at: number, done: number}[]} */
  #samples = []
  #timer
  #writing = /** @type {Promise<void> | undefined} */ (undefined)
  #writtenAt = -Infinity
  #writtenSnapshot = ''
  #hasBegun = false
  #isRefused = false
  /** How it ended. @type {{state: string, finished: number, error?: any} | undefined} */
  #end

  /**
   * @param {import('./couch.js').Couch} couch
   * @param {About} about
   * @param {{limits?: Partial<typeof workWriterDefaults>, clock?: () => number}} [options] clock: milliseconds
   */
  constructor (couch, about, { limits, clock = Date.now } = {}) {
    const { every = workDefaults.every, look = () => ({}), ...figures } = about
    this.couch = couch
    this.limits = { ...workWriterDefaults, ...limits }
    this.clock = clock
    this.id = workId(newRun())
    this.#every = every
    this.#look = look
    this.#figures = figures
    this.#started = clock()
    this.#timer = setTimeout(() => this.#tick(), this.limits.first).unref()
  }

  /** @param {Figures} figures */
  show (figures) {
    const about = { ...this.#figures.about, ...figures.about }
    Object.assign(this.#figures, figures, { about })
  }

  /**
   * Writes how the command ended. Resolves when that is written or has failed.
   * @param {any} [error] ABORTED: the command was stopped
   */
  async end (error) {
    if (this.#end) return
    const failure = error?.code === 'ABORTED' ? 'stopped' : 'failed'
    const state = error ? failure : 'done'
    this.#end = { state, finished: this.clock(), ...(state === 'failed' && { error }) }
    clearTimeout(this.#timer)
    await this.#writing
    await this.#attempt()
  }

  #tick () {
    this.#timer = setTimeout(() => this.#tick(), this.limits.pause).unref()
    this.#writing ??= this.#attempt().finally(() => { this.#writing = undefined })
  }

  async #attempt () {
    if (this.#isRefused) return
    try {
      this.show(this.#look())
      if (!this.#isDue()) return
      await this.#write()
    } catch (error) {
      // after other errors it tries again: the server may be away, and a mirror creates its database later
      this.#isRefused = isUnwritable(error) && error.code !== 'DATABASE_NOT_FOUND'
    }
  }

  /** With a longer `every`, a write is due when the figures have changed, or when `every` has passed. */
  #isDue () {
    if (this.#end || this.#every === workDefaults.every) return true
    return this.#snapshot() !== this.#writtenSnapshot || this.clock() - this.#writtenAt >= this.#every * 1000
  }

  /** The figures whose change is worth a write. */
  #snapshot () {
    const { done, failed, about } = this.#figures
    return JSON.stringify([done, failed, about?.state])
  }

  async #write () {
    const { couch } = this
    const options = briefRequest(this.limits)
    if (!this.#hasBegun && await isEmptyStore(couch, options)) return
    const snapshot = this.#snapshot()
    const doc = this.#document()
    this.#writtenAt = this.clock()
    await couch.update(this.id, () => doc, undefined, options)
    this.#writtenSnapshot = snapshot
    const isFirst = !this.#hasBegun
    this.#hasBegun = true
    if (isFirst) await this.#removeOld(options)
  }

  /** Removes work that ended long ago. */
  async #removeOld (options) {
    const now = serverTime(this.couch, this.clock())
    const before = fromMilliseconds(now - workDefaults.days * DAY)
    const range = { startkey: FIRST, endkey: workId(runAt(before)) }
    const isOld = doc => doc.type === 'work' && workState(doc, now) !== 'running' && (doc.finished ?? doc.seen) < before
    await removeOld(this.couch, range, isOld, { limit: this.limits.old, options })
  }

  #document () {
    const { command, layer, edition, args, unit, done, total, failed, failures = [], about = {} } = this.#figures
    const { user } = this.couch.access
    const [started, seen] = [this.#started, this.clock()].map(time => fromMilliseconds(serverTime(this.couch, time)))
    const { state = 'running', finished, error } = this.#end ?? {}
    return fit(scrubAll({
      type: 'work',
      command,
      ...(args && JSON.stringify(args).length <= MOST_TYPED && { args }),
      ...(layer && { layer }),
      ...(edition && { edition }),
      state,
      started,
      seen,
      every: this.#every,
      ...(finished && { finished: fromMilliseconds(serverTime(this.couch, finished)) }),
      ...(unit && { unit }),
      ...counts({ done, total, failed }),
      ...this.#rate(done),
      ...(failures.length && { failures: failures.slice(0, this.limits.failures).map(failureText) }),
      ...(user && { user }),
      host: hostname().slice(0, 300),
      ...(Object.keys(about).length && { about }),
      ...(error && { error: errorOf(error) })
    }))
  }

  /** Units a second: of the last window, and at the end of the whole run. */
  #rate (done) {
    if (!Number.isFinite(done)) return {}
    const now = this.clock()
    if (done < (this.#samples.at(-1)?.done ?? 0)) this.#samples = [] // the count has started again
    if (!this.#samples.length) this.#samples.push({ at: this.#started, done: 0 })
    while (this.#samples.length > 1 && now - this.#samples[1].at >= this.limits.window) this.#samples.shift()
    const first = this.#end ? { at: this.#started, done: 0 } : this.#samples[0]
    this.#samples.push({ at: now, done })
    const rate = (done - first.done) / ((now - first.at) / 1000)
    return Number.isFinite(rate) && rate >= 0 ? { rate: +rate.toFixed(1) } : {}
  }
}

const counts = figures => Object.fromEntries(Object.entries(figures)
  .filter(([, number]) => Number.isFinite(number) && number >= 0).map(([name, number]) => [name, Math.round(number)]))

const failureText = failure => (typeof failure === 'string' ? failure
  : `${failure.id}: ${failure.reason ?? failure.code ?? 'failed'}`).slice(0, 300)

const errorOf = ({ code = 'INTERNAL', message, advice }) =>
  ({ code, message: String(message).slice(0, 1000), ...(advice && { advice: String(advice).slice(0, 1000) }) })

/** Removes the last entries of lists, then `about`, until the document is small enough for the store. */
function fit (doc) {
  const isTooLong = () => JSON.stringify(doc).length > workDefaults.most
  for (const list of [...Object.values(doc.about ?? {}), doc.failures]) {
    while (Array.isArray(list) && list.length && isTooLong()) list.pop()
  }
  if (isTooLong()) delete doc.about
  return doc
}
