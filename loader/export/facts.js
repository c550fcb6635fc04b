// What went into a target: counted as it goes, told in its metadata.
import { extensionOf } from '../../core/index.js'
import { Extent } from '../../core/store/extent.js'

export class Facts {
  tiles = 0
  bytes = 0
  /** Tiles by content type. @type {Record<string, number>} */
  types = {}
  /** @type {string | undefined} earliest time of a tile */
  first
  /** @type {string | undefined} latest time of a tile */
  last
  #extent = new Extent()

  /** @param {{z: number, x: number, y: number, time?: string, type?: string, size: number}} tile */
  add ({ z, x, y, time, type, size }) {
    this.tiles++
    this.bytes += size
    if (type) this.types[type] = (this.types[type] ?? 0) + 1
    if (time && (!this.first || time < this.first)) this.first = time
    if (time && (!this.last || time > this.last)) this.last = time
    this.#extent.add(z, x, y)
  }

  get minzoom () { return this.tiles ? Math.min(...this.#extent.zooms.keys()) : undefined }
  get maxzoom () { return this.tiles ? Math.max(...this.#extent.zooms.keys()) : undefined }

  /** West, south, east, north: the box that all tiles touch. @returns {[number, number, number, number] | undefined} */
  get bounds () { return this.tiles ? this.#extent.bounds : undefined }

  get areTypesKnown () {
    return Object.values(this.types).reduce((sum, tiles) => sum + tiles, 0) === this.tiles
  }

  /** The content type of most tiles. */
  get type () {
    return Object.entries(this.types).sort((a, b) => b[1] - a[1])[0]?.[0]
  }

  /** Extension of that type. */
  get format () {
    return extensionOf(this.type)
  }
}
