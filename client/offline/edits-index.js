// What stands in the database of what was made here, in memory: which versions of which tiles, how large, and what became of
// them at the store. It is read from the feed of changes, on from where it was, so that it knows of other tabs as well.
import { TILE_ATTACHMENT, formatReference, headId, parseTileId } from '../../core/index.js'
import { Reader } from './reader.js'

/**
 * @typedef {object} Entry a version that was made here
 * @property {string} id of its document
 * @property {string} head id of the tile
 * @property {number} z
 * @property {number} x
 * @property {number} y
 * @property {string} time
 * @property {boolean} current
 * @property {string} [type] content type
 * @property {string | null} digest null when gone
 * @property {number} bytes
 * @property {{to?: string, outcome?: string, error?: string, reason?: string}} [upload] what became of it at the store; nothing while it was not sent
 */

export class Index {
  #db
  #since = /** @type {string | number} */ (0)
  #reading = Promise.resolve()
  /** Edition -> id -> version. @type {Map<string, Map<string, Entry>>} */
  #editions = new Map()
  /** Which edition a document belongs to. @type {Map<string, string>} */
  #places = new Map()
  /** Documents of layers and editions by id. @type {Map<string, any>} */
  papers = new Map()

  /** @param {any} db a PouchDB */
  constructor (db) {
    this.#db = db
  }

  /** Up to now. */
  read () {
    this.#reading = this.#reading.catch(() => {}).then(() => this.#read())
    return this.#reading
  }

  async #read () {
    for await (const { docs, since } of Reader.of(this.#db).since(this.#since)) {
      for (const doc of docs) this.#take(doc)
      this.#since = since
    }
  }

  #take (doc) {
    const { _id: id } = doc
    this.#editions.get(this.#places.get(id) ?? '')?.delete(id)
    this.#places.delete(id)
    this.papers.delete(id)
    if (doc._deleted) return
    if (doc.type === 'layer' || doc.type === 'edition') this.papers.set(id, doc)
    if (doc.type !== 'tile') return
    const entry = entryOf(doc)
    const edition = formatReference(doc.layer, doc.time)
    if (!this.#editions.has(edition)) this.#editions.set(edition, new Map())
    this.#editions.get(edition)?.set(id, entry)
    this.#places.set(id, edition)
  }

  /**
   * The versions of an edition, each once: a tab that was killed may have left a copy of a head in the past.
   * @param {string} layer @param {string} time
   * @returns {Entry[]} ascending by tile
   */
  versions (layer, time) {
    const all = this.#editions.get(formatReference(layer, time)) ?? new Map()
    return [...all.values()].filter(({ current, head }) => current || !all.has(head)).sort((a, b) => a.head < b.head ? -1 : 1)
  }

  /** What was made here of a layer, whatever the edition. @param {string} layer @returns {Entry[]} */
  ofLayer (layer) {
    return [...this.#editions].filter(([edition]) => edition.startsWith(`${layer}@`)).flatMap(([, versions]) => [...versions.values()])
  }
}

/** @returns {Entry} */
function entryOf ({ _id: id, time, current, upload, _attachments: attachments }) {
  const { z, x, y } = parseTileId(id)
  const image = attachments?.[TILE_ATTACHMENT]
  return {
    id, head: headId(id), z, x, y, time, current, digest: image?.digest ?? null, bytes: image?.length ?? 0,
    ...(image && { type: image.content_type }), ...(upload && { upload })
  }
}
