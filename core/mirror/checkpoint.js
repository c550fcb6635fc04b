// A checkpoint is the place where a replication continues. Each side has it as a `_local` document, which is not
// replicated, with a history of sessions like that of CouchDB's replicator. The replication continues at the last place
// that both sides have. After one side was restored to an older state, that is an earlier place. `CheckpointWriter`
// decides when a checkpoint is written.
import { Semaphore, timeoutSignal } from '../promises.js'
import { TilecouchError } from '../errors.js'
import { fromMilliseconds, now } from '../times.js'
import { fingerprint } from '../fingerprint.js'
import { sequenceNumber } from '../feed-position.js'

export const IDENTITY = 'tilecouch' // _local/tilecouch: the id of this database; every copy has another id
export const PREFIX = 'tilecouch-mirror-' // _local/tilecouch-mirror-…

const LOOK = 500 // milliseconds between two checks whether a checkpoint is due
const SESSIONS = 50 // sessions in the history, as in CouchDB
const UNWRITABLE = new Set(['UNAUTHORIZED', 'FORBIDDEN', 'READ_ONLY'])

export const randomId = () => Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join('')

/** Whether an error says that a side is read-only: then only the other side keeps the checkpoint. */
export const isUnwritable = error => UNWRITABLE.has(error.code) || [403, 404, 405].includes(error.details?.status)

/**
 * The id of a database, independent of its address and name. A database that was created again has another id.
 * @param {import('./peer.js').Peer} peer @param {boolean} [keep] whether to store a new id if it has none
 * @returns {Promise<string>}
 */
export async function identityOf (peer, keep = true) {
  const identity = await peer.getLocal(IDENTITY)
  if (identity?.uuid) return identity.uuid
  if (keep) {
    try {
      return (await peer.updateLocal(IDENTITY, doc => doc?.uuid ? undefined : { uuid: randomId() })).uuid
    } catch (error) {
      if (!isUnwritable(error)) throw error
    }
  }
  const { instance_start_time: started = '' } = await peer.info()
  return `${peer.name} of ${started}`
}

/**
 * The id of the local document on both sides.
 * @param {import('./peer.js').Peer} source @param {import('./peer.js').Peer} target
 * @param {{key: string, writes?: boolean}} options
 */
export async function checkpointId (source, target, { key, writes = true }) {
  const [sourceIdentity, targetIdentity] = [await identityOf(source, writes), await identityOf(target, writes)]
  return `${PREFIX}${fingerprint(`${sourceIdentity} ${targetIdentity} ${key}`)}`
}

export class Checkpoint {
  #sides
  #isWritable = true // whether the source may be written to
  #writes = new Semaphore(1) // one after the other, so that an older one is never last

  /**
   * @param {import('./peer.js').Peer} source
   * @param {import('./peer.js').Peer} target
   * @param {{key: string, writes?: boolean, about?: Record<string, any>}} options key: of the selection; writes: false
   *   for a dry run; about: stored with it, for people to read
   */
  static async open (source, target, { key, writes = true, about = {} }) {
    const checkpoint = new Checkpoint(source, target, await checkpointId(source, target, { key, writes }), about)
    await checkpoint.#readCheckpoints(writes)
    return checkpoint
  }

  constructor (source, target, id, about) {
    this.#sides = { source: new Side(source, id), target: new Side(target, id) }
    this.id = id
    this.about = about
    this.session = randomId()
    this.started = now()
    /** @type {string | number} */
    this.since = 0
    this.history = /** @type {any[]} */ ([])
    this.refused = /** @type {any} */ (undefined) // revisions that the target refused before
  }

  async #readCheckpoints (writes) {
    const { source, target } = this.#sides
    const targetNote = await target.peer.getLocal(this.id)
    const sourceNote = await source.peer.getLocal(this.id)
    if (writes) this.#isWritable = await this.#probe(sourceNote)
    this.history = historyOf(targetNote)
    this.refused = targetNote?.refused
    this.since = this.#isWritable ? commonPlace(targetNote, sourceNote) : await this.#targetPlace(targetNote)
    this.begun = this.since
  }

  /** Whether the source can be written to. Otherwise there are no two checkpoints to compare. */
  async #probe (sourceNote) {
    try {
      await this.#sides.source.peer.updateLocal(this.id, doc => doc ?? sourceNote ?? { session_id: '', history: [] })
      return true
    } catch (error) {
      if (isUnwritable(error)) return false
      throw error
    }
  }

  /** The place of the target alone, or 0 if the source was restored to an older state before it. */
  async #targetPlace (targetNote) {
    const since = targetNote?.session_id ? targetNote.source_last_seq ?? 0 : 0
    const { update_seq: newest } = await this.#sides.source.peer.info()
    return sequenceNumber(since) > sequenceNumber(newest) ? 0 : since
  }

  /**
   * @param {string | number} seq the target has everything up to here
   * @param {Record<string, any>} counts of this session, as CouchDB names them
   * @param {Record<string, any>} [state] stored with it, for people to read
   * @param {AbortSignal} [signal]
   */
  save (seq, counts, state = {}, signal) {
    return this.#writes.run(async () => {
      const { session, started, begun } = this
      const places = { start_last_seq: begun, end_last_seq: seq, recorded_seq: seq }
      const entry = { session_id: session, start_time: started, end_time: now(), ...places, ...counts }
      const fields = stored => {
        // keeps the entries of another mirror of the same two stores, which may run at the same time
        const entries = (stored ? historyOf(stored) : this.history).filter(({ session_id: other }) => other !== session)
        const history = [entry, ...entries].slice(0, SESSIONS)
        const sessionFields = { session_id: session, source_last_seq: seq, replication_id_version: 4, history }
        return { ...sessionFields, ...this.about, ...state }
      }
      const { source, target } = this.#sides
      if (this.#isWritable) await source.write(session, seq, fields, signal)
      await target.write(session, seq, fields, signal)
      this.since = seq
    })
  }

  /** Writes the state, if both sides still have the checkpoint. */
  writeHeartbeat (state) {
    return this.#writes.run(async () => {
      if (this.#isWritable) await this.#sides.source.check(this.session)
      await this.#writeState(state)
    })
  }

  /** Writes a new state to the target only: most often it is an error, and the source may be unreachable. */
  writeState (state, signal) {
    return this.#writes.run(() => this.#writeState(state, signal))
  }

  #writeState (state, signal) {
    const { target } = this.#sides
    return target.peer.updateLocal(this.id, doc => {
      target.verify(this.session, doc)
      return { session_id: '', source_last_seq: 0, history: [], ...doc, ...this.about, ...state }
    }, signal)
  }
}

/** Writes a checkpoint at intervals, when the state changes, and at the end of a session. */
export class CheckpointWriter {
  #pages = /** @type {{since: string | number} | undefined} */ (undefined)
  #status = () => /** @type {any} */ ({})
  #writtenAt = 0 // milliseconds
  #savedPlace // the last place that was written
  #saving
  #timer
  #tallyBefore
  #lastState = ''
  #isSilent = false // a side did not answer a write in time

  /**
   * @param {Checkpoint} checkpoint
   * @param {{limits: typeof import('./replication.js').replicationDefaults, tally: import('./copier.js').CopyTally,
   *   refusals: import('./refusals.js').Refusals, dryRun: boolean}} options dryRun: nothing is written
   */
  constructor (checkpoint, { limits, tally, refusals, dryRun }) {
    this.checkpoint = checkpoint
    this.limits = limits
    this.tally = tally
    this.refusals = refusals
    this.dryRun = dryRun
    this.#tallyBefore = { ...tally } // the counts of earlier sessions of this run
    this.#savedPlace = checkpoint.since
  }

  /** @param {{since: string | number}} pages @param {() => any} status @param {(error: any) => void} onError */
  start (pages, status, onError) {
    this.#pages = pages
    this.#status = status
    this.#writtenAt = Date.now()
    if (!this.dryRun) this.#timer = setInterval(() => { this.#saveIfDue().catch(onError) }, LOOK)
  }

  async #saveIfDue () {
    const age = Date.now() - this.#writtenAt
    if (this.#saving || age < this.limits.checkpoint) return
    if (this.#pages?.since !== this.#savedPlace || this.refusals.isChanged) await this.save()
    else if (age >= this.limits.heartbeat) await this.#writeTimed(() => this.checkpoint.writeHeartbeat(this.#state()))
  }

  /** Writes the place that the replication has reached. @param {AbortSignal} [signal] */
  async save (signal) {
    const seq = this.#pages?.since
    if (this.dryRun || seq === undefined || (seq === this.#savedPlace && !this.refusals.isChanged)) return
    this.refusals.isChanged = false
    await this.#writeTimed(() => this.checkpoint.save(seq, this.#counts(), this.#state(), signal)).catch(error => {
      this.refusals.isChanged = true
      throw error
    })
    this.#savedPlace = seq
  }

  /** The counts of this session, with the names of CouchDB. */
  #counts () {
    const countOf = key => this.tally[key] - this.#tallyBefore[key]
    return {
      missing_checked: countOf('checked'),
      missing_found: countOf('missing'),
      docs_read: countOf('docs') + countOf('refused'),
      docs_written: countOf('docs'),
      doc_write_failures: countOf('refused')
    }
  }

  #state ({ state, error, reason, upToDate } = this.#status()) {
    return {
      state,
      error,
      reason,
      noted: now(),
      up_to_date: upToDate && fromMilliseconds(upToDate),
      bytes: this.tally.bytes,
      lacking: this.refusals.size,
      refused: this.refusals.list
    }
  }

  async #writeTimed (task) {
    this.#writtenAt = Date.now()
    const saving = task().finally(() => { if (this.#saving === saving) this.#saving = undefined })
    this.#saving = saving
    await saving
  }

  /**
   * Writes a new state to the target, if it answers.
   * @param {any} status @param {string} [state] replaces the state of the status
   */
  async writeState (status, state = status.state) {
    const text = `${state} ${status.error}`
    if (this.dryRun || this.#lastState === text) return
    this.#lastState = text
    await this.#withTimeout(signal => this.checkpoint.writeState(this.#state({ ...status, state }), signal))
  }

  /** Stops the timer. The end may come much later: a closed PouchDB never answers open requests. */
  stop () {
    clearInterval(this.#timer)
  }

  /** Writes the place that the session has reached, also after an error. */
  async end () {
    this.stop()
    await this.#withTimeout(signal => this.save(signal))
  }

  /** Runs a write with a time limit, because a side may be unreachable. */
  async #withTimeout (task) {
    if (this.#isSilent) return
    const timeout = timeoutSignal(this.limits.lastWrite)
    await task(timeout.signal).catch(() => { this.#isSilent = timeout.isOver }).finally(timeout.end)
  }
}

/** The checkpoint on one side. A side without the last written place was created again or restored from a backup. */
class Side {
  #written = new Set() // the last place that was certainly written, and later places whose writes may have failed
  #isSure = false

  constructor (peer, id) {
    this.peer = peer
    this.id = id
  }

  verify (session, stored) {
    if (!this.#isSure) return
    const entry = historyOf(stored).find(({ session_id: entrySession }) => entrySession === session)
    if (!this.#written.has(entry?.recorded_seq)) throw new TilecouchError('PLACE_LOST', { url: this.peer.name })
  }

  async check (session) {
    if (this.#isSure) this.verify(session, await this.peer.getLocal(this.id))
  }

  async write (session, seq, fields, signal) {
    await this.peer.updateLocal(this.id, stored => {
      this.verify(session, stored)
      this.#written.add(seq)
      return fields(stored)
    }, signal)
    this.#written = new Set([seq])
    this.#isSure = true
  }
}

const historyOf = doc => Array.isArray(doc?.history) ? doc.history : []

/** The last place that both sides have. */
function commonPlace (targetNote, sourceNote) {
  const sequences = new Map(historyOf(sourceNote).map(entry => [entry.session_id, entry.recorded_seq]))
  for (const { session_id: session, recorded_seq: seq } of historyOf(targetNote)) {
    if (!sequences.has(session)) continue
    const sourceSeq = sequences.get(session)
    if (seq === sourceSeq) return seq
    // one side was not written any more, or was restored to an older state
    const [a, b] = [sequenceNumber(seq), sequenceNumber(sourceSeq)]
    if (!Number.isNaN(a) && !Number.isNaN(b)) return a < b ? seq : sourceSeq
  }
  return 0
}
