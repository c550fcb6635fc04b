// Keeps a mirror going for as long as the edge is there, whatever happens to the origin, to the store and to the mirror, and
// knows how far behind it is, also when it was started while the origin was away.
import { setTimeout as sleep } from 'node:timers/promises'
import { TilecouchError } from '../../core/index.js'
import { fingerprint } from '../../core/fingerprint.js'
import { timeoutSignal } from '../../core/abort.js'
import { Selection } from '../../core/mirror/index.js'
import { isPublic } from '../../loader/mirror/door.js'
import { Mirror, isPassing } from '../../loader/mirror/index.js'
import { openSource } from '../../loader/mirror/open.js'
import { peerOf } from '../../loader/mirror/peer.js'
import { Couch } from '../../loader/store/couch.js'

export const keeperDefaults = {
  firstDelay: 500, // milliseconds before a mirror that gave up is begun anew, doubled each time
  longestDelay: 5000,
  young: 60000, // milliseconds after which one that gave up had been a good one
  begin: 5000, // milliseconds an edge waits for the origin to say what it is, before it serves what is there
  look: 200, // milliseconds between two looks at the mirror
  note: 30000 // milliseconds between two notes in the store that nothing is lacking
}

/** @typedef {import('../gateway/mirror-metrics.js').MirrorReport} MirrorReport */
/** @typedef {{state: MirrorReport['state'], before: MirrorReport['state'], error?: string, reason?: string, seconds: number, isFirst: boolean, report: MirrorReport}} Turn seconds: for which it was away, or that the first fill took */

export class Keeper {
  #stop = new AbortController()
  /** @type {Mirror | undefined} */
  #mirror
  #running = /** @type {Promise<void> | undefined} */ (undefined)
  #upToDate = /** @type {number | undefined} */ (undefined) // milliseconds: when it was last known to lack nothing
  #notedAt = 0
  #toldAt = Date.now()
  #notes = Promise.resolve()
  #past = { documents: 0, tiles: 0, bytes: 0, refused: 0 } // of mirrors that gave up
  #errors = /** @type {Record<string, number>} */ ({})
  #error = /** @type {string | undefined} */ (undefined)
  #wasThere = false // everything, in this run of it
  #remembers = false // what the run before has noted
  #settleFilled = () => {}
  /** When it lacks nothing for the first time. @type {Promise<void>} */
  filled = new Promise(resolve => { this.#settleFilled = resolve })
  /** @type {{resolve: () => void, reject: (error: Error) => void}} */
  #begun = { resolve () {}, reject () {} }
  #state = /** @type {MirrorReport['state']} */ ('starting')
  #started = Date.now()
  #since = this.#started // when the state began

  /**
   * @param {string} from URL of the origin @param {string} to URL of the store
   * @param {object} options
   * @param {import('../../core/mirror/selection.js').Wanted} options.wanted
   * @param {number | null} [options.maxLag] seconds
   * @param {boolean} [options.isForAll] everybody may read what not everybody may read at the origin
   * @param {import('pino').Logger} options.log
   * @param {(turn: Turn) => void} [options.onTurn]
   * @param {(report: MirrorReport) => void} [options.onProgress]
   * @param {Partial<typeof keeperDefaults>} [options.limits]
   */
  constructor (from, to, { wanted, maxLag = null, isForAll = false, log, onTurn, onProgress, limits }) {
    this.from = from
    this.to = to
    this.wanted = wanted
    this.maxLag = maxLag
    this.isForAll = isForAll
    this.log = log
    this.onTurn = onTurn
    this.onProgress = onProgress
    this.limits = { ...keeperDefaults, ...limits }
    this.origin = openSource(from, { retries: 1 })
    this.store = new Couch(to, { retries: 1 })
    this.peer = peerOf(this.store)
    this.note = `tilecouch-edge-${fingerprint(`${this.origin.url} ${new Selection(wanted).key}`)}`
  }

  /**
   * Begins. Resolves when the mirror is on its way, or waits for somebody; rejects when it never will be, and there is
   * nothing from before that could be served meanwhile.
   * @param {AbortSignal} [signal] ends the waiting
   */
  async start (signal) {
    await this.#remember() // before anything is asked for
    const begun = new Promise((resolve, reject) => { this.#begun = { resolve: () => resolve(undefined), reject } })
    this.#running = this.#run()
    const wait = timeoutSignal(this.limits.begin, signal)
    wait.signal.addEventListener('abort', this.#begun.resolve)
    await begun.finally(wait.end)
  }

  /** What a run of it before this one has noted. */
  async #remember () {
    if (this.#remembers || this.isFilled()) return
    try {
      const { upToDate } = await this.peer.getLocal(this.note) ?? {}
      this.#remembers = true
      if (upToDate) this.#setUpToDate(Date.parse(upToDate))
    } catch {
      // a store that is not there yet, or is away: who has to do with it next says so
    }
  }

  #setUpToDate (time) {
    this.#upToDate = time
    this.#settleFilled()
  }

  async #run () {
    const { signal } = this.#stop
    const timer = setInterval(() => this.#look(), this.limits.look)
    for (let tries = 0; !signal.aborted;) {
      const started = Date.now()
      try {
        await this.#remember()
        if (!this.isForAll) await this.#checkPublic()
        this.#mirror = new Mirror(this.from, this.to, {
          ...this.wanted, live: true, public: this.isForAll, signal, onState: () => this.#look(), onProgress: () => this.onProgress?.(this.report())
        })
        await this.#mirror.run()
      } catch (error) {
        if (signal.aborted) break
        this.#giveUp(error)
        if (this.#upToDate === undefined && !isPassing(error)) this.#begun.reject(error)
        else this.#begun.resolve()
        if (Date.now() - started > this.limits.young) tries = 0
        const { firstDelay, longestDelay } = this.limits
        await sleep(Math.min(firstDelay * 2 ** tries++, longestDelay), undefined, { signal }).catch(() => {})
      }
    }
    clearInterval(timer)
  }

  /** A gateway lets everybody read who reaches it. */
  async #checkPublic () {
    const isOpen = await isPublic(this.origin, this.#stop.signal).catch(error => {
      if (error.code === 'DATABASE_NOT_FOUND') return true // the mirror says so in its own words
      throw error
    })
    if (!isOpen) throw new TilecouchError('WOULD_BE_PUBLIC', { url: this.origin.url, where: 'the gateway of this edge' })
  }

  /** A live mirror waits for what passes; what else there is may pass when somebody sees to it. */
  #giveUp (error) {
    this.#look()
    this.#past = this.#counts()
    this.#mirror = undefined
    this.#turn('away', error.code ?? 'INTERNAL', error.message)
    if (!error.code) this.log.error({ err: error }, 'the mirror ended, and is begun anew')
  }

  /** Notices what has changed since it last looked. */
  #look () {
    const status = this.#mirror?.status()
    // one that has not got past the door is not back yet
    if (!status || (status.checkpoint === undefined && status.state === 'reading' && this.#state === 'away')) return
    if (status.upToDate !== undefined) this.#setUpToDate(status.upToDate)
    if (status.state === 'following' && Date.now() - this.#notedAt > this.limits.note) this.#noteDown()
    if (status.state === 'reading' && Date.now() - this.#toldAt > this.limits.note) this.#tell(status)
    this.#turn(status.state, status.error, status.reason)
    if (status.checkpoint !== undefined || status.state === 'away') this.#begun.resolve()
  }

  #tell ({ pending }) {
    this.#toldAt = Date.now()
    this.log.info({ ...this.#counts(), pending }, 'the mirror reads')
  }

  /** @param {MirrorReport['state']} state @param {string} [error] @param {string} [reason] */
  #turn (state, error, reason) {
    const before = this.#state
    if (state === before && error === this.#error) return
    this.#error = error
    if (error) this.#errors[error] = (this.#errors[error] ?? 0) + 1
    const isFirst = state === 'following' && !this.#wasThere
    const seconds = (Date.now() - (isFirst ? this.#started : this.#since)) / 1000
    if (state !== before && !(before === 'starting' && state === 'reading')) this.#since = Date.now()
    this.#state = state
    if (state === 'following') this.#wasThere = true
    if (before === 'following') this.#noteDown()
    const { url } = this.origin
    if (state === 'away') this.log.warn({ from: url, code: error, reason }, 'the mirror waits')
    else this.log.info({ from: url, to: this.store.url }, state === 'following' ? 'the mirror is up to date' : 'the mirror reads')
    this.onTurn?.({ state, before, error, reason, seconds, isFirst, report: this.report() })
  }

  /** For the next run, which may find the origin away and then cannot even name the checkpoint. It is not worth an error: then that one does not know. */
  #noteDown () {
    if (this.#upToDate === undefined) return
    this.#notedAt = Date.now()
    const note = { from: this.origin.url, upToDate: new Date(this.#upToDate).toISOString() }
    this.#notes = this.#notes.then(() => this.peer.updateLocal(this.note, () => note)).then(() => {}, () => {})
  }

  #counts () {
    const { docs = 0, tiles = 0, bytes = 0, refused = 0 } = this.#mirror?.status() ?? {}
    const past = this.#past
    return { documents: past.documents + docs, tiles: past.tiles + tiles, bytes: past.bytes + bytes, refused: past.refused + refused }
  }

  /** Whether the origin is one, and there. */
  get isOn () {
    return this.#mirror?.status().checkpoint !== undefined && this.#state !== 'away'
  }

  /** Whether this edge ever lacked nothing of its selection. */
  isFilled = () => this.#upToDate !== undefined

  /** How it goes. @returns {MirrorReport} */
  report = () => {
    this.#look()
    const state = this.#state
    const upToDate = this.#upToDate
    const lag = upToDate === undefined ? null : Math.max(0, (Date.now() - upToDate) / 1000)
    const error = this.#error
    return {
      from: this.origin.url,
      state,
      lag: lag === null ? null : Math.round(lag * 10) / 10,
      pending: this.#mirror?.status().pending ?? null,
      upToDate: upToDate === undefined ? null : new Date(upToDate).toISOString(),
      ...(error && { error }),
      refused: this.#mirror?.status().lacking ?? 0,
      behind: this.maxLag !== null && (lag === null || lag > this.maxLag),
      counts: this.#counts(),
      errors: this.#errors
    }
  }

  /** Ends in order: how far it got is noted, and that the next one need not wonder. */
  async close () {
    this.#look()
    this.#stop.abort()
    await this.#running
    if (this.#state === 'following') this.#noteDown()
    await this.#notes
  }
}
