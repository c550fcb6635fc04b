// Copies documents from one store to another with their revisions, like CouchDB's replicator, but with the attachments
// of many documents in one request. It runs in browsers and in Node, between any two peers (peer.js), once or live.
import { pause } from '../promises.js'
import { TEMPORARY_CODES, TilecouchError } from '../errors.js'
import { Checkpoint, CheckpointWriter } from './checkpoint.js'
import { RevisionCopier, copierDefaults, newCopyTally } from './copier.js'
import { Refusals } from './refusals.js'
import { Selection } from './selection.js'

export const replicationDefaults = {
  ...copierDefaults,
  page: 1000, // changes per request
  pages: 3, // pages of changes at the same time
  checkpoint: 2000, // milliseconds between two checkpoints
  heartbeat: 60000, // milliseconds between two writes of the state without news
  lastWrite: 5000, // time limit in milliseconds for the checkpoint at the end
  poll: 10000, // milliseconds that a live replication waits for a change in one request
  retryRefused: 60000, // milliseconds after which a live replication tries refused revisions again
  firstDelay: 250, // milliseconds before a live replication tries again, doubled each time
  longestDelay: 5000
}

/** Errors after which a live replication tries again. */
const TEMPORARY = new Set([...TEMPORARY_CODES, 'DISK_FULL', 'CONTENDED'])

const MOST_LOST = 3 // times in a row that a replication which is not live may lose its checkpoint

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
   *   `since`: finds the versions of tiles that were still visible at that time (visible-past.js)
   * @param {(parts: any) => Promise<string | number | undefined>} [parts.fill] fills a target that has no checkpoint
   *   yet, and returns the place in the feed where to continue
   * @param {boolean} [parts.live] continues until the signal
   * @param {boolean} [parts.dryRun] counts the missing revisions and writes nothing
   * @param {Record<string, any>} [parts.about] stored with the checkpoint, for people to read
   * @param {AbortSignal} [parts.signal]
   * @param {(status: Status) => void} [parts.onProgress]
   * @param {(status: Status) => void} [parts.onState]
   * @param {(refused: Refused) => void} [parts.onRefused]
   * @param {(rows: import('./peer.js').Row[]) => Promise<void> | undefined} [parts.onChanges] awaited before changes
   *   are copied
   * @param {() => Promise<void>} [parts.onUpToDate] awaited whenever the target is complete
   * @param {Partial<typeof replicationDefaults>} [parts.limits]
   */
  constructor ({
    source, target, selection = new Selection(), visiblePast, fill, live = false, dryRun = false, about, signal, limits,
    onProgress, onState, onRefused, onChanges, onUpToDate
  }) {
    const setLimits = Object.fromEntries(Object.entries(limits ?? {}).filter(([, value]) => value !== undefined))
    this.limits = { ...replicationDefaults, ...setLimits }
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
    this.onChanges = onChanges
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
   * yet. lacking: number of revisions that the target refused, in this run or before, and does not have. refusals: the
   * first of these revisions.
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

  /** Resolves when everything is copied. A live replication rejects with ABORTED on the signal. */
  async run () {
    const { signal } = this
    const abort = () => this.#stop.abort()
    signal?.addEventListener('abort', abort)
    if (signal?.aborted) abort()
    try {
      for (let tries = 0; ; tries++) {
        const { changes } = this.tally
        try {
          do await this.#openCheckpoint()
          while (await this.#runSession())
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

  /** Reads the checkpoint before each session: a side that was unreachable may be another database now. */
  async #openCheckpoint () {
    const { source, target, dryRun, about, selection, limits, tally } = this
    const checkpoint = await Checkpoint.open(source, target, { key: selection.key, writes: !dryRun, about })
    this.#refusals.open(checkpoint.refused)
    this.#writer = new CheckpointWriter(checkpoint, { limits, tally, refusals: this.#refusals, dryRun })
    this.#since = checkpoint.since || await this.#fillTarget(checkpoint.id)
  }

  async #fillTarget (id) {
    const { source, target, dryRun } = this
    const take = (rows, signal) => {
      this.tally.changes += rows.length
      return this.#copyChanges(rows, signal)
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
   * Copies until the target is complete, or a request fails. Returns whether to start another session for refused
   * revisions.
   */
  async #runSession () {
    const { limits, live } = this
    const began = Date.now()
    const writer = /** @type {CheckpointWriter} */ (this.#writer)
    const stopSession = new AbortController() // stops all requests of the session after a failure
    const end = () => {
      stopSession.abort()
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
    const readChanges = (since, wait) => {
      const page = this.source.changes({ since, limit: limits.page, wait, signal: stopSession.signal })
      page.catch(fail) // awaited later, maybe after another failure
      return page
    }
    try {
      if (!this.dryRun) await this.#refusals.tryAgain(rows => this.copier.copyMissing(rows, stopSession.signal))
      for (let page = readChanges(this.#since, 0); ;) {
        const { rows, last, pending } = await page
        const isEnd = !rows.length || !pending
        this.#pending = pending
        this.tally.changes += rows.length
        this.#status.hear(rows.length > 0)
        const finishPage = tracker.begin(last)
        const copying = this.#copyChanges(rows, stopSession.signal)
          .then(() => { if (!this.#refusals.isFull) finishPage() }) // a checkpoint may only pass refusals that it lists
          .catch(fail)
          .finally(() => running.delete(copying))
        running.add(copying)
        if (isEnd) {
          await Promise.all(running)
          if (failure) throw failure
          await this.#complete(tracker)
          if (!live) break
          if (this.#refusals.size && Date.now() - began >= limits.retryRefused) return true
        }
        page = readChanges(last, isEnd ? limits.poll : 0)
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

  /** Called when the target has all changes that the source had. */
  async #complete (tracker) {
    this.#since = tracker.since
    await this.onUpToDate?.()
    const { state } = this.#status
    this.#status.complete(this.live)
    if (this.live && state !== 'following') {
      await this.#writer?.save()
      await this.#writer?.writeState(this.status())
    }
    this.onProgress?.(this.status())
  }

  /** @param {import('./peer.js').Row[]} rows @param {AbortSignal} signal */
  async #copyChanges (rows, signal) {
    const { selection, visiblePast, tally } = this
    /** @type {Map<string, {id: string, revs: string[]}>} */
    const selectedRows = new Map()
    const uncertain = []
    await this.onChanges?.(rows)
    await selection.learn(rows.map(({ id }) => id), id => this.source.read(id, signal))
    for (const row of rows) {
      const { take, lookUp } = selection.decide(row)
      if (take) selectedRows.set(row.id, row)
      if (lookUp) uncertain.push(row.id)
    }
    const visibleVersions = uncertain.length && visiblePast ? await visiblePast(uncertain, signal) : []
    for (const row of visibleVersions) selectedRows.set(row.id, row)
    tally.selected += selectedRows.size
    if (selectedRows.size) await this.copier.copyMissing([...selectedRows.values()], signal)
  }
}

/** @typedef {'reading' | 'following' | 'away'} State */

/** The state of a replication, and the last time at which the target was complete. */
export class ReplicationStatus {
  #state = /** @type {State} */ ('reading')
  #error
  #upToDate // time at which the target was last complete
  #isBehind = false // the source has sent changes that are not copied yet
  #lastAnswer = 0 // time of the last answer of the source

  /** @param {number} poll milliseconds within which a live source answers @param {() => void} onChange */
  constructor (poll, onChange) {
    this.poll = poll
    this.onChange = onChange
  }

  get state () {
    return this.#state
  }

  /** Notes an answer of the source. @param {boolean} isBehind it has changes */
  hear (isBehind) {
    this.#lastAnswer = Date.now()
    if (this.#state !== 'following') return
    if (!isBehind) this.#upToDate = this.#lastAnswer
    else if (!this.#isBehind) {
      this.#upToDate = this.#lastAnswer
      this.#isBehind = true
    }
  }

  /** Notes that all changes of the source are copied. @param {boolean} follows the replication is live */
  complete (follows) {
    this.#upToDate = this.#lastAnswer
    this.#isBehind = false
    if (follows) this.set('following')
  }

  /** @param {State} state @param {any} [error] */
  set (state, error) {
    const changed = state !== this.#state || error?.code !== this.#error?.code
    // changes after the last answer are unknown
    if (this.#state === 'following' && state !== 'following' && !this.#isBehind) this.#upToDate = this.#lastAnswer
    this.#state = state
    this.#error = error
    if (changed) this.onChange()
  }

  value () {
    const now = Date.now()
    const isCurrent = this.#state === 'following' && !this.#isBehind
    const lastAnswer = now - this.#lastAnswer <= 1.5 * this.poll ? now : this.#lastAnswer
    const upToDate = isCurrent ? lastAnswer : this.#upToDate
    return {
      state: this.#state,
      lag: upToDate === undefined ? undefined : (now - upToDate) / 1000,
      upToDate,
      error: this.#error?.code,
      reason: this.#error?.message
    }
  }
}

/** Tracks pages of changes, which end in any order. `since` is the place where the first unfinished page begins. */
export class PageTracker {
  #openCheckpoint = /** @type {{seq: any, done: boolean}[]} */ ([])

  /** @param {string | number} since where the first page begins */
  constructor (since) {
    this.since = since
  }

  /** @param {string | number} seq where the next page ends @returns {() => void} call it when the page is finished */
  begin (seq) {
    const page = { seq, done: false }
    this.#openCheckpoint.push(page)
    return () => {
      page.done = true
      while (this.#openCheckpoint[0]?.done) this.since = /** @type {{seq: any}} */ (this.#openCheckpoint.shift()).seq
    }
  }
}
