// Fetches tiles that are missing or have expired from the upstream of their layer, once for all who wait, and keeps them. A
// fetch goes on when everybody has left: it has been paid for.
import { TilecouchError, now as currentTime, tileId } from '../../core/index.js'
import { keep } from '../../loader/upstream/keep.js'
import { Entry } from './entry.js'
import { unattended, within } from './flight.js'
import { SparingLog } from './sparing.js'
import { StoreQueue } from './store-queue.js'

export const refreshDefaults = {
  storePatience: 3000, // milliseconds for the store to take what was fetched, before it is answered all the same
  unstored: 500, // fetches that wait for the store at most: beyond them tiles are answered and not stored
  closing: 10000 // milliseconds for what is under way when the gateway stops
}

/**
 * @typedef {import('./layers.js').Layer} Layer
 * @typedef {import('./upstreams.js').Upstream} Upstream
 * @typedef {{z: number, x: number, y: number}} Tile
 * @typedef {Map<string, Entry>} Found by the ids of heads
 */

export class Refresher {
  /** @type {Map<string, Promise<Found>>} by the key of what is fetched together */
  #flights = new Map()
  /** @type {Set<Promise<Found>>} */
  #storing = new Set()
  #stop = new AbortController()
  #giveUp = new AbortController()
  #queue

  /**
   * @param {object} parts
   * @param {import('../../loader/store/index.js').Store} parts.store
   * @param {import('./cache.js').TileCache} parts.cache
   * @param {import('./bulk.js').BulkReader} parts.reader
   * @param {any} [parts.metrics]
   * @param {any} [parts.log]
   * @param {Partial<typeof refreshDefaults & typeof import('./store-queue.js').queueDefaults>} [parts.limits]
   */
  constructor ({ store, cache, reader, metrics, log, limits = {} }) {
    this.limits = { ...refreshDefaults, ...limits }
    this.cache = cache
    this.reader = reader
    this.metrics = metrics
    this.log = new SparingLog(log)
    this.counts = { fetched: 0, unchanged: 0, missing: 0, failed: 0, stored: 0, unstored: 0, overtaken: 0 }
    this.#queue = new StoreQueue(store, { signal: this.#giveUp.signal, limits })
  }

  /** Fetches under way. */
  get size () {
    return this.#flights.size
  }

  /**
   * @param {Layer} layer @param {Upstream} upstream @param {Tile} tile
   * @param {Entry | null} entry what the store holds of it
   * @returns {Promise<Found>} what there is now of everything that was fetched; without the tile when there is none
   */
  refresh (layer, upstream, tile, entry) {
    const { key } = upstream.groupOf(tile.z, tile.x, tile.y)
    let flight = this.#flights.get(key)
    if (!flight) {
      flight = this.#stop.signal.aborted
        ? Promise.reject(new TilecouchError('ABORTED'))
        : this.#fetch(layer, upstream, tile, entry).finally(() => this.#flights.delete(key))
      this.#flights.set(key, unattended(flight))
    }
    return flight
  }

  async #fetch (layer, upstream, tile, entry) {
    const begun = this.cache.announced.begin()
    const answer = await this.#ask(layer, upstream, tile, entry)
    if (answer.kind === 'missing') {
      if (!entry) this.cache.setMissing(tileId(layer.layer, tile.z, tile.x, tile.y), answer.until)
      return new Map()
    }
    const fetched = { layer, answer, tile, entry, begun, time: currentTime() }
    if (this.#storing.size >= this.limits.unstored) return this.#unstored(fetched, new TilecouchError('UNREACHABLE', { url: this.#queue.url, why: 'too much waits to be stored' }))
    const storing = this.#store(fetched)
    this.#storing.add(storing)
    storing.finally(() => this.#storing.delete(storing))
    return await within(storing, this.limits.storePatience) ?? this.#unstored(fetched, new TilecouchError('UNREACHABLE', { url: this.#queue.url, why: 'storing takes long' }))
  }

  async #ask (layer, upstream, tile, entry) {
    const start = performance.now()
    let outcome = 'failed'
    try {
      const answer = await upstream.fetch(tile, { validators: entry?.bytes ? entry.origin : undefined, signal: this.#stop.signal })
      outcome = answer.kind
      this.counts[{ tiles: 'fetched', unchanged: 'unchanged', missing: 'missing' }[answer.kind]]++
      return answer
    } catch (error) {
      this.counts.failed++
      this.log.say('warn', `${layer.layer} ${error.code}`, { layer: layer.layer, ...tile, code: error.code, reason: error.message, advice: error.advice }, 'the upstream gave no tile')
      throw error
    } finally {
      this.metrics?.upstream({ layer: layer.layer, outcome, seconds: (performance.now() - start) / 1000 })
    }
  }

  /** Never fails: what cannot be stored is answered nevertheless. @returns {Promise<Found>} */
  async #store (fetched) {
    const { layer, answer, entry, time } = fetched
    // a tile that is in memory only is no head
    const head = entry === null ? null : entry.rev === null ? undefined : headOf(entry)
    let kept
    try {
      kept = await keep(/** @type {any} */ (this.#queue), layer, answer, { head, now: time })
    } catch (error) {
      return this.#unstored(fetched, error)
    }
    /** @type {Found} */
    const found = new Map()
    for (const tile of kept) {
      const now = await this.#kept(tile, fetched)
      if (now) found.set(tile.id, now)
    }
    return found
  }

  /** What there is now of one tile. */
  async #kept (tile, { answer, tile: asked, entry, begun }) {
    const { id, outcome, failure } = tile
    if (outcome === 'failed') {
      this.#failed(id, failure)
      return tile.bytes && this.cache.wrote(new Entry({ ...tile, rev: null, origin: answer.origin }), begun)
    }
    if (outcome === 'overtaken') {
      this.counts.overtaken++
      const isAsked = tile.z === asked.z && tile.x === asked.x && tile.y === asked.y
      if (!isAsked) return undefined // others are read when somebody wants them
      return this.reader.document(id).catch(error => {
        // what cannot be read is there all the same: what was shown before, or what was just fetched
        const shown = entry ?? (tile.bytes && new Entry({ ...tile, rev: null, origin: answer.origin }))
        if (!shown) throw error
        return shown
      })
    }
    this.counts.stored++
    const known = entry?.id === id ? entry : this.cache.entry(id)
    const bytes = tile.bytes ?? (known?.etag === etagOf(tile.digest) ? known.bytes : undefined)
    return bytes ? this.cache.wrote(new Entry({ ...tile, bytes, type: tile.type ?? known?.type, origin: answer.origin }), begun) : undefined
  }

  /** What was fetched, answered although the store has not got it. @returns {Found} */
  #unstored ({ layer, answer, entry, begun, time }, { code, message }) {
    this.#failed(layer.layer, { code, reason: message })
    if (answer.kind === 'unchanged') {
      // in memory it holds longer all the same: the upstream need not be asked with every request
      return new Map(entry?.bytes ? [[entry.id, this.cache.wrote(new Entry({ ...contentOf(entry), rev: null, expires: answer.expires }), begun)]] : [])
    }
    return new Map(answer.tiles.map(({ z, x, y, bytes, type }) => {
      const id = tileId(layer.layer, z, x, y)
      const tile = new Entry({ id, rev: null, time: answer.lastModified ?? time, stored: time, expires: answer.expires, origin: answer.origin, type, bytes })
      return [id, this.cache.wrote(tile, begun)]
    }))
  }

  #failed (what, { code, reason }) {
    this.counts.unstored++
    this.log.say('error', code, { what, code, reason }, 'a tile that was fetched could not be stored')
  }

  /** What is under way may end, and what was fetched is stored; for so long. */
  async close () {
    const ended = (async () => {
      await Promise.allSettled(this.#flights.values())
      this.#stop.abort()
      await Promise.allSettled(this.#storing)
      await this.#queue.drain()
    })()
    const late = setTimeout(() => {
      this.#stop.abort()
      this.#giveUp.abort()
    }, this.limits.closing)
    await ended
    clearTimeout(late)
  }
}

const etagOf = digest => digest && `"${digest.slice(4)}"`

/** @param {Entry} entry @returns {import('./entry.js').Content} */
const contentOf = ({ id, rev, time, stored, origin, type, bytes, etag }) => ({ id, rev, time, stored, origin, type, bytes: bytes ?? undefined, digest: `md5-${etag.slice(1, -1)}` })

/** As `keep` wants to know what the store holds. @param {Entry} entry */
function headOf ({ id, rev, time, stored, ownExpires, origin, type, bytes, etag }) {
  return { id, rev: /** @type {string} */ (rev), time, stored, expires: ownExpires, origin, type, digest: bytes ? `md5-${etag.slice(1, -1)}` : null }
}
