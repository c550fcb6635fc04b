// Tiles that were only encoded anew are no change, where the layer says so (`same`): the load then takes the bytes that
// the layer shows at its time, as if the source had given those. Manifests, versions and mirrors need not know of it.
import { TILE_ATTACHMENT, isLayerField, tileId } from '../../core/index.js'
import { canonicalText } from '../../core/features.js'
import { Semaphore } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'
import { readBytesOf } from '../store/fetch.js'
import { describe } from '../store/reader.js'
import { digestOf } from '../store/tile.js'
import { isGzip, isRawVectorTile, unpack } from '../formats/unpack.js'
import { checkVectorTile } from '../check/files/vector-tile.js'

export const sameDefaults = {
  concurrency: 4, // tiles decoded at once: as many as libuv has threads
  side: 4096 // pixels: larger images are compared by their bytes
}

/** `same` of a layer, where `bytes` takes it back. @param {unknown} value @returns {string | null} */
export function checkSame (value) {
  if (value === 'bytes') return null
  if (isLayerField('same', value)) return /** @type {string} */ (value)
  throw new TilecouchError('BAD_OPTION', {
    option: '--same', value, why: 'it is bytes, pixels, pixels:N with N from 0 to 99, or features'
  })
}

export class SameTiles {
  /** Tiles that were encoded anew. */
  count = 0
  #store
  #of
  #isAlike
  #decoding = new Semaphore(sameDefaults.concurrency)
  /** @type {{tile: any, resolve: (shown: Buffer | undefined) => void, reject: (error: Error) => void}[]} */
  #asked = []

  /**
   * @param {import('../store/index.js').Store} store
   * @param {{layer: string, same: string, time: string, signal?: AbortSignal,
   *   isKnown: (tile: any) => boolean | undefined | Promise<boolean | undefined>}} of
   *   same: `pixels`, `pixels:2` or `features`; isKnown: whether a tile is as the newest edition says
   */
  static async open (store, of) {
    const [what, tolerance = '0'] = of.same.split(':')
    const isAlike = what === 'features' ? haveSameFeatures : await pixelComparison(Number(tolerance))
    return new SameTiles(store, { ...of, what }, isAlike)
  }

  /** Use `SameTiles.open`. */
  constructor (store, of, isAlike) {
    this.#store = store
    this.#of = of
    this.#isAlike = isAlike
  }

  /** Refuses what cannot be compared like this. @param {Uint8Array | null | undefined} bytes of the first tile */
  check (bytes) {
    const { layer, what } = this.#of
    if (!bytes?.length || isVector(bytes) === (what === 'features')) return
    throw new TilecouchError('SAME_UNFIT', {
      layer, what, why: `the source has ${isVector(bytes) ? 'vector tiles' : 'images'}`
    })
  }

  /**
   * The bytes to load for those of the source: of the version that the layer shows, if that means the same.
   * @param {{z: number, x: number, y: number}} tile
   * @param {Buffer} bytes
   * @returns {Promise<Buffer>}
   */
  async bytesFor ({ z, x, y }, bytes) {
    const { layer, isKnown } = this.#of
    const digest = digestOf(bytes)
    const tile = { id: tileId(layer, z, x, y), layer, z, x, y, digest }
    if (await isKnown(tile)) return bytes
    const shown = await this.#shown(tile)
    const isSame = shown && await this.#decoding.run(() => this.#isAlike(shown, bytes).catch(() => false))
    if (isSame) this.count++
    return isSame ? shown : bytes
  }

  /** The bytes of the version that is shown, if they are others. Those of tiles that are read together: in one go. */
  #shown (tile) {
    return new Promise((resolve, reject) => {
      this.#asked.push({ tile, resolve, reject })
      if (this.#asked.length === 1) setImmediate(() => this.#answer())
    })
  }

  async #answer () {
    const asked = this.#asked
    this.#asked = []
    try {
      const versions = await this.#versions(asked.map(({ tile }) => tile))
      const others = asked.filter(({ tile }) => {
        const version = versions.get(tile.id)
        return version && !version.gone && version.digest !== tile.digest
      })
      const listed = others.map(({ tile }) => versions.get(tile.id))
      const { couch } = this.#store
      const storedTiles = await readBytesOf(couch, listed, { signal: this.#of.signal })
      const bytes = new Map(others.map(({ tile }, index) => [tile.id, storedTiles[index]?.bytes]))
      for (const { tile, resolve } of asked) resolve(bytes.get(tile.id))
    } catch (error) {
      for (const { reject } of asked) reject(error)
    }
  }

  /** What the layer shows at the time of the load, without bytes; by the ids of heads. */
  async #versions (tiles) {
    const { time, signal } = this.#of
    const { couch } = this.#store
    const versions = await this.#store.versionsById(tiles.map(({ id }) => id), { signal })
    const later = tiles.map(({ id }) => id).filter(id => versions.get(id)?.time > time)
    if (!later.length) return versions
    const ranges = later.map(id =>
      ({ startkey: `${id}@${time}`, endkey: `${id}@`, descending: true, limit: 1, include_docs: true }))
    const rows = await couch.ranges(ranges)
    for (const [index, id] of later.entries()) {
      const doc = rows[index][0]?.doc
      if (doc?._attachments?.[TILE_ATTACHMENT]) versions.set(id, describe(doc))
      else versions.delete(id)
    }
    return versions
  }
}

const isVector = bytes => isGzip(bytes) || isRawVectorTile(bytes)

/** @param {Buffer} shown @param {Buffer} bytes */
async function haveSameFeatures (shown, bytes) {
  const [one, other] = await Promise.all([shown, bytes].map(async packed => {
    const content = await unpack(packed)
    return checkVectorTile(content).damage ? undefined : canonicalText(content)
  }))
  return one !== undefined && one === other
}

/** @param {number} tolerance in which the channels of a pixel may differ */
async function pixelComparison (tolerance) {
  const { default: sharp } = await import('sharp') // loaded where it is needed
  const limitInputPixels = sameDefaults.side ** 2

  /** Red, green, blue and opacity of every pixel, or nothing for what has more. */
  async function pixelsOf (bytes) {
    const image = sharp(bytes, { failOn: 'error', limitInputPixels })
    const { depth, pages = 1 } = await image.metadata()
    if (depth !== 'uchar' || pages > 1) return undefined
    const { data, info } = await image.toColourspace('srgb').ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    return info.channels === 4 ? { data, width: info.width } : undefined
  }

  return async (shown, bytes) => {
    const [one, other] = await Promise.all([shown, bytes].map(pixelsOf))
    if (!one || !other || one.width !== other.width || one.data.length !== other.data.length) return false
    return one.data.equals(other.data) || areAlike(one.data, other.data, tolerance)
  }
}

function areAlike (one, other, tolerance) {
  for (let at = 0; at < one.length; at += 4) {
    if (!one[at + 3] && !other[at + 3]) continue // the colour of what is not seen
    for (let channel = at; channel < at + 4; channel++) {
      if (Math.abs(one[channel] - other[channel]) > tolerance) return false
    }
  }
  return true
}
