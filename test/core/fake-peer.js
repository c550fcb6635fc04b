// A side of a replication in memory, whose answers come in any order and go wrong as a test says.
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
   * Told of each call before it is answered: throws, waits, or answers what is answered instead.
   * @type {(call: string, ...given: any[]) => any}
   */
  hook = () => {}
  calls = {}
  #woken = () => {}

  constructor (fields = {}) {
    Object.assign(this, fields)
  }

  async #enter (call, ...given) {
    this.calls[call] = (this.calls[call] ?? 0) + 1
    return await this.hook(call, ...given)
  }

  /** One more revision, as new_edits: false brings it. */
  put (doc) {
    const leaves = this.docs.get(doc._id) ?? new Map()
    const { start, ids } = doc._revisions ?? { start: generation(doc._rev), ids: [doc._rev.split('-')[1]] }
    for (const [at, hash] of ids.entries()) if (at) leaves.delete(`${start - at}-${hash}`)
    leaves.set(doc._rev, { ...doc, _revisions: { start, ids } })
    this.docs.set(doc._id, leaves)
    this.order.delete(doc._id)
    this.order.set(doc._id, ++this.seq)
    this.#woken()
  }

  async info () {
    return await this.#enter('info') ?? { update_seq: this.seq, instance_start_time: '0' }
  }

  async changes (options) {
    const { since, limit, wait, signal } = options
    const other = await this.#enter('changes', options)
    if (other) return other
    const newer = () => [...this.order].filter(([, seq]) => seq > since)
    if (wait && !newer().length) await this.#change(wait, signal)
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    const all = newer()
    const rows = all.slice(0, limit)
      .map(([id, seq]) => ({ id, seq, revs: [...this.docs.get(id).keys()], deleted: false }))
    return { rows, last: rows.at(-1)?.seq ?? since, pending: all.length - rows.length }
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
      this.#woken = done
    })
  }

  async fetch (asked, options) {
    const other = await this.#enter('fetch', asked, options)
    if (other) return other
    const docs = asked.map(({ id, rev }) => this.docs.get(id)?.get(rev)).filter(Boolean)
    const failed = asked.filter(({ id, rev }) => !this.docs.get(id)?.has(rev))
      .map(({ id, rev }) => ({ id, rev, error: 'not_found', reason: 'missing' }))
    return { docs: structuredClone(docs), bytes: docs.length * 100, failed }
  }

  async revsDiff (revs) {
    await this.#enter('revsDiff', revs)
    const has = (id, rev) => [...this.docs.get(id)?.values() ?? []].some(
      ({ _revisions: { start, ids } }) => ids.some((hash, at) => `${start - at}-${hash}` === rev)
    )
    return Object.fromEntries(Object.entries(revs).map(
      ([id, asked]) => [id, { missing: asked.filter(rev => !has(id, rev)) }]
    ).filter(([, { missing }]) => missing.length))
  }

  async write (docs, signal) {
    const refused = await this.#enter('write', docs, signal) ?? []
    const not = new Set(refused.map(({ id, rev }) => `${id} ${rev}`))
    for (const doc of docs) if (!not.has(`${doc._id} ${doc._rev}`)) this.put(doc)
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

  /** Everything as it is now, to be put back later. */
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

/** @param {number} count */
export function filled (count, from = 0) {
  const peer = new FakePeer({ name: 'source' })
  for (let index = from; index < from + count; index++) peer.put({ _id: `doc${index}`, _rev: '1-a' })
  return peer
}
