// Reads tiles from CouchDB, many in one request. Reads that begin in the same moment, or while other requests are under
// way, are sent together. A document is read once for all clients that wait. Documents with their bytes come from
// _bulk_get, small ones in JSON and large ones as multipart. Timelines come from ranges of the primary index, which is
// always up to date.
import { noAnswer, winnerOf } from '../../../core/couch/answers.js'
import { TILE_ATTACHMENT } from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'
import { BY_TIME } from '../../../loader/store/reader.js'
import { unpack } from '../../../loader/formats/unpack.js'
import { ignoreRejection, waitFor } from '../shared-work.js'
import { Batches } from './batches.js'
import { TRIES, readTimelines } from './timelines.js'

const readerDefaults = {
  most: 64, // tiles in a request
  requests: 2, // under way: more of them would be smaller, and a request costs the store as much as three tiles
  busyWait: 1, // milliseconds to wait for more tiles while a request is under way: clients request the next tile
  attempts: 3, // reads of a tile that keeps changing while it is read
  pause: 50, // milliseconds before a second read, if the first one returned an outdated state
  splits: 24, // further requests after a failed one, to find the tile in it that cannot be read
  inline: 12000, // bytes of an average tile up to which JSON with base64 costs both sides less than multipart
  inlineAll: 400000, // the same limit for all tiles of a request: CouchDB builds the JSON completely first
  unpacked: 64e6, // bytes of all compressed tiles of an answer, after unpacking
  maxBytes: 4e6, // bytes of an answer, estimated from the average tile
  indexTimeout: 25000, // milliseconds for the time index, which may have to be updated first: no client waits for it
  timeout: 10000, // milliseconds without an answer of the store
  retries: 2, // repetitions of a request that met a lost connection or a busy server
  slow: 1000, // milliseconds of a slow request: read-ahead pauses after it, as after a failure
  rest: 10000 // milliseconds of that pause
}

/**
 * @typedef {import('../../../loader/store/couch.js').Couch} Couch
 * @typedef {{id: string, time: string, current: boolean}} Moment a version on the timeline of a tile
 * @typedef {{timeout?: number, retries?: number, anonymous?: boolean}} ReadOptions anonymous: without credentials
 * @typedef {import('./ahead.js').Block} Block for which something is read ahead
 */

export class StoreReader {
  #credentials = new AnonymousFirst()
  #restUntil = 0
  average = 20000 // bytes of a tile, a moving average

  /**
   * @param {{couch: Couch}} store @param {object} options
   * @param {Pick<import('./cache.js').TileCache, 'changes' | 'takeDocument' | 'takeTimeline'> &
   *   Partial<Pick<import('./cache.js').TileCache, 'onUse'>>} options.cache turns documents and timelines into answers
   * @param {Pick<import('../metrics.js').Metrics, 'storeRead'>} [options.metrics]
   * @param {Partial<typeof readerDefaults>} [options.limits]
   * @param {typeof readDocuments} [options.readDocuments]
   */
  constructor (store, { cache, metrics, limits, readDocuments: readDocs = readDocuments }) {
    this.couch = store.couch
    this.metrics = metrics
    this.limits = { ...readerDefaults, ...limits }
    const { changes } = cache
    /** Reads documents by the ids of heads and past versions. */
    this.documents = new SharedReads(changes, {
      limits: this.limits,
      most: () => Math.floor(this.limits.maxBytes / this.average),
      read: async ids => {
        const { inline: mostEach, inlineAll } = this.limits
        const inline = this.average <= mostEach && ids.length * this.average <= inlineAll
        const docs = await this.#request(readDocs, ids, { inline })
        return this.#measure(await unpackAll(docs, this.limits.unpacked))
      },
      check: (id, doc, readNumber) => changes.check(id, doc?._rev ?? null, readNumber),
      take: (id, doc, isCurrent, block) => cache.takeDocument(id, doc, isCurrent, block),
      onUse: (block, id) => cache.onUse?.(block, id)
    })
    /** Reads timelines by the ids of heads. */
    this.timelines = new SharedReads(changes, {
      limits: this.limits,
      read: ids => this.#request(readTimelines, ids),
      check: (id, moments, readNumber) => changes.checkTimeline(id, readNumber),
      take: (id, moments, isCurrent, block) => cache.takeTimeline(id, moments, isCurrent, block)
    })
  }

  /** Whether the latest requests to the store were quick and successful. */
  get isQuick () {
    return performance.now() >= this.#restUntil
  }

  /** Whether nothing is being read. */
  get isIdle () {
    return this.documents.isIdle && this.timelines.isIdle
  }

  /**
   * The time of the newest version in a layer up to a moment; undefined if the layer has no such version. Rejects
   * without a time index.
   * @param {string} layer @param {string} end @returns {Promise<string | undefined>}
   */
  async newestTime (layer, end) {
    const query = { reduce: false, descending: true, startkey: [layer, end, {}], endkey: [layer], limit: 1 }
    const options = { retries: 0, timeout: this.limits.indexTimeout }
    const send = anonymous => this.couch.queries(BY_TIME, [query], undefined, { ...options, anonymous })
    const [[row]] = await this.#credentials.read(send)
    return row?.key[1]
  }

  async #request (read, ids, options = {}) {
    const { timeout, retries } = this.limits
    const start = performance.now()
    let failed = true
    try {
      const send = anonymous => read(this.couch, ids, { ...options, anonymous, timeout, retries })
      const values = await this.#credentials.read(send)
      failed = false
      return values
    } finally {
      const now = performance.now()
      if (failed || now - start > this.limits.slow) this.#restUntil = now + this.limits.rest
      this.metrics?.storeRead({ tiles: ids.length, seconds: (now - start) / 1000, failed })
    }
  }

  #measure (docs) {
    let [bytes, tiles] = [0, 0]
    for (const doc of docs.values()) {
      if (!doc?._attachments) continue
      tiles++
      for (const { data } of Object.values(doc._attachments)) bytes += data?.length ?? 0
    }
    // larger tiles count at once, smaller ones gradually: too small a request costs less than one too large
    if (tiles) this.average = Math.max(bytes / tiles, this.average * 0.8 + bytes / tiles * 0.2, 1)
    return docs
  }
}

/**
 * @typedef {object} Job
 * @property {string} id
 * @property {Promise<any>} promise
 * @property {(value: any) => void} resolve
 * @property {(error: unknown) => void} reject
 * @property {number} waiting clients that wait for it
 * @property {number} attempts
 * @property {Block} [block] read-ahead: no client is waiting for it
 */

/** Reads of single documents or timelines, which share requests. */
class SharedReads {
  /** @type {Map<string, Job>} pending reads by id */
  #jobs = new Map()
  /** @type {Batches<Job>} */
  #batches

  /**
   * @param {import('./recent-changes.js').RecentChanges} changes @param {object} options
   * @param {typeof readerDefaults} options.limits
   * @param {() => number} [options.most] ids in a request, besides `limits.most`
   * @param {(ids: string[]) => Promise<Map<string, any>>} options.read an error in place of a value concerns that id
   *   only
   * @param {(id: string, value: any, readNumber: number) => import('./recent-changes.js').Verdict} options.check
   * @param {(id: string, value: any, isCurrent: boolean, block?: Block) => any} options.take makes the answer
   * @param {(block: Block, id: string) => void} [options.onUse] a client requests an id that is being read ahead
   */
  constructor (changes, options) {
    this.changes = changes
    this.options = options
    const { limits, most = () => Infinity } = options
    this.#batches = new Batches(jobs => this.#read(jobs, { left: limits.splits }), {
      most: () => Math.max(1, Math.min(limits.most, most())), atOnce: limits.requests, busyWait: limits.busyWait
    })
  }

  get isIdle () {
    return this.#jobs.size === 0
  }

  /**
   * @param {AbortSignal} [signal] of the client: if all clients leave before the request is sent, the id is not read
   * @returns {Promise<any>}
   */
  get (id, signal) {
    const job = this.#jobs.get(id) ?? this.#create(id)
    job.waiting++
    if (job.block) { // a client waits for it from now on
      this.options.onUse?.(job.block, id)
      job.block = undefined
      this.#batches.hurry(job)
    }
    const leave = () => { if (--job.waiting === 0 && this.#batches.remove(job)) this.#jobs.delete(id) }
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted) leave()
    return waitFor(job.promise, signal).finally(() => signal?.removeEventListener('abort', leave))
  }

  /** Reads an id for which no client waits yet. @param {string} id @param {Block} block @returns {Promise<any>} */
  getAhead (id, block) {
    return (this.#jobs.get(id) ?? this.#create(id, block)).promise
  }

  /** @param {Block} [block] @returns {Job} */
  #create (id, block) {
    const job = /** @type {Job} */ ({ id, waiting: 0, attempts: 0, block })
    job.promise = ignoreRejection(new Promise((resolve, reject) => Object.assign(job, { resolve, reject })))
    this.#jobs.set(id, job)
    if (block) this.#batches.addSpare(job)
    else this.#batches.add(job)
    return job
  }

  async #read (jobs, splits) {
    const readNumber = this.changes.beginRead()
    let values
    try {
      values = await this.options.read(jobs.map(({ id }) => id))
    } catch (error) {
      if (jobs.length === 1 || splits.left < 2 || !mayConcernOne(error)) {
        return jobs.forEach(job => this.#fail(job, error))
      }
      splits.left -= 2
      const half = jobs.length >> 1
      await this.#read(jobs.slice(0, half), splits)
      return this.#read(jobs.slice(half), splits)
    }
    for (const job of jobs) this.#settle(job, values.get(job.id), readNumber)
  }

  /** Runs in the same turn as the answer, so that no change can be reported between reading and keeping. */
  #settle (job, value, readNumber) {
    const { check, take, limits } = this.options
    if (value instanceof Error) return this.#fail(job, value)
    if (value === undefined) {
      return this.#fail(job, new TilecouchError('BAD_ANSWER', { url: job.id, why: 'it is missing' }))
    }
    try {
      const verdict = check(job.id, value, readNumber)
      if (verdict === 'current' || ++job.attempts >= limits.attempts) {
        const answer = take(job.id, value, verdict === 'current', job.block)
        this.#jobs.delete(job.id)
        job.resolve(answer)
      } else if (verdict === 'outdated') this.#requeue(job)
      else setTimeout(() => this.#requeue(job), limits.pause)
    } catch (error) {
      this.#fail(job, error)
    }
  }

  #requeue (job) {
    if (job.waiting > 0) this.#batches.add(job)
    else this.#jobs.delete(job.id)
  }

  #fail (job, error) {
    this.#jobs.delete(job.id)
    job.reject(error)
  }
}

/** Failures of the store itself: smaller requests do not help. */
const STORE_ERRORS = new Set(['UNREACHABLE', 'UNAUTHORIZED', 'FORBIDDEN', 'DATABASE_NOT_FOUND', 'ABORTED', 'DISK_FULL'])
const BUSY = new Set([429, 502, 503, 504])

/** Whether a single tile may have made a request fail. Then the request is split to find it. */
const mayConcernOne = error => !STORE_ERRORS.has(error.code) && !BUSY.has(error.details?.status)

/**
 * Reads documents with the bytes of their attachments; null: there is no such document.
 * @param {Couch} couch @param {any} ids @param {ReadOptions & {inline?: boolean}} [options] inline: in JSON
 * @returns {Promise<Map<string, any>>}
 */
export async function readDocuments (couch, ids, { inline, ...options } = {}) {
  const accept = inline ? { accept: 'application/json' } : {}
  const requestOptions = { ...options, attachments: true, packed: true, ...accept, limits: TRIES }
  const { leaves, failed } = await couch.tryLeaves(ids, requestOptions)
  return new Map(ids.map(id => {
    if (failed.has(id)) return [id, noAnswer(couch.url, [id], failed.get(id))]
    const winner = winnerOf(leaves.get(id))
    return [id, winner && !winner._deleted ? winner : null]
  }))
}

/**
 * Unpacks tiles that are compressed. CouchDB compresses types that it takes for text, and a writer can store compressed
 * bytes.
 * @param {Map<string, any>} docs @param {number} most bytes
 */
async function unpackAll (docs, most) {
  let remainingBytes = most
  for (const [id, doc] of docs) {
    const tile = doc?._attachments?.[TILE_ATTACHMENT]
    if (tile?.encoding !== 'gzip') continue
    try {
      tile.data = await unpack(tile.data, { limit: remainingBytes })
      remainingBytes -= tile.data.length
    } catch (error) {
      docs.set(id, new TilecouchError('BAD_ANSWER', { url: id, why: error.message }, { cause: error }))
    }
  }
  return docs
}

const REFUSED = 600000 // milliseconds after a refusal, during which requests are sent with credentials at once

/** Failures that credentials may avoid. Proxies may send their own pages to clients without credentials. */
const REFUSALS = new Set(['UNAUTHORIZED', 'FORBIDDEN', 'BAD_ANSWER'])
const REFUSAL_STATUSES = new Set([301, 302, 303, 307, 308, 405, 407])

/**
 * Reads a public store without the gateway's credentials: checking them costs CouchDB 0.2 ms a request. A refused read
 * is repeated with credentials, so that an operator may close a store at any time.
 */
export class AnonymousFirst {
  #credentialsUntil = 0

  /** @template T @param {(anonymous: boolean) => Promise<T>} read @returns {Promise<T>} */
  async read (read) {
    if (Date.now() < this.#credentialsUntil) return read(false)
    try {
      return await read(true)
    } catch (error) {
      if (!REFUSALS.has(error.code) && !REFUSAL_STATUSES.has(error.details?.status)) throw error
    }
    const answer = await read(false)
    this.#credentialsUntil = Date.now() + REFUSED
    return answer
  }
}
