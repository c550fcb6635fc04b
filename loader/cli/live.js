// What commands that keep running (--live) say: on the terminal when their state changes or something was done, and in
// their document of work how far they are behind.
import { now } from '../../core/index.js'
import { countWords } from './output.js'

/**
 * Messages of a task that goes on (--live): what was done since the last one, and that the store is away, or back.
 * @param {import('./output.js').Output} output
 * @param {string} waiting the first message
 */
export function liveMessages (output, waiting) {
  let wasAway = false
  let before = {}
  return {
    /** @param {{state: 'following' | 'away', error?: any}} change of loader/maintain/repeat.js */
    onState ({ state, error }) {
      if (state === 'away') output.note(`The store is away: ${error.message}. Trying again.`)
      else output.note(wasAway ? 'The store is back.' : `${waiting} Ctrl-C ends it.`)
      wasAway = state === 'away'
    },
    /** @param {Record<string, number>} counts by what they count */
    onCounts (counts) {
      const added = Object.entries(counts).map(([what, number]) => [what, number - (before[what] ?? 0)])
      const news = countWords(Object.fromEntries(added))
      if (news.length) output.line(`${now()}  ${news.join(', ')}`)
      before = counts
    }
  }
}

/** Messages of a command that follows a store: a sentence when its state changes, or an object with --json. */
export class LiveReport {
  #state = ''
  #wasComplete = false

  /**
   * @param {import('./output.js').Output} output
   * @param {import('./progress.js').ProgressLine} progress
   * @param {object} parts
   * @param {Record<string, any>} parts.names what every event begins with
   * @param {() => Record<string, any>} parts.figures of an event
   * @param {() => import('./output.js').Row[]} parts.complete what is said when everything is there for the first time
   */
  constructor (output, progress, { names, figures, complete }) {
    this.output = output
    this.progress = progress
    this.names = names
    this.figures = figures
    this.complete = complete
  }

  /** Whether everything was there once. */
  get wasComplete () {
    return this.#wasComplete
  }

  /** @param {{state: string, error?: string, reason?: string}} change */
  change ({ state, error, reason }) {
    const { output, progress } = this
    const isBack = this.#state === 'away'
    this.#state = state
    progress.isQuiet = state === 'following' || state === 'away'
    progress.end()
    if (output.json) this.event(state, error && { error, reason })
    else if (state === 'away') output.note(`Away: ${reason ?? ''} [${error}]. Trying again until it is back.`)
    else if (state === 'following') output.note(...this.#upToDate(isBack))
    else if (isBack) output.note('Back: reading what has changed …')
    if (state === 'following') this.#wasComplete = true
  }

  #upToDate (isBack) {
    if (!this.#wasComplete) return this.complete()
    return [`${isBack ? 'Back, and up' : 'Up'} to date again: following the changes.`]
  }

  /** With --json: an object in a line. @param {string} event @param {any} [details] */
  event (event, details) {
    if (this.output.json) this.output.event({ event, ...this.names, time: now(), ...details, ...this.figures() })
  }
}

/**
 * What a document of work says of a command that follows a store.
 * @param {{state: string, lag?: number | null, upToDate?: string | number | null, error?: string, reason?: string}} of
 *   lag: seconds; upToDate: when it last had everything
 * @param {Record<string, any>} about more
 */
export const followed = ({ state, lag, upToDate, error, reason }, about) => ({
  ...about,
  state,
  lag: Number.isFinite(lag) ? Math.round(Number(lag)) : undefined,
  success: upToDate ? new Date(upToDate).toISOString().slice(0, 19) + 'Z' : undefined,
  error,
  reason
})

/** How far a command that follows is behind, from its `onState`. */
export class LiveState {
  state = 'reading'
  #lastUpToDate = /** @type {number | undefined} */ (undefined)
  error = /** @type {string | undefined} */ (undefined)
  reason = /** @type {string | undefined} */ (undefined)

  /** @param {{state: string, error?: string, reason?: string}} change */
  note ({ state, error, reason }) {
    this.#lastUpToDate = this.upToDate
    Object.assign(this, { state, error, reason })
  }

  /** When it last had everything, in milliseconds since 1970. */
  get upToDate () {
    return this.state === 'following' ? Date.now() : this.#lastUpToDate
  }

  /** Seconds. */
  get lag () {
    return this.upToDate === undefined ? undefined : (Date.now() - this.upToDate) / 1000
  }
}
