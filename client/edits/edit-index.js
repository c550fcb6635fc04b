// An index in memory of the database of edits: which versions of which tiles were edited here, how large they are, and
// what became of them at the store. It reads the database's changes since it last looked, so that it sees the edits of
// other tabs as well.
import { TILE_ATTACHMENT, formatReference, headId, parseTileId } from '../../core/index.js'
import { DatabaseReader } from '../offline/database-reader.js'

/**
 * @typedef {object} EditedEntry an edited version
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
 * @property {{to?: string, outcome?: string, error?: string, reason?: string}} [upload] what became of it at the store;
 *   nothing while it was not sent
 */

export class EditIndex {
  #db
  #since = /** @type {string | number} */ (0)
  #reading = Promise.resolve()
  /** Edition -> id -> version. @type {Map<string, Map<string, EditedEntry>>} */
  #editions = new Map()
  /** Which edition a document belongs to. @type {Map<string, string>} */
  #places = new Map()
  /** Documents of layers and editions by id. @type {Map<string, any>} */
  documents = new Map()

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
    for await (const { docs, since } of DatabaseReader.of(this.#db).since(this.#since)) {
      for (const doc of docs) this.#add(doc)
      this.#since = since
    }
  }

  #add (doc) {
    const { _id: id } = doc
    this.#editions.get(this.#places.get(id) ?? '')?.delete(id)
    this.#places.delete(id)
    this.documents.delete(id)
    if (doc._deleted) return
    if (doc.type === 'layer' || doc.type === 'edition') this.documents.set(id, doc)
    if (doc.type !== 'tile') return
    const entry = entryOf(doc)
    const edition = formatReference(doc.layer, doc.time)
    if (!this.#editions.has(edition)) this.#editions.set(edition, new Map())
    this.#editions.get(edition)?.set(id, entry)
    this.#places.set(id, edition)
  }

  /**
   * The versions of an edition, each once: a tab that was killed may have left a copy of a head in the past.
   * @returns {EditedEntry[]} ascending by tile
   */
  versions (layer, time) {
    const all = this.#editions.get(formatReference(layer, time)) ?? new Map()
    return [...all.values()].filter(
      ({ current, head }) => current || !all.has(head)
    ).sort((a, b) => a.head < b.head ? -1 : 1)
  }

  /** The edits of a layer, in all editions. @returns {EditedEntry[]} */
  ofLayer (layer) {
    return [...this.#editions].filter(([edition]) => edition.startsWith(`${layer}@`)).flatMap(([, versions]) => [...versions.values()])
  }
}

/** @returns {EditedEntry} */
function entryOf ({ _id: id, time, current, upload, _attachments: attachments }) {
  const { z, x, y } = parseTileId(id)
  const image = attachments?.[TILE_ATTACHMENT]
  return {
    id, head: headId(id), z, x, y, time, current, digest: image?.digest ?? null, bytes: image?.length ?? 0,
    ...(image && { type: image.content_type }), ...(upload && { upload })
  }
}

const counters = { create: 'created', advance: 'advanced', backfill: 'backfilled', unchanged: 'unchanged' }

/**
 * @typedef {{tiles: number, created: number, advanced: number, backfilled: number, unchanged: number, failed: number,
 *   missing: number, gone: number, bytes: number}} Tally
 * failed: refused by the store; gone, bytes: of those that were written
 */

/**
 * @param {EditedEntry[]} versions
 * @param {{upload?: {left?: Tally}}} [edition] its document: with what was sent and is not kept here any more
 * @returns {Tally}
 */
export function tallyOf (versions, { upload = {} } = {}) {
  const sum = {
    tiles: 0, created: 0, advanced: 0, backfilled: 0, unchanged: 0, failed: 0, missing: 0, gone: 0, bytes: 0,
    ...upload.left
  }
  for (const { bytes, upload: { outcome, error } = {} } of versions) {
    if (!outcome && !error) continue
    sum.tiles++
    if (error) sum.failed++
    else sum[counters[/** @type {string} */ (outcome)]]++
    if (error || outcome === 'unchanged') continue
    sum.bytes += bytes
    if (!bytes) sum.gone++
  }
  return sum
}

/** Tiles by content type. @param {{type?: string}[]} tiles @returns {Record<string, number>} */
export function typesOf (tiles) {
  const types = /** @type {Record<string, number>} */ ({})
  for (const { type } of tiles) if (type) types[type] = (types[type] ?? 0) + 1
  return types
}
