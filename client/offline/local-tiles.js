// Reads the database of one area: revisions by id and by ranges of columns, and the number of tiles.
import { MAX_ZOOM, isTileId, layerRange, parseTileId } from '../../core/index.js'
import { pagesOf } from '../../core/couch/queries.js'
import { versionOf } from './database-reader.js'
import { layerDocumentRanges, liveRows } from './store-listing.js'

/**
 * @typedef {Map<string, string>} LocalRevs id -> revision of documents that are not deleted
 *
 * @typedef {object} TileCounts
 * @property {number} tiles with an image now
 * @property {number} versions documents of tiles
 * @property {number} bytes of images
 */

export const NO_COUNTS = { tiles: 0, versions: 0, bytes: 0 }

/** Adds a document to counts, or removes it. @param {TileCounts} counts @param {any} doc @param {1 | -1} [sign] */
export function countDocument (counts, doc, sign = 1) {
  const version = versionOf(doc)
  if (!version) return
  counts.versions += sign
  counts.bytes += sign * version.bytes
  if (version.current && !version.gone) counts.tiles += sign
}

export class LocalTiles {
  /** @param {import('../mirror/pouch-peer.js').PouchPeer} peer @param {string} layer */
  constructor (peer, layer) {
    this.peer = peer
    this.layer = layer
  }

  /** Whether nothing was ever written to the database. */
  async isNew () {
    const { doc_count: count, update_seq: sequence } = await this.peer.info()
    return count === 0 && Number(sequence) === 0
  }

  /** Counts every tile. @returns {Promise<TileCounts>} */
  async count () {
    const counts = { ...NO_COUNTS }
    const read = async range => (await this.peer.allDocs({ ...range, include_docs: true })).rows
    for await (const rows of pagesOf(read, layerRange(this.layer))) {
      for (const { doc } of rows) countDocument(counts, doc)
    }
    return counts
  }

  /**
   * Adds the columns that have tiles on the device but none in the store.
   * @param {Map<number, Map<number, number>>} columns of the store @param {import('../../core/grid.js').Zooms} zooms
   */
  async addColumns (columns, { min, max }) {
    for (let z = min; z <= max; z++) {
      const counts = columns.get(z) ?? new Map()
      for (const x of await this.#columns(z)) if (!counts.has(x)) columns.set(z, counts.set(x, 0))
    }
  }

  /** The columns of a zoom with any document. @returns {Promise<number[]>} */
  async #columns (z) {
    const columns = []
    for (let startkey = `${this.layer}:${z}:`; ;) {
      const { rows: [row] } = await this.peer.allDocs({ startkey, endkey: `${this.layer}:${z};`, limit: 1 })
      if (!row) return columns
      const [, , x] = row.id.split(':')
      if (/^\d+$/.test(x)) columns.push(+x)
      startkey = `${this.layer}:${z}:${x};` // a semicolon sorts after the colon
    }
  }

  /**
   * Reads the revisions of the tiles in some rows of a column.
   * @param {import('./store-listing.js').Range} range
   * @returns {Promise<LocalRevs>}
   */
  async revsIn ({ z, x, y0, y1 }) {
    const column = `${this.layer}:${z}:${x}:`
    const [startkey, endkey] = y0 === y1 ? [`${column}${y0}`, `${column}${y0}@~`] : [column, `${column}~`]
    const revs = liveRevs(await this.peer.allDocs({ startkey, endkey }))
    for (const id of revs.keys()) if (!isInRows(id, y0, y1)) revs.delete(id)
    return revs
  }

  /** @param {string[]} ids @returns {Promise<LocalRevs>} */
  async revs (ids) {
    return ids.length ? liveRevs(await this.peer.allDocs({ keys: ids })) : new Map()
  }

  /** @param {string[]} ids @returns {Promise<any[]>} the existing documents */
  async docs (ids) {
    if (!ids.length) return []
    const { rows } = await this.peer.allDocs({ keys: ids, include_docs: true })
    return rows.flatMap(({ doc }) => doc ?? [])
  }

  /** Reads the revisions of the documents of the layer that are not tiles. @returns {Promise<LocalRevs>} */
  async layerDocuments () {
    const { keys, ...editions } = layerDocumentRanges(this.layer)
    return new Map([...await this.revs(keys), ...liveRevs(await this.peer.allDocs(editions))])
  }
}

const liveRevs = ({ rows }) => new Map(liveRows(rows).map(({ id, rev }) => [id, rev]))

const isInRows = (id, y0, y1) => isTileId(id) && parseTileId(id).y >= y0 && parseTileId(id).y <= y1

/** Every zoom, for areas that name none. */
export const ALL_ZOOMS = { min: 0, max: MAX_ZOOM }
