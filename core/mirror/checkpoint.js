// Where a replication goes on: a document on either side, which is not replicated itself, with the history of the sessions
// as CouchDB's replicator keeps it. What both sides remember is true; after a restore of one of them that is less.
import { TilecouchError } from '../errors.js'
import { now } from '../times.js'
import { fingerprint } from '../fingerprint.js'

export const IDENTITY = 'tilecouch' // _local/tilecouch: what tells this database from every other, its copies included
export const PREFIX = 'tilecouch-mirror-' // _local/tilecouch-mirror-…

const SESSIONS = 50 // kept, as CouchDB does
const UNWRITABLE = new Set(['UNAUTHORIZED', 'FORBIDDEN', 'READ_ONLY'])

/** The number a sequence begins with, which only grows within one database; NaN when it begins with none. */
const position = seq => /^\d+(-|$)/.test(String(seq)) ? Number.parseInt(String(seq), 10) : NaN

export const randomId = () => Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join('')

/** Whether one may read there and not write: then only the other side remembers. */
export const isUnwritable = error => UNWRITABLE.has(error.code) || [403, 404, 405].includes(error.details?.status)

/**
 * What a database is, wherever it is and whatever it is called. One that is made anew is another one.
 * @param {import('./peer.js').Peer} peer
 * @param {boolean} [keep] whether to write it down where it is not
 * @returns {Promise<string>}
 */
export async function identityOf (peer, keep = true) {
  const known = await peer.getLocal(IDENTITY)
  if (known?.uuid) return known.uuid
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

export class Checkpoint {
  #id
  #sides
  #remembers = true // whether the source may be written to
  #queue = Promise.resolve() // one note after the other: an older one never comes last

  /**
   * @param {import('./peer.js').Peer} source
   * @param {import('./peer.js').Peer} target
   * @param {{key: string, writes?: boolean, about?: Record<string, any>}} options key: of the selection; writes: false for a dry run; about: kept beside it, for people
   */
  static async open (source, target, { key, writes = true, about = {} }) {
    const [from, to] = [await identityOf(source, writes), await identityOf(target, writes)]
    const checkpoint = new Checkpoint(source, target, `${PREFIX}${fingerprint(`${from} ${to} ${key}`)}`, about)
    await checkpoint.#read(writes)
    return checkpoint
  }

  constructor (source, target, id, about) {
    this.#sides = { source: new Side(source, id), target: new Side(target, id) }
    this.#id = id
    this.about = about
    this.session = randomId()
    this.started = now()
    /** @type {string | number} */
    this.since = 0
    this.history = /** @type {any[]} */ ([])
    /** What the target did not take before. @type {any} */
    this.refused = undefined
  }

  get id () {
    return this.#id
  }

  async #read (writes) {
    const { source, target } = this.#sides
    const there = await target.peer.getLocal(this.#id)
    const here = await source.peer.getLocal(this.#id)
    if (writes) this.#remembers = await this.#probe(here)
    this.history = historyOf(there)
    this.refused = there?.refused
    this.since = this.#remembers ? common(there, here) : await this.#alone(there)
    this.begun = this.since
  }

  /** Whether the source lets itself be written to: what it does not remember cannot be compared. */
  async #probe (here) {
    try {
      await this.#sides.source.peer.updateLocal(this.#id, doc => doc ?? here ?? { session_id: '', history: [] })
      return true
    } catch (error) {
      if (isUnwritable(error)) return false
      throw error
    }
  }

  /** The target's word alone, unless the source cannot have got that far: it was put back to an older state. */
  async #alone (there) {
    const since = there?.session_id ? there.source_last_seq ?? 0 : 0
    const { update_seq: newest } = await this.#sides.source.peer.info()
    return position(since) > position(newest) ? 0 : since
  }

  /**
   * @param {string | number} seq everything up to here is at the target
   * @param {Record<string, any>} counts of this session, in CouchDB's words
   * @param {Record<string, any>} [state] beside it, for people
   * @param {AbortSignal} [signal]
   */
  save (seq, counts, state = {}, signal) {
    return this.#inTurn(async () => {
      const entry = { session_id: this.session, start_time: this.started, end_time: now(), start_last_seq: this.begun, end_last_seq: seq, recorded_seq: seq, ...counts }
      const fields = stored => {
        // of another mirror of the same two, which runs at the same time, the entries stay
        const others = (stored ? historyOf(stored) : this.history).filter(({ session_id: session }) => session !== this.session)
        return { session_id: this.session, source_last_seq: seq, replication_id_version: 4, history: [entry, ...others].slice(0, SESSIONS), ...this.about, ...state }
      }
      const { source, target } = this.#sides
      if (this.#remembers) await source.write(this.session, seq, fields, signal)
      await target.write(this.session, seq, fields, signal)
      this.since = seq
    })
  }

  /** That it still runs, if both sides still know of it. */
  note (state, signal) {
    return this.#inTurn(async () => {
      if (this.#remembers) await this.#sides.source.check(this.session, signal)
      await this.#note(state, signal)
    })
  }

  /** An error, most often: the source may be away. */
  tell (state, signal) {
    return this.#inTurn(() => this.#note(state, signal))
  }

  #note (state, signal) {
    const { target } = this.#sides
    return target.peer.updateLocal(this.#id, doc => {
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

/** What one of the two was told, and has to remember: one that does not was made anew or put back to an older state. */
class Side {
  #told = /** @type {Set<string | number>} */ (new Set()) // the last that was surely written, and what may have been since
  #isSure = false

  constructor (peer, id) {
    this.peer = peer
    this.id = id
  }

  verify (session, stored) {
    if (!this.#isSure) return
    const entry = historyOf(stored).find(({ session_id: own }) => own === session)
    if (!this.#told.has(entry?.recorded_seq)) throw new TilecouchError('PLACE_LOST', { url: this.peer.name })
  }

  async check (session, signal) {
    if (this.#isSure) this.verify(session, await this.peer.getLocal(this.id, signal))
  }

  async write (session, seq, fields, signal) {
    await this.peer.updateLocal(this.id, stored => {
      this.verify(session, stored)
      this.#told.add(seq)
      return fields(stored)
    }, signal)
    this.#told = new Set([seq])
    this.#isSure = true
  }
}

const historyOf = doc => Array.isArray(doc?.history) ? doc.history : []

/** The furthest place that both sides know of. */
function common (there, here) {
  const known = new Map(historyOf(here).map(entry => [entry.session_id, entry.recorded_seq]))
  for (const { session_id: session, recorded_seq: seq } of historyOf(there)) {
    if (!known.has(session)) continue
    const other = known.get(session)
    if (seq === other) return seq
    // one of the two was not written any more, or is older than it was
    if (!Number.isNaN(position(seq)) && !Number.isNaN(position(other))) return position(seq) < position(other) ? seq : other
  }
  return 0
}
