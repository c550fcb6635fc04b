// Reads the surroundings of tiles that were not in memory, before anybody asks for them: viewers ask for neighbours.
// Once two tiles beside each other were missing, the others of their block are read in the same requests. When the
// tiles that are asked for move towards an edge of the block and the store has nothing else to read, so is the block
// behind that edge.
//
// It is paid from a credit. Every tile that is read ahead takes from it, and gives back four times as much when
// somebody asks for it: it goes on while a quarter of the tiles are wanted. Single tiles here and there, or a layer of
// which most is missing, soon leave no more than a small share.
import { LRUCache } from 'lru-cache'
import { headId, parseTileId, tileId } from '../../../core/index.js'

const aheadDefaults = {
  sides: [8, 4], // tiles of a side of a block: the first whose tiles have no more than `blockBytes` together
  blockBytes: 1e6, // going by the average tile
  near: 1, // tiles between two of a block that were asked for one after the other and not in memory
  recent: 128, // blocks that are remembered
  credit: 512, // tiles at most
  perUse: 4, // credit for a tile that was read ahead and is asked for
  perMiss: 0.125, // credit for a tile that was asked for and not in memory
  margin: 3, // tiles from an edge within which the block behind it is read
  drift: 0.75, // tiles that those asked for have moved towards the edge by then
  first: 4 // tiles that say where the others began
}

/**
 * @typedef {object} Block
 * @property {{layer: string, z: number, time?: string}} of
 * @property {number} side tiles
 * @property {number} column of blocks
 * @property {number} row
 * @property {[number, number]} [missed] column and row of the latest tile that was asked for and not in memory
 * @property {boolean} isRead
 * @property {number} count of tiles that were asked for
 * @property {[number, number]} began mean of the first places
 * @property {[number, number]} now mean of the latest
 */

export class ReadAhead {
  /** @type {LRUCache<string, Block>} */
  #blocks
  #credit

  /** @param {Pick<import('./index.js').Parts, 'cache' | 'reader' | 'asOf' | 'limits'>} parts */
  constructor ({ cache, reader, asOf, limits }) {
    this.limits = { ...aheadDefaults, ...limits }
    this.#blocks = new LRUCache({ max: this.limits.recent })
    this.cache = cache
    this.reader = reader
    this.asOf = asOf
    this.counts = { ahead: 0, aheadUsed: 0 }
    this.#credit = this.limits.credit
    cache.onUse = (block, key) => this.#used(block, key)
  }

  /**
   * A tile was asked for that may not be in memory.
   * @param {{layer: string, z: number, x: number, y: number, time?: string}} asked time: as written, in the past
   */
  missed ({ layer, z, x, y, time }) {
    const side = this.#side()
    if (!side || this.#isKnown(tileId(layer, z, x, y), time)) return
    this.#earn(this.limits.perMiss)
    const block = this.#block({ layer, z, time }, side, Math.floor(x / side), Math.floor(y / side))
    const { near } = this.limits
    const { missed } = block
    block.missed = [x, y]
    if (missed && Math.abs(missed[0] - x) <= near && Math.abs(missed[1] - y) <= near) {
      this.#read(block, tileId(layer, z, x, y))
    }
    this.#follow(block, x, y)
  }

  /** Tiles of the side of a block; 0: nothing is read ahead now. */
  #side () {
    const { sides, blockBytes } = this.limits
    const { ahead, follower } = this.cache
    const most = Math.min(blockBytes, ahead.maxBytes / 4)
    if (!follower.isAnchored || !this.reader.isQuick) return 0
    return sides.find(side => side * side * this.reader.average <= most) ?? 0
  }

  /** @param {Block['of']} of @returns {Block} */
  #block (of, side, column, row) {
    const key = `${of.layer}@${of.time ?? ''}:${of.z}:${side}:${column}:${row}`
    const recentBlock = this.#blocks.get(key)
    if (recentBlock) return recentBlock
    /** @type {Block} */
    const block = { of, side, column, row, isRead: false, count: 0, began: [0, 0], now: [0, 0] }
    this.#blocks.set(key, block)
    return block
  }

  /** Something that was read ahead for a block is asked for. @param {Block} block @param {string} key of the cache */
  #used (block, key) {
    if (key.endsWith('@')) return // its timeline
    this.counts.aheadUsed++
    this.#earn(this.limits.perUse)
    const { x, y } = parseTileId(headId(key))
    this.#follow(block, x, y)
  }

  #earn (tiles) {
    this.#credit = Math.min(this.limits.credit, this.#credit + tiles)
  }

  /** Reads the block behind an edge to which the tiles that are asked for move. @param {Block} block */
  #follow (block, x, y) {
    const { margin, drift, first } = this.limits
    const { side, began, now } = block
    const place = [x - block.column * side, y - block.row * side]
    const count = ++block.count
    for (const axis of [0, 1]) {
      if (count <= first) began[axis] = now[axis] = began[axis] + (place[axis] - began[axis]) / count
      else now[axis] += (place[axis] - now[axis]) / first
      const moved = now[axis] - began[axis]
      const isLeaving = moved > drift && place[axis] >= side - margin
      const isReturning = moved < -drift && place[axis] < margin
      if (!isLeaving && !isReturning) continue
      const step = isLeaving ? 1 : -1
      const [column, row] = axis ? [block.column, block.row + step] : [block.column + step, block.row]
      const across = 2 ** block.of.z / side
      const isInside = column >= 0 && row >= 0 && column < across && row < across
      if (isInside && this.reader.isIdle && this.#side() === side) {
        this.#read(this.#block(block.of, side, column, row))
      }
    }
  }

  /** @param {Block} block @param {string} [asked] id of a tile that is being read anyway */
  #read (block, asked) {
    const { side, of: { layer, z, time } } = block
    if (block.isRead || this.#credit < side * side) return
    block.isRead = true
    const [x0, y0] = [block.column * side, block.row * side]
    const across = 2 ** z
    for (let x = x0; x < x0 + side && x < across; x++) {
      for (let y = y0; y < y0 + side && y < across; y++) {
        const id = tileId(layer, z, x, y)
        if (id === asked || this.#isKnown(id, time)) continue
        this.#credit--
        this.counts.ahead++
        this.#readTile(id, time, block).catch(() => {}) // a client that asks for it gets the error
      }
    }
  }

  async #readTile (id, time, block) {
    let documentId = this.asOf.documentOf(id, time)
    if (documentId === undefined) {
      await this.reader.timelines.getAhead(id, block)
      documentId = this.asOf.documentOf(id, time)
    }
    if (documentId && !this.cache.has(documentId)) await this.reader.documents.getAhead(documentId, block)
  }

  #isKnown (id, time) {
    const documentId = this.asOf.documentOf(id, time)
    return documentId === null || (documentId !== undefined && this.cache.has(documentId))
  }
}
