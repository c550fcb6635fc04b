// Uploads an edition to a store with the right to write. Nothing is replicated: the store's documents are read first,
// and each tile is decided as a load decides it. So two devices and a loader never make a conflict, and a repetition
// writes nothing twice. The outcome of each tile is saved on the device after every batch.
import { askAll } from '../../core/couch/answers.js'
import { CouchClient } from '../../core/couch/client.js'
import {
  STORE_ID, TILE_ATTACHMENT, TilecouchError, editionId, faultIn, headId, layerDocument, layerFields, layerId, now
} from '../../core/index.js'
import { Semaphore } from '../../core/semaphore.js'
import { HeadWriter } from '../../core/store/head-writer.js'
import { Extent, widen } from '../../core/store/extent.js'
import { hasMarker, refuseForeign } from '../../core/store/marker.js'
import { HttpCouch } from '../mirror/http.js'
import { DatabaseReader } from '../offline/database-reader.js'
import { tallyOf, typesOf } from './edit-index.js'

export const uploadDefaults = {
  batch: 200, // tiles a request at most
  firstBytes: 256 * 1024, // of images in the first requests, before anything is known of the line
  leastBytes: 32 * 1024, // of images in a request on the slowest line
  mostBytes: 2 * 1024 * 1024, // of images in a request on the quickest line
  batchTime: 4000, // milliseconds a request is meant to take: what is repeated when it breaks off
  concurrency: 2 // requests on their way
}

/** @typedef {import('./edit-index.js').EditedEntry} Entry */

export class Upload {
  #semaphore
  #size
  #began = performance.now()

  /**
   * @param {object} parts
   * @param {{layer: string, time: string}} parts.edition
   * @param {any} parts.db the PouchDB of edits
   * @param {import('./edit-index.js').EditIndex} parts.index of it
   * @param {UploadTarget} parts.couch
   * @param {AbortController} parts.stop ends it, and is aborted by the first failure
   * @param {(progress: any) => void} [parts.onProgress]
   * @param {(failure: {z: number, x: number, y: number, code: string, reason: string}) => void} [parts.onFailure]
   * @param {Partial<typeof uploadDefaults>} [parts.limits]
   */
  constructor ({ edition, db, index, couch, stop, onProgress, onFailure, limits }) {
    this.edition = edition
    this.db = db
    this.index = index
    this.couch = couch
    this.stop = stop
    this.onProgress = onProgress
    this.onFailure = onFailure
    this.limits = { ...uploadDefaults, ...limits }
    this.#semaphore = new Semaphore(this.limits.concurrency)
    this.#size = this.limits.firstBytes
    this.sent = { tiles: 0, bytes: 0, refused: 0 }
    this.total = { tiles: 0, bytes: 0 }
  }

  async run () {
    await this.index.read()
    await this.#begin()
    await this.#sendAll()
    return this.#finish()
  }

  /** What the store has not got, or has refused before. */
  #waiting () {
    const { layer, time } = this.edition
    return this.index.versions(layer, time).filter(({ upload }) => upload?.to !== this.couch.url)
  }

  // --- the store's side, before and after

  /** Writes the edition first, so that a missing right to write is found before any tile is sent. */
  async #begin () {
    const { couch, edition: { layer, time }, index } = this
    const { signal } = this.stop
    await this.#checkStore(signal)
    const made = newLayerDocument(layer, index.documents.get(layerId(layer)))
    await couch.update(layerId(layer), stored => stored ? undefined : made, signal)
    const { title, source } = index.documents.get(editionId(layer, time)) ?? {}
    await couch.update(editionId(layer, time), stored => ({
      complete: false, ...(title && { title }), ...(source && { source }), ...(stored && !faultIn(stored) && stored), type: 'edition', layer, time, started: now(), finished: undefined
    }), signal)
  }

  async #checkStore (signal) {
    const { couch } = this
    if (hasMarker(await couch.get(STORE_ID, signal), couch.url)) return
    const rows = await couch.page({ limit: 20 }, signal)
    refuseForeign(rows.map(({ id }) => id), couch.url)
  }

  async #finish () {
    const { couch, index, edition: { layer, time } } = this
    const { signal } = this.stop
    await index.read()
    const versions = index.versions(layer, time)
    const arrived = versions.filter(({ upload }) => upload?.to === couch.url)
    const extent = new Extent()
    for (const { z, x, y, type } of arrived) if (type) extent.add(z, x, y)
    await couch.update(layerId(layer), stored => {
      if (stored && faultIn(stored)) return undefined // it has to be repaired first
      const wider = { ...stored, ...widen(stored ?? layerDocument(layer), extent, { types: typesOf(arrived) }) }
      return JSON.stringify(wider) === JSON.stringify(stored) ? undefined : wider
    }, signal)
    const counts = tallyOf(versions, index.documents.get(editionId(layer, time)))
    const finished = now()
    await couch.update(editionId(layer, time), stored => ({ ...stored, type: 'edition', layer, time, ...counts, finished }), signal)
    return finished
  }

  // --- tiles

  async #sendAll () {
    const { signal } = this.stop
    const batch = new HeadWriter(this.couch, {
      stored: now(),
      signal,
      send: (docs, until) => this.couch.bulk(docs, { signal: until }),
      report: (tile, outcome) => tile.report(outcome)
    })
    const under = new Set()
    let failure
    const waiting = this.#waiting()
    this.total = { tiles: waiting.length, bytes: waiting.reduce((sum, { bytes }) => sum + bytes, 0) }
    while (waiting.length && !failure) {
      const release = await this.#semaphore.acquire()
      if (failure) { release(); break }
      const entries = this.#nextBatch(waiting)
      const moving = this.#sendBatch(batch, entries).catch(error => {
        failure ??= error
        this.stop.abort()
      }).finally(() => {
        release()
        under.delete(moving)
      })
      under.add(moving)
    }
    await Promise.all(under)
    if (failure) throw failure
  }

  /** The next ones, as many as are worth a request. @param {Entry[]} waiting */
  #nextBatch (waiting) {
    let bytes = 0
    let count = 0
    while (
      count < waiting.length && count < this.limits.batch && (!count || bytes + waiting[count].bytes <= this.#size)
    ) bytes += waiting[count++].bytes
    return waiting.splice(0, count)
  }

  /** @param {Entry[]} entries */
  async #sendBatch (batch, entries) {
    if (this.stop.signal.aborted) throw new TilecouchError('ABORTED')
    const began = performance.now()
    const ids = entries.map(({ id }) => id)
    const docs = await DatabaseReader.of(this.db).docs(ids, { attachments: true })
    const outcomes = new Map()
    const { layer, time } = this.edition
    // the next upload sends what was changed meanwhile, or lost its image to a compaction while it was read
    const tiles = [...docs.values()].filter(doc => doc.time === time).map(doc => {
      const { _id: id, z, x, y, _attachments: { [TILE_ATTACHMENT]: image } = /** @type {any} */ ({}) } = doc
      return {
        id: headId(id), layer, z, x, y, time, type: image?.content_type, bytes: image?.data,
        digest: image?.digest ?? null, attempts: 0,
        report: outcome => outcomes.set(id, { doc, outcome })
      }
    })
    try {
      await batch.store(tiles)
    } finally {
      await this.#saveOutcomes(outcomes, entries)
    }
    this.#adjustBatch(entries.reduce((sum, { bytes }) => sum + bytes, 0), performance.now() - began)
  }

  /**
   * What became of tiles; one that was changed here meanwhile is another tile to send.
   * @param {Map<string, {doc: any, outcome: any}>} outcomes @param {Entry[]} entries
   */
  async #saveOutcomes (outcomes, entries) {
    const noted = entries.filter(({ id }) => outcomes.has(id)).map(entry => {
      const { doc, outcome } = /** @type {any} */ (outcomes.get(entry.id))
      const upload = outcome instanceof TilecouchError
        ? { error: outcome.code, reason: outcome.message }
        : { to: this.couch.url, outcome }
      return { entry, upload, doc: { ...withoutBytes(doc, entry.bytes), upload } }
    })
    if (!noted.length) return
    await this.db.bulkDocs(noted.map(({ doc }) => doc))
    for (const { entry: { z, x, y, bytes }, upload: { error: code, reason } } of noted) {
      if (code) {
        this.sent.refused++
        this.onFailure?.({ z, x, y, code, reason })
      } else {
        this.sent.tiles++
        this.sent.bytes += bytes
      }
    }
    this.onProgress?.(this.progress())
  }

  progress () {
    const { sent, total } = this
    const seconds = (performance.now() - this.#began) / 1000
    const rate = sent.bytes / seconds
    return { ...sent, total, rate, remaining: rate ? (total.bytes - sent.bytes) / rate : undefined }
  }

  /** A line that needs longer than meant gets less at once. */
  #adjustBatch (bytes, took) {
    const { leastBytes, mostBytes, batchTime } = this.limits
    const fit = Math.max(bytes, leastBytes) * batchTime / Math.max(took, 1)
    this.#size = Math.min(mostBytes, Math.max(leastBytes, Math.min(fit, 2 * this.#size)))
  }
}

/** A document with its image left out, as one that is there. */
const withoutBytes = ({ _attachments: attachments, ...doc }, length) => {
  if (!attachments) return doc
  const { data, ...about } = attachments[TILE_ATTACHMENT]
  return { ...doc, _attachments: { [TILE_ATTACHMENT]: { ...about, length, stub: true } } }
}

/** The document of a layer that is new to the store. Its zooms and bounds follow from the tiles that arrive. */
function newLayerDocument (layer, known = {}) {
  const { minzoom, maxzoom, bounds, ...fields } = known
  return layerDocument(
    layer, Object.fromEntries(Object.entries(fields).filter(([field]) => Object.hasOwn(layerFields, field)))
  )
}

const REQUEST_TIMEOUT = 30000 // milliseconds for an answer, or for more of a long one

export class UploadTarget extends CouchClient {
  #http
  #areaDatabases
  /** Documents as they were last read. @type {Map<string, any>} */
  #seen = new Map()

  /**
   * @param {import('../mirror/http.js').HttpCouch} http
   * @param {() => {db: any}[]} areaDatabases databases that may have the same documents: these are not asked
   *   for again
   */
  constructor (http, areaDatabases) {
    super({ url: http.url, exchange: () => Promise.reject(new Error('request is overridden')) })
    this.#http = http
    this.#areaDatabases = areaDatabases
  }

  /**
   * @param {string[]} ids @param {{attachments?: boolean, signal?: AbortSignal}} [options]
   * @returns {Promise<{id: string, doc?: any, deleted: boolean}[]>} the winner of each, in their order
   */
  async docs (ids, { attachments = false, signal } = {}) {
    const local = attachments ? await this.#localDocs(ids) : new Map()
    const asked = ids.filter(id => !local.has(id))
    const found = await askAll(this.url, asked, async keys => {
      const { rows } = await this.request({ method: 'POST', path: '_all_docs', qs: { include_docs: true, ...(attachments && { attachments }) }, body: { keys }, signal })
      return rows.map(row => ({ ...row, id: row.id ?? row.key, ...(!row.error && !row.doc && !row.value?.deleted && { error: 'no document' }) }))
    }, { signal })
    return ids.map(id => {
      const row = found.get(id)?.[0]
      const doc = local.get(id) ?? row?.doc
      if (doc) this.#seen.set(id, doc)
      return { id, doc: doc ?? undefined, deleted: Boolean(row?.value?.deleted) }
    })
  }

  /** Documents with their images as areas have them, at the revision that was seen at the store. */
  async #localDocs (ids) {
    const local = new Map()
    for (const { db } of this.#areaDatabases()) {
      // it may be removed meanwhile
      const revs = await DatabaseReader.of(db).revs(ids).catch(() => new Map())
      for (const id of ids) {
        const { _rev: rev } = this.#seen.get(id) ?? {}
        if (!rev || revs.get(id) !== rev || local.has(id)) continue
        const doc = await DatabaseReader.of(db).whole(id, { rev }).catch(() => undefined)
        if (doc) local.set(id, doc)
      }
    }
    return local
  }

  /** @param {{method?: string, path: string, qs?: Record<string, any>, body?: any, signal?: AbortSignal}} request */
  request ({ body, ...request }) {
    const sent = typeof body === 'string' ? body : body && JSON.stringify(body)
    return this.#http.request({ ...request, body: sent, timeout: REQUEST_TIMEOUT })
  }

  /** A browser that asks for what is not there by its address says so on its console. */
  async get (id, signal) {
    const [{ doc }] = await this.docs([id], { signal })
    return doc
  }

  /** A gateway reads only. */
  async put (doc, signal) {
    try {
      return await this.#http.put(doc, signal)
    } catch (error) {
      throw error.details?.status === 405 ? new TilecouchError('READ_ONLY', { reason: `${this.url} only reads` }, { cause: error }) : error
    }
  }
}

/**
 * The store to upload to. The credentials of the areas' store are not sent to another one, nor used with another name.
 * @param {{couch: HttpCouch, remote: string, fetchOptions: any}} offline
 * @param {{to?: string, name?: string, password?: string, fetchOptions?: any}} options
 */
export function connectionOf ({ couch, remote, fetchOptions: usual }, { to, name, password = '', fetchOptions }) {
  if (to === undefined && name === undefined && fetchOptions === undefined) return couch
  const isUsual = to === undefined && name === undefined
  const http = new HttpCouch(to ?? remote, {
    fetchOptions: {
      ...(isUsual && usual), ...fetchOptions, headers: { ...(isUsual && usual.headers), ...fetchOptions?.headers }
    }
  })
  if (name === undefined) return http
  const address = new URL(http.url)
  address.username = encodeURIComponent(name)
  address.password = encodeURIComponent(password)
  return new HttpCouch(address.href, { fetchOptions: http.fetchOptions })
}
