// Reads one PouchDB that may be written, closed or removed at the same time. Every read returns an answer or an error.
import { cached } from '../../core/cache.js'
import { extensionOf } from '../../core/images.js'
import { TILE_ATTACHMENT, isTileId, layerRange, parseTileId, tileId } from '../../core/index.js'
import { pagesOf } from '../../core/couch/queries.js'
import { seriesTo } from '../../core/order.js'
import { ignoreMissing, raceAbort, timeoutSignal } from '../../core/promises.js'
import { liveRows } from './store-listing.js'

const READ_TIMEOUT = 15000 // milliseconds until a read fails
const IMAGE_ATTEMPTS = 4
const NO_BYTES = 'md5-1B2M2Y8AsgTpgAmY7PhCfg==' // digest of an empty attachment
const PAGE = 1000 // documents per request when a whole layer is read

/** @typedef {import('../source/couch-source.js').Version} HeldVersion */

export class DatabaseReader {
  /** @type {WeakMap<object, DatabaseReader>} */
  static #readers = new WeakMap()
  #db
  #closed = new AbortController()

  /** @param {any} db a PouchDB */
  constructor (db) {
    this.#db = db
    const end = () => this.#closed.abort()
    db.once('closed', end).once('destroyed', end)
  }

  /** Returns the reader of a database, always the same one. */
  static of (db) {
    return cached(DatabaseReader.#readers, db, () => new DatabaseReader(db))
  }

  /**
   * Reads the documents that exist, by id.
   * @param {string[]} ids
   * @returns {Promise<Map<string, any>>}
   */
  async docs (ids) {
    if (!ids.length) return new Map() // PouchDB never answers a request without keys
    const { rows } = await this.#ask(db => db.allDocs({ keys: ids, include_docs: true }))
    return new Map(rows.filter(({ doc }) => doc).map(({ id, doc }) => [id, doc]))
  }

  /** Reads the revisions of the documents that exist. @returns {Promise<Map<string, string>>} */
  async revs (ids) {
    if (!ids.length) return new Map()
    const { rows } = await this.#ask(db => db.allDocs({ keys: ids }))
    return new Map(liveRows(rows).map(({ id, rev }) => [id, rev]))
  }

  /** Documents whose ids begin with a text: `layer:`, `edition:osm@`. @param {string} start @param {string} [end] */
  async withPrefix (start, end = `${start}\ufff0`) {
    const { rows } = await this.#ask(db => db.allDocs({ startkey: start, endkey: end, include_docs: true }))
    return rows.map(({ doc }) => doc)
  }

  /**
   * Reads every version of the tiles of a column. Ids are sorted as text: row numbers with equally many digits form one
   * range, which also contains other rows that begin with the same digits.
   * @param {string} layer @param {import('../source/couch-source.js').Column} column
   * @returns {Promise<HeldVersion[]>}
   */
  async columnVersions (layer, { z, x, y0, y1 }) {
    const ranges = seriesTo(y1).map(
      ({ first, last }) => ({ first: Math.max(first, y0), last })
    ).filter(({ first, last }) => first <= last)
    const versionsByRange = await Promise.all(ranges.map(async ({ first, last }) => {
      const range = { startkey: tileId(layer, z, x, first), endkey: `${tileId(layer, z, x, last)}@~` }
      const { rows } = await this.#ask(db => db.allDocs({ ...range, include_docs: true }))
      return rows.map(({ doc }) => versionOf(doc)).filter(version => version && version.y >= first && version.y <= last)
    }))
    return versionsByRange.flat()
  }

  /** Reads every version of a layer, in pages. @returns {AsyncGenerator<HeldVersion[]>} */
  async * allVersions (layer) {
    const read = async range => (await this.#ask(db => db.allDocs({ ...range, include_docs: true }))).rows
    for await (const rows of pagesOf(read, layerRange(layer), { page: PAGE })) {
      yield rows.flatMap(({ doc }) => versionOf(doc) ?? [])
    }
  }

  /**
   * Reads the documents that were written after a sequence, in pages.
   * @param {number | string} since
   * @returns {AsyncGenerator<{docs: any[], since: number | string}>}
   */
  async * since (since) {
    for (;;) {
      const { results, last_seq: last } =
        await this.#ask(db => db.changes({ since, limit: PAGE, include_docs: true, return_docs: true }))
      yield { docs: results.map(({ doc }) => doc), since: last }
      if (results.length < PAGE) return
      since = last
    }
  }

  /** The update sequence: it grows with every write. @returns {Promise<number | string>} */
  async sequence () {
    return (await this.#ask(db => db.info())).update_seq
  }

  /**
   * Reads a tile with its image.
   * @param {string} [rev] default: the newest
   * @returns {Promise<{blob: Blob, version: HeldVersion} | undefined>}
   */
  async image (id, rev) {
    const doc = await this.#readWhole(id, rev)
    const version = versionOf(doc)
    const image = doc?._attachments?.[TILE_ATTACHMENT]
    if (!version || !image) return undefined
    return { blob: blobOf(image.data ?? '', image.content_type), version }
  }

  /**
   * Reads a document with the bytes of its attachments.
   * @param {string} id @param {string} [rev] default: the newest
   * @returns {Promise<any>} undefined if the document does not exist or its image was compacted away
   */
  async #readWhole (id, rev) {
    const options = { ...(rev && { rev }), attachments: true, binary: true }
    for (let attempt = 0; attempt < IMAGE_ATTEMPTS; attempt++) {
      const doc = await this.#ask(db => db.get(id, options)).catch(ignoreMissing)
      if (!doc || !isImageLost(doc)) return doc
    }
    return undefined
  }

  /** Reads an attachment that is not a tile image. @returns {Promise<Blob | undefined>} */
  async attachment (id, name) {
    const doc = await this.#ask(db => db.get(id, { attachments: true, binary: true })).catch(ignoreMissing)
    if (!doc) return undefined
    const { data, content_type: type } = doc._attachments[name]
    return new Blob([data], { type })
  }

  /** @param {(db: any) => Promise<any>} query */
  async #ask (query) {
    const { signal } = this.#closed
    const waiting = timeoutSignal(READ_TIMEOUT, signal)
    try {
      if (!signal.aborted) return await raceAbort(query(this.#db), waiting.signal)
    } catch (error) {
      if (!waiting.signal.aborted) throw error
    } finally {
      waiting.end()
    }
    throw new Error(signal.aborted ? 'the database is closed' : 'the device does not answer')
  }
}

/**
 * Whether a compaction removed the image of a tile during the read. PouchDB on LevelDB then returns no bytes and no
 * error.
 * @param {any} doc that was read with its attachments
 */
function isImageLost ({ _attachments: attachments }) {
  const image = attachments?.[TILE_ATTACHMENT]
  if (!image || image.digest === NO_BYTES) return false
  return !(image.data?.size ?? image.data?.length)
}

/** The version that a tile document describes; undefined for other documents. @returns {HeldVersion | undefined} */
export function versionOf (doc) {
  if (doc?.type !== 'tile' || typeof doc.time !== 'string' || !isTileId(doc._id)) return undefined
  const { layer, z, x, y, time } = parseTileId(doc._id)
  const image = doc._attachments?.[TILE_ATTACHMENT]
  return {
    layer, z, x, y, time: doc.time, rev: doc._rev, bytes: image ? bytesOf(image) : 0, gone: !image,
    current: time === undefined, expires: doc.expires ?? null, ...(image && { digest: image.digest })
  }
}

/** @param {{length?: number, data?: any}} image an attachment with data may lack a length */
function bytesOf ({ length, data }) {
  if (length !== undefined) return length
  if (typeof data !== 'string') return data?.size ?? data?.length ?? 0
  const padding = data.endsWith('==') ? 2 : Number(data.endsWith('='))
  return data.length / 4 * 3 - padding
}

const UNKNOWN_TYPE = 'application/octet-stream'

/** Makes a Blob. PouchDB returns a Buffer in Node, a Blob elsewhere. @param {string} type as stored */
export function blobOf (data, type) {
  const safeType = extensionOf(type) ? type : UNKNOWN_TYPE
  return data instanceof Blob && data.type === safeType ? data : new Blob([data], { type: safeType })
}
