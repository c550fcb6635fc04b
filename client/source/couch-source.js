// Reads a store in the browser: documents, attachments and views of a CouchDB database, or of an address that answers
// like one (…/_rewrite/db, a gateway's /db). Layers read from a store only through this class.
import {
  AFTER, TILE_ATTACHMENT, TilecouchError, checkLayer, checkSound, isTileId, layerId, parseTileId, tileId, versionId
} from '../../core/index.js'
import { raceAbort, timeoutSignal } from '../../core/promises.js'
import { failureOf, isDatabase } from './failure.js'
import { isImageOf } from '../mirror/digest.js'

export const sourceDefaults = {
  timeout: 30000, // milliseconds until a request counts as unanswered
  fetchOptions: {} // for every request, as fetch takes them: credentials, headers, …
}

const BY_TILE = '_design/versions/_view/by_tile'
const BY_TIME = '_design/versions/_view/by_time'

/**
 * @typedef {object} Version
 * @property {string} layer
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {string} time
 * @property {string} rev
 * @property {string} [content] revision of another document that had the same image before
 * @property {number} bytes
 * @property {string} [digest] of the image, as in documents; undefined if the index of the store is older
 * @property {boolean} gone there is no tile from this time on
 * @property {boolean} current it is the head
 * @property {string | null} expires
 * @typedef {{z: number, x: number, y0: number, y1: number}} Column rows of one column, inclusive
 */

export class CouchSource {
  /**
   * @param {string} db address of the database, absolute or relative to the page
   * @param {Partial<typeof sourceDefaults>} [options]
   */
  constructor (db, options = {}) {
    if (typeof db !== 'string' || !db.trim() || /^\s*(\w+:)?\/\/[^/]*@/.test(db)) {
      throw new TilecouchError('BAD_DATABASE', { value: typeof db === 'string' ? db.replace(/\/\/[^/]*@/, '//') : db })
    }
    this.db = db.trim().replace(/\/+$/, '')
    this.options = { ...sourceDefaults, ...options }
  }

  /** The layer document: TileJSON fields and the store's own. @returns {Promise<Record<string, any>>} */
  async layer (layer, signal) {
    const id = layerId(checkLayer(layer))
    return checkSound(await this.#json(encodeURIComponent(id), { signal }, {
      missing: () => new TilecouchError('LAYER_NOT_FOUND', { layer }),
      isRight: body => body?._id === id
    }))
  }

  /**
   * The versions of every tile in these columns: one request, one answer for each column.
   * @param {Column[]} columns
   * @returns {Promise<Version[][]>} ascending by row, then time
   */
  async versions (layer, columns, signal) {
    const queries =
      columns.map(({ z, x, y0, y1 }) => ({ reduce: false, startkey: [layer, z, x, y0], endkey: [layer, z, x, y1, {}] }))
    const { results } = await this.#query(BY_TILE, queries, signal)
    return results.map(({ rows }) => rows.map(({ id, key, value: { rev, bytes, gone, expires, digest } }) => ({
      layer, z: key[1], x: key[2], y: key[3], time: key[4], rev, bytes, gone, expires,
      current: !id.includes('@'),
      ...(digest && { digest: `md5-${digest}` })
    })))
  }

  /** First and last time of a layer. @returns {Promise<{first: string, last: string} | null>} null: it has no tiles */
  async extent (layer, signal) {
    const range = { reduce: false, limit: 1 }
    const { results: [{ rows: [first] }, { rows: [last] }] } = await this.#query(BY_TIME, [
      { ...range, startkey: [layer], endkey: [layer, AFTER] },
      { ...range, startkey: [layer, AFTER], endkey: [layer], descending: true }
    ], signal)
    return first ? { first: first.key[1], last: last.key[1] } : null
  }

  /**
   * The address of a version's image. It names the revision, which is made from the content. So its answer never
   * changes, not even when there is a new head.
   * @param {Version} version
   */
  tileUrl ({ layer, z, x, y, time, rev, current }) {
    const id = current ? tileId(layer, z, x, y) : versionId(layer, z, x, y, time)
    return `${this.db}/${id}/${TILE_ATTACHMENT}?rev=${rev}`
  }

  /** Template of the newest tiles for L.TileLayer. */
  template (layer) {
    return `${this.db}/${checkLayer(layer)}:{z}:{x}:{y}/${TILE_ATTACHMENT}`
  }

  /**
   * The image of a version, compared with its length and digest.
   * @param {Version} version @param {AbortSignal} [signal]
   * @param {{fresh?: boolean}} [options] fresh: bypass the browser's cache, which may hold a bad answer
   * @returns {Promise<Blob>} rejects with BAD_ANSWER if another image came, or only a part
   */
  async tile (version, signal, { fresh = false } = {}) {
    const { layer, z, x, y, time } = version
    const missing = () => new TilecouchError('TILE_NOT_FOUND', { id: tileId(layer, z, x, y), time })
    const ask = async cache => {
      const image = await this.#read(this.tileUrl(version), { signal, cache }, 'blob', missing)
      if (await isImageOf(image, version)) return image
      throw new TilecouchError('BAD_ANSWER', { url: this.db, why: 'it is not the image that the store names' })
    }
    if (fresh) return ask('reload')
    // CouchDB asks browsers to revalidate every attachment, but the answer of this address never changes
    return ask('force-cache').catch(error => {
      if (error.code !== 'BAD_ANSWER') throw error
      return ask('reload') // the cache may hold a wrong image, which a proxy sent
    })
  }

  /**
   * Waits for the next changes of a layer, and returns them.
   * @param {string} layer @param {string} since `now`, or `since` of the last answer
   * @param {AbortSignal} signal
   * @param {{wait?: boolean, past?: boolean}} [options] wait: until there is a change, or for half of the timeout;
   *   past: report past versions as well
   * @returns {Promise<{since: string, tiles: {z: number, x: number, y: number, rev: string, deleted: boolean}[], layer:
   *   boolean}>} tiles: their head or, with `past`, any version changed (some may come twice); layer: whether its
   *   document changed
   */
  async changes (layer, since, signal, { wait = since !== 'now', past = false } = {}) {
    // by id and not by field: a deleted document has no fields left
    const selector = { _id: { $regex: `^(${layer}:[0-9:]+${past ? '(@.+)?' : ''}|layer:${layer})$` } }
    const feed = wait ? 'longpoll' : 'normal'
    const query = `feed=${feed}&filter=_selector&since=${encodeURIComponent(since)}&timeout=${this.options.timeout / 2}`
    const init = { method: 'POST', body: JSON.stringify({ selector }), signal }
    const isRight = body => Array.isArray(body?.results)
    const { results, last_seq: last } = await this.#json(`_changes?${query}`, init, { isRight })
    const tiles = []
    for (const { id, changes, deleted } of results) {
      if (isTileId(id)) tiles.push({ ...parseTileId(id), rev: changes[0].rev, deleted: Boolean(deleted) })
    }
    return { since: String(last), tiles, layer: results.some(({ id }) => id === layerId(layer)) }
  }

  #query (view, queries, signal) {
    return this.#json(`${view}/queries`, { method: 'POST', body: JSON.stringify({ queries }), signal }, {
      missing: () => new TilecouchError('INDEX_MISSING', { view: view.replace('_design/', '').replace('_view/', '') }),
      isRight: body => body?.results?.length === queries.length && body.results.every(
        result => Array.isArray(result?.rows)
      )
    })
  }

  /**
   * @param {string} path @param {any} init
   * @param {{missing?: () => Error, isRight: (body: any) => boolean}} expectations
   */
  async #json (path, init, { missing, isRight }) {
    const body = await this.#read(`${this.db}/${path}`, init, 'json', missing)
    const error = body?.results?.find?.(result => result?.error)
    const url = this.db
    if (error) throw new TilecouchError('COUCHDB_ERROR', { url, status: 200, reason: error.reason ?? error.error })
    if (!isRight(body)) throw new TilecouchError('BAD_ANSWER', { url, why: 'JSON of another kind' })
    return body
  }

  /**
   * Reads a whole answer.
   * @param {string} url @param {any} init @param {'blob' | 'json'} kind @param {() => Error} [missing]
   * @returns {Promise<any>}
   */
  async #read (url, { signal, ...init }, kind, missing) {
    const { timeout, fetchOptions } = this.options
    const headers = new Headers(fetchOptions.headers)
    if (init.body && !headers.has('content-type')) headers.set('content-type', 'application/json')
    const waiting = timeoutSignal(timeout, signal)
    try {
      const response =
        await raceAbort(fetch(url, { ...fetchOptions, ...init, headers, signal: waiting.signal }), waiting.signal)
      return await raceAbort(this.#body(response, kind, missing), waiting.signal)
    } catch (error) {
      const isKnown = error instanceof TilecouchError || signal?.aborted || error.name === 'AbortError'
      if (isKnown && !waiting.isOver) throw error
      const why = waiting.isOver ? `no answer within ${timeout / 1000} s` : error.message
      throw new TilecouchError('UNREACHABLE', { url: this.db, why })
    } finally {
      waiting.end()
    }
  }

  async #body (response, kind, missing) {
    if (!response.ok) throw (missing && await isMissing(response)) ? missing() : await failureOf(response, this.db)
    try {
      return await response[kind]()
    } catch (error) {
      if (error instanceof SyntaxError) throw new TilecouchError('BAD_ANSWER', { url: this.db, why: 'not JSON' })
      // the connection broke within an image
      if (kind !== 'blob' || error.name !== 'TypeError') throw error
      throw new TilecouchError('BAD_ANSWER', { url: this.db, why: 'it was cut off' })
    }
  }
}

// a missing database answers 404 as well, and so does a proxy whose server is away
async function isMissing (response) {
  if (response.status !== 404) return false
  const { error, reason = '' } = await response.clone().json().catch(() => null) ?? {}
  return error !== undefined && !isDatabase(reason)
}
