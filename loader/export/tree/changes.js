// The changes of a store that are not yet in the trees: ids of tiles from the change feed. Their number is limited.
// With more changes it is faster to compare all tiles.
import { isTileId, layerRange, pastRange, parseTileId, tileId, timeline } from '../../../core/index.js'
import { storedVersionOf } from '../../store/reader.js'

export const changeDefaults = {
  most: 200000, // ids in memory, about 30 MB
  page: 5000 // changes per request, without following
}

/**
 * A change of a tile: the times of new past versions, and whether a document was deleted.
 * @typedef {{times: string[], deleted: boolean}} Change
 */

export class Changes {
  /** @type {Map<string, Change>} id of the head -> change */
  tiles = new Map()
  editions = false
  /** There was a removal. A head may be deleted and created again, but the feed only shows its last state. */
  removals = false
  /** There were more than `most` changes. */
  overflow = false

  /** @param {string} layer @param {{selected: (z: number, x: number, y: number) => boolean, most?: number}} options */
  constructor (layer, { selected, most = changeDefaults.most }) {
    this.prefix = layerRange(layer).startkey
    this.edition = `edition:${layer}@`
    this.removal = `removed:${layer}:`
    this.selected = selected
    this.most = most
  }

  get any () {
    return this.tiles.size > 0 || this.editions || this.overflow
  }

  /** @param {string} id of a document @param {boolean} [deleted] */
  add (id, deleted = false) {
    if (id.startsWith(this.edition)) this.editions = true
    if (id.startsWith(this.removal)) this.removals = true
    if (!id.startsWith(this.prefix) || !isTileId(id)) return
    const { layer, z, x, y, time } = parseTileId(id)
    if (this.selected(z, x, y)) this.#add(tileId(layer, z, x, y), { times: time === undefined ? [] : [time], deleted })
  }

  /** Adds a tile that changed in an unknown way. */
  addUnsure (id) {
    this.#add(id, { times: [], deleted: true })
  }

  #add (id, { times, deleted }) {
    const tile = this.tiles.get(id)
    if (tile) {
      tile.times.push(...times)
      tile.deleted ||= deleted
    } else if (this.tiles.size < this.most) this.tiles.set(id, { times, deleted })
    else this.overflow = true
  }

  /** Returns the changes so far, and begins an empty list. */
  take () {
    const { tiles, editions, removals, overflow } = this
    Object.assign(this, { tiles: new Map(), editions: false, removals: false, overflow: false })
    return { tiles, editions, removals, overflow }
  }

  /** Puts back changes that could not be written. */
  restore ({ tiles, editions, removals, overflow }) {
    for (const [id, change] of tiles) this.#add(id, change)
    this.editions ||= editions
    this.removals ||= removals
    this.overflow ||= overflow
  }
}

/**
 * Reads all changes since a place, without waiting for more.
 * @param {import('../../store/couch.js').Couch} couch @param {string | number} since
 * @param {{signal?: AbortSignal, onChange: (id: string, deleted: boolean) => void}} options
 * @returns {Promise<string | number>} the place that was reached
 */
export async function readChanges (couch, since, { signal, onChange }) {
  let reached = since
  for await (const { results, last } of couch.changesSince(since, { page: changeDefaults.page, signal })) {
    for (const { id, deleted = false } of results) onChange(id, deleted)
    reached = last
  }
  return reached
}

/**
 * Reads tiles with their newest versions, from the documents because an index may be behind.
 * @param {string[]} ids of heads
 * @param {AbortSignal} [signal]
 * @returns {Promise<import('./tiles.js').Tile[]>}
 */
export async function readHeads (couch, ids, signal) {
  return (await couch.docs(ids, { signal })).map(({ id, doc }) => /** @type {any} */ (
    { id, ...parseTileId(id), versions: doc?.type === 'tile' ? [storedVersionOf(doc)] : [] }
  ))
}

/**
 * Reads the past of tiles and adds it.
 * @param {import('./tiles.js').Tile[]} tiles from readHeads: their heads may have become past versions since
 * @param {AbortSignal} [signal]
 * @returns {Promise<import('./tiles.js').Tile[]>}
 */
export async function readPast (couch, tiles, signal) {
  const past = await couch.ranges(tiles.map(({ id }) => ({ ...pastRange(id), include_docs: true })), signal)
  return tiles.map((tile, index) => {
    const versions = past[index].flatMap(({ doc }) => doc?.type === 'tile' ? [storedVersionOf(doc)] : [])
    return { ...tile, versions: timeline(/** @type {any} */ ([...versions, ...tile.versions])) }
  })
}
