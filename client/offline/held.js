// What of a layer a database on the device holds: by ids, which are in order there, in ranges of columns.
import { MAX_ZOOM, parseTileId } from '../../core/index.js'
import { namedOf } from './listing.js'

/** @typedef {{id: string, rev: string, bytes: number, gone: boolean}} HeldVersion bytes, gone: only when its size was asked for */

export class Held {
  /** @param {any} db a PouchDB @param {string} layer */
  constructor (db, layer) {
    this.db = db
    this.layer = layer
  }

  /** Whether nothing was ever written there. */
  async isNew () {
    const { doc_count: count, update_seq: seq } = await this.db.info()
    return count === 0 && Number(seq) === 0
  }

  /** The columns of a zoom of which anything is there. @param {number} z @returns {Promise<number[]>} */
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

  /** Those added to columns of a store, where it has nothing. @param {Map<number, Map<number, number>>} columns @param {import('../../core/grid.js').Zooms} [zooms] */
  async addColumns (columns, { min, max } = { min: 0, max: MAX_ZOOM }) {
    for (let z = min; z <= max; z++) {
      const known = columns.get(z) ?? new Map()
      for (const x of await this.columns(z)) if (!known.has(x)) columns.set(z, known.set(x, 0))
    }
  }

  /**
   * The versions of the tiles in rows of a column.
   * @param {{z: number, x: number, y0: number, y1: number}} range @param {boolean} [sized]
   * @returns {Promise<Map<string, HeldVersion>>}
   */
  async versions ({ z, x, y0, y1 }, sized = false) {
    const column = `${this.layer}:${z}:${x}:`
    const [startkey, endkey] = y0 === y1 ? [`${column}${y0}`, `${column}${y0}@~`] : [column, `${column}~`]
    return held(await this.db.allDocs({ startkey, endkey, include_docs: sized }), id => {
      const { y } = parseTileId(id)
      return y >= y0 && y <= y1
    })
  }

  /** @param {string[]} ids @param {boolean} [sized] @returns {Promise<Map<string, HeldVersion>>} */
  async docs (ids, sized = false) {
    return ids.length ? held(await this.db.allDocs({ keys: ids, include_docs: sized })) : new Map()
  }

  /** The documents of the layer that are no tiles. */
  async named () {
    const { keys, ...editions } = namedOf(this.layer)
    return new Map([...await this.docs(keys), ...held(await this.db.allDocs(editions))])
  }

  /** Winners, deleted ones as well. @param {string[]} ids @returns {Promise<Map<string, {rev: string, deleted: boolean}>>} */
  async winners (ids) {
    const { rows } = ids.length ? await this.db.allDocs({ keys: ids }) : { rows: [] }
    return new Map(rows.filter(({ value }) => value).map(({ id, value: { rev, deleted = false } }) => [id, { rev, deleted }]))
  }
}

/** @param {{rows: any[]}} answer @param {(id: string) => boolean} [wants] */
function held ({ rows }, wants = () => true) {
  const found = new Map()
  for (const { id, value, doc } of rows) {
    if (!value || value.deleted) continue
    try {
      if (wants(id)) found.set(id, { id, rev: value.rev, ...(doc && sizeOf(doc)) })
    } catch {
      // somebody else's document
    }
  }
  return found
}

/** @param {any} doc of a tile @returns {{bytes: number, gone: boolean}} */
export function sizeOf ({ _attachments: attachments }) {
  const image = attachments?.tile
  return { bytes: image ? image.length ?? lengthOf(image.data) : 0, gone: !image }
}

/** Of bytes, or of their base64. @param {any} data */
const lengthOf = data => typeof data === 'string' ? data.length / 4 * 3 - (data.endsWith('==') ? 2 : data.endsWith('=') ? 1 : 0) : data.length
