// The known versions of a layer's tiles, filled column by column from the view versions/by_tile. It answers for every
// time without a request. It knows nothing of maps, pages or servers.
import { cached } from '../../core/cache.js'
import { asOf, timeline } from '../../core/index.js'

export const BLOCK = 4 // rows that are requested together: views that overlap request few rows twice

/**
 * @typedef {import('../source/couch-source.js').Version} Version
 * @typedef {import('../source/couch-source.js').Column} Column
 * @typedef {{time: string, tiles: number, bytes: number}} Change
 * @typedef {{z: number, x: number, y: number, before: Version | null, after: Version | null, bytes: number}}
 *   ChangedTile
 * @typedef {{blocks: Map<number, boolean>, tiles: Map<number, Version[]>, versions: number, used: number}} Entry
 *   blocks: block of rows -> whether it is up to date
 */

export class VersionIndex {
  /** Grows with every change, so that callers can keep results until then. */
  generation = 0
  #limit
  /** @type {Map<string, Entry>} */
  #columns = new Map()
  #versions = 0
  #clock = 0

  /** @param {{limit?: number}} [options] versions kept; the least recently used columns are dropped first */
  constructor ({ limit = 200000 } = {}) {
    this.#limit = limit
  }

  /**
   * The parts of a view that must be requested, as whole blocks; neighbouring blocks are one range.
   * @param {Column[]} columns
   * @param {(z: number, x: number, y: number) => boolean} [isAsked] whether a row was requested already
   * @returns {Column[]}
   */
  missing (columns, isAsked = () => false) {
    const missingColumns = []
    for (const { z, x, y0, y1 } of columns) {
      const knownBlocks = this.#columns.get(key(z, x))?.blocks
      let openRange
      for (let block = Math.floor(y0 / BLOCK); block <= Math.floor(y1 / BLOCK); block++) {
        if (knownBlocks?.get(block) || isAsked(z, x, block * BLOCK)) openRange = undefined
        else if (openRange) openRange.y1 = lastRow(z, block)
        else missingColumns.push(openRange = { z, x, y0: block * BLOCK, y1: lastRow(z, block) })
      }
    }
    return missingColumns
  }

  /**
   * Adds the answer for a range of blocks that `missing` returned.
   * @param {Column} column @param {Version[]} versions ascending by row
   */
  add ({ z, x, y0, y1 }, versions) {
    const makeEntry = () => ({ blocks: new Map(), tiles: new Map(), versions: 0, used: 0 })
    const entry = cached(this.#columns, key(z, x), makeEntry)
    entry.used = ++this.#clock
    for (let block = Math.floor(y0 / BLOCK); block <= Math.floor(y1 / BLOCK); block++) entry.blocks.set(block, true)
    /** @type {Map<number, Version[]>} */
    const oldByRow = new Map()
    for (const [y, list] of entry.tiles) {
      if (y < y0 || y > y1) continue
      oldByRow.set(y, list)
      entry.tiles.delete(y)
      this.#count(entry, -list.length)
    }
    for (let start = 0, end; start < versions.length; start = end) {
      const { y } = versions[start]
      for (end = start + 1; end < versions.length && versions[end].y === y;) end++
      const list = timeline(versions.slice(start, end))
      for (const version of list) keepContent(version, oldByRow.get(y) ?? [])
      entry.tiles.set(y, list)
      this.#count(entry, list.length)
    }
    this.generation++
  }

  /**
   * Adds the first versions of a range of blocks, when more may follow. A block that is up to date is only marked as
   * outdated, if there are new versions.
   * @param {Column} column @param {Version[]} versions ascending by row
   */
  addPart ({ z, x, y0, y1 }, versions) {
    for (let block = Math.floor(y0 / BLOCK); block <= Math.floor(y1 / BLOCK); block++) {
      const rows = { z, x, y0: block * BLOCK, y1: lastRow(z, block) }
      const part = versions.filter(({ y }) => y >= rows.y0 && y <= rows.y1)
      const knownBlocks = this.#columns.get(key(z, x))?.blocks
      const isNew = part.some(version => !this.versions(z, x, version.y).some(other => isSame(other, version)))
      if (knownBlocks?.has(block) && !isNew) continue
      if (!knownBlocks?.get(block)) {
        const otherVersions =
          this.#rows(rows).filter(({ y, time }) => !part.some(version => version.y === y && version.time === time))
        this.add(rows, [...part, ...otherVersions].sort((a, b) => a.y - b.y))
      }
      this.#columns.get(key(z, x))?.blocks.set(block, false)
    }
  }

  /** Whether the index has exactly these versions for a range of blocks. @param {Version[]} versions */
  equals (column, versions) {
    const knownVersions = this.#rows(column)
    return this.missing([column]).length === 0 && knownVersions.length === versions.length &&
      versions.every(version => this.versions(version.z, version.x, version.y).some(other => isSame(other, version)))
  }

  /** Columns as whole blocks. @param {Column[]} columns @returns {Column[]} */
  blocks (columns) {
    return columns.map(
      ({ z, x, y0, y1 }) => ({ z, x, y0: Math.floor(y0 / BLOCK) * BLOCK, y1: lastRow(z, Math.floor(y1 / BLOCK)) })
    )
  }

  #rows ({ z, x, y0, y1 }) {
    const rows = []
    for (let y = y0; y <= y1; y++) rows.push(...this.versions(z, x, y))
    return rows
  }

  /** Whether the versions of a tile are known, even if there are none. */
  isKnown (z, x, y) {
    return this.#columns.get(key(z, x))?.blocks.has(Math.floor(y / BLOCK)) ?? false
  }

  /** Whether all of a view is known. @param {Column[]} columns */
  covers (columns) {
    return columns.every(({ z, x, y0, y1 }) => {
      const entry = this.#columns.get(key(z, x))
      if (!entry) return false
      entry.used = ++this.#clock
      for (let block = Math.floor(y0 / BLOCK); block <= Math.floor(y1 / BLOCK); block++) {
        if (!entry.blocks.has(block)) return false
      }
      return true
    })
  }

  /**
   * The version of a tile as of a time.
   * @param {string | null} time null: the newest
   * @returns {Version | undefined} also one that says the tile is gone
   */
  at (z, x, y, time) {
    const versions = this.versions(z, x, y)
    return time === null ? versions.at(-1) : asOf(versions, time)
  }

  /** @returns {Version[]} oldest first */
  versions (z, x, y) {
    return this.#columns.get(key(z, x))?.tiles.get(y) ?? []
  }

  /**
   * The times at which a view changed, oldest first, with the numbers of tiles and bytes.
   * @param {Column[]} columns
   * @returns {Change[]}
   */
  changes (columns) {
    /** @type {Map<string, Change>} */
    const changesByTime = new Map()
    for (const versions of this.#tilesIn(columns)) {
      for (const { time, bytes } of versions) {
        const change = changesByTime.get(time)
        if (change) {
          change.tiles++
          change.bytes += bytes
        } else changesByTime.set(time, { time, tiles: 1, bytes })
      }
    }
    return [...changesByTime.values()].sort((a, b) => a.time < b.time ? -1 : 1)
  }

  /**
   * The tiles of a view that look different at two times.
   * @param {Column[]} columns
   * @returns {ChangedTile[]} bytes: of the image at `to`
   */
  changedTiles (columns, from, to) {
    const changed = []
    for (const versions of this.#tilesIn(columns)) {
      const pick = time => (time === null ? versions.at(-1) : asOf(versions, time)) ?? null
      const [before, after] = [pick(from), pick(to)]
      if (before === after || (!isImage(before) && !isImage(after))) continue
      const { z, x, y } = versions[0]
      changed.push({ z, x, y, before, after, bytes: after?.bytes ?? 0 })
    }
    return changed
  }

  /**
   * How often the tiles of a view changed after they first appeared.
   * @param {Column[]} columns
   * @returns {{z: number, x: number, y: number, changes: number}[]} without tiles that never existed
   */
  changesByTile (columns) {
    return [...this.#tilesIn(columns)].map(([{ z, x, y }, ...laterVersions]) => ({
      z, x, y, changes: laterVersions.length
    }))
  }

  /** Marks a tile as outdated: it is requested again when it is next in view. Its known versions stay until then. */
  expire (z, x, y) {
    const entry = this.#columns.get(key(z, x))
    const block = Math.floor(y / BLOCK)
    if (entry?.blocks.has(block)) entry.blocks.set(block, false)
  }

  /** Marks all tiles as outdated. */
  expireAll () {
    for (const { blocks } of this.#columns.values()) for (const block of blocks.keys()) blocks.set(block, false)
  }

  /**
   * Drops the least recently used columns if there are too many versions. It keeps these columns, which are in view.
   * @param {Column[]} columns
   */
  trim (columns) {
    if (this.#versions <= this.#limit) return
    const columnsInView = new Set(columns.map(({ z, x }) => key(z, x)))
    for (const [name, entry] of [...this.#columns].sort(([, a], [, b]) => a.used - b.used)) {
      if (this.#versions <= this.#limit * 0.8) return
      if (columnsInView.has(name)) continue
      this.#columns.delete(name)
      this.#versions -= entry.versions
    }
  }

  get size () {
    return this.#versions
  }

  #count (entry, more) {
    entry.versions += more
    this.#versions += more
  }

  * #tilesIn (columns) {
    for (const { z, x, y0, y1 } of columns) {
      const tiles = this.#columns.get(key(z, x))?.tiles
      if (!tiles) continue
      for (let y = y0; y <= y1; y++) {
        const versions = tiles.get(y)
        if (versions) yield versions
      }
    }
  }
}

// a head that became a past version is another document with the same image, which need not be fetched again. The
// digest shows this or, if the index of the store has no digests, the length
function keepContent (version, before) {
  const old = before.find(({ time }) => time === version.time)
  if (!old || version.digest) return
  const hasSameImage = old.bytes === version.bytes && (old.rev === version.rev || (old.current && !version.current))
  if (hasSameImage) version.content = old.content ?? old.rev
  if (old.rev === version.rev && old.digest) version.digest = old.digest
}

const isSame = (a, b) => a.y === b.y && a.time === b.time && a.rev === b.rev

/** Whether there is anything to draw. @param {Version | null | undefined} version */
export const isImage = version => Boolean(version && !version.gone)

const key = (z, x) => `${z}/${x}`

const lastRow = (z, block) => Math.min(2 ** z, (block + 1) * BLOCK) - 1
