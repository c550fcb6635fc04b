// The map as it is: from memory, from the store, or from the upstream of its layer when the store has nothing or what it
// has expired.
import { TilecouchError, tileId } from '../../core/index.js'
import { join, within } from './flight.js'

export const presentDefaults = {
  patience: 5000, // milliseconds for an upstream before a tile is shown that expired long ago
  rest: 10000 // milliseconds before the upstream is asked again for a tile that it has just failed to give
}

/**
 * @typedef {import('./tiles.js').Found} Found
 * @typedef {import('./entry.js').Entry} Entry
 * @typedef {import('./layers.js').Layer} Layer
 */

export class Present {
  /**
   * @param {object} parts
   * @param {import('./cache.js').TileCache} parts.cache
   * @param {import('./bulk.js').BulkReader} parts.reader
   * @param {import('./upstreams.js').Upstreams} parts.upstreams
   * @param {import('./refresher.js').Refresher} parts.refresher
   * @param {{now: () => number}} parts.clock
   * @param {{staleWhileRevalidate: number, staleIfError: number}} parts.options seconds
   * @param {Partial<typeof presentDefaults>} [parts.limits]
   */
  constructor ({ cache, reader, upstreams, refresher, clock, options, limits }) {
    this.limits = { ...presentDefaults, ...limits }
    this.cache = cache
    this.reader = reader
    this.upstreams = upstreams
    this.refresher = refresher
    this.clock = clock
    this.whileRevalidating = options.staleWhileRevalidate * 1000
    this.whenFailing = options.staleIfError * 1000
  }

  /**
   * @param {Layer | undefined} layer its document
   * @param {string} name
   * @param {number} z @param {number} x @param {number} y
   * @param {AbortSignal} [signal]
   * @returns {Promise<Found>}
   */
  async get (layer, name, z, x, y, signal) {
    const id = tileId(name, z, x, y)
    const upstream = this.upstreams.of(layer)
    const asked = upstream?.covers(z, x, y) ? upstream : null
    const { entry, outcome } = await this.#stored(id, signal)
    if (!asked || (entry && this.clock.now() < entry.freshUntil)) return this.#answer(id, entry, outcome)
    if (!entry && outcome === 'hit') return this.#answer(id, null, outcome) // it is not long ago that the upstream had nothing, either
    const fetch = () => this.refresher.refresh(/** @type {Layer} */ (layer), asked, { z, x, y }, entry)
    if (entry?.bytes) return this.#stale(entry, fetch, signal)
    const found = (await join(fetch(), signal)).get(id)
    return this.#answer(id, found ?? null, 'upstream')
  }

  /** What memory or the store holds; null: nothing. */
  async #stored (id, signal) {
    const known = this.cache.entry(id)
    if (known) return { entry: known, outcome: 'hit' }
    if (this.cache.isMissing(id)) return { entry: null, outcome: 'hit' }
    const entry = await this.reader.document(id, signal)
    // while the store was read somebody may have fetched it
    return { entry: entry ?? this.cache.entry(id) ?? null, outcome: 'miss' }
  }

  #answer (id, entry, outcome) {
    if (!entry?.bytes) throw new TilecouchError('TILE_NOT_FOUND', { id })
    return outcome === 'hit' ? entry.hit : { entry, outcome }
  }

  /**
   * An expired tile: shown at once while it is looked after, unless that is too long ago.
   * @param {Entry} entry
   * @param {() => Promise<Map<string, Entry>>} fetch
   * @param {AbortSignal} [signal]
   */
  async #stale (entry, fetch, signal) {
    const now = this.clock.now()
    const expired = now - entry.expiresAt
    const stale = { entry, outcome: 'stale' }
    if (now < entry.retryAt && expired <= this.whenFailing) return stale
    const flight = fetch().then(found => found, error => {
      entry.retryAt = this.clock.now() + this.limits.rest
      throw error
    })
    flight.catch(() => {})
    if (expired <= this.whileRevalidating) return stale
    try {
      const waited = join(flight, signal)
      const found = (await (expired <= this.whenFailing ? within(waited, this.limits.patience) : waited))?.get(entry.id)
      if (!found?.bytes) return stale // too late, or the upstream has no such tile any more: ours is the last there was
      return { entry: found, outcome: found.etag === entry.etag ? 'revalidated' : 'upstream' }
    } catch (error) {
      if (error.code === 'ABORTED' || expired > this.whenFailing) throw error
      return stale
    }
  }
}
