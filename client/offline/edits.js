// What is made on the device, in a PouchDB of its own beside the areas: editions, their tiles, and what became of them.
import { TilecouchError, checkLayer, editionId, layerDocument, layerId, now, soundOf, startOf } from '../../core/index.js'
import { Extent, widen } from '../../core/store/extent.js'
import { PouchPeer } from '../mirror/pouch-peer.js'
import { Reader } from './reader.js'
import { EditsCouch, httpOf } from './edits-couch.js'
import { untilClosed, write } from './edits-database.js'
import { Drafts } from './edits-drafts.js'
import { Edition } from './edits-edition.js'
import { Index } from './edits-index.js'
import { knownOf } from './edits-known.js'
import { settle } from './edits-settle.js'
import { typesOf } from './edits-tally.js'
import { Upload } from './edits-upload.js'

const MARK = 'edits' // _local/edits of the registry: something was made here, so there is a database of it
const LOT = 200 // tiles taken away at once

/** @typedef {{db: any, index: Index, drafts: Drafts}} Opened */

export class Edits {
  #offline
  #opening = /** @type {Promise<Opened> | undefined} */ (undefined)
  #index = /** @type {Index | undefined} */ (undefined)
  #db
  #uploading = new Set()

  /** @param {any} offline the OfflineStore */
  constructor (offline) {
    this.#offline = offline
    offline.on('tiles', ({ layer, area }) => this.#hear(layer, area).catch(() => {}))
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
    await this.#alone(async () => {
      await index.read()
      const known = await Promise.all(this.#areas(layer).map(async ({ db: of }) => (await Reader.of(of).docs([layerId(layer)])).get(layerId(layer))))
      const [{ _rev, ...doc }] = [...soundOf(known, 'layer'), fresh]
      await write(db, layerId(layer), stored => stored ? undefined : doc)
      await write(db, editionId(layer, when), stored => ({
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
    const opened = await this.#known()
    await opened?.index.read()
    const docs = [...opened?.index.papers.values() ?? []].filter(({ type }) => type === 'edition')
    return docs.sort((a, b) => a.time < b.time ? -1 : 1).map(doc => new Edition(this, doc))
  }

  // --- what the store does with it

  /** At the beginning: what was made here is there from then on. */
  async open () {
    await this.#known()
  }

  /** For reading, as those of areas. @param {string} [layer] all of them unless given */
  databases (layer) {
    const docs = [...this.#index?.papers.values() ?? []]
    if (!docs.some(doc => doc.type === 'edition' && (layer === undefined || doc.layer === layer))) return []
    return [{ db: this.#db, area: undefined, holds: () => true, isComplete: false, hasHistory: true }]
  }

  // --- what editions do

  /** @param {{make?: boolean}} [options] @returns {Promise<Opened>} */
  async opened ({ make = false } = {}) {
    this.#offline.check()
    if (make && !this.#opening) await new PouchPeer(this.#offline.registry.db).updateLocal(MARK, doc => doc ?? { made: now() })
    const opened = await this.#known()
    if (!opened) throw new TilecouchError('ABORTED')
    return opened
  }

  /** Nothing where nothing was made. @returns {Promise<Opened | undefined>} */
  async #known () {
    this.#offline.check()
    if (!this.#opening && !await new PouchPeer(this.#offline.registry.db).getLocal(MARK)) return undefined
    this.#opening ??= this.#open()
    return this.#opening
  }

  async #open () {
    const db = this.#offline.open('edits')
    const index = new Index(db)
    await index.read()
    this.#db = db
    this.#index = index
    return { db, index, drafts: new Drafts(db, places => knownOf(this.#areas(places[0].layer), places)) }
  }

  /** @param {{layer: string, time: string}} edition @param {any[]} drafts */
  async write (edition, drafts) {
    const { db, index, drafts: own } = await this.opened()
    const { layer } = edition
    const problems = await this.#alone(async () => {
      await this.#check(edition)
      const outcomes = await own.write(drafts).catch(error => this.#full(error))
      const extent = new Extent()
      const taken = drafts.filter((draft, at) => !outcomes[at] && draft.type)
      for (const { z, x, y } of taken) extent.add(z, x, y)
      await write(db, layerId(layer), stored => {
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
  async takeBack (edition, { z, x, y }) {
    const { index, drafts } = await this.opened()
    const isThere = await this.#alone(async () => {
      await this.#check(edition)
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
      await this.#check(edition)
      const couch = new EditsCouch(httpOf(this.#offline, options), () => this.#areas(edition.layer))
      const versions = index.versions(edition.layer, edition.time)
      const isDone = versions.every(({ upload }) => upload?.to === couch.url) && (!versions.length || index.papers.get(key)?.upload?.finished)
      if (isDone) return
      this.#uploading.add(key)
      try {
        await write(db, key, stored => stored && { ...stored, upload: { ...stored.upload, to: couch.url, finished: undefined } })
        const finished = await untilClosed(db, stop => new Upload({ edition, db, index, couch, signal: stop, onProgress, onFailure, limits: this.#offline.limits?.upload }).run(), signal)
        await write(db, key, stored => stored && { ...stored, upload: { ...stored.upload, finished } })
      } finally {
        this.#uploading.delete(key)
      }
    }, { signal })
    await this.settle(edition.layer)
  }

  /** @param {{layer: string, time: string}} edition */
  isUploading ({ layer, time }) {
    return this.#uploading.has(editionId(layer, time))
  }

  /** @param {{layer: string, time: string}} edition */
  async discard (edition) {
    const { index, drafts } = await this.opened()
    await this.#alone(async () => {
      await index.read()
      const versions = index.versions(edition.layer, edition.time)
      for (let at = 0; at < versions.length; at += LOT) await drafts.drop(versions.slice(at, at + LOT).map(entry => ({ ...edition, ...entry, id: entry.head })))
      await this.#forget(edition)
    })
    this.#offline.touch(edition.layer)
  }

  /** What was sent and has arrived in the areas goes. @param {string} layer */
  async settle (layer) {
    if (this.#offline.isClosed) return
    const opened = await this.#known()
    if (!opened) return
    const went = await this.#alone(async () => {
      // one that is being closed knows no areas any more
      if (this.#offline.isClosed) return false
      return settle({ ...opened, layer, databases: this.#areas(layer), forget: edition => this.#forget(edition) })
    })
    if (went) this.#offline.touch(layer)
  }

  /** The edition's own document, and the layer's when it was the last. */
  async #forget ({ layer, time }) {
    const { db, index } = await this.opened()
    const end = stored => stored && { _id: stored._id, _deleted: true }
    await write(db, editionId(layer, time), end)
    await index.read()
    if (![...index.papers.values()].some(doc => doc.type === 'edition' && doc.layer === layer)) await write(db, layerId(layer), end)
    await index.read()
  }

  /** Other tabs made something, or an area has new tiles. */
  async #hear (layer, area) {
    const opened = await this.#known()
    await (area ? this.settle(layer) : opened?.index.read())
  }

  /** A PouchDB does not recover from a device that was full: whoever asks next opens it anew. @returns {Promise<never>} */
  async #full (error) {
    if (error.code !== 'DISK_FULL') throw error
    await this.#offline.spareRoom.drop().catch(() => {})
    await this.#offline.shut(this.#db)
    this.#opening = undefined
    throw new TilecouchError('QUOTA_EXCEEDED', {}, { cause: error })
  }

  async #check ({ layer, time }) {
    const { index } = await this.opened()
    await index.read()
    if (!index.papers.has(editionId(layer, time))) throw new TilecouchError('EDITION_NOT_FOUND', { layer, time })
  }

  #areas (layer) {
    return this.#offline.databases(layer).filter(({ area }) => area)
  }

  /** One at a time, over all tabs. */
  #alone (task) {
    return this.#offline.locks.hold('edits', task)
  }
}
