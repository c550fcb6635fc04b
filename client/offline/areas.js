// The areas of a device: one list, the same in every tab.
import { TilecouchError, scrub } from '../../core/index.js'
import { Area } from './area.js'
import { Registry } from './registry.js'
import { readName, readSpec, selectionOf } from './spec.js'
import { adoptStrays } from './strays.js'
import { atMost } from './within.js'

const PARTING = 10000 // milliseconds another tab is given to stop, and the browser to destroy a database

const EMPTY = { tiles: 0, versions: 0, bytes: 0, failed: 0 }

/** @typedef {{layer: string, bounds?: any, bbox?: any, polygon?: object, zooms?: any, history?: boolean | {since: any}, permission?: boolean}} Wish */

export class Areas {
  #store
  /** @type {Map<string, Area>} */
  #areas = new Map()
  /** One reads or writes the list at a time: what was read before is not what was written since. @type {Promise<any>} */
  #turn = Promise.resolve()

  /** @param {import('./offline-store.js').OfflineStore} store */
  constructor (store) {
    this.#store = store
  }

  /** @returns {Area[]} in the order in which they were made */
  list () {
    return [...this.#areas.values()]
  }

  /** @param {string} idOrName @returns {Area | undefined} */
  get (idOrName) {
    return this.#areas.get(idOrName) ?? this.list().find(({ name }) => name === idOrName)
  }

  /** @param {Wish & {name: string}} wish @returns {Promise<Area>} */
  async add ({ name: given, ...wish }) {
    const name = readName(given)
    const { spec, permission } = await this.#read(wish)
    return this.#named(name, () => this.#inTurn(async () => {
      const store = this.#store
      const id = newId()
      // the document first: a database without one is nobody's
      const area = new Area(store, id, await store.registry.add({
        id, name, spec, ...(permission && { permission }), created: new Date().toISOString(), state: 'new', ...EMPTY, live: false
      }))
      this.#areas.set(id, area)
      store.changed()
      store.tell({ kind: 'areas' })
      return area
    }))
  }

  /**
   * What an area would take, without making it.
   * @param {Wish} wish @param {{signal?: AbortSignal}} [options]
   */
  async estimate (wish, { signal } = {}) {
    const { spec } = await this.#read(wish, signal)
    return this.#store.estimate(selectionOf(spec), { signal })
  }

  /** @param {Wish} wish @param {AbortSignal} [signal] */
  async #read ({ permission = false, ...wish }, signal) {
    const store = this.#store
    const spec = readSpec(wish)
    store.check()
    await store.ready
    const { minzoom = 0, maxzoom = 18 } = await store.layerDocument(spec.layer, { permission, signal })
    spec.zooms ??= { min: minzoom, max: maxzoom }
    return { spec, permission }
  }

  /** @param {Area} area @param {string} name */
  async rename (area, name) {
    if (area.name !== name) await this.#named(name, () => area.change(doc => ({ ...doc, name })))
  }

  /** One tab at a time gives names. */
  #named (name, task) {
    return this.#store.locks.hold('names', async () => {
      await this.read()
      if (this.list().some(other => other.name === name)) throw new TilecouchError('AREA_EXISTS', { value: name })
      return task()
    })
  }

  /** @param {Area} area */
  async remove (area) {
    const store = this.#store
    await area.note(() => ({ state: 'removing', live: false })) // on a full device it is what makes room
    store.tell({ kind: 'remove', id: area.id })
    await area.stop('stop')
    await this.#destroy(area.id)
    await this.#drop(area)
    if (!this.#areas.size) await store.spareRoom.drop()
    store.tell({ kind: 'areas' })
    store.touch(area.layer, area)
  }

  /** The database first: what is left of a broken off removal is a document that says so. */
  async #destroy (id) {
    const store = this.#store
    const destroy = async () => {
      if (!await store.registry.get(id).catch(unlessFull)) return // another tab was quicker
      await atMost(PARTING, () => store.obliterate(id))
      await store.registry.remove(id)
    }
    let hasBegun = false
    await atMost(PARTING, signal => store.locks.hold(`area:${id}`, () => {
      hasBegun = true
      return destroy()
    }, { signal }))
    if (!hasBegun) await destroy()
  }

  #drop (area) {
    this.#areas.delete(area.id)
    this.#store.changed()
    return area.leave()
  }

  /** The list as the registry has it, whoever changed it. */
  read () {
    return this.#inTurn(async () => {
      const docs = await this.#store.registry.list()
      const there = new Set(docs.map(Registry.idOf))
      for (const area of this.list()) if (!there.has(area.id)) this.#drop(area).catch(() => {}) // not waited for: it may wait for this
      for (const doc of docs) {
        const id = Registry.idOf(doc)
        const area = this.#areas.get(id)
        if (area) area.take(doc)
        else this.#areas.set(id, new Area(this.#store, id, doc))
      }
      this.#store.changed()
    })
  }

  #inTurn (task) {
    const turn = this.#turn.then(task)
    this.#turn = turn.catch(() => {})
    return turn
  }

  /** What pages that were killed have left half done. */
  async repair () {
    await adoptStrays(this.#store, new Set(this.list().map(({ id }) => id)))
    await this.read()
    await Promise.all(this.list().map(area => area.document.state === 'removing' ? this.#finish(area) : this.#check(area)))
  }

  async #finish (area) {
    await this.#destroy(area.id)
    await this.#drop(area)
  }

  /** A database that somebody took away is an area that has nothing. @param {Area} area */
  async #check (area) {
    if (area.document.state === 'new') return
    try {
      const { doc_count: count } = await area.db.info()
      if (!count) await area.change(doc => ({ ...doc, ...EMPTY, state: 'new', updated: undefined }))
    } catch (error) {
      area.pretend({ error: 'COUCHDB_ERROR', reason: scrub(error.reason ?? error.message) }) // of this one; the others are well
    }
  }
}

/** What a full device cannot tell is taken for granted: that the document is there. @param {any} error */
function unlessFull (error) {
  if (error.code !== 'DISK_FULL') throw error
  return true
}

const newId = () => [...crypto.getRandomValues(new Uint8Array(4))].map(byte => byte.toString(16).padStart(2, '0')).join('')
