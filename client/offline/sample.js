// What documents weigh on the wire, from some of them without their images, and one with it.
import { isTileId } from '../../core/index.js'
import { askQueries } from '../../core/couch/queries.js'
import { ReadOnlyPeer, codec } from '../mirror/http-peer.js'
import { isHead } from './listing.js'

const MOST = 100 // documents of one kind that are looked at
const NAMED = 20 // of the documents that are no tiles
const PAST = 21 // bytes that the row of a past version is longer: its id has a time
const ROW = 3 // bytes between two rows
const COLUMN = 90 // bytes of an answer about a column, and around its rows

/** @typedef {{id: string, rev?: string, bytes: number}} Sampled */

export class Sample {
  requests = 0
  /** Rows of the listing, how many of them are of the past, and the columns they lie in: a download reads them before anything else. */
  listed = { rows: 0, past: 0, columns: 0 }
  #kinds = /** @type {Map<string, {count: number, bytes: number, rows: Sampled[], spots?: () => Promise<Sampled[]>}>} */ (new Map())
  #origin

  /** @param {import('../mirror/http.js').HttpCouch} couch @param {import('./listing.js').Listing} listing @param {AbortSignal} [signal] */
  constructor (couch, listing, signal) {
    this.#origin = new ReadOnlyPeer(couch, codec)
    this.listing = listing
    this.signal = signal
  }

  /** Documents that were summed. @param {string} kind @param {{count: number, bytes: number, spots: () => Promise<Sampled[]>}} sums */
  take (kind, sums) {
    if (sums.count) this.#kinds.set(kind, { count: sums.count, bytes: sums.bytes, rows: [], spots: () => sums.spots() })
  }

  /** One that was listed: each has the same chance to be looked at. @param {string} kind @param {Sampled} row */
  add (kind, row) {
    const known = this.#kinds.get(kind) ?? { count: 0, bytes: 0, rows: [] }
    this.#kinds.set(kind, known)
    known.count++
    known.bytes += row.bytes
    const at = known.count <= MOST ? known.count - 1 : Math.floor(Math.random() * known.count)
    if (at < MOST) known.rows[at] = row
  }

  /** Bytes of bodies when all of them are listed and fetched, and what a layer has beside its tiles. @returns {Promise<number>} */
  async weigh () {
    const before = this.listing.bytes
    const named = await this.listing.named()
    const namedBytes = this.listing.bytes - before
    const kinds = [...this.#kinds.entries()]
    const rows = await this.#looked(kinds)
    const others = sparse(named)
    const { sizes, rest, row } = await this.#bare([...others, ...rows.flat()])
    const mean = some => some.reduce((sum, { id }) => sum + (sizes.get(id) ?? 0), 0) / (some.filter(({ id }) => sizes.has(id)).length || 1) + rest
    const { mime, isText } = await this.#heads(rows.flat().filter(({ bytes }) => bytes))
    let total = named.length * mean(others) + namedBytes + this.listed.rows * row + this.listed.past * PAST + this.listed.columns * COLUMN
    for (const [at, [, { count, bytes }]] of kinds.entries()) {
      total += count * mean(rows[at])
      if (bytes) total += count * (mime + (isText ? 0 : idOf(rows[at]))) + (isText ? (bytes + count) * 4 / 3 : bytes)
    }
    return Math.round(total)
  }

  /** Some of each kind, with their revisions. */
  async #looked (kinds) {
    const rows = await Promise.all(kinds.map(([, { rows: listed, spots }]) => spots?.() ?? listed))
    const unknown = rows.flat().filter(({ rev }) => rev === undefined)
    if (!unknown.length) return rows
    const [found] = await askQueries({ request: request => this.#ask(request) }, '_all_docs', [{ keys: unknown.map(({ id }) => id) }], { signal: this.signal })
    const revs = new Map(found.filter(({ id, value }) => id && value && !value.deleted).map(({ id, value: { rev } }) => [id, rev]))
    return rows.map(some => some.map(row => ({ rev: revs.get(row.id), ...row })).filter(({ rev }) => rev))
  }

  #ask (request) {
    this.requests++
    return this.listing.couch.request({ ...request, signal: this.signal })
  }

  /** Documents without their images. sizes: of each by itself; rest: what an answer has more of each; row: of the listing, of a head. @param {any[]} rows */
  async #bare (rows) {
    if (!rows.length) return { sizes: new Map(), rest: 0, row: 0 }
    const { bytes, docs } = await this.#fetch(rows, true)
    const sizes = new Map(docs.map(doc => [doc._id, encoder.encode(JSON.stringify(doc)).length]))
    const tiles = docs.filter(({ _id: id }) => isTileId(id))
    const row = tiles.reduce((sum, doc) => sum + rowOf(doc).length + ROW - (isHead({ id: doc._id }) ? 0 : PAST), 0) / (tiles.length || 1)
    return { sizes, row, rest: (bytes - [...sizes.values()].reduce((sum, size) => sum + size, 0)) / (docs.length || 1) }
  }

  /** mime: what comes with an image beside its bytes and the id of its document; isText: they come as base64, without that. The smallest one tells. @param {Sampled[]} imaged */
  async #heads (imaged) {
    if (!imaged.length) return { mime: 0, isText: false }
    const one = imaged.reduce((least, row) => row.bytes < least.bytes ? row : least)
    const [{ bytes: without }, { bytes: all, docs: [whole] }] = await Promise.all([this.#fetch([one], true), this.#fetch([one], false)])
    const isText = typeof whole?._attachments?.tile?.data === 'string'
    return { mime: all - without - (isText ? Math.ceil(one.bytes / 3) * 4 : one.bytes + one.id.length), isText }
  }

  #fetch (rows, isBare) {
    this.requests++
    return this.#origin.fetch(rows.map(({ id, rev }) => ({ id, rev, ...(isBare && { ancestors: [rev] }) })), { signal: this.signal })
  }
}

const encoder = new TextEncoder()

/** How long an id is on average. @param {Sampled[]} rows */
const idOf = rows => rows.reduce((sum, { id }) => sum + id.length, 0) / (rows.length || 1)

/** What the view versions/by_tile says of a document. */
const rowOf = ({ _id: id, _rev: rev, layer, z, x, y, time, expires = null, _attachments: { tile } = /** @type {any} */ ({}) }) => JSON.stringify({
  id, key: [layer, z, x, y, time], value: { rev, bytes: tile?.length ?? 0, expires, gone: !tile, digest: tile?.digest.slice(4) ?? null }
})

/** Some of many, from all over. */
const sparse = rows => rows.filter((_, at) => at % Math.ceil(rows.length / NAMED) === 0)
