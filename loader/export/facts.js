// What went into a target: counted as it goes, told in its metadata.
import { formats, tileBounds } from '../../core/index.js'

const clamp = (value, most) => Math.min(Math.max(value, -most), most)

export class Facts {
  tiles = 0
  bytes = 0
  /** Tiles by content type. @type {Record<string, number>} */
  types = {}
  /** @type {string | undefined} earliest time of a tile */
  first
  /** @type {string | undefined} latest time of a tile */
  last
  /** Columns and rows seen at each zoom. @type {Map<number, number[]>} */
  #boxes = new Map()

  /** @param {{z: number, x: number, y: number, time?: string, type?: string, size: number}} tile */
  add ({ z, x, y, time, type, size }) {
    this.tiles++
    this.bytes += size
    if (type) this.types[type] = (this.types[type] ?? 0) + 1
    if (time && (!this.first || time < this.first)) this.first = time
    if (time && (!this.last || time > this.last)) this.last = time
    const box = this.#boxes.get(z)
    if (!box) this.#boxes.set(z, [x, y, x, y])
    else {
      if (x < box[0]) box[0] = x
      if (y < box[1]) box[1] = y
      if (x > box[2]) box[2] = x
      if (y > box[3]) box[3] = y
    }
  }

  get minzoom () { return this.tiles ? Math.min(...this.#boxes.keys()) : undefined }
  get maxzoom () { return this.tiles ? Math.max(...this.#boxes.keys()) : undefined }

  /** West, south, east, north of the tiles of the finest zoom: coarse ones reach far beyond the map. @returns {[number, number, number, number] | undefined} */
  get bounds () {
    if (this.maxzoom === undefined) return undefined
    const [x0, y0, x1, y1] = /** @type {number[]} */ (this.#boxes.get(this.maxzoom))
    const [west, , , north] = tileBounds(this.maxzoom, x0, y0)
    const [, south, east] = tileBounds(this.maxzoom, x1, y1)
    return [clamp(west, 180), clamp(south, 90), clamp(east, 180), clamp(north, 90)]
  }

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

/** @param {string | undefined} type content type */
export const extensionOf = type => Object.values(formats).find(format => format.type === type)?.ext
