// Editing on a device: editions that are edited here and kept in a separate PouchDB until a store has them.
import {
  TilecouchError, checkLayer, editionId, layerDocument, layerId, now, soundOf, startOf
} from '../../core/index.js'
import { rewrite } from '../../core/rewrite.js'
import { Extent, widen } from '../../core/store/extent.js'
import { PouchPeer, whileOpen } from '../mirror/pouch-peer.js'
import { DatabaseReader } from '../offline/database-reader.js'
import { EditIndex, tallyOf, typesOf } from './edit-index.js'
import { EditWriter, hasArrived, knownVersions } from './edit-writer.js'
import { Edition } from './edition.js'
import { Upload, UploadTarget, connectionOf } from './upload.js'

const MARKER = 'edits' // _local/edits of the registry: the device has edits, and so a database of them
const BATCH = 200 // tiles that are removed, or looked for in areas, at once

/** @typedef {{db: any, index: EditIndex, drafts: EditWriter}} Opened */

export class Edits {
  #offline
  #opening = /** @type {Promise<Opened> | undefined} */ (undefined)
  #index = /** @type {EditIndex | undefined} */ (undefined)
  #db
  #uploading = new Set()

  /** @param {any} offline the OfflineStore */
  constructor (offline) {
    this.#offline = offline
    offline.on('tiles', ({ layer, area }) => this.#onTiles(layer, area).catch(() => {}))
  }

  /**
   * @param {object} edition
   * @param {string} edition.layer need not be anywhere yet: it is made at the store when the first edition comes there
   * @param {string | Date} [edition.time] when the map looked like this; the start of a period; now unless given
   * @param {string} [edition.title]
   * @param {string} [edition.source] where the tiles come from
   * @param {Record<string, any>} [edition.fields] of the layer, when neither the device nor the store knows it
   */
  async begin ({ layer, time = now(), title, source, fields = {} }) {
    const when = startOf(time)
    const fresh = layerDocument(layer, fields)
    for (const [option, value] of Object.entries({ title, source })) {
      if (value !== undefined && typeof value !== 'string') throw new TilecouchError('BAD_OPTION', { option, value })
    }
    const { db, index } = await this.opened({ make: true })
    await this.#exclusive(async () => {
      await index.read()
      const known = await Promise.all(this.#areas(layer).map(
        async ({ db: of }) => (await DatabaseReader.of(of).docs([layerId(layer)])).get(layerId(layer))
      ))
      const [{ _rev, ...doc }] = [...soundOf(known, 'layer'), fresh]
      await updateDocument(db, layerId(layer), stored => stored ? undefined : doc)
      await updateDocument(db, editionId(layer, when), stored => ({
        complete: false, made: now(), ...stored, type: 'edition', layer, time: when, ...(title && { title }), ...(source && { source }),
        ...(stored?.upload && { upload: { ...stored.upload, finished: undefined } }) // there will be more of it
      }))
      await index.read()
    })
    this.#offline.touch(layer)
    return new Edition(this, { layer, time: when })
  }

  /** @param {string} layer @param {string | Date} time @returns {Promise<Edition | undefined>} */
  async get (layer, time) {
    checkLayer(layer)
    const when = startOf(time)
    return (await this.list()).find(edition => edition.layer === layer && edition.time === when)
  }

  /** Oldest first. @returns {Promise<Edition[]>} */
  async list () {
    const opened = await this.#openIfAny()
    await opened?.index.read()
    const docs = [...opened?.index.documents.values() ?? []].filter(({ type }) => type === 'edition')
    return docs.sort((a, b) => a.time < b.time ? -1 : 1).map(doc => new Edition(this, doc))
  }

  // --- what the store does with it

  /** At the start, so that edits are shown. */
  async open () {
    await this.#openIfAny()
  }

  /** For reading, as those of areas. @param {string} [layer] all of them unless given */
  databases (layer) {
    const docs = [...this.#index?.documents.values() ?? []]
    if (!docs.some(doc => doc.type === 'edition' && (layer === undefined || doc.layer === layer))) return []
    return [{ db: this.#db, area: undefined, holds: () => true, isComplete: false, hasHistory: true }]
  }

  // --- what editions do

  /** @param {{make?: boolean}} [options] @returns {Promise<Opened>} */
  async opened ({ make = false } = {}) {
    this.#offline.check()
    if (make && !this.#opening) {
      await new PouchPeer(this.#offline.registry.db).updateLocal(MARKER, doc => doc ?? { made: now() })
    }
    const opened = await this.#openIfAny()
    if (!opened) throw new TilecouchError('ABORTED')
    return opened
  }

  /** Nothing where nothing was made. @returns {Promise<Opened | undefined>} */
  async #openIfAny () {
    this.#offline.check()
    if (!this.#opening && !await new PouchPeer(this.#offline.registry.db).getLocal(MARKER)) return undefined
    this.#opening ??= this.#open()
    return this.#opening
  }

  async #open () {
    const db = this.#offline.open('edits')
    const index = new EditIndex(db)
    await index.read()
    this.#db = db
    this.#index = index
    return { db, index, drafts: new EditWriter(db, places => knownVersions(this.#areas(places[0].layer), places)) }
  }

  /** @param {{layer: string, time: string}} edition @param {any[]} drafts */
  async write (edition, drafts) {
    const { db, index, drafts: own } = await this.opened()
    const { layer } = edition
    const problems = await this.#exclusive(async () => {
      await this.#checkEdition(edition)
      const outcomes = await own.write(drafts).catch(error => this.#recoverFromFullDisk(error))
      const extent = new Extent()
      const taken = drafts.filter((draft, at) => !outcomes[at] && draft.type)
      for (const { z, x, y } of taken) extent.add(z, x, y)
      await updateDocument(db, layerId(layer), stored => {
        const wider = widen(stored, extent, { types: typesOf(taken) })
        return JSON.stringify(wider) === JSON.stringify(stored) ? undefined : wider
      })
      await index.read()
      return outcomes
    })
    this.#offline.touch(layer)
    return problems
  }

  /** @param {{layer: string, time: string}} edition @param {{z: number, x: number, y: number}} place */
  async removeTile (edition, { z, x, y }) {
    const { index, drafts } = await this.opened()
    const isThere = await this.#exclusive(async () => {
      await this.#checkEdition(edition)
      const entry = index.versions(edition.layer, edition.time).find(one => one.z === z && one.x === x && one.y === y)
      if (!entry || entry.upload?.to) return false
      await drafts.drop([{ ...edition, ...entry, id: entry.head }], doc => !doc.upload?.to)
      await index.read()
      return true
    })
    if (isThere) this.#offline.touch(edition.layer)
    return isThere
  }

  /** @param {{layer: string, time: string}} edition @param {any} options */
  async upload (edition, { signal, onProgress, onFailure, ...options }) {
    const { db, index } = await this.opened()
    const key = editionId(edition.layer, edition.time)
    await this.#offline.locks.hold(`upload:${key}`, async () => {
      await index.read()
      await this.#checkEdition(edition)
      const couch = new UploadTarget(connectionOf(this.#offline, options), () => this.#areas(edition.layer))
      const versions = index.versions(edition.layer, edition.time)
      const isDone = versions.every(({ upload }) => upload?.to === couch.url) && (
        !versions.length || index.documents.get(key)?.upload?.finished
      )
      if (isDone) return
      this.#uploading.add(key)
      try {
        await updateDocument(
          db, key, stored => stored && { ...stored, upload: { ...stored.upload, to: couch.url, finished: undefined } }
        )
        const stop = new AbortController()
        const upload =
          new Upload({ edition, db, index, couch, stop, onProgress, onFailure, limits: this.#offline.limits?.upload })
        const finished = await whileOpen([db], signal, stop, () => upload.run())
        await updateDocument(db, key, stored => stored && { ...stored, upload: { ...stored.upload, finished } })
      } finally {
        this.#uploading.delete(key)
      }
    }, { signal })
    await this.removeArrived(edition.layer)
  }

  /** @param {{layer: string, time: string}} edition */
  isUploading ({ layer, time }) {
    return this.#uploading.has(editionId(layer, time))
  }

  /** @param {{layer: string, time: string}} edition */
  async discard (edition) {
    const { index, drafts } = await this.opened()
    await this.#exclusive(async () => {
      await index.read()
      const versions = index.versions(edition.layer, edition.time)
      for (const some of batches(versions)) {
        await drafts.drop(some.map(entry => ({ ...edition, ...entry, id: entry.head })))
      }
      await this.#forget(edition)
    })
    this.#offline.touch(edition.layer)
  }

  /** What was sent and has arrived in the areas goes. @param {string} layer */
  async removeArrived (layer) {
    if (this.#offline.isClosed) return
    const opened = await this.#openIfAny()
    if (!opened) return
    const went = await this.#exclusive(async () => {
      // one that is being closed knows no areas any more
      if (this.#offline.isClosed) return false
      return this.#removeArrived(layer, opened)
    })
    if (went) this.#offline.touch(layer)
  }

  /** @param {string} layer @param {Opened} opened @returns {Promise<boolean>} whether anything was removed */
  async #removeArrived (layer, { db, index, drafts }) {
    await index.read()
    let went = false
    for (const doc of [...index.documents.values()]) {
      // before an upload has ended, its tiles determine the extent of the layer
      if (doc.type !== 'edition' || doc.layer !== layer || !doc.upload?.finished) continue
      const { time } = doc
      for (const some of batches(index.versions(layer, time).filter(({ upload }) => upload?.to))) {
        const arrived = await this.#arrived(layer, some)
        if (!arrived.length) continue
        await drafts.drop(
          arrived.map(entry => ({ ...entry, id: entry.head, layer })), ({ upload }) => Boolean(upload?.to)
        )
        await updateDocument(db, editionId(layer, time), stored => (
          stored && { ...stored, upload: { ...stored.upload, left: tallyOf(arrived, stored) } }
        ))
        went = true
      }
      await index.read()
      if (!index.versions(layer, time).length) await this.#forget({ layer, time })
    }
    return went
  }

  /** Those that every area that holds their tile has. @param {import('./edit-index.js').EditedEntry[]} entries */
  async #arrived (layer, entries) {
    const missing = new Set()
    for (const database of this.#areas(layer)) {
      const inside = entries.filter(({ z, x, y }) => database.holds(z, x, y))
      const has = await hasArrived(database, inside, layer)
      inside.forEach((entry, at) => { if (!has[at]) missing.add(entry) })
    }
    return entries.filter(entry => !missing.has(entry))
  }

  /** The edition's own document, and the layer's when it was the last. */
  async #forget ({ layer, time }) {
    const { db, index } = await this.opened()
    const end = stored => stored && { _id: stored._id, _deleted: true }
    await updateDocument(db, editionId(layer, time), end)
    await index.read()
    if (![...index.documents.values()].some(doc => doc.type === 'edition' && doc.layer === layer)) await updateDocument(db, layerId(layer), end)
    await index.read()
  }

  /** Other tabs made something, or an area has new tiles. */
  async #onTiles (layer, area) {
    const opened = await this.#openIfAny()
    await (area ? this.removeArrived(layer) : opened?.index.read())
  }

  /** A PouchDB does not recover from a full disk: the next call opens it again. @returns {Promise<never>} */
  async #recoverFromFullDisk (error) {
    if (error.code !== 'DISK_FULL') throw error
    await this.#offline.reserve.release().catch(() => {})
    await this.#offline.closeDatabase(this.#db)
    this.#opening = undefined
    throw new TilecouchError('QUOTA_EXCEEDED', {}, { cause: error })
  }

  async #checkEdition ({ layer, time }) {
    const { index } = await this.opened()
    await index.read()
    if (!index.documents.has(editionId(layer, time))) throw new TilecouchError('EDITION_NOT_FOUND', { layer, time })
  }

  #areas (layer) {
    return this.#offline.databases(layer).filter(({ area }) => area)
  }

  /** One at a time, over all tabs. */
  #exclusive (task) {
    return this.#offline.locks.hold('edits', task)
  }
}

/** @template T @param {T[]} entries */
function * batches (entries) {
  for (let at = 0; at < entries.length; at += BATCH) yield entries.slice(at, at + BATCH)
}

/**
 * A document as `change` makes it of what is stored.
 * @param {any} db @param {string} id @param {(stored: any) => any} change returns nothing to keep it as it is
 */
const updateDocument = (db, id, change) => rewrite(id, {
  read: async () => (await DatabaseReader.of(db).docs([id])).get(id),
  change,
  async write (doc, stored) {
    try {
      await db.put({ ...doc, _id: id, _rev: stored?._rev })
      return doc
    } catch (error) {
      throw new PouchPeer(db).explain(error)
    }
  }
})
