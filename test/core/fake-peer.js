// One side of a replication in memory, for the tests of core/mirror. Its answers come in any order, and fail as a test
// wants.
import { TilecouchError } from '../../core/index.js'

const generation = rev => Number.parseInt(rev, 10)

/** @implements {import('../../core/mirror/peer.js').Peer} */
export class FakePeer {
  name = 'fake'
  /** Leaves by id. @type {Map<string, Map<string, any>>} */
  docs = new Map()
  local = new Map()
  /** Ids in the order of their last change. @type {Map<string, number>} */
  order = new Map()
  seq = 0
  /**
   * Called before a call is answered: it may throw, wait, or return another answer.
   * @type {(call: string, ...args: any[]) => any}
   */
  hook = () => {}
  calls = {}
  #wake = () => {}

  constructor (fields = {}) {
    Object.assign(this, fields)
  }

  async #enter (call, ...args) {
    this.calls[call] = (this.calls[call] ?? 0) + 1
    return await this.hook(call, ...args)
  }

  /** Adds a revision, as a write with new_edits: false does. */
  put (doc) {
    const leaves = this.docs.get(doc._id) ?? new Map()
    const { start, ids } = doc._revisions ?? { start: generation(doc._rev), ids: [doc._rev.split('-')[1]] }
    for (const [index, hash] of ids.entries()) if (index) leaves.delete(`${start - index}-${hash}`)
    leaves.set(doc._rev, { ...doc, _revisions: { start, ids } })
    this.docs.set(doc._id, leaves)
    this.order.delete(doc._id)
    this.order.set(doc._id, ++this.seq)
    this.#wake()
  }

  async info () {
    return await this.#enter('info') ?? { update_seq: this.seq, instance_start_time: '0' }
  }

  async changes (options) {
    const { since, limit, wait, signal } = options
    const hookAnswer = await this.#enter('changes', options)
    if (hookAnswer) return hookAnswer
    const newerEntries = () => [...this.order].filter(([, seq]) => seq > since)
    if (wait && !newerEntries().length) await this.#change(wait, signal)
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    const entries = newerEntries()
    const rows = entries.slice(0, limit)
      .map(([id, seq]) => ({ id, seq, revs: [...this.docs.get(id).keys()], deleted: false }))
    return { rows, last: rows.at(-1)?.seq ?? since, pending: entries.length - rows.length }
  }

  #change (wait, signal) {
    return new Promise(resolve => {
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        resolve(undefined)
      }
      const timer = setTimeout(done, wait)
      signal?.addEventListener('abort', done)
      this.#wake = done
    })
  }

  async fetch (revisions, options) {
    const hookAnswer = await this.#enter('fetch', revisions, options)
    if (hookAnswer) return hookAnswer
    const docs = revisions.map(({ id, rev }) => this.docs.get(id)?.get(rev)).filter(Boolean)
    const failed = revisions.filter(({ id, rev }) => !this.docs.get(id)?.has(rev))
      .map(({ id, rev }) => ({ id, rev, error: 'not_found', reason: 'missing' }))
    return { docs: structuredClone(docs), bytes: docs.length * 100, failed }
  }

  async revsDiff (revs) {
    await this.#enter('revsDiff', revs)
    const has = (id, rev) => [...this.docs.get(id)?.values() ?? []].some(
      ({ _revisions: { start, ids } }) => ids.some((hash, index) => `${start - index}-${hash}` === rev)
    )
    return Object.fromEntries(Object.entries(revs).map(
      ([id, askedRevs]) => [id, { missing: askedRevs.filter(rev => !has(id, rev)) }]
    ).filter(([, { missing }]) => missing.length))
  }

  async write (docs, signal) {
    const refused = await this.#enter('write', docs, signal) ?? []
    const refusedRevisions = new Set(refused.map(({ id, rev }) => `${id} ${rev}`))
    for (const doc of docs) if (!refusedRevisions.has(`${doc._id} ${doc._rev}`)) this.put(doc)
    return refused
  }

  async getLocal (id) {
    await this.#enter('getLocal', id)
    return structuredClone(this.local.get(id))
  }

  async updateLocal (id, change, signal) {
    await this.#enter('updateLocal', id, signal)
    const doc = change(structuredClone(this.local.get(id)))
    if (doc) this.local.set(id, JSON.parse(JSON.stringify(doc)))
    return doc ?? this.local.get(id)
  }

  /** A copy of the state, which a test can assign to a peer later. */
  copy () {
    const { docs, local, order, seq } = this
    return structuredClone({ docs, local, order, seq })
  }

  /** The checkpoint of the only mirror. */
  get checkpoint () {
    return [...this.local].find(([id]) => id.startsWith('tilecouch-mirror-'))?.[1]
  }

  ids () {
    return [...this.docs].flatMap(([id, leaves]) => [...leaves.keys()].map(rev => `${id} ${rev}`)).sort()
  }
}

/** A source with documents. @param {number} count */
export function filled (count, from = 0) {
  const peer = new FakePeer({ name: 'source' })
  for (let index = from; index < from + count; index++) peer.put({ _id: `doc${index}`, _rev: '1-a' })
  return peer
}
