// Finds tiles that were only encoded anew, if the layer does not count them as changes (`same`). The load then uses the
// bytes that the layer shows at its time instead of those of the source. Manifests and mirrors need not know of it.
import { isLayerField, tileId } from '../../core/index.js'
import { canonicalText } from '../../core/features.js'
import { Semaphore } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'
import { readBytesOf } from '../store/fetch.js'
import { storedVersionOf } from '../store/reader.js'
import { digestOf, imageOf } from '../store/tile.js'
import { isGzip, isRawVectorTile, unpack } from '../formats/unpack.js'
import { checkVectorTile } from '../check/files/vector-tile.js'

export const sameDefaults = {
  concurrency: 4, // tiles decoded at once: as many as libuv has threads
  side: 4096 // pixels: larger images are compared by their bytes
}

/** The field `same` of a layer; null for `bytes`, which removes it. @param {unknown} value @returns {string | null} */
export function checkSame (value) {
  if (value === 'bytes') return null
  if (isLayerField('same', value)) return /** @type {string} */ (value)
  throw new TilecouchError('BAD_OPTION', {
    option: '--same', value, why: 'it is bytes, pixels, pixels:N with N from 0 to 99, or features'
  })
}

export class SameTiles {
  /** Number of tiles that were encoded anew. */
  count = 0
  #store
  #options
  #isAlike
  #decoding = new Semaphore(sameDefaults.concurrency)
  /** @type {{tile: any, resolve: (shown: Buffer | undefined) => void, reject: (error: Error) => void}[]} */
  #requests = []

  /**
   * @param {import('../store/index.js').Store} store
   * @param {{layer: string, same: string, time: string, signal?: AbortSignal,
   *   isKnown: (tile: any) => boolean | undefined | Promise<boolean | undefined>}} options
   *   same: `pixels`, `pixels:2` or `features`; isKnown: whether a tile is as the newest edition says
   */
  static async open (store, options) {
    const [what, tolerance = '0'] = options.same.split(':')
    const isAlike = what === 'features' ? haveSameFeatures : await pixelComparison(Number(tolerance))
    return new SameTiles(store, { ...options, what }, isAlike)
  }

  /** Use `SameTiles.open`. */
  constructor (store, options, isAlike) {
    this.#store = store
    this.#options = options
    this.#isAlike = isAlike
  }

  /** Refuses a source that cannot be compared. @param {Uint8Array | null | undefined} bytes of the first tile */
  check (bytes) {
    const { layer, what } = this.#options
    if (!bytes?.length || isVector(bytes) === (what === 'features')) return
    throw new TilecouchError('SAME_UNFIT', {
      layer, what, why: `the source has ${isVector(bytes) ? 'vector tiles' : 'images'}`
    })
  }

  /**
   * The bytes to load: those of the version that the layer shows if they count as the same, else those of the source.
   * @param {{z: number, x: number, y: number}} tile
   * @param {Buffer} bytes
   * @returns {Promise<Buffer>}
   */
  async bytesFor ({ z, x, y }, bytes) {
    const { layer, isKnown } = this.#options
    const digest = digestOf(bytes)
    const tile = { id: tileId(layer, z, x, y), layer, z, x, y, digest }
    if (await isKnown(tile)) return bytes
    const shown = await this.#readShown(tile)
    const isSame = shown && await this.#decoding.run(() => this.#isAlike(shown, bytes).catch(() => false))
    if (isSame) this.count++
    return isSame ? shown : bytes
  }

  /** Reads the bytes of the version that is shown, if they differ. Calls at the same time share one request. */
  #readShown (tile) {
    return new Promise((resolve, reject) => {
      this.#requests.push({ tile, resolve, reject })
      if (this.#requests.length === 1) setImmediate(() => this.#answerRequests())
    })
  }

  async #answerRequests () {
    const requests = this.#requests
    this.#requests = []
    try {
      const versions = await this.#versions(requests.map(({ tile }) => tile))
      const differing = requests.filter(({ tile }) => {
        const version = versions.get(tile.id)
        return version && !version.gone && version.digest !== tile.digest
      })
      const shownVersions = differing.map(({ tile }) => versions.get(tile.id))
      const { couch } = this.#store
      const storedTiles = await readBytesOf(couch, shownVersions, { signal: this.#options.signal })
      const bytesById = new Map(differing.map(({ tile }, index) => [tile.id, storedTiles[index]?.bytes]))
      for (const { tile, resolve } of requests) resolve(bytesById.get(tile.id))
    } catch (error) {
      for (const { reject } of requests) reject(error)
    }
  }

  /** The versions that the layer shows at the time of the load, without bytes; by the ids of heads. */
  async #versions (tiles) {
    const { time, signal } = this.#options
    const { couch } = this.#store
    const versions = await this.#store.versionsById(tiles.map(({ id }) => id), { signal })
    const later = tiles.map(({ id }) => id).filter(id => versions.get(id)?.time > time)
    if (!later.length) return versions
    const ranges = later.map(id =>
      ({ startkey: `${id}@${time}`, endkey: `${id}@`, descending: true, limit: 1, include_docs: true }))
    const rows = await couch.ranges(ranges)
    for (const [index, id] of later.entries()) {
      const doc = rows[index][0]?.doc
      if (imageOf(doc)) versions.set(id, storedVersionOf(doc))
      else versions.delete(id)
    }
    return versions
  }
}

const isVector = bytes => isGzip(bytes) || isRawVectorTile(bytes)

/** @param {Buffer} shown @param {Buffer} bytes */
async function haveSameFeatures (shown, bytes) {
  const [shownText, newText] = await Promise.all([shown, bytes].map(async packed => {
    const content = await unpack(packed)
    return checkVectorTile(content).damage ? undefined : canonicalText(content)
  }))
  return shownText !== undefined && shownText === newText
}

/** @param {number} tolerance in which the channels of a pixel may differ */
async function pixelComparison (tolerance) {
  const { default: sharp } = await import('sharp') // only loaded if it is needed
  const limitInputPixels = sameDefaults.side ** 2

  /** Red, green, blue and opacity of every pixel; undefined for images with several pages or more than 8 bits. */
  async function pixelsOf (bytes) {
    const image = sharp(bytes, { failOn: 'error', limitInputPixels })
    const { depth, pages = 1 } = await image.metadata()
    if (depth !== 'uchar' || pages > 1) return undefined
    const { data, info } = await image.toColourspace('srgb').ensureAlpha().raw().toBuffer({ resolveWithObject: true })
    return info.channels === 4 ? { data, width: info.width } : undefined
  }

  return async (shown, bytes) => {
    const [a, b] = await Promise.all([shown, bytes].map(pixelsOf))
    if (!a || !b || a.width !== b.width || a.data.length !== b.data.length) return false
    return a.data.equals(b.data) || areAlike(a.data, b.data, tolerance)
  }
}

function areAlike (a, b, tolerance) {
  for (let pixel = 0; pixel < a.length; pixel += 4) {
    if (!a[pixel + 3] && !b[pixel + 3]) continue // the colour of an invisible pixel does not count
    for (let channel = pixel; channel < pixel + 4; channel++) {
      if (Math.abs(a[channel] - b[channel]) > tolerance) return false
    }
  }
  return true
}
