// Holds the small documents of the store for the control room: layers, editions, work, activity. Reads them once, then
// follows the change feed.
import { Emitter } from '../../client/engine/emitter.js'
import { STORE_ID } from '../../core/ids.js'
import { pause } from '../../core/promises.js'
import { soon } from '../dom.js'

const KINDS = ['layer', 'edition', 'work', 'activity', 'token', 'style']
const PAUSE = 5000 // milliseconds before the feed is asked again after a failure

/** @typedef {'layer' | 'edition' | 'work' | 'activity' | 'token' | 'style' | 'store'} Kind */

/**
 * Fires the name of each kind of which a document has changed.
 * @extends {Emitter<Record<Kind, {}>>}
 */
export class Documents extends Emitter {
  /** By kind, then by id. @type {Record<string, Map<string, any>>} */
  #byKind = Object.fromEntries([...KINDS, 'store'].map(kind => [kind, new Map()]))
  #changed = new Set()
  /** By kind. @type {Record<string, number>} */
  #versions = {}
  #stop = new AbortController()
  #couch
  #announceSoon = soon(() => this.#announce())
  /** Kinds that have been read whole. @type {Set<string>} */
  known = new Set()
  /** Whether the feed is followed at the moment. */
  isLive = false

  /** @param {import('./couch.js').Couch} couch */
  constructor (couch) {
    super()
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

  /** @param {string} id @returns {any} undefined if there is none */
  get (id) {
    return this.#byKind[kindOf(id)]?.get(id)
  }

  /** Takes a document that the page has written, before the feed returns it. */
  put (doc) {
    this.#take(doc._id, doc)
  }

  /** Removes a document from the store. @param {{_id: string, _rev: string}} doc */
  async remove ({ _id, _rev }) {
    await this.#couch.write({ _id, _rev, _deleted: true })
    this.drop(_id)
  }

  /** Drops a document that the page has removed. @param {string} id */
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
        await pause(PAUSE, signal)
      }
    }
  }

  stop () {
    this.#stop.abort()
  }

  async #readAll (signal) {
    const { update_seq: since } = await this.#couch.ask('', { signal })
    const store = await this.#couch.read(STORE_ID)
    if (store) this.#take(STORE_ID, store)
    this.known.add('store')
    // one after the other, in the order in which the page shows them
    for (const kind of KINDS) {
      const docs = new Map()
      const descending = kind === 'work' || kind === 'activity' // the newest first
      for await (const page of this.#couch.pages(`${kind}:`, { signal, descending })) {
        for (const doc of page) docs.set(doc._id, doc)
        if (!this.known.has(kind)) for (const doc of page) this.#take(doc._id, doc)
      }
      this.#byKind[kind] = docs
      this.known.add(kind)
      this.#markChanged(kind)
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
    else if (revision(doc) < revision(docs.get(id))) return // the page has written a newer revision
    else docs.set(id, doc)
    this.#markChanged(kind)
  }

  #markChanged (kind) {
    this.#versions[kind] = this.version(kind) + 1
    this.#changed.add(kind)
    this.#announceSoon()
  }

  #announce () {
    const kinds = this.#changed
    this.#changed = new Set()
    for (const kind of kinds) this.fire(kind)
  }
}

const kindOf = id => id === STORE_ID ? 'store' : id.slice(0, id.indexOf(':'))
const revision = doc => parseInt(doc?._rev ?? '0', 10)
