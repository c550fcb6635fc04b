// The tiles of a layer in one database on the device, by id and by ranges of columns, and counters for them.
import { MAX_ZOOM, parseTileId } from '../../core/index.js'
import { layerDocumentRanges } from './store-listing.js'

/**
 * @typedef {{id: string, rev: string, bytes: number, gone: boolean}} LocalVersion bytes, gone: only when its size was
 *   asked for
 */

export class LocalTiles {
  /** @param {any} db a PouchDB */
  constructor (db, layer) {
    this.db = db
    this.layer = layer
  }

  /** Whether nothing was ever written there. */
  async isNew () {
    const { doc_count: count, update_seq: seq } = await this.db.info()
    return count === 0 && Number(seq) === 0
  }

  /** The columns of a zoom of which anything is there. @returns {Promise<number[]>} */
  async columns (z) {
    const found = []
    for (let startkey = `${this.layer}:${z}:`; ;) {
      const { rows: [row] } = await this.db.allDocs({ startkey, endkey: `${this.layer}:${z};`, limit: 1 })
      if (!row) return found
      const [, , x] = row.id.split(':')
      if (/^\d+$/.test(x)) found.push(+x)
      startkey = `${this.layer}:${z}:${x};` // a semicolon sorts after the colon
    }
  }

  /**
   * Those added to columns of a store, where it has nothing.
   * @param {Map<number, Map<number, number>>} columns @param {import('../../core/grid.js').Zooms} [zooms]
   */
  async addColumns (columns, { min, max } = { min: 0, max: MAX_ZOOM }) {
    for (let z = min; z <= max; z++) {
      const known = columns.get(z) ?? new Map()
      for (const x of await this.columns(z)) if (!known.has(x)) columns.set(z, known.set(x, 0))
    }
  }

  /**
   * The versions of the tiles in rows of a column.
   * @param {{z: number, x: number, y0: number, y1: number}} range @param {boolean} [sized]
   * @returns {Promise<Map<string, LocalVersion>>}
   */
  async versions ({ z, x, y0, y1 }, sized = false) {
    const column = `${this.layer}:${z}:${x}:`
    const [startkey, endkey] = y0 === y1 ? [`${column}${y0}`, `${column}${y0}@~`] : [column, `${column}~`]
    return liveRows(await this.db.allDocs({ startkey, endkey, include_docs: sized }), id => {
      const { y } = parseTileId(id)
      return y >= y0 && y <= y1
    })
  }

  /** @returns {Promise<Map<string, LocalVersion>>} */
  async docs (ids, sized = false) {
    return ids.length ? liveRows(await this.db.allDocs({ keys: ids, include_docs: sized })) : new Map()
  }

  /** The documents of the layer that are no tiles. */
  async layerDocuments () {
    const { keys, ...editions } = layerDocumentRanges(this.layer)
    return new Map([...await this.docs(keys), ...liveRows(await this.db.allDocs(editions))])
  }

  /** Winners, deleted ones as well. @returns {Promise<Map<string, {rev: string, deleted: boolean}>>} */
  async winners (ids) {
    const { rows } = ids.length ? await this.db.allDocs({ keys: ids }) : { rows: [] }
    return new Map(
      rows.filter(({ value }) => value).map(({ id, value: { rev, deleted = false } }) => [id, { rev, deleted }])
    )
  }
}

/** @param {{rows: any[]}} answer @param {(id: string) => boolean} [wants] */
function liveRows ({ rows }, wants = () => true) {
  const found = new Map()
  for (const { id, value, doc } of rows) {
    if (!value || value.deleted) continue
    try {
      if (wants(id)) found.set(id, { id, rev: value.rev, ...(doc && imageSizeOf(doc)) })
    } catch {
      // not a document of ours
    }
  }
  return found
}

/** @param {any} doc of a tile @returns {{bytes: number, gone: boolean}} */
export function imageSizeOf ({ _attachments: attachments }) {
  const image = attachments?.tile
  return { bytes: image ? image.length ?? byteLength(image.data) : 0, gone: !image }
}

/** Of bytes, or of their base64. */
const byteLength = data => typeof data === 'string' ? data.length / 4 * 3 - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0) : data.length

/** @typedef {{z: number, x: number, y: number, bytes: number, gone: boolean}} CountedVersion a version of a tile */

/**
 * @typedef {object} TileCounts
 * @property {number} tiles places with an image
 * @property {number} versions documents of tiles
 * @property {number} bytes of images
 */

export const NO_COUNTS = { tiles: 0, versions: 0, bytes: 0 }

export class TileCounter {
  #withImage = new Set() // z/x/y of those that were counted with an image, until they are forgotten

  /** @param {TileCounts} [counts] */
  constructor (counts = NO_COUNTS) {
    this.counts = { ...counts }
  }

  /** @param {CountedVersion} version @param {1 | -1} [sign] */
  add ({ z, x, y, bytes, gone }, sign = 1) {
    this.counts.versions += sign
    this.counts.bytes += sign * bytes
    const place = `${z}/${x}/${y}`
    if (gone || this.#withImage.has(place)) return
    this.#withImage.add(place)
    this.counts.tiles += sign
  }

  /**
   * What is on the device of whole tiles.
   * @param {LocalTiles} local @param {Iterable<import('./store-listing.js').Range>} ranges
   * @param {{sign?: 1 | -1, except?: Set<string>}} [options] except: tiles, z/x/y
   */
  async addLocal (local, ranges, { sign = 1, except } = {}) {
    for (const range of ranges) {
      const versions = [...(await local.versions(range, true)).values()]
        .map(({ id, bytes, gone }) => ({ ...parseTileId(id), bytes, gone }))
      for (const version of versions) if (!except?.has(`${version.z}/${version.x}/${version.y}`)) this.add(version, sign)
      this.forget(versions)
    }
  }

  /** Of these tiles no more comes. @param {Iterable<{z: number, x: number, y: number}>} tiles */
  forget (tiles) {
    for (const { z, x, y } of tiles) this.#withImage.delete(`${z}/${x}/${y}`)
  }
}
