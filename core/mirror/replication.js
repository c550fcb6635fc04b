// Copies documents from one store to another as CouchDB's replicator would leave them, revisions and all, but with the
// attachments of many documents in one request. It runs in browsers as in Node: the two sides are given.
import { TilecouchError } from '../errors.js'
import { Carrier } from './carrier.js'
import { Checkpoint } from './checkpoint.js'
import { Selection } from './selection.js'
import { Window } from './window.js'

export const replicationDefaults = {
  page: 1000, // changes read at once
  pages: 3, // of them under way
  batch: 500, // documents a request at most
  batchBytes: 512 * 1024, // of tiles a request, as far as their size can be foretold: what is lost when it breaks off
  mostBytes: 64 * 1024 * 1024, // of one answer: beyond it the batch is divided
  concurrency: 4, // batches on their way
  checkpoint: 5000, // milliseconds between two notes of how far it got
  poll: 10000, // milliseconds a live replication waits for a change before it asks again
  firstDelay: 250, // milliseconds before a live replication tries again, doubled each time
  longestDelay: 5000
}

/** What passes: a live replication waits for it. */
const PASSING = new Set(['UNREACHABLE', 'BAD_ANSWER', 'COUCHDB_ERROR', 'DISK_FULL', 'CONTENDED', 'UNAUTHORIZED', 'FORBIDDEN', 'DATABASE_NOT_FOUND'])

/**
 * @typedef {object} Tally
 * @property {number} changes looked at
 * @property {number} selected documents among them that belong to the mirror
 * @property {number} checked revisions that the target was asked about
 * @property {number} missing revisions that it did not have
 * @property {number} docs written
 * @property {number} deleted among them: tombstones
 * @property {number} bytes received from the source for them
 * @property {number} tiles versions of tiles among them
 * @property {number} absent revisions that the source does not have any more
 * @property {number} refused revisions that the target did not take
 *
 * @typedef {'reading' | 'following' | 'away'} State
 */

export class Replication {
  #stop = new AbortController()
  #since = /** @type {string | number | undefined} */ (undefined)
  #checkpoint = /** @type {Checkpoint | undefined} */ (undefined)
  #state = /** @type {State} */ ('reading')
  #error
  #pending = /** @type {number | undefined} */ (undefined)
  #upToDate = /** @type {number | undefined} */ (undefined) // when everything was known to be there
  #savedAt = 0

  /**
   * @param {object} parts
   * @param {import('./peer.js').Peer} parts.source
   * @param {import('./peer.js').Peer} parts.target
   * @param {Selection} [parts.selection]
   * @param {(ids: string[], signal?: AbortSignal) => Promise<{id: string, revs: string[]}[]>} [parts.lookBack] for `since`: what of these versions, or of the tiles they are of, was still to be seen then
   * @param {(beginning: any) => Promise<string | number | undefined>} [parts.begin] fills a mirror that has no checkpoint, and answers where to go on
   * @param {boolean} [parts.live] goes on until the signal
   * @param {boolean} [parts.dryRun] counts what is missing, and writes nothing anywhere
   * @param {Record<string, any>} [parts.about] kept with the checkpoint, for people
   * @param {AbortSignal} [parts.signal]
   * @param {(status: ReturnType<Replication['status']>) => void} [parts.onProgress]
   * @param {(status: ReturnType<Replication['status']>) => void} [parts.onState]
   * @param {(refused: import('./peer.js').Refused) => void} [parts.onRefused]
   * @param {() => Promise<void>} [parts.onUpToDate] waited for when everything is there for the first time
   * @param {Partial<typeof replicationDefaults>} [parts.limits]
   */
  constructor ({ source, target, selection = new Selection(), lookBack, begin, live = false, dryRun = false, about, signal, onProgress, onState, onRefused, onUpToDate, limits }) {
    this.limits = { ...replicationDefaults, ...limits }
    this.source = source
    this.target = target
    this.selection = selection
    this.lookBack = lookBack
    this.begin = begin
    this.live = live
    this.dryRun = dryRun
    this.about = about
    this.signal = signal
    this.onProgress = onProgress
    this.onState = onState
    this.onUpToDate = onUpToDate
    /** @type {Tally} */
    this.tally = { changes: 0, selected: 0, checked: 0, missing: 0, docs: 0, deleted: 0, bytes: 0, tiles: 0, absent: 0, refused: 0 }
    this.carrier = new Carrier({ source, target, tally: this.tally, dryRun, limits: this.limits, onRefused, onProgress: () => onProgress?.(this.status()) })
  }

  /**
   * How it goes. lag: seconds for which the target is known to lack nothing; nothing while that was never so. pending: changes that are not looked at.
   */
  status () {
    const isThere = this.#state === 'following'
    return {
      state: this.#state,
      lag: isThere ? 0 : this.#upToDate === undefined ? undefined : (Date.now() - this.#upToDate) / 1000,
      upToDate: isThere ? Date.now() : this.#upToDate,
      pending: this.#pending,
      since: this.#since,
      checkpoint: this.#checkpoint?.id,
      error: this.#error?.code,
      reason: this.#error?.message,
      ...this.tally
    }
  }

  /** Resolves when everything is there; a live one when the signal says so. */
  async run () {
    const { signal, live, dryRun } = this
    const abort = () => this.#stop.abort()
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    try {
      for (let tries = 0; ;) {
        const before = this.tally.changes
        try {
          this.#checkpoint ??= await Checkpoint.open(this.source, this.target, { key: this.selection.key, writes: !dryRun, about: this.about })
          this.#since ??= this.#checkpoint.since || await this.#begin()
          await this.#session()
          return this.status()
        } catch (error) {
          if (signal?.aborted) throw Object.assign(new TilecouchError('ABORTED'), { status: this.status() })
          if (!live || !PASSING.has(error.code)) throw Object.assign(error, { replication: this.status() })
          if (this.tally.changes > before) tries = 0
          await this.#away(error, tries++)
        }
      }
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  async #begin () {
    const { source, target, dryRun } = this
    const { id } = /** @type {Checkpoint} */ (this.#checkpoint)
    return await this.begin?.({ source, target, id, dryRun, take: (rows, signal) => this.#take(rows, signal), signal: this.#stop.signal }) ?? 0
  }

  async #away (error, tries) {
    this.#set('away', error)
    await this.#checkpoint?.note({ state: 'away', error: error.code, reason: error.message }).catch(() => {})
    const { firstDelay, longestDelay } = this.limits
    await this.#pause(Math.min(firstDelay * 2 ** tries, longestDelay))
  }

  #pause (milliseconds) {
    const { signal } = this.#stop
    return new Promise(resolve => {
      const done = () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', done)
        resolve(undefined)
      }
      const timer = setTimeout(done, milliseconds)
      signal.addEventListener('abort', done)
      if (signal.aborted) done()
    })
  }

  #set (state, error) {
    const changed = state !== this.#state || error?.code !== this.#error?.code
    if (this.#state === 'following' && state !== 'following') this.#upToDate = Date.now()
    this.#state = state
    this.#error = error
    if (changed) this.onState?.(this.status())
  }

  /** From where it is until everything is there, or anything goes wrong. */
  async #session () {
    const { limits, live } = this
    const broken = new AbortController() // one thing went wrong: the others are not worth going on with
    const end = () => broken.abort()
    this.#stop.signal.addEventListener('abort', end)
    if (this.#stop.signal.aborted) end()
    const window = new Window(/** @type {string | number} */ (this.#since))
    /** @type {Set<Promise<void>>} */
    const working = new Set()
    let failure
    const fail = error => {
      failure ??= error
      end()
    }
    const timer = setInterval(() => { this.#save(window).catch(fail) }, 1000)
    const read = (since, wait) => this.source.changes({ since, limit: limits.page, wait, signal: broken.signal })
    try {
      let page = read(this.#since, 0)
      page.catch(fail) // looked at below, maybe after something else has failed
      for (;;) {
        const { rows, last, pending } = await page
        this.#pending = pending
        const isEnd = !rows.length || !pending
        const done = window.begin(last)
        const work = this.#take(rows, broken.signal).then(done, fail).finally(() => working.delete(work))
        working.add(work)
        if (isEnd) {
          await Promise.all(working)
          if (failure) throw failure
          await this.#reached(window)
          if (!live) return
        }
        page = read(last, isEnd ? limits.poll : 0)
        page.catch(fail)
        while (working.size >= limits.pages && !failure) await Promise.race(working)
        if (failure) throw failure
      }
    } catch (error) {
      throw failure ?? error
    } finally {
      end()
      await Promise.all(working)
      clearInterval(timer)
      this.#stop.signal.removeEventListener('abort', end)
      this.#since = window.since
      // what got there is noted, whatever came in between
      await this.#save(window, true).catch(() => {})
    }
  }

  /** Everything that there was is there. */
  async #reached (window) {
    this.#since = window.since
    if (this.onUpToDate) {
      const { onUpToDate } = this
      this.onUpToDate = undefined
      try {
        await onUpToDate()
      } catch (error) {
        this.onUpToDate = onUpToDate // again when it is tried again
        throw error
      }
    }
    this.#upToDate = Date.now()
    if (!this.live) await this.#save(window, true)
    else this.#set('following')
    this.onProgress?.(this.status())
  }

  /** @param {import('./peer.js').Row[]} rows @param {AbortSignal} signal */
  async #take (rows, signal) {
    const { selection, lookBack, tally } = this
    tally.changes += rows.length
    /** @type {Map<string, {id: string, revs: string[]}>} */
    const wanted = new Map()
    const doubtful = []
    for (const row of rows) {
      const { take, ask } = selection.judge(row)
      if (take) wanted.set(row.id, row)
      if (ask) doubtful.push(row.id)
    }
    if (doubtful.length && lookBack) for (const row of await lookBack(doubtful, signal)) wanted.set(row.id, row)
    tally.selected += wanted.size
    if (wanted.size) await this.carrier.carry([...wanted.values()], signal)
  }

  /** @param {Window} window @param {boolean} [atOnce] */
  async #save (window, atOnce = false) {
    const checkpoint = this.#checkpoint
    if (!checkpoint || this.dryRun || window.since === checkpoint.since) return
    if (!atOnce && Date.now() - this.#savedAt < this.limits.checkpoint) return
    this.#savedAt = Date.now()
    const { checked, missing, docs, refused } = this.tally
    const counts = { missing_checked: checked, missing_found: missing, docs_read: docs + refused, docs_written: docs, doc_write_failures: refused }
    await checkpoint.save(window.since, counts, { state: this.#state, error: undefined, reason: undefined, bytes: this.tally.bytes })
  }
}
