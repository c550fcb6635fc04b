// The tiles of a store, at most a second behind it. Where the bytes of a tile come from:
//   cache.js      memory, which follows the changes of the store
//   reader.js     CouchDB, many tiles in one request
//   ahead.js      CouchDB, in advance: the neighbours of tiles that were not in memory
//   refresher.js  the upstream of a layer: refetches expired tiles, fetches missing ones, and stores them
// as-of.js finds the version for osm@2023. routes/tile.js calls `peek` and then `get`, and sends the answer.
import { isAdministrative, tileId } from '../../../core/index.js'
import { ignoring } from '../../../core/promises.js'
import { TilecouchError } from '../../../loader/errors.js'
import { Follower } from '../../../loader/store/follow.js'
import { ReadAhead } from './ahead.js'
import { AsOf } from './as-of.js'
import { TileCache } from './cache.js'
import { StoreReader } from './reader.js'
import { Refresher } from './refresher.js'

/**
 * - `hit`: from memory
 * - `miss`: from CouchDB
 * - `upstream`: fetched now
 * - `revalidated`: the upstream has just confirmed that it is unchanged
 * - `stale`: expired
 * @typedef {'hit' | 'miss' | 'upstream' | 'revalidated' | 'stale'} Outcome
 * @typedef {{entry: import('./entry.js').Entry, outcome: Outcome | string}} TileAnswer
 */

/**
 * The objects that the classes of this folder work with.
 * @typedef {object} Parts
 * @property {import('../../../loader/store/index.js').Store} store
 * @property {import('../layers.js').Layers} layers
 * @property {import('./upstreams.js').Upstreams} upstreams
 * @property {import('./memory.js').Memory<any>} memory
 * @property {TileCache} cache
 * @property {StoreReader} reader
 * @property {AsOf} asOf
 * @property {{isAnchored: boolean}} follower tiles are kept only while it reports the changes of the store
 * @property {any} metrics
 * @property {any} [log]
 * @property {{staleWhileRevalidate: number, staleIfError: number}} options seconds
 * @property {Record<string, any>} [limits] replace defaults of the files in this folder
 */

export class TileService {
  #cache
  #reader
  #asOf
  #ahead
  #refresher
  #follower

  /**
   * @param {Pick<Parts, 'store' | 'layers' | 'upstreams' | 'memory' | 'metrics' | 'log' | 'options' | 'limits'> &
   *   {onAdministrative?: (id?: string) => void}} parts onAdministrative: called when a document about the running of
   *   the store has changed; without an id, any document may have
   */
  constructor ({ store, layers, upstreams, memory, metrics, log, options, onAdministrative, limits = {} }) {
    this.layers = layers
    this.upstreams = upstreams
    const follower = this.#follower = new Follower(store, {
      log,
      limits,
      onChange: change => {
        if (isAdministrative(change.id)) return onAdministrative?.(change.id)
        if (change.id.includes(':')) this.#cache.changed(change) // design documents are not tiles
        layers.changed(change.id)
      },
      onReset: () => {
        this.#cache.reset()
        layers.reset()
        onAdministrative?.()
      }
    })
    const cache = this.#cache = new TileCache({ memory, layers, upstreams, follower, limits })
    const reader = this.#reader = new StoreReader(store, { cache, metrics, limits })
    this.#refresher = new Refresher({ store, cache, reader, metrics, log, options, limits })
    const asOf = this.#asOf = new AsOf({ cache, reader, limits })
    this.#ahead = new ReadAhead({ cache, reader, asOf, limits })
    layers.onChange = layersByName => {
      upstreams.retain(layersByName)
      cache.layersChanged()
    }
  }

  /** Starts to follow the store. Before that, no tile is kept in memory. */
  start () {
    return this.#follower.start()
  }

  /** Stops, after storing the fetched tiles. */
  async close () {
    await this.#follower.close()
    await this.#refresher.close()
  }

  /** The state of the follower, for metrics. */
  get following () {
    return this.#follower.state
  }

  /** Counts since the start. */
  get counts () {
    const { memory, missing } = this.#cache
    return { ...this.#refresher.counts, ...this.#ahead.counts, evicted: memory.counts.evicted, missing: missing.size }
  }

  /**
   * A tile from memory that needs no read, or undefined. Nearly every request ends here: one look-up, one
   * comparison.
   * @param {string} [time] as written
   * @returns {TileAnswer | undefined}
   */
  peek (layer, z, x, y, time) {
    const hit = this.#peek(tileId(layer, z, x, y), time)
    return hit && this.#isKept(hit, layer, z, x, y, time) ? hit : undefined
  }

  /** @returns {TileAnswer | undefined} */
  #peek (id, time) {
    const end = time === undefined ? undefined : this.#asOf.endInFuture(time)
    if (time !== undefined && end === undefined) return this.#asOf.peek(id, time)
    const entry = this.#cache.entry(id)
    if (entry === undefined) return undefined
    if (end !== undefined && entry.time > end) return this.#asOf.peek(id, time)
    return entry.bytes !== null && Date.now() < entry.freshUntil ? entry.hit : undefined
  }

  /**
   * A tile from memory, the store or the upstream.
   * @param {string} layer @param {number} z @param {number} x @param {number} y
   * @param {string} [time] as written; it means the end of its period
   * @param {{signal?: AbortSignal}} [options] signal: of the client; reads for others continue
   * @returns {Promise<TileAnswer>}
   */
  async get (layer, z, x, y, time, { signal } = {}) {
    let answer
    let missingError
    try {
      answer = await this.#get(layer, z, x, y, time, signal)
    } catch (error) {
      if (error.code !== 'TILE_NOT_FOUND') throw error
      missingError = error
    }
    if (!this.#isKept(answer, layer, z, x, y, time)) {
      throw new TilecouchError('NOT_KEPT', { id: tileId(layer, z, x, y), time })
    }
    if (!answer) throw missingError
    return answer
  }

  /**
   * Whether the store keeps a tile as of a time, by the limits of the layer. A head is valid from its own time on. An
   * upstream has tiles that the store lacks.
   * @param {TileAnswer | undefined} answer
   */
  #isKept (answer, layer, z, x, y, time) {
    const limits = this.layers.limitsOf(layer)
    if (!limits) return true
    const isHead = answer && !answer.entry.id.includes('@')
    const end = time === undefined || isHead ? undefined : this.#asOf.endOf(time).end
    if (limits.isKept(z, x, y, end, answer?.entry)) return true
    return Boolean(isHead && this.upstreams.of(this.layers.peek(layer))?.covers(z, x, y))
  }

  /** @returns {Promise<TileAnswer>} */
  async #get (layer, z, x, y, time, signal) {
    const document = await this.layers.find(layer) // may be missing: other programs may not write it
    const tile = { z, x, y }
    const id = tileId(layer, z, x, y)
    const end = time === undefined ? undefined : this.#asOf.endInFuture(time)
    if (document) this.#ahead.missed({ layer, ...tile, time: end === undefined ? time : undefined })
    try {
      if (time === undefined) return await this.#newest(id, tile, document, signal)
      if (end !== undefined) {
        const newest = await this.#newest(id, tile, document, signal).catch(ignoring('TILE_NOT_FOUND'))
        if (newest && newest.entry.time <= end) return newest
      }
      return await this.#asOf.get(id, time, signal)
    } catch (error) {
      throw error.code === 'TILE_NOT_FOUND' && !document ? new TilecouchError('LAYER_NOT_FOUND', { layer }) : error
    }
  }

  /**
   * The image of a document in the store, expired or not, without asking an upstream.
   * @param {string} id of a head or a past version
   * @param {{signal?: AbortSignal}} [options] signal: of the client
   * @returns {Promise<TileAnswer | null>} null: there is no such document, or no image in it
   */
  async stored (id, { signal } = {}) {
    const { entry, outcome } = await this.#read(id, signal)
    return entry?.bytes ? { entry, outcome } : null
  }

  /** The newest version from memory or the store, or from the upstream if these have none or an expired one. */
  async #newest (id, tile, layer, signal) {
    const upstream = this.upstreams.of(layer)
    const { entry, outcome } = await this.#read(id, signal)
    const isFetchNeeded = entry ? Date.now() >= entry.freshUntil : outcome === 'miss'
    if (isFetchNeeded && upstream?.covers(tile.z, tile.x, tile.y)) {
      return this.#refresher.get(layer, upstream, tile, entry, signal)
    }
    if (!entry?.bytes) throw new TilecouchError('TILE_NOT_FOUND', { id })
    return outcome === 'hit' ? entry.hit : { entry, outcome }
  }

  /**
   * A document in memory or in the store.
   * @returns {Promise<{entry: import('./entry.js').Entry | null, outcome: 'hit' | 'miss'}>} null: there is none. With
   *   `hit`, the upstream had no tile either, a moment ago
   */
  async #read (id, signal) {
    const cached = this.#cache.find(id)
    if (cached !== undefined) return { entry: cached, outcome: 'hit' }
    const entry = await this.#reader.documents.get(id, signal)
    return { entry: entry ?? this.#cache.entry(id) ?? null, outcome: 'miss' } // it may have been fetched meanwhile
  }
}
