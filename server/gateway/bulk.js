// Tiles out of the store: misses that come together share one request. Documents with their bytes come by _bulk_get, small ones
// in JSON and large ones as multipart; timelines by ranges of the primary index, which is never behind.
import { TILE_ATTACHMENT, TilecouchError, isExactTime, pastRange, timeline } from '../../core/index.js'
import { askEach, noAnswer, winnerOf } from '../../core/couch/answers.js'
import { unpack } from '../../loader/unpack.js'
import { timeoutSignal } from '../../core/abort.js'
import { AsNobody } from './as-nobody.js'
import { AGAIN, Gather, LATER } from './gather.js'

export const bulkDefaults = {
  inline: 12000, // bytes of a tile, as far as those before tell, up to which JSON with base64 costs both sides less than the dozen pieces of a multipart answer,
  inlineAll: 250000, // and bytes of all tiles of the request: CouchDB builds all of the JSON before it sends any
  unpacked: 64e6, // bytes that all that is packed in an answer may become
  maxBytes: 4e6, // bytes a request should bring at most, as far as the tiles before tell
  timeout: 10000, // milliseconds a request may take, repetitions included
  retries: 2 // repetitions of a request that met a lost connection or a busy server
}

/**
 * @typedef {import('../../loader/store/couch.js').Couch} Couch
 * @typedef {{id: string, time: string, current: boolean}} Moment a version on the timeline of a tile
 * @typedef {{signal?: AbortSignal, retries?: number, nobody?: boolean}} How nobody: without the name and password
 */

/** Somebody waits for a tile: what has no answer is not asked for long. */
const LIMITS = { tries: 3, firstDelay: 20 }

/**
 * Documents with the bytes of their attachments; null where there is none.
 * @param {Couch} couch @param {string[]} ids @param {How & {inline?: boolean}} [how] inline: in JSON
 * @returns {Promise<Map<string, any>>}
 */
export async function readDocuments (couch, ids, { inline, ...how } = {}) {
  const { leaves, failed } = await couch.tryLeaves(ids, { ...how, attachments: true, ...(inline && { accept: 'application/json' }), limits: LIMITS })
  return new Map(ids.map(id => [id, failed.has(id) ? noAnswer(couch.url, [id], failed.get(id)) : livingOf(leaves.get(id))]))
}

/**
 * CouchDB packs what it takes for text, whatever is in it, and a writer can store what is packed already.
 * @param {Map<string, any>} docs
 * @param {number} most bytes
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

/**
 * The versions of tiles, oldest first, by the ids of their heads.
 * @param {Couch} couch @param {string[]} ids @param {How} [how]
 * @returns {Promise<Map<string, Moment[] | Error>>}
 */
export async function readTimelines (couch, ids, how = {}) {
  const { rows, failed } = await askEach(ids, async left => {
    const [heads, ...pasts] = await couch.tryRanges([{ keys: left, include_docs: true }, ...left.map(pastRange)], how)
    // by key and not by place: of a single key that is not there CouchDB says nothing at all, and fails as a whole
    const byKey = new Map(heads?.rows?.map(row => [row.key, row]))
    return left.flatMap((id, at) => {
      const head = /** @type {any} */ (byKey.get(id)) ?? (left.length === 1 && heads?.rows && !heads.error ? { error: 'not_found' } : undefined)
      if (!head || !pasts[at]) return []
      if (head.error && head.error !== 'not_found') return { ...head, id }
      const { rows: past, error = past ? undefined : 'no rows', reason } = pasts[at]
      return { id, error, reason, head: head.doc, past }
    })
  }, { signal: how.signal, limits: LIMITS })
  return new Map(ids.map(id => [id, failed.has(id) ? noAnswer(couch.url, [id], failed.get(id)) : timelineOf(id, /** @type {any} */ (rows.get(id))[0])]))
}

function timelineOf (id, { head, past }) {
  /** @type {Moment[]} */
  const moments = []
  for (const row of past) {
    // an id that names no time is no version, whoever wrote it
    const time = row.id.slice(id.length + 1)
    if (isExactTime(time)) moments.push({ id: row.id, time, current: false })
  }
  if (isExactTime(head?.time)) moments.push({ id, time: head.time, current: true })
  return timeline(moments)
}

const livingOf = leaves => {
  const winner = winnerOf(leaves)
  return winner && !winner._deleted ? winner : null
}

export class BulkReader {
  #docs
  #timelines
  #nobody = new AsNobody()
  #average = 20000 // bytes of a tile, as lately seen

  /**
   * @param {import('../../loader/store/index.js').Store} store
   * @param {object} options
   * @param {import('./announced.js').Announced} options.announced
   * @param {(id: string, doc: any, keep: boolean) => any} options.onDocument makes what is handed out of what was read; keep: it may stay in memory
   * @param {(id: string, moments: Moment[], keep: boolean) => any} options.onTimeline
   * @param {(read: {tiles: number, seconds: number, failed?: boolean}) => void} [options.onRead] told of each request
   * @param {Partial<typeof bulkDefaults & typeof import('./gather.js').gatherDefaults>} [options.limits]
   * @param {typeof readDocuments} [options.readDocuments]
   */
  constructor (store, { announced, onDocument, onTimeline, onRead, limits = {}, readDocuments: readDocs = readDocuments }) {
    this.couch = store.couch
    this.announced = announced
    this.onRead = onRead
    this.limits = { ...bulkDefaults, ...limits }
    const begin = () => announced.begin()
    this.#docs = new Gather(keys => this.#timed(readDocs, keys, { inline: this.#mayInline(keys.length) }).then(docs => unpackAll(docs, this.limits.unpacked)).then(docs => this.#weigh(docs)), {
      ...limits,
      begin,
      room: () => Math.floor(this.limits.maxBytes / this.#average),
      settle: (id, doc, reading) => judged(announced.judge(id, doc?._rev ?? null, reading.begun), reading, keep => onDocument(id, doc, keep))
    })
    this.#timelines = new Gather(keys => this.#timed(readTimelines, keys), {
      ...limits,
      begin,
      settle: (id, moments, reading) => judged(announced.judgeTimeline(id, reading.begun), reading, keep => onTimeline(id, moments, keep))
    })
  }

  /**
   * A document with its bytes: a head or a past version, by its id.
   * @param {string} id @param {AbortSignal} [signal]
   */
  document (id, signal) {
    return this.#docs.get(id, signal)
  }

  /** @param {string} id of the head @param {AbortSignal} [signal] */
  timeline (id, signal) {
    return this.#timelines.get(id, signal)
  }

  #mayInline (tiles) {
    return this.#average <= this.limits.inline && tiles * this.#average <= this.limits.inlineAll
  }

  async #timed (read, keys, how = {}) {
    const { timeout, retries } = this.limits
    const wait = timeoutSignal(timeout)
    const start = performance.now()
    let failed = true
    try {
      const values = await this.#nobody.read(nobody => read(this.couch, keys, { ...how, nobody, signal: wait.signal, retries }))
      failed = false
      return values
    } catch (error) {
      if (error.code !== 'ABORTED') throw error
      throw new TilecouchError('UNREACHABLE', { url: this.couch.url, why: `no answer within ${timeout / 1000} s` })
    } finally {
      wait.end()
      this.onRead?.({ tiles: keys.length, seconds: (performance.now() - start) / 1000, failed })
    }
  }

  #weigh (docs) {
    let [bytes, tiles] = [0, 0]
    for (const doc of docs.values()) {
      if (!doc?._attachments) continue
      tiles++
      for (const { data } of Object.values(doc._attachments)) bytes += data?.length ?? 0
    }
    // larger tiles are believed at once, smaller ones by and by: too small a request costs less than one too large
    if (tiles) this.#average = Math.max(bytes / tiles, this.#average * 0.8 + bytes / tiles * 0.2, 1)
    return docs
  }
}

/** What becomes of a reading: kept, made again, or handed out once because the tile will not hold still. */
function judged (verdict, { last }, make) {
  if (verdict === 'true') return make(true)
  if (last) return make(false)
  return verdict === 'old' ? AGAIN : LATER
}

