// The small documents of the store as they are now: layers, editions, work, activity. Read once, then kept up to date
// by the change feed.
import { STORE_ID } from '../../core/ids.js'
import { soon } from '../dom.js'

const KINDS = ['layer', 'edition', 'work', 'activity', 'token', 'style']
const PAUSE = 5000 // milliseconds before the feed is asked again after a failure

/** @typedef {'layer' | 'edition' | 'work' | 'activity' | 'token' | 'style' | 'store'} Kind */

export class Documents {
  /** By kind, then by id. @type {Record<string, Map<string, any>>} */
  #byKind = Object.fromEntries([...KINDS, 'store'].map(kind => [kind, new Map()]))
  /** @type {Set<(kinds: Set<string>) => void>} */
  #listeners = new Set()
  #changed = new Set()
  /** By kind. @type {Record<string, number>} */
  #versions = {}
  #stop = new AbortController()
  #couch
  #tell = soon(() => this.#announce())
  /** Kinds that have been read whole. @type {Set<string>} */
  known = new Set()
  /** Whether the feed is followed at the moment. */
  isLive = false

  /** @param {import('./couch.js').Couch} couch */
  constructor (couch) {
    this.#couch = couch
  }

  /** @param {Kind} kind @returns {any[]} in the order of their ids as they were read */
  all (kind) {
    return [...this.#byKind[kind].values()]
  }

  /** A number that changes when a document of a kind does. @param {Kind} kind */
  version (kind) {
    return this.#versions[kind] ?? 0
  }

  /** @param {string} id @returns {any} undefined where there is none */
  get (id) {
    return this.#byKind[kindOf(id)]?.get(id)
  }

  /** @param {(kinds: Set<string>) => void} listener gets the kinds of what changed @returns {() => void} ends it */
  onChange (listener) {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** What the page itself has just written: shown before the feed tells it. */
  put (doc) {
    this.#take(doc._id, doc)
  }

  /** Removes a document from the store. @param {{_id: string, _rev: string}} doc */
  async remove ({ _id, _rev }) {
    await this.#couch.write({ _id, _rev, _deleted: true })
    this.drop(_id)
  }

  /** What the page itself has just removed. @param {string} id */
  drop (id) {
    this.#take(id, null)
  }

  /** Reads everything, then follows the changes until `stop`. @param {(error: Error | null) => void} onState */
  async follow (onState) {
    const { signal } = this.#stop
    let since
    while (!signal.aborted) {
      try {
        since ??= await this.#readAll(signal)
        this.isLive = true
        onState(null)
        since = await this.#next(since, signal)
      } catch (error) {
        if (signal.aborted) return
        this.isLive = false
        onState(error)
        await new Promise(resolve => { setTimeout(resolve, PAUSE) })
      }
    }
  }

  stop () {
    this.#stop.abort()
    this.#listeners.clear()
  }

  async #readAll (signal) {
    const { update_seq: since } = await this.#couch.ask('', { signal })
    const store = await this.#couch.read(STORE_ID)
    if (store) this.#take(STORE_ID, store)
    this.known.add('store')
    // one after the other: the first ones are those that the page shows first
    for (const kind of KINDS) {
      const found = new Map()
      const descending = kind === 'work' || kind === 'activity' // the newest first
      for await (const page of this.#couch.pages(`${kind}:`, { signal, descending })) {
        for (const doc of page) found.set(doc._id, doc)
        if (!this.known.has(kind)) for (const doc of page) this.#take(doc._id, doc)
      }
      this.#byKind[kind] = found
      this.known.add(kind)
      this.#note(kind)
    }
    return since
  }

  async #next (since, signal) {
    const { results, last_seq: last } = await this.#couch.changes(
      [...KINDS.map(kind => `${kind}:`), STORE_ID], since, signal
    )
    for (const { id, doc, deleted } of results) this.#take(id, deleted ? null : doc)
    return last
  }

  #take (id, doc) {
    const kind = kindOf(id)
    const docs = this.#byKind[kind]
    if (!docs) return
    if (!doc) docs.delete(id)
    else if (revision(doc) < revision(docs.get(id))) return // what the page wrote is newer than what the feed says
    else docs.set(id, doc)
    this.#note(kind)
  }

  #note (kind) {
    this.#versions[kind] = this.version(kind) + 1
    this.#changed.add(kind)
    this.#tell()
  }

  #announce () {
    const kinds = this.#changed
    this.#changed = new Set()
    for (const listener of this.#listeners) listener(kinds)
  }
}

const kindOf = id => id === STORE_ID ? 'store' : id.slice(0, id.indexOf(':'))
const revision = doc => parseInt(doc?._rev ?? '0', 10)
