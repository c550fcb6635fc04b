// Counts what of an area is on the device: places, versions, bytes.
import { parseTileId } from '../../core/index.js'
import { NOTHING } from './note.js'

/** @typedef {{z: number, x: number, y: number, bytes: number, gone: boolean}} Counted a version of a tile */

export class Counter {
  #imaged = /** @type {Set<string>} */ (new Set()) // z/x/y of those that were counted with an image, until they are forgotten

  /** @param {import('./note.js').Counts} [counts] */
  constructor (counts = NOTHING) {
    this.counts = { ...counts }
  }

  /** @param {Counted} version @param {1 | -1} [sign] */
  add ({ z, x, y, bytes, gone }, sign = 1) {
    this.counts.versions += sign
    this.counts.bytes += sign * bytes
    const place = `${z}/${x}/${y}`
    if (gone || this.#imaged.has(place)) return
    this.#imaged.add(place)
    this.counts.tiles += sign
  }

  /**
   * What is on the device of whole tiles.
   * @param {import('./held.js').Held} held @param {Iterable<import('./listing.js').Range>} ranges
   * @param {{sign?: 1 | -1, except?: Set<string>}} [options] except: tiles, z/x/y
   */
  async addHeld (held, ranges, { sign = 1, except } = {}) {
    for (const range of ranges) {
      const versions = [...(await held.versions(range, true)).values()].map(({ id, bytes, gone }) => ({ ...parseTileId(id), bytes, gone }))
      for (const version of versions) if (!except?.has(`${version.z}/${version.x}/${version.y}`)) this.add(version, sign)
      this.forget(versions)
    }
  }

  /** Of these tiles no more comes. @param {Iterable<{z: number, x: number, y: number}>} tiles */
  forget (tiles) {
    for (const { z, x, y } of tiles) this.#imaged.delete(`${z}/${x}/${y}`)
  }
}
