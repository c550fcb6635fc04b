// Keeps the mirror of an edge running: starts it again after errors, and reports its state and lag. Notes in the store
// when it was last complete, for an edge that starts while the origin is away.
import { pause, timeoutSignal } from '../../core/promises.js'
import { fingerprint } from '../../core/fingerprint.js'
import { Selection } from '../../core/mirror/index.js'
import { TilecouchError } from '../../loader/errors.js'
import { Mirror, isTemporary } from '../../loader/maintain/mirror/index.js'
import { peerOf } from '../../loader/store/peer.js'
import { isPublic, openSource } from '../../loader/maintain/mirror/sides.js'
import { Couch } from '../../loader/store/couch.js'

const LIMITS = {
  firstDelay: 500, // milliseconds before a mirror that failed is started again, doubled each time
  longestDelay: 5000,
  stable: 60000, // milliseconds that a mirror has to run for its delay to start over
  startTimeout: 5000, // milliseconds an edge waits for the origin before it serves the store as it is
  look: 200, // milliseconds between two readings of the status of the mirror
  note: 30000 // milliseconds between two notes in the store, and between two log lines
}

/**
 * @typedef {import('../gateway/mirror-metrics.js').MirrorReport} MirrorReport
 * @typedef {MirrorReport['state']} State
 *
 * @typedef {object} StateChange
 * @property {State} state
 * @property {string} [error]
 * @property {string} [reason]
 */

export class MirrorSupervisor {
  #stop = new AbortController()
  #mirror = /** @type {Mirror | undefined} */ (undefined)
  #running = /** @type {Promise<void> | undefined} */ (undefined)
  #upToDate = /** @type {number | undefined} */ (undefined) // milliseconds: when it was last known to be complete
  #notedAt = 0
  #loggedAt = Date.now()
  #notes = Promise.resolve()
  #earlierCounts = { documents: 0, tiles: 0, bytes: 0, refused: 0 } // of mirrors that failed
  #errors = /** @type {Record<string, number>} */ ({})
  #error = /** @type {string | undefined} */ (undefined)
  #settleFilled = () => {}
  /** Resolves when the store is complete for the first time. @type {Promise<void>} */
  filled = new Promise(resolve => { this.#settleFilled = resolve })
  #ready = /** @type {{resolve: () => void, reject: (error: Error) => void}} */ ({ resolve () {}, reject () {} })
  #state = /** @type {State} */ ('starting')

  /**
   * @param {string} from URL of the origin @param {string} to URL of the store
   * @param {object} options
   * @param {import('../../core/mirror/selection.js').Wanted} options.wanted
   * @param {number | null} [options.maxLag] seconds
   * @param {boolean} [options.isForAll] everybody may read the edge, even if the origin is private
   * @param {import('pino').Logger} options.log
   * @param {(change: StateChange) => void} [options.onStateChange]
   * @param {(report: MirrorReport) => void} [options.onProgress]
   */
  constructor (from, to, { wanted, maxLag = null, isForAll = false, log, onStateChange, onProgress }) {
    this.from = from
    this.to = to
    this.wanted = wanted
    this.maxLag = maxLag
    this.isForAll = isForAll
    this.log = log
    this.onStateChange = onStateChange
    this.onProgress = onProgress
    this.origin = openSource(from, { retries: 1 })
    this.store = new Couch(to, { retries: 1 })
    this.peer = peerOf(this.store)
    this.note = `tilecouch-edge-${fingerprint(`${this.origin.url} ${new Selection(wanted).key}`)}`
  }

  /**
   * Starts the mirror. Resolves when it runs or waits for a store. Rejects when it cannot run and the store has
   * nothing to serve.
   * @param {AbortSignal} [signal] ends the waiting
   */
  async start (signal) {
    const ready = new Promise((resolve, reject) => { this.#ready = { resolve: () => resolve(undefined), reject } })
    this.#running = this.#run()
    const wait = timeoutSignal(LIMITS.startTimeout, signal)
    wait.signal.addEventListener('abort', this.#ready.resolve)
    await ready.finally(wait.end)
  }

  /** Reads the note of an earlier run. */
  async #readNote () {
    if (this.isFilled()) return
    try {
      const { upToDate } = await this.peer.getLocal(this.note) ?? {}
      if (upToDate) this.#setUpToDate(Date.parse(upToDate))
    } catch {
      // the store does not exist yet, or is away: the mirror reports it
    }
  }

  #setUpToDate (time) {
    this.#upToDate = time
    this.#settleFilled()
  }

  async #run () {
    const { signal } = this.#stop
    const timer = setInterval(() => this.#readStatus(), LIMITS.look)
    for (let tries = 0; !signal.aborted;) {
      const started = Date.now()
      try {
        await this.#readNote()
        if (!this.isForAll) await this.#checkPublic()
        this.#mirror = new Mirror(this.from, this.to, {
          ...this.wanted,
          live: true,
          public: this.isForAll,
          signal,
          onState: () => this.#readStatus(),
          onProgress: () => this.onProgress?.(this.report())
        })
        await this.#mirror.run()
      } catch (error) {
        if (signal.aborted) break
        this.#fail(error)
        if (this.#upToDate === undefined && !isTemporary(error)) this.#ready.reject(error)
        else this.#ready.resolve()
        if (Date.now() - started > LIMITS.stable) tries = 0
        const { firstDelay, longestDelay } = LIMITS
        await pause(Math.min(firstDelay * 2 ** tries++, longestDelay), signal)
      }
    }
    clearInterval(timer)
  }

  /** Refuses a private origin: everybody who reaches the gateway may read the mirror. */
  async #checkPublic () {
    const isOpen = await isPublic(this.origin, this.#stop.signal).catch(error => {
      if (error.code === 'DATABASE_NOT_FOUND') return true // the mirror reports it
      throw error
    })
    if (!isOpen) {
      throw new TilecouchError('WOULD_BE_PUBLIC', { url: this.origin.url, where: 'the gateway of this edge' })
    }
  }

  /** Reports an error that ended the mirror. A live mirror waits out temporary errors itself. */
  #fail (error) {
    this.#readStatus()
    this.#earlierCounts = this.#counts()
    this.#mirror = undefined
    this.#change('away', error.code ?? 'INTERNAL', error.message)
    if (!error.code) this.log.error({ err: error }, 'the mirror failed and is started again')
  }

  /** Reads the status of the mirror. */
  #readStatus () {
    const status = this.#mirror?.status()
    // a mirror that has not opened both sides is not back yet
    if (!status || (status.checkpoint === undefined && status.state === 'reading' && this.#state === 'away')) return
    if (status.upToDate !== undefined) this.#setUpToDate(status.upToDate)
    if (status.state === 'following' && Date.now() - this.#notedAt > LIMITS.note) this.#writeNote()
    if (status.state === 'reading' && Date.now() - this.#loggedAt > LIMITS.note) this.#logProgress(status)
    this.#change(status.state, status.error, status.reason)
    if (status.checkpoint !== undefined || status.state === 'away') this.#ready.resolve()
  }

  #logProgress ({ pending }) {
    this.#loggedAt = Date.now()
    this.log.info({ ...this.#counts(), pending }, 'the mirror reads')
  }

  /** @param {State} state @param {string} [error] @param {string} [reason] */
  #change (state, error, reason) {
    const previousState = this.#state
    if (state === previousState && error === this.#error) return
    this.#error = error
    if (error) this.#errors[error] = (this.#errors[error] ?? 0) + 1
    this.#state = state
    if (previousState === 'following') this.#writeNote()
    const sides = { from: this.origin.url, to: this.store.url }
    if (state === 'away') this.log.warn({ ...sides, code: error, reason }, 'the mirror waits')
    else this.log.info(sides, state === 'following' ? 'the mirror is up to date' : 'the mirror reads')
    this.onStateChange?.({ state, error, reason })
  }

  /**
   * Notes when the mirror was last complete, for a next run that finds the origin away. Failures are ignored: then that
   * run does not know it.
   */
  #writeNote () {
    if (this.#upToDate === undefined) return
    this.#notedAt = Date.now()
    const note = { from: this.origin.url, upToDate: new Date(this.#upToDate).toISOString() }
    this.#notes = this.#notes.then(() => this.peer.updateLocal(this.note, () => note)).then(() => {}, () => {})
  }

  #counts () {
    const { docs = 0, tiles = 0, bytes = 0, refused = 0 } = this.#mirror?.status() ?? {}
    const { documents, ...earlier } = this.#earlierCounts
    return {
      documents: documents + docs,
      tiles: earlier.tiles + tiles,
      bytes: earlier.bytes + bytes,
      refused: earlier.refused + refused
    }
  }

  /** Whether the origin answers, and the mirror has read its checkpoint. */
  get isOn () {
    return this.#mirror?.status().checkpoint !== undefined && this.#state !== 'away'
  }

  /** Whether the store was ever complete. */
  isFilled = () => this.#upToDate !== undefined

  /** @returns {MirrorReport} */
  report = () => {
    this.#readStatus()
    const upToDate = this.#upToDate
    const lag = upToDate === undefined ? null : Math.round(Math.max(0, Date.now() - upToDate) / 100) / 10
    const { pending = null, lacking = 0 } = this.#mirror?.status() ?? {}
    return {
      from: this.origin.url,
      state: this.#state,
      lag, // seconds
      pending,
      upToDate: upToDate === undefined ? null : new Date(upToDate).toISOString(),
      ...(this.#error && { error: this.#error }),
      refused: lacking,
      behind: this.maxLag !== null && (lag === null || lag > this.maxLag),
      counts: this.#counts(),
      errors: this.#errors
    }
  }

  /** Stops the mirror, and writes its checkpoint and the note for the next run. */
  async close () {
    this.#readStatus()
    this.#stop.abort()
    await this.#running
    if (this.#state === 'following') this.#writeNote()
    await this.#notes
  }
}
