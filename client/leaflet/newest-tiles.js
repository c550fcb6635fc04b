// The newest tiles as images made of Blobs, for a layer that also reads from the device. The device's image is shown
// first; a newer one from the network replaces it when it is decoded.
import { TilecouchError } from '../../core/index.js'
import { decodeImage } from './tile-view.js'

const WHOLE_TILE = { up: 0, dx: 0, dy: 0 }

/**
 * @typedef {object} NewestTile
 * @property {import('./tile-view.js').TileView} view
 * @property {L.Coords} coords
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {(error?: Error) => void} ready called once: with the first image or the first error
 * @property {AbortController} [stop] of the present attempt
 * @property {boolean} [isReported] whether `ready` was called
 * @property {boolean} [lacks] something better might come
 * @property {{key: string, up: number, isHeld: boolean} | null} [shown] key: names the content, where it is known;
 *   isHeld: by an area
 */

export class NewestTiles {
  /** @type {Set<NewestTile>} */
  #items = new Set()
  #heads
  #listeners

  /**
   * @param {import('../offline/head-source.js').HeadSource} heads
   * @param {{onLoad: (item: NewestTile) => void, onError: (item: NewestTile, error: any) => void}} listeners
   *   onLoad: of a tile that was ready before; onError: also of tiles that show something else meanwhile
   */
  constructor (heads, listeners) {
    this.#heads = heads
    this.#listeners = listeners
  }

  /** @param {NewestTile} item */
  add (item) {
    this.#items.add(item)
    this.#draw(item)
  }

  /** @param {NewestTile} item */
  remove (item) {
    this.#items.delete(item)
    item.stop?.abort()
  }

  /** Tries again what did not come, or only from the device. */
  retry () {
    for (const item of this.#items) if (item.lacks) this.#draw(item)
  }

  /**
   * Draws tiles anew; what they show stays until then.
   * @param {(item: NewestTile) => boolean} [wanted]
   * @param {{fresh?: boolean}} [options] fresh: not from the browser's cache
   */
  refresh (wanted = () => true, options) {
    for (const item of this.#items) if (wanted(item)) this.#draw(item, options)
  }

  /**
   * Tiles came to the device, became others there, or left it.
   * @param {(tiles: NewestTile[]) => Promise<(import('../offline/database-reader.js').HeldVersion | undefined)[]>} ask
   *   what the device has now
   */
  async compareWithDevice (ask) {
    const items = [...this.#items]
    const versions = await ask(items)
    for (const [at, item] of items.entries()) {
      if (!this.#items.has(item)) continue
      const key = keyOf(versions[at])
      if (key ? item.shown?.key !== key || item.lacks : item.shown?.isHeld) this.#draw(item)
      else if (key) item.view.note(true)
      else if (item.lacks) this.#showPlaceholder(item, /** @type {AbortController} */ (item.stop).signal)
    }
  }

  /** @param {NewestTile} item @param {{fresh?: boolean}} [options] */
  async #draw (item, options) {
    item.stop?.abort()
    const { signal } = item.stop = new AbortController()
    const { z, x, y } = item
    try {
      const local = await this.#heads.fromDevice(z, x, y)
      if (local && await this.#show(item, local, WHOLE_TILE, signal)) return
      if (local === null) throw new TilecouchError('TILE_NOT_FOUND', { id: `${z}/${x}/${y}` })
      const asked = this.#heads.fromNetwork(z, x, y, signal, { fresh: options?.fresh || Boolean(local) })
      asked.catch(() => {}) // handled below
      if (!item.shown) await this.#showPlaceholder(item, signal)
      const remote = await asked
      if (await this.#show(item, remote, WHOLE_TILE, signal)) return
      const type = remote.blob.type || 'image'
      throw new TilecouchError('TRUNCATED_IMAGE', { type, why: 'the browser cannot decode it' })
    } catch (error) {
      await this.#fail(item, error, signal)
    }
  }

  /** Shows a part of an ancestor. */
  async #showPlaceholder (item, signal) {
    const part = await this.#heads.placeholder(item.z, item.x, item.y).catch(() => undefined)
    if (part && part.up < (item.shown?.up ?? Infinity)) await this.#show(item, { ...part, isOld: true }, part, signal)
  }

  async #fail (item, error, signal) {
    if (signal.aborted) return
    if (error.code === 'TILE_NOT_FOUND') {
      if (item.shown?.up === 0) this.#empty(item)
      if (!item.shown) await this.#showPlaceholder(item, signal)
      if (signal.aborted) return
    }
    item.lacks = true
    this.#listeners.onError(item, error)
    if (item.isReported) return
    item.isReported = true
    item.ready(error)
  }

  /**
   * @param {NewestTile} item @param {import('../offline/head-source.js').Head} head
   * @param {{up: number, dx: number, dy: number}} place
   * @param {AbortSignal} signal
   * @returns {Promise<boolean>} whether it could be painted, or is no longer wanted
   */
  async #show (item, { blob, version, digest, isFromDevice, isOld = false }, { up, dx, dy }, signal) {
    if (signal.aborted) return true
    const key = digest ?? keyOf(version)
    if (!key || key !== item.shown?.key || up !== item.shown?.up) {
      const image = await decodeImage(blob).catch(() => undefined)
      if (signal.aborted) return true
      if (!image) return false
      item.view.show(image, { up, dx, dy }, 0)
    }
    item.shown = { key, up, isHeld: isFromDevice && Boolean(digest) }
    item.lacks = isOld
    item.view.note(isFromDevice)
    item.view.mark(false)
    this.#reportReady(item)
    return true
  }

  #empty (item) {
    item.view.show(null, null, 0)
    item.view.note(false)
    item.shown = null
  }

  #reportReady (item) {
    if (item.isReported) return this.#listeners.onLoad(item)
    item.isReported = true
    item.ready()
  }
}

/** Names a content. */
const keyOf = version => version && !version.gone ? version.digest ?? version.rev : ''
