// Where something changed: tiles, whose versions are then all looked at, and the documents that a layer has beside them.
import { isTileId, parseTileId } from '../../core/index.js'

export class Places {
  /** @type {Map<string, {z: number, x: number, y: number}>} */
  tiles = new Map()
  hasNamed = false

  /** @param {string} id of a document that belongs */
  add (id) {
    if (!isTileId(id)) {
      this.hasNamed = true
      return
    }
    const { z, x, y } = parseTileId(id)
    this.tiles.set(`${z}/${x}/${y}`, { z, x, y })
  }

  /** @param {string} tile z/x/y */
  addTile (tile) {
    const [z, x, y] = tile.split('/').map(Number)
    this.tiles.set(tile, { z, x, y })
  }

  /** Neighbours in one column are one range. @returns {import('./listing.js').Range[]} */
  ranges () {
    const found = /** @type {import('./listing.js').Range[]} */ ([])
    for (const { z, x, y } of [...this.tiles.values()].sort((a, b) => a.z - b.z || a.x - b.x || a.y - b.y)) {
      const last = found.at(-1)
      if (last && last.z === z && last.x === x && last.y1 === y - 1) last.y1 = y
      else found.push({ z, x, y0: y, y1: y })
    }
    return found
  }
}

/**
 * Where something changed since a place in the feed; nothing when that is more than is worth reading.
 * @param {import('../../core/mirror/peer.js').Peer} source
 * @param {import('../../core/mirror/index.js').Selection} selection
 * @param {string | number} since
 * @param {{page: number, most?: number, signal: AbortSignal}} options most: changes
 * @returns {Promise<{places: Places, last: string | number} | undefined>}
 */
export async function changedSince (source, selection, since, { page, most = Infinity, signal }) {
  const places = new Places()
  for (let read = 0, last = since; ;) {
    const answer = await source.changes({ since: last, limit: page, signal })
    read += answer.rows.length
    if (read + answer.pending > most) return undefined
    for (const { id } of answer.rows) if (selection.has(id)) places.add(id)
    last = answer.last
    if (!answer.rows.length || !answer.pending) return { places, last }
  }
}
