// The reports of commands that keep running (--live): on the terminal their changes of state and their work, and in
// their document of work how far they are behind.
import { now } from '../../core/index.js'
import { countWords } from './output.js'

/**
 * @typedef {{state: string, error?: string, reason?: string}} Change error: a code
 */

/** Follows the state of a live command: prints a sentence when it changes, or with --json an object. */
export class LiveReport {
  state = 'reading'
  /** Whether the command was up to date once. */
  wasComplete = false
  error = /** @type {string | undefined} */ (undefined)
  reason = /** @type {string | undefined} */ (undefined)
  #lastUpToDate = /** @type {number | undefined} */ (undefined)
  #counts = /** @type {Record<string, number>} */ ({})

  /**
   * @param {import('./output.js').Output} output
   * @param {import('./progress.js').ProgressLine} progress
   * @param {object} parts
   * @param {() => import('./output.js').Row[]} parts.complete rows to print when it is up to date for the first time
   * @param {() => Record<string, any>} [parts.eventOf] fields of every --json event; without it there are no events
   */
  constructor (output, progress, { complete, eventOf }) {
    this.output = output
    this.progress = progress
    this.complete = complete
    this.eventOf = eventOf
  }

  /** When it was last up to date, in milliseconds since 1970. */
  get upToDate () {
    return this.state === 'following' ? Date.now() : this.#lastUpToDate
  }

  /** Seconds since it was last up to date. */
  get lag () {
    return this.upToDate === undefined ? undefined : (Date.now() - this.upToDate) / 1000
  }

  /** @param {Change} change */
  change = ({ state, error, reason }) => {
    const { output, progress } = this
    const isBack = this.state === 'away'
    this.#lastUpToDate = this.upToDate
    Object.assign(this, { state, error, reason })
    progress.isQuiet = state === 'following' || state === 'away'
    progress.end()
    if (output.json) this.event(state, error && { error, reason })
    else if (state === 'away') output.note(`Away: ${reason ?? ''} [${error}]. Trying again until it is back.`)
    else if (state === 'following') output.note(...this.#upToDateWords(isBack))
    else if (isBack) output.note('Back: reading what has changed …')
    if (state === 'following') this.wasComplete = true
  }

  #upToDateWords (isBack) {
    if (!this.wasComplete) return this.complete()
    return [`${isBack ? 'Back, and up' : 'Up'} to date again: following the changes.`]
  }

  /** Prints how much counts have grown since the last call. @param {Record<string, number>} counts by their noun */
  news (counts) {
    const added = Object.entries(counts).map(([noun, number]) => [noun, number - (this.#counts[noun] ?? 0)])
    const words = countWords(Object.fromEntries(added))
    if (words.length) this.output.line(`${now()}  ${words.join(', ')}`)
    this.#counts = counts
  }

  /** With --json: an object in a line. @param {string} event @param {any} [details] */
  event (event, details) {
    if (this.output.json && this.eventOf) this.output.event({ event, time: now(), ...details, ...this.eventOf() })
  }
}

/**
 * Fields in the document of work of a command that follows a store.
 * @param {Change & {lag?: number | null, upToDate?: string | number | null}} following lag: seconds; upToDate: when it
 *   was last up to date
 * @param {Record<string, any>} about other fields
 */
export const followed = ({ state, lag, upToDate, error, reason }, about) => ({
  ...about,
  state,
  lag: Number.isFinite(lag) ? Math.round(Number(lag)) : undefined,
  success: upToDate ? new Date(upToDate).toISOString().slice(0, 19) + 'Z' : undefined,
  error,
  reason
})
