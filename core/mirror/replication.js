// Copies documents from one store to another with their revisions, as CouchDB's replicator does, but with the
// attachments of many documents in one request. It runs in browsers and in Node, between any two peers (peer.js), once
// or live.
import { pause } from '../promises.js'
import { TilecouchError } from '../errors.js'
import { Checkpoint, CheckpointWriter } from './checkpoint.js'
import { RevisionCopier, copierDefaults, newCopyTally } from './copier.js'
import { Refusals } from './refusals.js'
import { Selection } from './selection.js'

export const replicationDefaults = {
  ...copierDefaults,
  page: 1000, // changes read at once
  pages: 3, // of them under way
  checkpoint: 2000, // milliseconds between two checkpoints
  heartbeat: 60000, // milliseconds between two signs of life
  lastWrite: 5000, // milliseconds for the checkpoint at the end
  poll: 10000, // milliseconds a live replication waits for a change before it asks again
  retryRefused: 60000, // milliseconds after which a live replication tries again what the target has refused
  firstDelay: 250, // milliseconds before a live replication tries again, doubled each time
  longestDelay: 5000
}

/** Errors that a live replication waits out. */
const TEMPORARY = new Set([
  'UNREACHABLE', 'BAD_ANSWER', 'NO_ANSWER', 'COUCHDB_ERROR', 'DISK_FULL', 'CONTENDED', 'UNAUTHORIZED', 'FORBIDDEN',
  'DATABASE_NOT_FOUND'
])

const MOST_LOST = 3 // times in a row that a single replication finds its checkpoint lost

/** @typedef {import('./peer.js').Refused} Refused */
/** @typedef {ReturnType<Replication['status']>} Status */

export class Replication {
  #stop = new AbortController()
  #since = /** @type {string | number | undefined} */ (undefined)
  #writer = /** @type {CheckpointWriter | undefined} */ (undefined)
  #pending = /** @type {number | undefined} */ (undefined)
  #status
  #refusals = new Refusals()

  /**
   * @param {object} parts
   * @param {import('./peer.js').Peer} parts.source
   * @param {import('./peer.js').Peer} parts.target
   * @param {Selection} [parts.selection]
   * @param {(ids: string[], signal?: AbortSignal) => Promise<{id: string, revs: string[]}[]>} [parts.visiblePast] for
   *   `since`: finds which versions of the tiles with these ids were still visible then (visible-past.js)
   * @param {(parts: any) => Promise<string | number | undefined>} [parts.fill] fills a target that has no checkpoint
   *   yet, and answers the place in the feed where to go on
   * @param {boolean} [parts.live] goes on until the signal
   * @param {boolean} [parts.dryRun] counts what is missing, and writes nothing
   * @param {Record<string, any>} [parts.about] stored with the checkpoint, for people
   * @param {AbortSignal} [parts.signal]
   * @param {(status: Status) => void} [parts.onProgress]
   * @param {(status: Status) => void} [parts.onState]
   * @param {(refused: Refused) => void} [parts.onRefused]
   * @param {() => Promise<void>} [parts.onUpToDate] waited for when everything is there for the first time
   * @param {Partial<typeof replicationDefaults>} [parts.limits]
   */
  constructor ({
    source, target, selection = new Selection(), visiblePast, fill, live = false, dryRun = false, about, signal, limits,
    onProgress, onState, onRefused, onUpToDate
  }) {
    const stated = Object.fromEntries(Object.entries(limits ?? {}).filter(([, value]) => value !== undefined))
    this.limits = { ...replicationDefaults, ...stated }
    this.source = source
    this.target = target
    this.selection = selection
    this.visiblePast = visiblePast
    this.fill = fill
    this.live = live
    this.dryRun = dryRun
    this.about = about
    this.signal = signal
    this.onProgress = onProgress
    this.onRefused = onRefused
    this.onUpToDate = onUpToDate
    this.tally = newCopyTally()
    this.#status = new ReplicationStatus(this.limits.poll, () => onState?.(this.status()))
    this.copier = new RevisionCopier({
      source,
      target,
      tally: this.tally,
      dryRun,
      limits: this.limits,
      onRefused: refused => this.#refuse(refused),
      onProgress: docs => this.#arrive(docs)
    })
  }

  /**
   * lag: seconds since the target was last known to be complete; undefined if it never was. pending: changes not read
   * yet. lacking: revisions that the target has refused, in this run or before, and does not have; refusals: the first
   * of them.
   */
  status () {
    const { size: lacking, list: refusals } = this.#refusals
    const place = { pending: this.#pending, since: this.#since, checkpoint: this.#writer?.checkpoint.id }
    return { ...this.#status.value(), ...place, ...this.tally, lacking, refusals }
  }

  #refuse (refused) {
    this.#refusals.add(refused)
    this.onRefused?.(refused)
  }

  #arrive (docs) {
    this.#refusals.arrived(docs)
    this.onProgress?.(this.status())
  }

  /** Resolves when everything is copied; a live one rejects with ABORTED on the signal. */
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
            await this.#writer?.writeState(this.status(), 'stopped')
            throw Object.assign(new TilecouchError('ABORTED'), { status: this.status() })
          }
          if (this.tally.changes > changes || this.#status.state === 'following') tries = 0
          await this.#retryOrThrow(error, tries)
        }
      }
    } finally {
      signal?.removeEventListener('abort', abort)
    }
  }

  /** Each session reads the checkpoint again: a side that was away may have become another database. */
  async #open () {
    const { source, target, dryRun, about, selection, limits, tally } = this
    const checkpoint = await Checkpoint.open(source, target, { key: selection.key, writes: !dryRun, about })
    this.#refusals.open(checkpoint.refused)
    this.#writer = new CheckpointWriter(checkpoint, { limits, tally, refusals: this.#refusals, dryRun })
    this.#since = checkpoint.since || await this.#fill(checkpoint.id)
  }

  async #fill (id) {
    const { source, target, dryRun } = this
    const take = (rows, signal) => {
      this.tally.changes += rows.length
      return this.#take(rows, signal)
    }
    const place = await this.fill?.({ source, target, id, dryRun, take, signal: this.#stop.signal })
    return this.#refusals.isFull ? 0 : place ?? 0
  }

  /** Waits after a temporary error, throws any other. */
  async #retryOrThrow (error, tries) {
    const { live, limits: { firstDelay, longestDelay } } = this
    const isLost = error.code === 'PLACE_LOST'
    const mayPass = live ? isLost || TEMPORARY.has(error.code) : isLost && tries < MOST_LOST
    if (!mayPass) throw Object.assign(error, { replication: this.status() })
    this.#status.set('away', error)
    if (!isLost) await this.#writer?.writeState(this.status())
    await pause(Math.min(firstDelay * 2 ** tries, longestDelay), this.#stop.signal)
  }

  /**
   * Copies until the target is complete, or something fails. Answers whether to start another session, for refused
   * revisions.
   */
  async #session () {
    const { limits, live } = this
    const began = Date.now()
    const writer = /** @type {CheckpointWriter} */ (this.#writer)
    const failed = new AbortController() // after one failure nothing else goes on
    const end = () => {
      failed.abort()
      writer.stop()
    }
    this.#stop.signal.addEventListener('abort', end)
    const tracker = new PageTracker(/** @type {string | number} */ (this.#since))
    /** @type {Set<Promise<void>>} */
    const running = new Set()
    let failure
    const fail = error => {
      failure ??= error
      end()
    }
    writer.start(tracker, () => this.status(), fail)
    if (this.#stop.signal.aborted) end()
    const read = (since, wait) => {
      const page = this.source.changes({ since, limit: limits.page, wait, signal: failed.signal })
      page.catch(fail) // it is awaited later, maybe after another failure
      return page
    }
    try {
      if (!this.dryRun) await this.#refusals.tryAgain(rows => this.copier.copyMissing(rows, failed.signal))
      for (let page = read(this.#since, 0); ;) {
        const { rows, last, pending } = await page
        const isEnd = !rows.length || !pending
        this.#pending = pending
        this.tally.changes += rows.length
        this.#status.hear(rows.length > 0)
        const done = tracker.begin(last)
        const work = this.#take(rows, failed.signal)
          .then(() => { if (!this.#refusals.isFull) done() }) // a checkpoint may pass only refusals that it names
          .catch(fail)
          .finally(() => running.delete(work))
        running.add(work)
        if (isEnd) {
          await Promise.all(running)
          if (failure) throw failure
          await this.#complete(tracker)
          if (!live) break
          if (this.#refusals.size && Date.now() - began >= limits.retryRefused) return true
        }
        page = read(last, isEnd ? limits.poll : 0)
        while (running.size >= limits.pages && !failure) await Promise.race(running)
        if (failure) throw failure
      }
      await writer.save() // if this fails, the run has failed
      await writer.writeState(this.status(), 'completed')
      return false
    } catch (error) {
      throw failure ?? error
    } finally {
      end()
      await Promise.all(running)
      this.#stop.signal.removeEventListener('abort', end)
      this.#since = tracker.since
      await writer.end()
    }
  }

  /** The target has everything that the source had. */
  async #complete (tracker) {
    this.#since = tracker.since
    const { onUpToDate } = this
    if (onUpToDate) {
      await onUpToDate()
      this.onUpToDate = undefined // called again only after a failure
    }
    const { state } = this.#status
    this.#status.complete(this.live)
    if (this.live && state !== 'following') {
      await this.#writer?.save()
      await this.#writer?.writeState(this.status())
    }
    this.onProgress?.(this.status())
  }

  /** @param {import('./peer.js').Row[]} rows @param {AbortSignal} signal */
  async #take (rows, signal) {
    const { selection, visiblePast, tally } = this
    /** @type {Map<string, {id: string, revs: string[]}>} */
    const selectedRows = new Map()
    const uncertain = []
    await selection.learn(rows.map(({ id }) => id), id => this.source.read(id, signal))
    for (const row of rows) {
      const { take, lookUp } = selection.decide(row)
      if (take) selectedRows.set(row.id, row)
      if (lookUp) uncertain.push(row.id)
    }
    const visibleRows = uncertain.length && visiblePast ? await visiblePast(uncertain, signal) : []
    for (const row of visibleRows) selectedRows.set(row.id, row)
    tally.selected += selectedRows.size
    if (selectedRows.size) await this.copier.copyMissing([...selectedRows.values()], signal)
  }
}

/** @typedef {'reading' | 'following' | 'away'} State */

/** The state of a replication, and since when the target is known to be complete. */
export class ReplicationStatus {
  #state = /** @type {State} */ ('reading')
  #error
  #upToDate // when the target last had everything
  #isBehind = false // the source has named changes that have not arrived
  #heard = 0 // when the source last answered

  /** @param {number} poll milliseconds within which a live source answers @param {() => void} onChange */
  constructor (poll, onChange) {
    this.poll = poll
    this.onChange = onChange
  }

  get state () {
    return this.#state
  }

  /** The source has answered. @param {boolean} isBehind with changes */
  hear (isBehind) {
    this.#heard = Date.now()
    if (this.#state !== 'following') return
    if (!isBehind) this.#upToDate = this.#heard
    else if (!this.#isBehind) {
      this.#upToDate = this.#heard
      this.#isBehind = true
    }
  }

  /** The target has everything that the source has named. @param {boolean} follows the replication is live */
  complete (follows) {
    this.#upToDate = this.#heard
    this.#isBehind = false
    if (follows) this.set('following')
  }

  /** @param {State} state @param {any} [error] */
  set (state, error) {
    const changed = state !== this.#state || error?.code !== this.#error?.code
    // later changes are unknown
    if (this.#state === 'following' && state !== 'following' && !this.#isBehind) this.#upToDate = this.#heard
    this.#state = state
    this.#error = error
    if (changed) this.onChange()
  }

  value () {
    const now = Date.now()
    const isCurrent = this.#state === 'following' && !this.#isBehind
    const heard = now - this.#heard <= 1.5 * this.poll ? now : this.#heard
    const upToDate = isCurrent ? heard : this.#upToDate
    return {
      state: this.#state,
      lag: upToDate === undefined ? undefined : (now - upToDate) / 1000,
      upToDate,
      error: this.#error?.code,
      reason: this.#error?.message
    }
  }
}

/** How far a replication got: pages end in any order, and `since` is where the first unfinished one begins. */
export class PageTracker {
  #open = /** @type {{seq: any, done: boolean}[]} */ ([])

  /** @param {string | number} since where the first page begins */
  constructor (since) {
    this.since = since
  }

  /** @param {string | number} seq where the next page ends @returns {() => void} to be called when it is done */
  begin (seq) {
    const page = { seq, done: false }
    this.#open.push(page)
    return () => {
      page.done = true
      while (this.#open[0]?.done) this.since = /** @type {{seq: any}} */ (this.#open.shift()).seq
    }
  }
}
