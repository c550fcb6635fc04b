// A block has the statements of one edition about 64 x 64 tiles of a zoom, eight bytes per tile. The name of a block is
// derived from its content, so that editions with the same content share it.
//
//   dense    0, x, y, width, height, then eight bytes for every tile of that box, row by row
//   sparse   1, then for every tile two bytes of its position (64 * row + column) and eight bytes
//
// Eight zero bytes: the edition did not read this tile. Eight bytes of 255: the edition found no tile there.

import { cached } from '../cache.js'
import { MAX_ZOOM } from '../grid.js'

export const BLOCK_SIDE = 64 // tiles, in columns as in rows
const TILES = BLOCK_SIDE ** 2
const BYTES = 8 // of the digest of a tile that are stored
const HEAD = 5 // bytes before the digests of a dense block

/** The content of a version that says "gone". */
export const GONE = 'gone'

/**
 * Identifies the content of a version by the first eight bytes of its digest.
 * @param {string | null | undefined} digest `md5-…` as CouchDB writes it; null when gone
 */
export const contentOf = digest => digest ? atob(digest.slice(4, 16)).slice(0, BYTES) : GONE

/** The place of a block. @param {number} y of a tile */
export const placeOfTile = (z, x, y) => `${z}:${x >> 6}:${y >> 6}`

/** Whether a zoom has such a block. @param {number} y column and row of the block */
export const hasBlock = (z, x, y) => z <= MAX_ZOOM && Math.max(x, y) < Math.ceil(2 ** z / BLOCK_SIDE)

/** The tile of a place with the smallest x and y. */
export function firstTileOf (place) {
  const [z, column, row] = place.split(':').map(Number)
  return { z, x: column * BLOCK_SIDE, y: row * BLOCK_SIDE }
}

/** Every tile of a place. @returns {Generator<{z: number, x: number, y: number}>} */
export function * tilesOfPlace (place) {
  const first = firstTileOf(place)
  const { z } = first
  const endOf = start => Math.min(start + BLOCK_SIDE, 2 ** z)
  for (let { x } = first; x < endOf(first.x); x++) {
    for (let { y } = first; y < endOf(first.y); y++) yield { z, x, y }
  }
}

/** The places that a range of tiles touches. @returns {Generator<string>} */
export function * placesIn (z, { x0, x1, y0, y1 }) {
  for (let column = x0 >> 6; column <= x1 >> 6; column++) {
    for (let row = y0 >> 6; row <= y1 >> 6; row++) yield `${z}:${column}:${row}`
  }
}

export class Block {
  /** @param {Uint8Array} [digests] of all tiles, row by row */
  constructor (digests = new Uint8Array(TILES * BYTES)) {
    this.digests = digests
  }

  /**
   * The content of a tile; undefined if the edition did not read it.
   * @param {number} y of the tile in its zoom
   * @returns {string | undefined}
   */
  get (x, y) {
    const { digests } = this
    const start = offsetOf(x, y)
    let [text, someBits, everyBit] = ['', 0, 255]
    for (let offset = start; offset < start + BYTES; offset++) {
      const byte = digests[offset]
      someBits |= byte
      everyBit &= byte
      text += String.fromCharCode(byte)
    }
    if (someBits === 0) return undefined
    return everyBit === 255 ? GONE : text
  }

  /** @param {string} content see `contentOf` */
  set (x, y, content) {
    const start = offsetOf(x, y)
    if (content === GONE) this.digests.fill(255, start, start + BYTES)
    else for (let byte = 0; byte < BYTES; byte++) this.digests[start + byte] = content.charCodeAt(byte)
  }

  /**
   * The tiles that the edition read.
   * @param {string} place of the block
   * @returns {Generator<{z: number, x: number, y: number}>}
   */
  * tilesAt (place) {
    const { z, x, y } = firstTileOf(place)
    for (const { column, row } of this.tiles()) yield { z, x: x + column, y: y + row }
  }

  /** The tiles that the edition read. @returns {Generator<{column: number, row: number}>} within the block */
  * tiles () {
    for (let position = 0; position < TILES; position++) {
      if (this.#isSet(position)) yield { column: position % BLOCK_SIDE, row: Math.floor(position / BLOCK_SIDE) }
    }
  }

  #isSet (position) {
    const { digests } = this
    for (let byte = position * BYTES; byte < (position + 1) * BYTES; byte++) if (digests[byte]) return true
    return false
  }

  /** The block as it is stored. @returns {Uint8Array} */
  encode () {
    const tiles = [...this.tiles()]
    const columns = tiles.map(({ column }) => column)
    const rows = tiles.map(({ row }) => row)
    const [x, y] = [Math.min(...columns), Math.min(...rows)]
    const [width, height] = [Math.max(...columns) - x + 1, Math.max(...rows) - y + 1]
    if (tiles.length * (BYTES + 2) + 1 < HEAD + width * height * BYTES) return this.#sparse(tiles)
    const bytes = new Uint8Array(HEAD + width * height * BYTES)
    bytes.set([0, x, y, width, height])
    for (let row = 0; row < height; row++) {
      const start = ((y + row) * BLOCK_SIDE + x) * BYTES
      bytes.set(this.digests.subarray(start, start + width * BYTES), HEAD + row * width * BYTES)
    }
    return bytes
  }

  #sparse (tiles) {
    const bytes = new Uint8Array(1 + tiles.length * (BYTES + 2))
    bytes[0] = 1
    tiles.forEach(({ column, row }, index) => {
      const position = row * BLOCK_SIDE + column
      const start = 1 + index * (BYTES + 2)
      bytes.set([position >> 8, position & 255], start)
      bytes.set(this.digests.subarray(position * BYTES, (position + 1) * BYTES), start + 2)
    })
    return bytes
  }

  /** Decodes a stored block. @returns {Block | undefined} undefined: it is not valid */
  static decode (bytes) {
    const block = new Block()
    if (bytes[0] === 0) {
      const [, x, y, width, height] = bytes
      const line = width * BYTES
      if (x + width > BLOCK_SIDE || y + height > BLOCK_SIDE || bytes.length !== HEAD + height * line) return undefined
      for (let row = 0; row < height; row++) {
        const start = HEAD + row * line
        block.digests.set(bytes.subarray(start, start + line), ((y + row) * BLOCK_SIDE + x) * BYTES)
      }
      return block
    }
    if (bytes[0] !== 1 || (bytes.length - 1) % (BYTES + 2)) return undefined
    for (let start = 1; start < bytes.length; start += BYTES + 2) {
      const position = bytes[start] << 8 | bytes[start + 1]
      if (position >= TILES) return undefined
      block.digests.set(bytes.subarray(start + 2, start + 2 + BYTES), position * BYTES)
    }
    return block
  }
}

const offsetOf = (x, y) => ((y & 63) * BLOCK_SIDE + (x & 63)) * BYTES

/** A set of tiles, with one bit per tile in pieces of the size of blocks. */
export class TileSet {
  /** @type {Map<string, Uint8Array>} */
  #places = new Map()

  add (z, x, y) {
    const bits = cached(this.#places, placeOfTile(z, x, y), () => new Uint8Array(BLOCK_SIDE ** 2 / 8))
    bits[byteOf(x, y)] |= 1 << (x & 7)
  }

  has (z, x, y) {
    const bits = this.#places.get(placeOfTile(z, x, y))
    return Boolean(bits && bits[byteOf(x, y)] & 1 << (x & 7))
  }
}

const byteOf = (x, y) => ((y & 63) * BLOCK_SIDE + (x & 63)) >> 3
