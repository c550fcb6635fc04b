// Compares the features of vector tiles: reads and decodes the tiles that a diff returns.
import { FeatureDiff } from '../../../core/features.js'
import { TilecouchError } from '../../errors.js'
import { readBytesOf } from '../../store/fetch.js'
import { isGzip, isRawVectorTile, unpack } from '../../formats/unpack.js'
import { checkVectorTile } from '../../check/files/vector-tile.js'
import { diff } from './index.js'

export const featureDefaults = {
  batch: 50, // tiles per request
  batchBytes: 1e6, // bytes per request, unless one tile has more
  most: 250_000 // parts of differing features, which stay in memory until the last tile is read
}

const NAMED = 100 // listed tiles that cannot be read

/**
 * @typedef {object} FeatureSummary
 * @property {number} [zoom] undefined if no tile differs
 * @property {number} tiles compared tiles
 * @property {number} missing tiles of which a version was deleted meanwhile
 * @property {string[]} unreadable the first damaged tiles: their features are not compared
 * @property {Record<string, {added: number, removed: number, changed: number}>} layers by source layer
 */

/** Collects the tiles of a diff. Only the deepest zoom counts, because its features are the most exact. */
export class FeatureChanges {
  #couch
  #ids
  #signal
  #differ
  /** @type {import('./changes.js').Change[]} */
  #batch = []
  #bytes = 0
  /** @type {number | undefined} */
  #zoom
  #tiles = 0
  #missing = 0
  /** @type {string[]} */
  #unreadable = []

  /**
   * @param {import('../../store/index.js').Store} store
   * @param {{ids?: boolean, signal?: AbortSignal}} [options] ids: see FeatureDiff
   */
  constructor (store, { ids, signal } = {}) {
    this.#couch = store.couch
    this.#ids = ids
    this.#signal = signal
    this.#differ = new FeatureDiff({ ids })
  }

  /** @param {import('./changes.js').Change} change */
  async add (change) {
    const { z, from, to } = change
    if (this.#zoom !== undefined && z < this.#zoom) return
    if (this.#zoom === undefined || z > this.#zoom) this.#restart(z)
    this.#batch.push(change)
    this.#bytes += (from?.size ?? 0) + (to?.size ?? 0)
    if (this.#batch.length >= featureDefaults.batch || this.#bytes >= featureDefaults.batchBytes) await this.finish()
  }

  #restart (zoom) {
    this.#zoom = zoom
    this.#differ = new FeatureDiff({ ids: this.#ids })
    this.#batch = []
    this.#bytes = this.#tiles = this.#missing = 0
    this.#unreadable = []
  }

  /** Reads the collected tiles. Call it after the last tile. */
  async finish () {
    const batch = this.#batch
    this.#batch = []
    this.#bytes = 0
    const listed = batch.flatMap(({ from, to }) => /** @type {any[]} */ ([from, to]).filter(Boolean))
    const storedTiles = await readBytesOf(this.#couch, listed, { signal: this.#signal })
    const tileByEntry = new Map(listed.map((entry, index) => [entry, storedTiles[index]]))
    for (const { z, x, y, from, to } of batch) {
      const stored = [from, to].map(side => side && tileByEntry.get(side))
      if ((from && !stored[0]) || (to && !stored[1])) this.#missing++
      else await this.#compare({ z, x, y }, stored.map(side => side?.bytes))
    }
  }

  /** @param {{z: number, x: number, y: number}} tile @param {(Buffer | undefined)[]} sides */
  async #compare (tile, sides) {
    this.#tiles++
    try {
      const [before, after] = await Promise.all(sides.map(bytes => bytes && contentOf(bytes, tile)))
      this.#differ.add(tile, before, after)
    } catch (error) {
      if (error.code === 'NOT_VECTOR_TILES') throw error
      this.#unreadable.push(`${tile.z}/${tile.x}/${tile.y}`)
    }
    const { most } = featureDefaults
    if (this.#differ.size > most) throw new TilecouchError('TOO_MANY_FEATURES', { most })
  }

  /** The differences as GeoJSON, source layer by source layer. */
  features () {
    return this.#differ.features()
  }

  /** @returns {FeatureSummary} */
  get summary () {
    /** @type {FeatureSummary['layers']} */
    const layers = {}
    for (const { properties: { source_layer: layer, change } } of this.features()) {
      layers[layer] ??= { added: 0, removed: 0, changed: 0 }
      layers[layer][change]++
    }
    const unreadable = this.#unreadable.slice(0, NAMED)
    return { zoom: this.#zoom, tiles: this.#tiles, missing: this.#missing, unreadable, layers }
  }
}

/** @param {Buffer} bytes of a tile, unpacked if they are a vector tile */
async function contentOf (bytes, { z, x, y }) {
  if (!isGzip(bytes) && !isRawVectorTile(bytes)) {
    throw new TilecouchError('NOT_VECTOR_TILES', { value: `${z}/${x}/${y}` })
  }
  const content = isGzip(bytes) ? await unpack(bytes) : bytes
  const { damage } = checkVectorTile(content)
  if (damage) throw new Error(damage)
  return content
}

/**
 * The features that differ between two times of a layer of vector tiles, or two layers.
 * @param {import('../../store/index.js').Store} store
 * @param {string} from `osm@2023`, or `osm` as it is now
 * @param {string} to
 * @param {{ids?: boolean} & import('./index.js').DiffOptions} [options] ids: false if the encoder only
 *   numbers features
 * @returns {Promise<FeatureSummary & {features: Generator<import('../../../core/features.js').Difference>}>}
 */
export async function diffFeatures (store, from, to, { ids, onTile, ...options } = {}) {
  const changes = new FeatureChanges(store, { ids, signal: options.signal })
  await diff(store, from, to, {
    ...options,
    onTile: async change => {
      await onTile?.(change)
      await changes.add(change)
    }
  })
  await changes.finish()
  return { ...changes.summary, features: changes.features() }
}
