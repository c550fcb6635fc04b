// The images of versions, decoded. They come through the caches of the layers, so that nothing is fetched twice; what a
// picture does not need any more is let go of.
import L from 'leaflet'
import { versionKey } from '../../client/engine/image-cache.js'
import { TilecouchError } from '../../core/index.js'

/**
 * @typedef {import('../../client/source/couch-source.js').Version} Version
 * @typedef {{cache: any, version: Version, image: Promise<ImageBitmap>, turn: number}} Held
 */

export class Images {
  /** @type {Map<string, Held>} */
  #held = new Map()
  #turn = 0

  /** From here on, what is not wanted again is let go of with `forget`. */
  begin () {
    this.#turn++
  }

  /** @param {any} cache the ImageCache of a layer @param {Version} version @returns {Promise<ImageBitmap>} */
  want (cache, version) {
    const key = `${L.stamp(cache)} ${versionKey(version)}`
    let held = this.#held.get(key)
    if (!held) {
      held = { cache, version, image: this.#load(cache, version), turn: 0 }
      held.image.catch(() => {}) // whoever draws it hears of it
      this.#held.set(key, held)
    }
    held.turn = this.#turn
    return held.image
  }

  forget () {
    for (const [key, held] of this.#held) if (held.turn < this.#turn) this.#drop(key, held)
  }

  /** Ends everything. */
  close () {
    for (const [key, held] of this.#held) this.#drop(key, held)
  }

  async #load (cache, version, isSecond = false) {
    const blob = await cache.load(version, { urgent: false, user: this })
    try {
      return await createImageBitmap(blob)
    } catch {
      cache.forget(version)
      if (!isSecond) return this.#load(cache, version, true)
      throw new TilecouchError('TRUNCATED_IMAGE', { type: blob.type || 'image', why: 'the browser cannot decode it' })
    }
  }

  #drop (key, { cache, version, image }) {
    this.#held.delete(key)
    cache.release(version, this, { abort: true })
    image.then(bitmap => bitmap.close(), () => {})
  }
}

/**
 * An image of a layer that is no history: of any server, as long as that lets pages read it.
 * @param {string} url @param {AbortSignal} signal
 * @returns {Promise<HTMLImageElement | null>} null where there is none
 */
export async function plainImage (url, signal) {
  const image = new Image()
  image.crossOrigin = 'anonymous' // what a page may not read would make the whole picture unreadable
  image.src = url
  const stop = () => { image.src = '' }
  signal.addEventListener('abort', stop)
  const isThere = await image.decode().then(() => true, () => false)
  signal.removeEventListener('abort', stop)
  return isThere ? image : null
}
