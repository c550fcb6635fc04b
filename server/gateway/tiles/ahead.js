// Reads tiles into memory before clients request them: viewers request neighbours. After two misses beside each other,
// the other tiles of their block are read in the same requests. When the requests move towards an edge of the block
// and the store is idle, the block behind that edge is read too.
//
// A credit limits these reads. Each tile that is read ahead costs one, and returns four when a client requests it.
// Read-ahead therefore continues while a quarter of the tiles are used. For scattered requests, or a layer with few
// tiles, the credit soon falls to the small share that each miss adds.
import { LRUCache } from 'lru-cache'
import { headId, parseTileId, tileId } from '../../../core/index.js'

const aheadDefaults = {
  sides: [8, 4], // tiles per side of a block: the first size whose tiles have at most `blockBytes` together
  blockBytes: 1e6, // estimated from the average tile
  near: 1, // distance in tiles between two successive misses in a block, so that the block is read
  recent: 128, // blocks that are remembered
  credit: 512, // tiles: the upper limit, and the credit at the start
  perUse: 4, // credit for the use of a tile that was read ahead
  perMiss: 0.125, // credit for a miss
  margin: 3, // distance in tiles from an edge at which the block behind it is read
  drift: 0.75, // tiles by which the requests must have moved towards that edge
  first: 4 // requests whose mean place is the beginning of the movement
}

/**
 * @typedef {object} Block
 * @property {{layer: string, z: number, time?: string}} level
 * @property {number} side tiles
 * @property {number} column of blocks
 * @property {number} row
 * @property {[number, number]} [missed] column and row of the latest miss
 * @property {boolean} isRead
 * @property {number} count of requests for its tiles
 * @property {[number, number]} began mean place of the first requests
 * @property {[number, number]} now mean place of the latest requests
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
    cache.onUse = (block, key) => this.#onUse(block, key)
  }

  /**
   * A client requested a tile that may not be in memory.
   * @param {{layer: string, z: number, x: number, y: number, time?: string}} tile time: as written, in the past
   */
  missed ({ layer, z, x, y, time }) {
    const side = this.#side()
    if (!side || this.#isCached(tileId(layer, z, x, y), time)) return
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

  /** Tiles per side of a block; 0: read-ahead pauses. */
  #side () {
    const { sides, blockBytes } = this.limits
    const { ahead, follower } = this.cache
    const maxBytes = Math.min(blockBytes, ahead.maxBytes / 4)
    if (!follower.isAnchored || !this.reader.isQuick) return 0
    return sides.find(side => side * side * this.reader.average <= maxBytes) ?? 0
  }

  /** @param {Block['level']} level @returns {Block} */
  #block (level, side, column, row) {
    const key = `${level.layer}@${level.time ?? ''}:${level.z}:${side}:${column}:${row}`
    const recentBlock = this.#blocks.get(key)
    if (recentBlock) return recentBlock
    /** @type {Block} */
    const block = { level, side, column, row, isRead: false, count: 0, began: [0, 0], now: [0, 0] }
    this.#blocks.set(key, block)
    return block
  }

  /** First use of an entry that was read ahead for a block. @param {Block} block @param {string} key of the cache */
  #onUse (block, key) {
    if (key.endsWith('@')) return // a timeline
    this.counts.aheadUsed++
    this.#earn(this.limits.perUse)
    const { x, y } = parseTileId(headId(key))
    this.#follow(block, x, y)
  }

  #earn (tiles) {
    this.#credit = Math.min(this.limits.credit, this.#credit + tiles)
  }

  /** Reads the block behind an edge when the requests move towards it. @param {Block} block */
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
      const blocksAcross = 2 ** block.level.z / side
      const isInside = column >= 0 && row >= 0 && column < blocksAcross && row < blocksAcross
      if (isInside && this.reader.isIdle && this.#side() === side) {
        this.#read(this.#block(block.level, side, column, row))
      }
    }
  }

  /** @param {Block} block @param {string} [requestedId] id of a tile that is being read anyway */
  #read (block, requestedId) {
    const { side, level: { layer, z, time } } = block
    if (block.isRead || this.#credit < side * side) return
    block.isRead = true
    const [x0, y0] = [block.column * side, block.row * side]
    const tilesAcross = 2 ** z
    for (let x = x0; x < x0 + side && x < tilesAcross; x++) {
      for (let y = y0; y < y0 + side && y < tilesAcross; y++) {
        const id = tileId(layer, z, x, y)
        if (id === requestedId || this.#isCached(id, time)) continue
        this.#credit--
        this.counts.ahead++
        this.#readTile(id, time, block).catch(() => {}) // a client that requests it gets the error
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

  #isCached (id, time) {
    const documentId = this.asOf.documentOf(id, time)
    return documentId === null || (documentId !== undefined && this.cache.has(documentId))
  }
}
