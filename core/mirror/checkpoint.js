// Where a replication goes on: a document on either side, which is not replicated itself, with the history of the sessions
// as CouchDB's replicator keeps it. What both sides remember is true; after a restore of one of them that is less.
import { now } from '../times.js'
import { fingerprint } from '../fingerprint.js'

export const IDENTITY = 'tilecouch' // _local/tilecouch: what tells this database from every other, its copies included
export const PREFIX = 'tilecouch-mirror-' // _local/tilecouch-mirror-…

const SESSIONS = 50 // kept, as CouchDB does
const UNWRITABLE = new Set(['UNAUTHORIZED', 'FORBIDDEN', 'READ_ONLY'])

/** The number a sequence begins with: it only grows within one database. */
const position = seq => Number.parseInt(String(seq), 10) || 0

export const randomId = () => Array.from({ length: 32 }, () => Math.floor(Math.random() * 16).toString(16)).join('')

/** Whether one may read there and not write: then only the other side remembers. */
const isUnwritable = error => UNWRITABLE.has(error.code) || [403, 404, 405].includes(error.details?.status)

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
  #source
  #target
  #remembers = true // whether the source may be written to

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
    this.#source = source
    this.#target = target
    this.#id = id
    this.about = about
    this.session = randomId()
    this.started = now()
    /** @type {string | number} */
    this.since = 0
    this.history = /** @type {any[]} */ ([])
  }

  get id () {
    return this.#id
  }

  async #read (writes) {
    const there = await this.#target.getLocal(this.#id)
    const here = await this.#source.getLocal(this.#id)
    if (writes) this.#remembers = await this.#probe(here)
    const { since, history } = common(there, here, this.#remembers)
    this.since = since
    this.begun = since
    this.history = history
  }

  /** Whether the source lets itself be written to: what it does not remember cannot be compared. */
  async #probe (here) {
    try {
      await this.#source.updateLocal(this.#id, doc => doc ?? here ?? { session_id: '', history: [] })
      return true
    } catch (error) {
      if (isUnwritable(error)) return false
      throw error
    }
  }

  /**
   * @param {string | number} seq everything up to here is at the target
   * @param {Record<string, any>} counts of this session, in CouchDB's words
   * @param {Record<string, any>} [state] beside it, for people
   */
  async save (seq, counts, state = {}) {
    const entry = { session_id: this.session, start_time: this.started, end_time: now(), start_last_seq: this.begun, end_last_seq: seq, recorded_seq: seq, ...counts }
    const fields = { session_id: this.session, source_last_seq: seq, replication_id_version: 4, history: [entry, ...this.history].slice(0, SESSIONS), ...this.about, ...state }
    const write = peer => peer.updateLocal(this.#id, () => fields)
    if (this.#remembers) await write(this.#source)
    await write(this.#target)
    this.since = seq
  }

  /** What is to be told of it without having got any further: an error, most often. */
  async note (state) {
    await this.#target.updateLocal(this.#id, doc => ({ session_id: '', source_last_seq: 0, history: [], ...this.about, ...doc, ...state }))
  }
}

/** The place that both sides know. */
function common (there, here, remembers) {
  const nowhere = { since: 0, history: [] }
  if (!there?.session_id) return nowhere
  const history = there.history ?? []
  if (!remembers) return { since: there.source_last_seq ?? 0, history }
  if (!here?.session_id) return nowhere
  if (there.session_id === here.session_id) {
    return { since: position(there.source_last_seq) <= position(here.source_last_seq) ? there.source_last_seq : here.source_last_seq, history }
  }
  const known = new Map((here.history ?? []).map(entry => [entry.session_id, entry.recorded_seq]))
  const entry = history.find(({ session_id: session }) => known.has(session))
  if (!entry) return nowhere
  const other = known.get(entry.session_id)
  return { since: position(entry.recorded_seq) <= position(other) ? entry.recorded_seq : other, history }
}
