// What has changed in a store and is not yet in the trees: ids of tiles, as they are heard of. However many there are, memory
// is bounded: beyond a number of them it is quicker to compare everything.
import { isTileId, layerRange, pastRange, parseTileId, tileId, timeline } from '../../core/index.js'
import { describe } from '../store/reader.js'

export const changeDefaults = {
  most: 200000, // ids kept, about 30 MB
  page: 5000 // changes a request, when they are not followed
}

export class Changes {
  /** @type {Set<string>} ids of heads */
  tiles = new Set()
  editions = false
  /** There were more than can be kept. */
  overflow = false

  /** @param {string} layer @param {{selected: (z: number, x: number, y: number) => boolean, most?: number}} options */
  constructor (layer, { selected, most = changeDefaults.most }) {
    this.prefix = layerRange(layer).startkey
    this.edition = `edition:${layer}@`
    this.selected = selected
    this.most = most
  }

  get any () {
    return this.tiles.size > 0 || this.editions || this.overflow
  }

  /** @param {string} id of a document */
  add (id) {
    if (id.startsWith(this.edition)) this.editions = true
    if (!id.startsWith(this.prefix) || !isTileId(id)) return
    const { layer, z, x, y } = parseTileId(id)
    if (!this.selected(z, x, y)) return
    if (this.tiles.size < this.most) this.tiles.add(tileId(layer, z, x, y))
    else this.overflow = true
  }

  /** What is there now; what comes after it is kept apart. */
  take () {
    const { tiles, editions, overflow } = this
    Object.assign(this, { tiles: new Set(), editions: false, overflow: false })
    return { tiles, editions, overflow }
  }

  /** Puts back what could not be done. */
  restore ({ tiles, editions, overflow }) {
    for (const id of tiles) this.tiles.add(id)
    this.editions ||= editions
    this.overflow ||= overflow
  }
}

/**
 * Every change since a place, without waiting for more.
 * @param {import('../store/couch.js').Couch} couch
 * @param {string | number} since
 * @param {{signal?: AbortSignal, onChange: (id: string) => void}} options
 * @returns {Promise<string | number>} how far that is
 */
export async function readChanges (couch, since, { signal, onChange }) {
  for (let from = since; ;) {
    const { results, last_seq: last } = await couch.request({ path: '_changes', qs: { since: from, limit: changeDefaults.page }, signal })
    for (const { id } of results) onChange(id)
    if (results.length < changeDefaults.page) return last
    from = last
  }
}

/**
 * Tiles with their versions, from the documents themselves, which are never behind as an index may be.
 * @param {import('../store/couch.js').Couch} couch
 * @param {string[]} ids of heads
 * @param {AbortSignal} [signal]
 * @returns {Promise<import('./settle.js').Tile[]>}
 */
export async function readTiles (couch, ids, signal) {
  // the heads first: what is a head no more by the time the past is read stands there
  const heads = await couch.docs(ids, { signal })
  const past = await couch.queries('_all_docs', ids.map(id => ({ ...pastRange(id), include_docs: true })), signal)
  return ids.map((id, at) => {
    const docs = [...past[at].map(row => row.doc), heads[at].doc].filter(doc => doc?.type === 'tile')
    return /** @type {any} */ ({ id, ...parseTileId(id), versions: timeline(docs.map(describe)) })
  })
}
