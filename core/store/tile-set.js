// A set of tiles: a bit for each, in pieces as large as blocks are.
import { BLOCK_SIDE, placeOfTile } from './blocks.js'

export class TileSet {
  /** @type {Map<string, Uint8Array>} */
  #places = new Map()

  add (z, x, y) {
    const place = placeOfTile(z, x, y)
    let bits = this.#places.get(place)
    if (!bits) this.#places.set(place, bits = new Uint8Array(BLOCK_SIDE ** 2 / 8))
    bits[byteOf(x, y)] |= 1 << (x & 7)
  }

  has (z, x, y) {
    const bits = this.#places.get(placeOfTile(z, x, y))
    return Boolean(bits && bits[byteOf(x, y)] & 1 << (x & 7))
  }
}

const byteOf = (x, y) => ((y & 63) * BLOCK_SIDE + (x & 63)) >> 3
