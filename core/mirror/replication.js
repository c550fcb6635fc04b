// Copies documents from one store to another as CouchDB's replicator would leave them, revisions and all, but with the
// attachments of many documents in one request. It runs in browsers as in Node: the two sides are given.
import { TilecouchError } from '../errors.js'
import { Carrier } from './carrier.js'
import { Checkpoint } from './checkpoint.js'
import { Notes } from './notes.js'
import { pause } from '../abort.js'
import { Refusals } from './refusals.js'
import { Selection } from './selection.js'
import { Standing } from './standing.js'
import { Window } from './window.js'

export const replicationDefaults = {
  page: 1000, // changes read at once
  pages: 3, // of them under way
  batch: 50, // documents a request: what is lost when it breaks off
  smallBytes: 256 * 1024, // as many more as fit in here when they are small
  batchMost: 500, // documents a request at most
  batchBytes: 2 * 1024 * 1024, // of tiles a request, as far as their size can be foretold
  batchTime: 10000, // milliseconds a batch may take: on a line that needs longer the next ones are smaller
  mostBytes: 8 * 1024 * 1024, // of an answer with several documents: beyond it the batch is divided
  mostDocument: 64 * 1024 * 1024, // of an answer with one: beyond it the document is left out
  concurrency: 4, // batches on their way
  tries: 5, // for documents that a side has trouble with
  retryDelay: 200, // milliseconds before the second, doubled each time
  checkpoint: 2000, // milliseconds between two notes of how far it got
  sign: 60000, // milliseconds between two notes that it still runs
  parting: 5000, // milliseconds for the last note
  poll: 10000, // milliseconds a live replication waits for a change before it asks again
  again: 60000, // milliseconds before a live replication tries again what the target has refused
  firstDelay: 250, // milliseconds before a live replication tries again, doubled each time
  longestDelay: 5000
}

/** What passes: a live replication waits for it. */
const PASSING = new Set(['UNREACHABLE', 'BAD_ANSWER', 'NO_ANSWER', 'COUCHDB_ERROR', 'DISK_FULL', 'CONTENDED', 'UNAUTHORIZED', 'FORBIDDEN', 'DATABASE_NOT_FOUND'])

const MOST_LOST = 3 // times in a row that a replication that is not live finds its place lost

export class Replication {
  #stop = new AbortController()
  #since = /** @type {string | number | undefined} */ (undefined)
  #notes = /** @type {Notes | undefined} */ (undefined)
  #pending = /** @type {number | undefined} */ (undefined)
  #standing
  #refusals = new Refusals()

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
    this.limits = { ...replicationDefaults, ...Object.fromEntries(Object.entries(limits ?? {}).filter(([, value]) => value !== undefined)) }
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
    this.onRefused = onRefused
    this.onUpToDate = onUpToDate
    /** @type {import('./carrier.js').Tally} */
    this.tally = { changes: 0, selected: 0, checked: 0, missing: 0, docs: 0, deleted: 0, bytes: 0, tiles: 0, absent: 0, refused: 0 }
    this.#standing = new Standing(this.limits.poll, () => onState?.(this.status()))
    this.carrier = new Carrier({ source, target, tally: this.tally, dryRun, limits: this.limits, onRefused: refused => this.#refuse(refused), onProgress: docs => this.#arrive(docs) })
  }

  /**
   * How it goes. lag: seconds since the target was last known to lack nothing; nothing while that was never so. pending: changes that are not looked at.
   * lacking: revisions that the target has refused, in this run or before, and does not have; refusals: the first of them.
   */
  status () {
    const { size: lacking, list: refusals } = this.#refusals
    return { ...this.#standing.status(), pending: this.#pending, since: this.#since, checkpoint: this.#notes?.checkpoint.id, ...this.tally, lacking, refusals }
  }

  #refuse (refused) {
    this.#refusals.add(refused)
    this.onRefused?.(refused)
  }

  #arrive (docs) {
    this.#refusals.settle(docs)
    this.onProgress?.(this.status())
  }

  /** Resolves when everything is there; a live one ends by ABORTED, when the signal says so. */
  async run () {
    const { signal } = this
    const abort = () => this.#stop.abort()
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    try {
      for (let tries = 0; ; tries++) {
        const { changes } = this.tally
        try {
          do await this.#open()
          while (await this.#session())
          return this.status()
        } catch (error) {
          if (signal?.aborted) {
            await this.#notes?.tell(this.status(), 'stopped')
            throw Object.assign(new TilecouchError('ABORTED'), { status: this.status() })
          }
          if (this.tally.changes > changes || this.#standing.state === 'following') tries = 0
          await this.#bear(error, tries)
        }
      }
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Each session looks for its place anew: while one was away, either side may have become another database. */
  async #open () {
    const { source, target, dryRun, about, selection, limits, tally } = this
    const checkpoint = await Checkpoint.open(source, target, { key: selection.key, writes: !dryRun, about })
    this.#refusals.open(checkpoint.refused)
    this.#notes = new Notes(checkpoint, { limits, tally, refusals: this.#refusals, isSilent: dryRun })
    this.#since = checkpoint.since || await this.#begin(checkpoint.id)
  }

  async #begin (id) {
    const { source, target, dryRun } = this
    const take = (rows, signal) => {
      this.tally.changes += rows.length
      return this.#take(rows, signal)
    }
    const place = await this.begin?.({ source, target, id, dryRun, take, signal: this.#stop.signal })
    return this.#refusals.isFull ? 0 : place ?? 0
  }

  /** Waits for what passes, and throws what does not. */
  async #bear (error, tries) {
    const { live, limits: { firstDelay, longestDelay } } = this
    const isLost = error.code === 'PLACE_LOST'
    if (!isLost && !(live && PASSING.has(error.code))) throw Object.assign(error, { replication: this.status() })
    if (!live && tries >= MOST_LOST) throw Object.assign(error, { replication: this.status() })
    this.#standing.set('away', error)
    if (!isLost) await this.#notes?.tell(this.status())
    await pause(Math.min(firstDelay * 2 ** tries, longestDelay), this.#stop.signal)
  }

  /** From where it is until everything is there, or anything goes wrong. Answers whether it is to be begun anew, for what was refused. */
  async #session () {
    const { limits, live } = this
    const began = Date.now()
    const notes = /** @type {Notes} */ (this.#notes)
    const broken = new AbortController() // one thing went wrong: the others are not worth going on with
    const end = () => {
      broken.abort()
      notes.stop()
    }
    this.#stop.signal.addEventListener('abort', end)
    const window = new Window(/** @type {string | number} */ (this.#since))
    /** @type {Set<Promise<void>>} */
    const working = new Set()
    let failure
    const fail = error => {
      failure ??= error
      end()
    }
    notes.begin(window, () => this.status(), fail)
    if (this.#stop.signal.aborted) end()
    const read = (since, wait) => {
      const page = this.source.changes({ since, limit: limits.page, wait, signal: broken.signal })
      page.catch(fail) // it is looked at later, maybe after something else has failed
      return page
    }
    try {
      if (!this.dryRun) await this.#refusals.tryAgain(rows => this.carrier.carry(rows, broken.signal))
      for (let page = read(this.#since, 0); ;) {
        const { rows, last, pending } = await page
        const isEnd = !rows.length || !pending
        this.#pending = pending
        this.tally.changes += rows.length
        this.#standing.hear(rows.length > 0)
        const done = window.begin(last)
        // a checkpoint passes what it remembers
        const work = this.#take(rows, broken.signal).then(() => { if (!this.#refusals.isFull) done() }).catch(fail).finally(() => working.delete(work))
        working.add(work)
        if (isEnd) {
          await Promise.all(working)
          if (failure) throw failure
          await this.#reached(window)
          if (!live) break
          if (this.#refusals.size && Date.now() - began >= limits.again) return true
        }
        page = read(last, isEnd ? limits.poll : 0)
        while (working.size >= limits.pages && !failure) await Promise.race(working)
        if (failure) throw failure
      }
      // what is not noted is not remembered: that counts as well
      await notes.save()
      await notes.tell(this.status(), 'completed')
      return false
    } catch (error) {
      throw failure ?? error
    } finally {
      end()
      await Promise.all(working)
      this.#stop.signal.removeEventListener('abort', end)
      this.#since = window.since
      await notes.end()
    }
  }

  /** Everything that there was is there. */
  async #reached (window) {
    this.#since = window.since
    const { onUpToDate } = this
    if (onUpToDate) {
      await onUpToDate()
      this.onUpToDate = undefined // again, if it failed, when it is tried again
    }
    const { state } = this.#standing
    this.#standing.reach(this.live)
    if (this.live && state !== 'following') {
      await this.#notes?.save()
      await this.#notes?.tell(this.status())
    }
    this.onProgress?.(this.status())
  }

  /** @param {import('./peer.js').Row[]} rows @param {AbortSignal} signal */
  async #take (rows, signal) {
    const { selection, lookBack, tally } = this
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
}
