// The tiles of a store, as quickly as they can be had and never older than a second: from memory, which follows the changes
// of the store; from CouchDB, many misses in one request; from the upstream of a layer, and then kept.
import { TilecouchError, tileId } from '../../core/index.js'
import { BulkReader } from './bulk.js'
import { TileCache } from './cache.js'
import { Clock } from './clock.js'
import { Follower } from '../../loader/store/follow.js'
import { Past } from './past.js'
import { Present } from './present.js'
import { Refresher } from './refresher.js'

/**
 * - `hit`: from memory
 * - `miss`: from CouchDB
 * - `upstream`: fetched now
 * - `revalidated`: the upstream has just said that it is still the same
 * - `stale`: expired
 * @typedef {'hit' | 'miss' | 'upstream' | 'revalidated' | 'stale'} Outcome
 * @typedef {{entry: import('./entry.js').Entry, outcome: Outcome | string}} Found
 */

export class TileService {
  #cache
  #reader
  #past
  #present
  #refresher
  #follower
  #clock = new Clock()

  /**
   * @param {object} parts
   * @param {import('../../loader/store/index.js').Store} parts.store
   * @param {import('./layers.js').LayerBook} parts.layers
   * @param {import('./upstreams.js').Upstreams} parts.upstreams
   * @param {import('./memory.js').Memory<any>} parts.memory
   * @param {any} [parts.metrics]
   * @param {any} [parts.log]
   * @param {{staleWhileRevalidate: number, staleIfError: number}} parts.options seconds
   * @param {Record<string, any>} [parts.limits] other than the defaults of bulk, gather, follow, cache, present, refresher
   */
  constructor ({ store, layers, upstreams, memory, metrics, log, options, limits = {} }) {
    this.layers = layers
    const clock = this.#clock
    const cache = new TileCache({
      memory, layers, upstreams, clock, limits,
      mayKeep: () => this.#follower.isAnchored
    })
    const reader = new BulkReader(store, {
      announced: cache.announced,
      onDocument: (id, doc, keep) => cache.read(id, doc, keep),
      onTimeline: (id, moments, keep) => cache.readTimeline(id, moments, keep),
      onRead: metrics && (read => metrics.storeRead(read)),
      limits
    })
    this.#cache = cache
    this.#reader = reader
    this.#refresher = new Refresher({ store, cache, reader, metrics, log, limits })
    this.#past = new Past({ cache, reader })
    this.#present = new Present({ cache, reader, upstreams, refresher: this.#refresher, clock, options, limits })
    this.#follower = new Follower(store, {
      log,
      limits,
      onChange: change => {
        // layers, editions and design documents are no tiles, and drop none
        if (change.id.includes(':')) cache.changed(change)
        layers.changed(change.id)
      },
      onReset: () => {
        cache.reset()
        layers.reset()
      }
    })
    layers.onChange = book => {
      upstreams.retain(book)
      cache.refit()
    }
  }

  /** Follows the store from now on. Nothing is kept before. */
  start () {
    return this.#follower.start()
  }

  /** Stops; what was fetched and has yet to be stored is stored. */
  async close () {
    await this.#follower.close()
    await this.#refresher.close()
  }

  /** How the changes of the store are followed. */
  get following () {
    return this.#follower.state
  }

  /** What has happened, in numbers. */
  get counts () {
    return { ...this.#refresher.counts, evicted: this.#cache.memory.evicted, missing: this.#cache.missing.size }
  }

  /**
   * A tile from memory that may be answered as it is, or nothing. What the gateway does all day: one look, one comparison.
   * @param {string} layer @param {number} z @param {number} x @param {number} y
   * @param {string} [time] as written
   * @returns {Found | undefined}
   */
  peek (layer, z, x, y, time) {
    const id = tileId(layer, z, x, y)
    const end = time === undefined ? undefined : this.#past.endToCome(time, this.#clock.now())
    if (time !== undefined && end === undefined) return this.#past.look(id, time)
    const entry = this.#cache.entry(id)
    if (entry !== undefined && end !== undefined && entry.time > end) return this.#past.look(id, /** @type {string} */ (time))
    return entry !== undefined && entry.bytes !== null && this.#clock.now() < entry.freshUntil ? entry.hit : undefined
  }

  /**
   * @param {string} layer @param {number} z @param {number} x @param {number} y
   * @param {string} [time] as written: the end of the period it names
   * @param {{signal?: AbortSignal}} [options] signal: of the client; what others wait for goes on
   * @returns {Promise<Found>}
   */
  async get (layer, z, x, y, time, { signal } = {}) {
    const found = this.peek(layer, z, x, y, time)
    if (found) return found
    // tiles may be there without a document of their layer: other programs write none
    const document = await this.layers.find(layer)
    try {
      const end = time === undefined ? undefined : this.#past.endToCome(time, this.#clock.now())
      if (time === undefined || end !== undefined) {
        const present = await this.#present.get(document, layer, z, x, y, signal).catch(error => {
          if (end === undefined || error.code !== 'TILE_NOT_FOUND') throw error
        })
        if (present && (end === undefined || present.entry.time <= end)) return present
      }
      return await this.#past.get(tileId(layer, z, x, y), /** @type {string} */ (time), signal)
    } catch (error) {
      throw error.code === 'TILE_NOT_FOUND' && !document ? new TilecouchError('LAYER_NOT_FOUND', { layer }) : error
    }
  }

  /**
   * The image of a document as the store holds it, expired or not, whatever an upstream may have: from memory, else read
   * with others, and kept.
   * @param {string} id of a head or a past version
   * @param {{signal?: AbortSignal}} [options] signal: of the client
   * @returns {Promise<Found | null>} null: there is no such document, or no image in it
   */
  async stored (id, { signal } = {}) {
    const known = this.#cache.entry(id)
    const entry = known ?? (this.#cache.isMissing(id) ? null : await this.#reader.document(id, signal))
    return entry?.bytes ? { entry, outcome: known ? 'hit' : 'miss' } : null
  }
}
