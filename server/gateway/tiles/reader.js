// Reads tiles from CouchDB, many in one request: what is wanted in the same moment, or while other requests are under
// way, is asked for together, and each document once, however many wait for it. Documents with their bytes come by
// _bulk_get, small ones in JSON and large ones as multipart; timelines by ranges of the primary index, which is never
// behind.
import { noAnswer, winnerOf } from '../../../core/couch/answers.js'
import { TILE_ATTACHMENT } from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'
import { BY_TIME } from '../../../loader/store/reader.js'
import { unpack } from '../../../loader/formats/unpack.js'
import { ignoreRejection, waitFor } from '../shared-work.js'
import { Batches } from './batches.js'
import { TRIES, readTimelines } from './timelines.js'

const readerDefaults = {
  most: 64, // tiles a request asks for at most
  requests: 2, // under way at most: more would make each smaller, and a request costs the store as much as three tiles
  busyWait: 1, // milliseconds to wait for more tiles while a request is under way: clients ask for the next tile
  attempts: 3, // reads of a tile that keeps changing while it is read
  pause: 50, // milliseconds before something is read again that was older than what is known
  splits: 24, // more requests that a failed one may cost, to find the one tile in it that cannot be read
  inline: 12000, // bytes of an average tile up to which JSON with base64 costs both sides less than multipart
  inlineAll: 400000, // the same of all tiles of a request: CouchDB builds all of the JSON before it sends any
  unpacked: 64e6, // bytes that everything packed in an answer may become
  maxBytes: 4e6, // bytes of an answer, going by the average tile
  indexTimeout: 25000, // milliseconds for the time index, which may have to be brought up to date: nobody waits for it
  timeout: 10000, // milliseconds without an answer of the store
  retries: 2, // repetitions of a request that met a lost connection or a busy server
  slow: 1000, // milliseconds of a request after which nothing is read ahead for some time, as after a failure
  rest: 10000 // milliseconds of that time
}

/**
 * @typedef {import('../../../loader/store/couch.js').Couch} Couch
 * @typedef {{id: string, time: string, current: boolean}} Moment a version on the timeline of a tile
 * @typedef {{timeout?: number, retries?: number, anonymous?: boolean}} How anonymous: without the name and password
 * @typedef {import('./ahead.js').Block} Block for which something is read ahead
 */

export class StoreReader {
  #credentials = new AnonymousFirst()
  #restUntil = 0
  average = 20000 // bytes of a tile, as lately seen

  /**
   * @param {{couch: Couch}} store @param {object} options
   * @param {Pick<import('./cache.js').TileCache, 'changes' | 'takeDocument' | 'takeTimeline'> &
   *   Partial<Pick<import('./cache.js').TileCache, 'onUse'>>} options.cache makes the answer of what was read
   * @param {Pick<import('../metrics.js').Metrics, 'storeRead'>} [options.metrics]
   * @param {Partial<typeof readerDefaults>} [options.limits]
   * @param {typeof readDocuments} [options.readDocuments]
   */
  constructor (store, { cache, metrics, limits, readDocuments: readDocs = readDocuments }) {
    this.couch = store.couch
    this.metrics = metrics
    this.limits = { ...readerDefaults, ...limits }
    const { changes } = cache
    /** By the ids of heads and past versions. */
    this.documents = new SharedReads(changes, {
      limits: this.limits,
      most: () => Math.floor(this.limits.maxBytes / this.average),
      read: async ids => {
        const { inline: mostEach, inlineAll } = this.limits
        const inline = this.average <= mostEach && ids.length * this.average <= inlineAll
        const docs = await this.#request(readDocs, ids, { inline })
        return this.#measure(await unpackAll(docs, this.limits.unpacked))
      },
      check: (id, doc, begun) => changes.check(id, doc?._rev ?? null, begun),
      take: (id, doc, isCurrent, block) => cache.takeDocument(id, doc, isCurrent, block),
      onUse: (block, id) => cache.onUse?.(block, id)
    })
    /** By the ids of heads. */
    this.timelines = new SharedReads(changes, {
      limits: this.limits,
      read: ids => this.#request(readTimelines, ids),
      check: (id, moments, begun) => changes.checkTimeline(id, begun),
      take: (id, moments, isCurrent, block) => cache.takeTimeline(id, moments, isCurrent, block)
    })
  }

  /** Whether the store has answered, and quickly, for some time. */
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
    const how = { retries: 0, timeout: this.limits.indexTimeout }
    const ask = anonymous => this.couch.queries(BY_TIME, [query], undefined, { ...how, anonymous })
    const [[row]] = await this.#credentials.read(ask)
    return row?.key[1]
  }

  async #request (read, ids, how = {}) {
    const { timeout, retries } = this.limits
    const start = performance.now()
    let failed = true
    try {
      const send = anonymous => read(this.couch, ids, { ...how, anonymous, timeout, retries })
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

/** Reads of single things that share requests. */
class SharedReads {
  /** @type {Map<string, Job>} everything that is wanted */
  #jobs = new Map()
  /** @type {Batches<Job>} */
  #batches

  /**
   * @param {import('./recent-changes.js').RecentChanges} changes @param {object} options
   * @param {typeof readerDefaults} options.limits
   * @param {() => number} [options.most] of a request, besides `limits.most`
   * @param {(ids: string[]) => Promise<Map<string, any>>} options.read an error in place of a value concerns that one
   *   alone
   * @param {(id: string, value: any, begun: number) => import('./recent-changes.js').Verdict} options.check
   * @param {(id: string, value: any, isCurrent: boolean, block?: Block) => any} options.take makes the answer
   * @param {(block: Block, id: string) => void} [options.onUse] somebody asks for what is being read ahead
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
   * @param {AbortSignal} [signal] of the client: what all clients have left before it was asked for is not asked for
   * @returns {Promise<any>}
   */
  get (id, signal) {
    const job = this.#jobs.get(id) ?? this.#create(id)
    job.waiting++
    if (job.block) { // somebody waits for it from now on
      this.options.onUse?.(job.block, id)
      job.block = undefined
      this.#batches.hurry(job)
    }
    const leave = () => { if (--job.waiting === 0 && this.#batches.remove(job)) this.#jobs.delete(id) }
    signal?.addEventListener('abort', leave, { once: true })
    if (signal?.aborted) leave()
    return waitFor(job.promise, signal).finally(() => signal?.removeEventListener('abort', leave))
  }

  /** The same, while nobody waits for it. @param {string} id @param {Block} block @returns {Promise<any>} */
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
    const begun = this.changes.beginRead()
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
    for (const job of jobs) this.#settle(job, values.get(job.id), begun)
  }

  /** In the turn in which the answer came, so that no change can be reported between reading and keeping. */
  #settle (job, value, begun) {
    const { check, take, limits } = this.options
    if (value instanceof Error) return this.#fail(job, value)
    if (value === undefined) {
      return this.#fail(job, new TilecouchError('BAD_ANSWER', { url: job.id, why: 'it is missing' }))
    }
    try {
      const verdict = check(job.id, value, begun)
      if (verdict === 'current' || ++job.attempts >= limits.attempts) {
        const answer = take(job.id, value, verdict === 'current', job.block)
        this.#jobs.delete(job.id)
        job.resolve(answer)
      } else if (verdict === 'outdated') this.#again(job)
      else setTimeout(() => this.#again(job), limits.pause)
    } catch (error) {
      this.#fail(job, error)
    }
  }

  #again (job) {
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

/** Whether one tile among many may be why a request failed: then it is looked for, and the others are read. */
const mayConcernOne = error => !STORE_ERRORS.has(error.code) && !BUSY.has(error.details?.status)

/**
 * Documents with the bytes of their attachments; null where there is none.
 * @param {Couch} couch @param {any} ids @param {How & {inline?: boolean}} [how] inline: in JSON
 * @returns {Promise<Map<string, any>>}
 */
export async function readDocuments (couch, ids, { inline, ...how } = {}) {
  const accept = inline ? { accept: 'application/json' } : {}
  const reading = { ...how, attachments: true, packed: true, ...accept, limits: TRIES }
  const { leaves, failed } = await couch.tryLeaves(ids, reading)
  return new Map(ids.map(id => {
    if (failed.has(id)) return [id, noAnswer(couch.url, [id], failed.get(id))]
    const winner = winnerOf(leaves.get(id))
    return [id, winner && !winner._deleted ? winner : null]
  }))
}

/**
 * CouchDB packs what it takes for text, whatever is in it, and a writer can store what is packed already.
 * @param {Map<string, any>} docs @param {number} most bytes
 */
async function unpackAll (docs, most) {
  let left = most
  for (const [id, doc] of docs) {
    const tile = doc?._attachments?.[TILE_ATTACHMENT]
    if (tile?.encoding !== 'gzip') continue
    try {
      tile.data = await unpack(tile.data, { limit: left })
      left -= tile.data.length
    } catch (error) {
      docs.set(id, new TilecouchError('BAD_ANSWER', { url: id, why: error.message }, { cause: error }))
    }
  }
  return docs
}

const REFUSED = 600000 // milliseconds in which a store that refused a reader without a name is asked with it at once

/** Failures that a name and password may avoid. Proxies have pages of their own for those who have none. */
const REFUSALS = new Set(['UNAUTHORIZED', 'FORBIDDEN', 'BAD_ANSWER'])
const STATUSES = new Set([301, 302, 303, 307, 308, 405, 407])

/**
 * Reads a store without the gateway's name and password while it lets everybody read: to check them costs CouchDB 0.2
 * ms a request. What is refused is asked again with them, so that a store may be closed at any time.
 */
export class AnonymousFirst {
  #until = 0

  /** @template T @param {(anonymous: boolean) => Promise<T>} read @returns {Promise<T>} */
  async read (read) {
    if (Date.now() < this.#until) return read(false)
    try {
      return await read(true)
    } catch (error) {
      if (!REFUSALS.has(error.code) && !STATUSES.has(error.details?.status)) throw error
    }
    const answer = await read(false)
    this.#until = Date.now() + REFUSED
    return answer
  }
}
