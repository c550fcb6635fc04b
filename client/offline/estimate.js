// Estimates an area before its download: tiles, versions, bytes of images, and bytes over the network. The store's
// views sum whole columns where the area holds all of a column, else one range for each column.
import { chunks } from '../../core/lists.js'
import { isTileId } from '../../core/index.js'
import { askQueries } from '../../core/couch/queries.js'
import { ReadOnlyPeer, codec } from '../mirror/http.js'
import { bytesOfStyles, fetchStyles } from './area-styles.js'
import { BY_AREA, REST_BY_AREA, StoreListing, isHead, selectedRows } from './store-listing.js'

const BY_ZOOM = '_design/versions/_view/by_zoom'

/**
 * @typedef {{tiles: number, versions: number, bytes: number, styles: number, transfer: number, requests: number}}
 *   Estimate
 */

/**
 * @param {import('../mirror/http.js').HttpCouch} couch
 * @param {import('../../core/mirror/index.js').Selection} selection of one layer
 * @param {{signal?: AbortSignal, limits?: Partial<typeof import('./store-listing.js').listingDefaults>}} [options]
 * @returns {Promise<Estimate>} tiles: places with an image now, or ever, without those whose head was deleted, but not
 *   its past; versions: documents of tiles; bytes: of images; styles: bytes of styles, sprites and glyphs at most: only
 *   those glyphs come that labels of the tiles need; transfer: of bodies, the listing, styles, documents and images as
 *   _bulk_get answers them
 */
export async function estimate (couch, selection, { signal, limits } = {}) {
  const listing = new StoreListing(couch, selection, { signal, limits })
  const sample = new SizeSample(couch, listing, signal)
  const counts = await (selection.since ? countRows : sumColumns)(listing, sample)
  const { transfer, styles } = await sample.transferBytes()
  return { ...counts, styles, transfer, requests: listing.requests + sample.requests }
}

/** @param {StoreListing} listing @param {SizeSample} sample */
async function sumColumns (listing, sample) {
  const { current } = listing.selection
  const zooms = (await listing.zooms(BY_ZOOM, 3))
    .map(({ z, kind, value }) => ({ z, kind, ySpan: [value[3].min, value[3].max] }))
  const of = kind => zooms.filter(zoom => zoom.kind === kind)
  const now = await new ViewSums(listing).read(of('current'))
  const beside = await otherSums(listing, of).catch(error => { if (error.code !== 'INDEX_MISSING') throw error })
  if (!beside) return countRows(listing, sample) // a store whose design documents are older
  sample.take('head', now)
  // rows that are not downloaded are listed, too
  const before = beside.past.count + beside['past gone'].count
  sample.listed = { rows: now.count + beside.gone.count + before, past: before, columns: now.ranges.length }
  const rest = current ? { ...beside, past: NO_SUM, 'past gone': NO_SUM } : beside
  for (const [kind, found] of Object.entries(rest)) sample.take(kind, found)
  const all = [now, ...Object.values(rest)]
  return {
    tiles: now.count + (
      rest.past.count && rest.gone.count ? await countOnceWithImage(listing, /** @type {ViewSums} */ (rest.gone)) : 0
    ),
    versions: all.reduce((total, { count }) => total + count, 0),
    bytes: all.reduce((total, { bytes }) => total + bytes, 0)
  }
}

/**
 * Sums of everything but the newest images, by kind.
 * @param {StoreListing} listing @param {(kind: string) => any[]} of
 */
async function otherSums (listing, of) {
  const read = async (kind, among) => new ViewSums(listing, kind).read(of(among))
  const [gone, past, pastGone] = await Promise.all([read('gone', 'gone'), read('past', 'past'), read('past gone', 'gone')])
  return { past, gone, 'past gone': pastGone }
}

const NO_SUM = { count: 0, bytes: 0, sample: async () => /** @type {{id: string, bytes: number}[]} */ ([]) }

/** Places whose tile is gone and had an image before. @param {StoreListing} listing @param {ViewSums} gone */
async function countOnceWithImage (listing, gone) {
  let count = 0
  for await (const places of gone.places()) count += await new ViewSums(listing, 'past').countOf(places)
  return count
}

/**
 * Row by row: what belongs depends on all versions of a tile.
 * @param {StoreListing} listing @param {SizeSample} sample
 */
async function countRows (listing, sample) {
  const zooms = (await listing.zooms()).map(({ z }) => z)
  let [tiles, versions, bytes] = [0, 0, 0]
  for await (const { parts } of listing.read(listing.ranges(await listing.columns(zooms)))) {
    for (const part of parts) {
      const imaged = new Set()
      sample.listed.columns++
      sample.listed.rows += part.rows.length
      sample.listed.past += part.rows.filter(row => !isHead(row)).length
      for (const row of selectedRows(part.rows, listing.selection, new Map())) {
        versions++
        bytes += row.bytes
        if (!row.gone) imaged.add(row.y)
        sample.add(row.gone ? isHead(row) ? 'gone' : 'past gone' : isHead(row) ? 'head' : 'past', row)
      }
      tiles += imaged.size
    }
  }
  return { tiles, versions, bytes }
}

const MAX_SAMPLES = 100 // documents of one kind that are looked at
const MAX_LAYER_DOCUMENTS = 20 // of the documents that are no tiles
const PAST_ROW_BYTES = 21 // bytes that the row of a past version is longer: its id has a time
const ROW_SEPARATOR_BYTES = 3 // bytes between two rows
const COLUMN_BYTES = 90 // bytes of an answer about a column, and around its rows

/** @typedef {{id: string, rev?: string, bytes: number}} Sampled */

export class SizeSample {
  requests = 0
  /**
   * Rows of the listing, how many of them are of the past, and the columns they lie in: a download reads them before
   * anything else.
   */
  listed = { rows: 0, past: 0, columns: 0 }
  /** @type {Map<string, {count: number, bytes: number, rows: Sampled[], sample?: () => Promise<Sampled[]>}>} */
  #kinds = new Map()
  #origin

  /**
   * @param {import('../mirror/http.js').HttpCouch} couch @param {import('./store-listing.js').StoreListing} listing
   * @param {AbortSignal} [signal]
   */
  constructor (couch, listing, signal) {
    this.#origin = new ReadOnlyPeer(couch, codec)
    this.listing = listing
    this.signal = signal
  }

  /**
   * Documents that were summed.
   * @param {string} kind @param {{count: number, bytes: number, sample: () => Promise<Sampled[]>}} sums
   */
  take (kind, sums) {
    if (sums.count) {
      this.#kinds.set(kind, { count: sums.count, bytes: sums.bytes, rows: [], sample: () => sums.sample() })
    }
  }

  /** A listed row: each has the same probability to be sampled. @param {string} kind @param {Sampled} row */
  add (kind, row) {
    const known = this.#kinds.get(kind) ?? { count: 0, bytes: 0, rows: [] }
    this.#kinds.set(kind, known)
    known.count++
    known.bytes += row.bytes
    const at = known.count <= MAX_SAMPLES ? known.count - 1 : Math.floor(Math.random() * known.count)
    if (at < MAX_SAMPLES) known.rows[at] = row
  }

  /**
   * Bytes of bodies when all of them are listed and fetched, and what a layer has beside its tiles.
   * @returns {Promise<{transfer: number, styles: number}>} styles: of them, what is kept
   */
  async transferBytes () {
    const before = this.listing.bytes
    const { documents: named, styles: listed } = await this.listing.layerDocuments()
    const namedBytes = this.listing.bytes - before
    const kinds = [...this.#kinds.entries()]
    const rows = await this.#sampled(kinds)
    const others = everyNth(named)
    const { sizes, rest, row } = await this.#withoutImages([...others, ...rows.flat()])
    const mean = some => some.reduce((sum, { id }) => sum + (sizes.get(id) ?? 0), 0) / (
      some.filter(({ id }) => sizes.has(id)).length || 1
    ) + rest
    const { mime, isText } = await this.#imageOverhead(rows.flat().filter(({ bytes }) => bytes))
    const { rows: listedRows, past, columns } = this.listed
    let total =
      named.length * mean(others) + namedBytes + listedRows * row + past * PAST_ROW_BYTES + columns * COLUMN_BYTES
    for (const [at, [, { count, bytes }]] of kinds.entries()) {
      total += count * mean(rows[at])
      if (bytes) {
        total += count * (mime + (isText ? 0 : meanIdLength(rows[at]))) + (isText ? (bytes + count) * 4 / 3 : bytes)
      }
    }
    const styles = await this.#styleBytes(listed)
    return { transfer: Math.round(total) + styles, styles }
  }

  async #styleBytes (listed) {
    if (!listed.length) return 0
    this.requests++
    return bytesOfStyles((await fetchStyles(this.listing.couch, listed, this.signal)).styles)
  }

  /** Some of each kind, with their revisions. */
  async #sampled (kinds) {
    const rows = await Promise.all(kinds.map(([, { rows: listed, sample }]) => sample?.() ?? listed))
    const unknown = rows.flat().filter(({ rev }) => rev === undefined)
    if (!unknown.length) return rows
    const [found] = await askQueries({ request: request => this.#ask(request) }, '_all_docs', [{ keys: unknown.map(({ id }) => id) }], { signal: this.signal })
    const revs =
      new Map(found.filter(({ id, value }) => id && value && !value.deleted).map(({ id, value: { rev } }) => [id, rev]))
    return rows.map(some => some.map(row => ({ rev: revs.get(row.id), ...row })).filter(({ rev }) => rev))
  }

  #ask (request) {
    this.requests++
    return this.listing.couch.request({ ...request, signal: this.signal })
  }

  /**
   * Documents without their images. sizes: of each by itself; rest: what an answer has more of each; row: of the
   * listing, of a head.
   */
  async #withoutImages (rows) {
    if (!rows.length) return { sizes: new Map(), rest: 0, row: 0 }
    const { bytes, docs } = await this.#fetch(rows, true)
    const sizes = new Map(docs.map(doc => [doc._id, encoder.encode(JSON.stringify(doc)).length]))
    const tiles = docs.filter(({ _id: id }) => isTileId(id))
    const row = tiles.reduce(
      (sum, doc) => sum + rowOf(doc).length + ROW_SEPARATOR_BYTES - (isHead({ id: doc._id }) ? 0 : PAST_ROW_BYTES), 0
    ) / (tiles.length || 1)
    return { sizes, row, rest: (bytes - [...sizes.values()].reduce((sum, size) => sum + size, 0)) / (docs.length || 1) }
  }

  /**
   * mime: what comes with an image beside its bytes and the id of its document; isText: they come as base64, without
   * that. The smallest one tells.
   * @param {Sampled[]} imaged
   */
  async #imageOverhead (imaged) {
    if (!imaged.length) return { mime: 0, isText: false }
    const one = imaged.reduce((least, row) => row.bytes < least.bytes ? row : least)
    const [{ bytes: without }, { bytes: all, docs: [whole] }] =
      await Promise.all([this.#fetch([one], true), this.#fetch([one], false)])
    const isText = typeof whole?._attachments?.tile?.data === 'string'
    return { mime: all - without - (isText ? Math.ceil(one.bytes / 3) * 4 : one.bytes + one.id.length), isText }
  }

  #fetch (rows, isBare) {
    this.requests++
    return this.#origin.fetch(
      rows.map(({ id, rev }) => ({ id, rev, ...(isBare && { ancestors: [rev] }) })), { signal: this.signal }
    )
  }
}

const encoder = new TextEncoder()

/** How long an id is on average. @param {Sampled[]} rows */
const meanIdLength = rows => rows.reduce((sum, { id }) => sum + id.length, 0) / (rows.length || 1)

/** What the view versions/by_tile says of a document. */
const rowOf = ({
  _id: id, _rev: rev, layer, z, x, y, time, expires = null, _attachments: { tile } = /** @type {any} */ ({})
}) => JSON.stringify({
  id, key: [layer, z, x, y, time],
  value: { rev, bytes: tile?.length ?? 0, expires, gone: !tile, digest: tile?.digest.slice(4) ?? null }
})

/** Some of many, from all over. */
const everyNth = rows => rows.filter((_, at) => at % Math.ceil(rows.length / MAX_LAYER_DOCUMENTS) === 0)

const SAMPLE_PLACES = 40 // places of a sample
const ROWS_PER_PLACE = 4 // rows at each
const COLUMNS_PER_TURN = 2000 // columns between two looks at whether the page wants to do something

/** @typedef {{z: number, x: number, y0: number, y1: number, count: number}} Summed */

export class ViewSums {
  count = 0
  bytes = 0
  /** @type {Summed[]} */
  ranges = []

  /** @param {import('./store-listing.js').StoreListing} listing @param {string} [kind] of what is no image of now */
  constructor (listing, kind) {
    this.listing = listing
    this.kind = kind
    this.view = kind === undefined ? BY_AREA : REST_BY_AREA
  }

  /** @param {{z: number, ySpan: number[]}[]} zooms with the rows that anything is in */
  async read (zooms) {
    if (!zooms.length) return this
    const { listing } = this
    const columns = await listing.columns(zooms.map(({ z }) => z), this.view, this.kind)
    const open = []
    let seen = 0
    for (const { z, ySpan: [first, last] } of zooms) {
      for (const [x, { count, sum }] of /** @type {Map<number, any>} */ (columns.get(z))) {
        if (++seen % COLUMNS_PER_TURN === 0) await new Promise(resolve => { setTimeout(resolve) })
        for (const [y0, y1] of listing.runsOf(z, x)) {
          const range = { z, x, y0, y1, count: 0 }
          if (y0 <= first && y1 >= last) this.#add(range, count, sum)
          else if (y0 <= last && y1 >= first) open.push(range)
        }
      }
    }
    const answers = await listing.ask(this.view, open.map(range => this.#between(range)))
    for (const [at, [row]] of answers.entries()) if (row) this.#add(open[at], row.value.count, row.value.sum)
    return this
  }

  #add (range, count, bytes) {
    this.count += count
    this.bytes += bytes
    this.ranges.push({ ...range, count })
  }

  #key ({ z, x }, y) {
    return [this.listing.layer, z, ...(this.kind === undefined ? [] : [this.kind]), x, y]
  }

  #between (range) {
    return { startkey: this.#key(range, range.y0), endkey: this.#key(range, range.y1) }
  }

  /** Some documents from all over the area. @returns {Promise<{id: string, bytes: number}[]>} */
  async sample () {
    if (!this.count) return []
    const queries = []
    let [at, before] = [0, 0]
    for (let spot = 0; spot < SAMPLE_PLACES; spot++) {
      const place = Math.floor((spot + 0.5) * this.count / SAMPLE_PLACES)
      while (before + this.ranges[at].count <= place) before += this.ranges[at++].count
      queries.push({ ...this.#between(this.ranges[at]), reduce: false, skip: place - before, limit: ROWS_PER_PLACE })
    }
    const answers = await this.listing.ask(this.view, queries)
    // those of a small area meet
    return [...new Map(answers.flat().map(({ id, value }) => [id, { id, bytes: value }])).values()]
  }

  /** Where anything is, a page at a time. @returns {AsyncGenerator<{z: number, x: number, y: number}[]>} */
  async * places () {
    const { spans } = this.listing.limits
    for (const some of chunks(this.ranges, spans)) {
      const answers = await this.listing.ask(this.view, some.map(range => ({ ...this.#between(range), reduce: false })))
      yield answers.flat().map(({ key }) => ({ z: key[1], x: key[3], y: key[4] }))
    }
  }

  /** How many of these places have anything. @param {{z: number, x: number, y: number}[]} places */
  async countOf (places) {
    const answers =
      await this.listing.ask(this.view, places.map(({ z, x, y }) => this.#between({ z, x, y0: y, y1: y })))
    return answers.filter(([row]) => row?.value.count).length
  }
}
