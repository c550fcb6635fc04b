// The registry of the areas on a device: one document per area, in a separate PouchDB. Several tabs write to it, and
// pages may be killed at any moment.
import { ignoreMissing } from '../../core/promises.js'
import { rewrite } from '../../core/rewrite.js'
import { PouchPeer } from '../mirror/pouch-peer.js'
import { selectionOf } from './area-spec.js'

const PREFIX = 'area:'

/**
 * @typedef {object} AreaDocument
 * @property {string} _id
 * @property {string} [_rev]
 * @property {'area'} type
 * @property {string} name
 * @property {import('./area-spec.js').AreaSpec} spec
 * @property {boolean} [permission] the user has the provider's permission
 * @property {string} created
 * @property {'new' | 'paused' | 'incomplete' | 'complete' | 'removing'} state while no transfer runs: a killed page
 *   leaves no other state
 * @property {number} tiles on the device
 * @property {number} versions
 * @property {number} bytes
 * @property {number} [styles] bytes of styles and their files
 * @property {{tiles: number, versions: number, bytes: number, styles?: number, transfer: number}} [total]
 * @property {number} failed
 * @property {string} [updated] when the area was last complete
 * @property {boolean} live
 * @property {string} [error]
 * @property {string} [reason]
 */

export class AreaRegistry {
  #store
  #peer
  #reopening = /** @type {Promise<void> | undefined} */ (undefined)

  /** @param {import('./offline-store.js').OfflineStore} store */
  constructor (store) {
    this.#store = store
    this.db = store.open('')
    this.#peer = new PouchPeer(this.db)
  }

  /** @returns {Promise<AreaDocument[]>} in the order of creation */
  async list () {
    const query = { include_docs: true, startkey: PREFIX, endkey: `${PREFIX}\ufff0` }
    const { rows } = await this.#ask(() => this.db.allDocs(query))
    return rows.map(({ doc }) => doc).filter(isArea).sort((a, b) => a.created < b.created ? -1 : 1)
  }

  /** @returns {Promise<AreaDocument | undefined>} */
  async get (id) {
    return this.#ask(() => this.db.get(PREFIX + id)).catch(ignoreMissing)
  }

  /** @param {Omit<AreaDocument, '_id' | 'type'> & {id: string}} area @returns {Promise<AreaDocument>} */
  async add ({ id, ...fields }) {
    const doc = /** @type {AreaDocument} */ ({ _id: PREFIX + id, type: 'area', ...fields })
    const { rev } = await this.#ask(() => this.db.put(doc))
    return { ...doc, _rev: rev }
  }

  /**
   * @param {(doc: AreaDocument) => AreaDocument | undefined} change
   * @returns {Promise<AreaDocument | undefined>} undefined if the area was removed
   */
  change (id, change) {
    return rewrite(PREFIX + id, {
      read: () => this.get(id),
      change: stored => stored && change(stored),
      write: async doc => {
        const { rev } = await this.#ask(() => this.db.put(doc))
        return { ...doc, _rev: rev }
      }
    })
  }

  async remove (id) {
    await this.change(id, doc => /** @type {any} */ ({ _id: doc._id, _rev: doc._rev, _deleted: true }))
  }

  /** @param {AreaDocument} doc */
  static idOf (doc) {
    return doc._id.slice(PREFIX.length)
  }

  async #ask (operation) {
    const { db } = this
    try {
      return await operation()
    } catch (error) {
      const explained = this.#peer.errorFrom(error)
      if (explained.code !== 'DISK_FULL') throw explained
    }
    await this.#reopen(db)
    try {
      return await operation()
    } catch (error) {
      throw this.#peer.errorFrom(error)
    }
  }

  /** A PouchDB that met a full disk keeps failing, even when there is room again. Replaces it with a new one. */
  #reopen (db) {
    if (this.db !== db) return this.#reopening // another call has already replaced it
    this.#reopening ??= (async () => {
      await this.#store.reserve.release().catch(() => {})
      await this.#store.closeDatabase(db)
      this.db = this.#store.open('')
      this.#peer = new PouchPeer(this.db)
    })().finally(() => { this.#reopening = undefined })
    return this.#reopening
  }
}

/** Whether a document is an area. The database also contains other documents. */
function isArea (doc) {
  try {
    return doc.type === 'area' && typeof doc.name === 'string' && Boolean(selectionOf(doc.spec))
  } catch (error) {
    return error.code === 'NO_PROJ4' // an area whose grid needs proj4js, which this page lacks
  }
}
