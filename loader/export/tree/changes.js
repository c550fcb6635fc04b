// The changes of a store that are not yet in the trees: ids of tiles, from the change feed. Their number is limited:
// beyond it, comparing everything is quicker.
import { isTileId, layerRange, pastRange, parseTileId, tileId, timeline } from '../../../core/index.js'
import { describe } from '../../store/reader.js'

export const changeDefaults = {
  most: 200000, // ids kept, about 30 MB
  page: 5000 // changes a request, when they are not followed
}

/**
 * What has happened to a tile: the times of past versions that came, and whether anything was deleted.
 * @typedef {{times: string[], deleted: boolean}} Change
 */

export class Changes {
  /** @type {Map<string, Change>} by ids of heads */
  tiles = new Map()
  editions = false
  /** Something was removed: a head may have gone and come back; the feed shows its last state only. */
  removals = false
  /** There were more than can be kept. */
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

  /** A tile that changed in an unknown way. */
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

  /** What is there now; what comes after it is kept apart. */
  take () {
    const { tiles, editions, removals, overflow } = this
    Object.assign(this, { tiles: new Map(), editions: false, removals: false, overflow: false })
    return { tiles, editions, removals, overflow }
  }

  /** Puts back what could not be done. */
  restore ({ tiles, editions, removals, overflow }) {
    for (const [id, change] of tiles) this.#add(id, change)
    this.editions ||= editions
    this.removals ||= removals
    this.overflow ||= overflow
  }
}

/**
 * Every change since a place, without waiting for more.
 * @param {import('../../store/couch.js').Couch} couch @param {string | number} since
 * @param {{signal?: AbortSignal, onChange: (id: string, deleted: boolean) => void}} options
 * @returns {Promise<string | number>} how far that is
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
 * Tiles with their newest versions, from the documents themselves, which are never behind as an index may be.
 * @param {string[]} ids of heads
 * @param {AbortSignal} [signal]
 * @returns {Promise<import('./tiles.js').Tile[]>}
 */
export async function readHeads (couch, ids, signal) {
  return (await couch.docs(ids, { signal })).map(({ id, doc }) => /** @type {any} */ (
    { id, ...parseTileId(id), versions: doc?.type === 'tile' ? [describe(doc)] : [] }
  ))
}

/**
 * The same tiles with their past.
 * @param {import('./tiles.js').Tile[]} tiles read before: a head may have become a past version since
 * @param {AbortSignal} [signal]
 * @returns {Promise<import('./tiles.js').Tile[]>}
 */
export async function readPast (couch, tiles, signal) {
  const past = await couch.ranges(tiles.map(({ id }) => ({ ...pastRange(id), include_docs: true })), signal)
  return tiles.map((tile, at) => {
    const versions = past[at].flatMap(({ doc }) => doc?.type === 'tile' ? [describe(doc)] : [])
    return { ...tile, versions: timeline(/** @type {any} */ ([...versions, ...tile.versions])) }
  })
}
