// A checkpoint is the place where a replication continues. Each side has it as a `_local` document, which is not
// replicated, with a history of sessions as CouchDB's replicator keeps it. The replication continues at the last place
// that both sides know: after one of them was restored to an older state, that is an earlier one. `CheckpointWriter`
// decides when a checkpoint is written.
import { timeoutSignal } from '../promises.js'
import { TilecouchError } from '../errors.js'
import { now } from '../times.js'
import { fingerprint } from '../fingerprint.js'

export const IDENTITY = 'tilecouch' // _local/tilecouch: the id of this database, different from that of every copy
export const PREFIX = 'tilecouch-mirror-' // _local/tilecouch-mirror-…

const LOOK = 500 // milliseconds between two looks at the clock
const SESSIONS = 50 // kept, as CouchDB does
const UNWRITABLE = new Set(['UNAUTHORIZED', 'FORBIDDEN', 'READ_ONLY'])

/** The number that a sequence begins with, which only grows within one database; NaN without one. */
const position = seq => /^\d+(-|$)/.test(String(seq)) ? Number.parseInt(String(seq), 10) : NaN

export const randomId = () => Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join('')

/** Whether an error says that a side is read-only: then only the other side keeps the checkpoint. */
export const isUnwritable = error => UNWRITABLE.has(error.code) || [403, 404, 405].includes(error.details?.status)

/**
 * The id of a database, whatever its address and name. One that was removed and created again has another id.
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
 * The id of the local document at both sides.
 * @param {import('./peer.js').Peer} source @param {import('./peer.js').Peer} target
 * @param {{key: string, writes?: boolean}} options
 */
export async function checkpointId (source, target, { key, writes = true }) {
  const [from, to] = [await identityOf(source, writes), await identityOf(target, writes)]
  return `${PREFIX}${fingerprint(`${from} ${to} ${key}`)}`
}

export class Checkpoint {
  #sides
  #isWritable = true // whether the source may be written to
  #queue = Promise.resolve() // one write after the other: an older one never comes last

  /**
   * @param {import('./peer.js').Peer} source
   * @param {import('./peer.js').Peer} target
   * @param {{key: string, writes?: boolean, about?: Record<string, any>}} options key: of the selection; writes: false
   *   for a dry run; about: stored beside it, for people
   */
  static async open (source, target, { key, writes = true, about = {} }) {
    const checkpoint = new Checkpoint(source, target, await checkpointId(source, target, { key, writes }), about)
    await checkpoint.#read(writes)
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
    this.refused = /** @type {any} */ (undefined) // what the target has refused before
  }

  async #read (writes) {
    const { source, target } = this.#sides
    const targetNote = await target.peer.getLocal(this.id)
    const sourceNote = await source.peer.getLocal(this.id)
    if (writes) this.#isWritable = await this.#probe(sourceNote)
    this.history = historyOf(targetNote)
    this.refused = targetNote?.refused
    this.since = this.#isWritable ? common(targetNote, sourceNote) : await this.#alone(targetNote)
    this.begun = this.since
  }

  /** Whether the source can be written to: otherwise there is nothing to compare. */
  async #probe (here) {
    try {
      await this.#sides.source.peer.updateLocal(this.id, doc => doc ?? here ?? { session_id: '', history: [] })
      return true
    } catch (error) {
      if (isUnwritable(error)) return false
      throw error
    }
  }

  /** The place that the target alone knows, unless the source was restored to an older state before it. */
  async #alone (there) {
    const since = there?.session_id ? there.source_last_seq ?? 0 : 0
    const { update_seq: newest } = await this.#sides.source.peer.info()
    return position(since) > position(newest) ? 0 : since
  }

  /**
   * @param {string | number} seq the target has everything up to here
   * @param {Record<string, any>} counts of this session, as CouchDB names them
   * @param {Record<string, any>} [state] stored beside it, for people
   * @param {AbortSignal} [signal]
   */
  save (seq, counts, state = {}, signal) {
    return this.#inTurn(async () => {
      const { session, started, begun } = this
      const places = { start_last_seq: begun, end_last_seq: seq, recorded_seq: seq }
      const entry = { session_id: session, start_time: started, end_time: now(), ...places, ...counts }
      const fields = stored => {
        // entries of another mirror of the same two stores, which runs at the same time, stay
        const others = (stored ? historyOf(stored) : this.history).filter(({ session_id: other }) => other !== session)
        const history = [entry, ...others].slice(0, SESSIONS)
        const sessionFields = { session_id: session, source_last_seq: seq, replication_id_version: 4, history }
        return { ...sessionFields, ...this.about, ...state }
      }
      const { source, target } = this.#sides
      if (this.#isWritable) await source.write(session, seq, fields, signal)
      await target.write(session, seq, fields, signal)
      this.since = seq
    })
  }

  /** A sign of life, if both sides still have the checkpoint. */
  writeHeartbeat (state) {
    return this.#inTurn(async () => {
      if (this.#isWritable) await this.#sides.source.check(this.session)
      await this.#writeState(state)
    })
  }

  /** A new state, most often an error: the source may be away. */
  writeState (state, signal) {
    return this.#inTurn(() => this.#writeState(state, signal))
  }

  #writeState (state, signal) {
    const { target } = this.#sides
    return target.peer.updateLocal(this.id, doc => {
      target.verify(this.session, doc)
      return { session_id: '', source_last_seq: 0, history: [], ...doc, ...this.about, ...state }
    }, signal)
  }

  #inTurn (task) {
    const done = this.#queue.then(task)
    this.#queue = done.catch(() => {})
    return done
  }
}

/** Writes a checkpoint now and then, when the state changes, and last of all when a session ends. */
export class CheckpointWriter {
  #pages = /** @type {{since: string | number} | undefined} */ (undefined)
  #status = () => /** @type {any} */ ({})
  #writtenAt = 0 // milliseconds
  #saved // place
  #saving
  #timer
  #before
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
    this.#before = { ...tally } // of earlier sessions of this run
    this.#saved = checkpoint.since
  }

  /** @param {{since: string | number}} pages @param {() => any} status @param {(error: any) => void} onError */
  start (pages, status, onError) {
    this.#pages = pages
    this.#status = status
    this.#writtenAt = Date.now()
    if (!this.dryRun) this.#timer = setInterval(() => { this.#look().catch(onError) }, LOOK)
  }

  async #look () {
    const age = Date.now() - this.#writtenAt
    if (this.#saving || age < this.limits.checkpoint) return
    if (this.#pages?.since !== this.#saved || this.refusals.isChanged) await this.save()
    else if (age >= this.limits.heartbeat) await this.#write(() => this.checkpoint.writeHeartbeat(this.#state()))
  }

  /** Writes how far the replication got. @param {AbortSignal} [signal] */
  async save (signal) {
    const seq = this.#pages?.since
    if (this.dryRun || seq === undefined || (seq === this.#saved && !this.refusals.isChanged)) return
    this.refusals.isChanged = false
    await this.#write(() => this.checkpoint.save(seq, this.#counts(), this.#state(), signal)).catch(error => {
      this.refusals.isChanged = true
      throw error
    })
    this.#saved = seq
  }

  /** Of this session, as CouchDB names them. */
  #counts () {
    const done = key => this.tally[key] - this.#before[key]
    return {
      missing_checked: done('checked'),
      missing_found: done('missing'),
      docs_read: done('docs') + done('refused'),
      docs_written: done('docs'),
      doc_write_failures: done('refused')
    }
  }

  #state ({ state, error, reason, upToDate } = this.#status()) {
    return {
      state,
      error,
      reason,
      noted: now(),
      up_to_date: upToDate && `${new Date(upToDate).toISOString().slice(0, 19)}Z`,
      bytes: this.tally.bytes,
      lacking: this.refusals.size,
      refused: this.refusals.list
    }
  }

  async #write (task) {
    this.#writtenAt = Date.now()
    const saving = task().finally(() => { if (this.#saving === saving) this.#saving = undefined })
    this.#saving = saving
    await saving
  }

  /**
   * Writes a new state to the target, if it answers.
   * @param {any} status @param {string} [state] instead of that of the status
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

  /** Saves how far the session got, whatever ended it. */
  async end () {
    this.stop()
    await this.#withTimeout(signal => this.save(signal))
  }

  /** Does not wait long for a side that may be away. */
  async #withTimeout (task) {
    if (this.#isSilent) return
    const timeout = timeoutSignal(this.limits.lastWrite)
    await task(timeout.signal).catch(() => { this.#isSilent = timeout.isOver }).finally(timeout.end)
  }
}

/** One side's copy. A side that lost what was written to it was created again, or restored to an older state. */
class Side {
  #written = new Set() // the last place that was certainly written, and later ones that may have been
  #isSure = false

  constructor (peer, id) {
    this.peer = peer
    this.id = id
  }

  verify (session, stored) {
    if (!this.#isSure) return
    const entry = historyOf(stored).find(({ session_id: own }) => own === session)
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

/** The last place that both sides know. */
function common (there, here) {
  const sequences = new Map(historyOf(here).map(entry => [entry.session_id, entry.recorded_seq]))
  for (const { session_id: session, recorded_seq: seq } of historyOf(there)) {
    if (!sequences.has(session)) continue
    const other = sequences.get(session)
    if (seq === other) return seq
    // one of them was not written any more, or is older than it was
    const [a, b] = [position(seq), position(other)]
    if (!Number.isNaN(a) && !Number.isNaN(b)) return a < b ? seq : other
  }
  return 0
}
