// Tiles of which the network has told something that the device does not have yet.

/** @typedef {{z: number, x: number, y: number, time?: string, rev: string, deleted: boolean}} Change */

export class Stale {
  /** @type {Map<string, Map<string, Change>>} tile -> time, or nothing for its head -> the last change */
  #tiles = new Map()

  /** @param {Change} change */
  note (change) {
    const changes = this.#tiles.get(key(change)) ?? new Map()
    this.#tiles.set(key(change), changes.set(change.time ?? '', change))
  }

  /**
   * Whether the device lacks any of it. What it has in the meantime is forgotten.
   * @param {import('../source/couch-source.js').Column} column
   * @param {import('../source/couch-source.js').Version[]} versions what the device has there
   */
  touches ({ z, x, y0, y1 }, versions) {
    if (!this.#tiles.size) return false
    let lacks = false
    for (let y = y0; y <= y1; y++) {
      if (this.#tiles.has(key({ z, x, y }))) lacks = this.has({ z, x, y }, versions.filter(version => version.y === y)) || lacks
    }
    return lacks
  }

  /** @param {{z: number, x: number, y: number}} tile @param {import('../source/couch-source.js').Version[]} versions of it that the device has */
  has (tile, versions) {
    const changes = this.#tiles.get(key(tile))
    if (!changes) return false
    for (const [time, { rev, deleted }] of changes) {
      const isThere = deleted ? !versions.some(version => time ? !version.current && version.time === time : version.current) : versions.some(version => version.rev === rev)
      if (isThere) changes.delete(time)
    }
    if (!changes.size) this.#tiles.delete(key(tile))
    return changes.size > 0
  }
}

const key = ({ z, x, y }) => `${z}/${x}/${y}`
