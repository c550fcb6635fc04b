// The list of areas on a device. All tabs have the same list.
import { TilecouchError, checkLayer, scrub } from '../../core/index.js'
import { gridOf } from '../../core/grids/index.js'
import { Semaphore } from '../../core/promises.js'
import { withinTime } from '../source/wait.js'
import { AreaRegistry } from './area-registry.js'
import { readName, readSpec, selectionOf } from './area-spec.js'
import { Area } from './area.js'
import { NO_COUNTS } from './local-tiles.js'
import { STOP_TIMEOUT } from './tabs.js'

const NO_TILES = { ...NO_COUNTS, failed: 0 }

/**
 * @typedef {{layer: string, bounds?: any, bbox?: any, polygon?: object, zooms?: any, history?: boolean | {since: any},
 *   permission?: boolean}} AreaRequest
 */

export class Areas {
  #store
  /** @type {Map<string, Area>} */
  #areas = new Map()
  #turns = new Semaphore(1) // reads and writes of the list: a read never misses an earlier write

  /** @param {import('./offline-store.js').OfflineStore} store */
  constructor (store) {
    this.#store = store
  }

  /** @returns {Area[]} in the order of creation */
  list () {
    return [...this.#areas.values()]
  }

  /** @param {string} idOrName @returns {Area | undefined} */
  get (idOrName) {
    return this.#areas.get(idOrName) ?? this.list().find(({ name }) => name === idOrName)
  }

  /** @param {AreaRequest & {name: string}} request @returns {Promise<Area>} */
  async add ({ name: requestedName, ...request }) {
    const name = readName(requestedName)
    const { spec, permission } = await this.#readRequest(request)
    return this.#withName(name, () => this.#turns.run(async () => {
      const store = this.#store
      const id = newId()
      // the document first: a database without a document has no owner
      const created = new Date().toISOString()
      const fields = { name, spec, ...(permission && { permission }), created, ...NO_TILES, live: false }
      const area = new Area(store, id, await store.registry.add({ id, state: 'new', ...fields }))
      this.#areas.set(id, area)
      store.changed()
      store.broadcast({ kind: 'areas' })
      return area
    }))
  }

  /**
   * Estimates an area without adding it.
   * @param {AreaRequest} request @param {{signal?: AbortSignal}} [options]
   */
  async estimate (request, { signal } = {}) {
    const { spec } = await this.#readRequest(request, signal)
    return this.#store.estimate(selectionOf(spec), { signal })
  }

  /** @param {AreaRequest} request @param {AbortSignal} [signal] */
  async #readRequest ({ permission = false, ...request }, signal) {
    const store = this.#store
    const { layer } = request
    checkLayer(layer)
    store.check()
    await store.ready
    const doc = await store.layerDocument(layer, { permission, signal })
    const { isWebMercator, firstZoom, lastZoom } = gridOf(doc)
    const { minzoom = firstZoom, maxzoom = isWebMercator ? 18 : lastZoom } = doc
    const spec = readSpec(request, doc)
    spec.zooms ??= { min: minzoom, max: maxzoom }
    return { spec, permission }
  }

  /** @param {Area} area @param {string} name */
  async rename (area, name) {
    if (area.name !== name) await this.#withName(name, () => area.update(doc => ({ ...doc, name })))
  }

  /** Runs a task that gives a name to an area. One tab at a time gives names. */
  #withName (name, task) {
    return this.#store.locks.hold('names', async () => {
      await this.read()
      if (this.list().some(area => area.name === name)) throw new TilecouchError('AREA_EXISTS', { value: name })
      return task()
    })
  }

  /** @param {Area} area */
  async remove (area) {
    const store = this.#store
    await area.updateOrKeep(() => ({ state: 'removing', live: false })) // a removal must also work on a full disk
    store.broadcast({ kind: 'remove', id: area.id })
    await area.stop('stop')
    await this.#finishRemoval(area)
    if (!this.#areas.size) await store.reserve.release()
    store.broadcast({ kind: 'areas' })
    store.touch(area.layer, area)
  }

  /** Destroys the database, then the document: an interrupted removal leaves a document in the state `removing`. */
  async #destroy (id) {
    const store = this.#store
    const destroy = async () => {
      if (!await store.registry.get(id).catch(assumeExists)) return // another tab has already removed it
      await withinTime(STOP_TIMEOUT, () => store.destroyDatabase(id))
      await store.registry.remove(id)
    }
    let hasBegun = false
    await withinTime(STOP_TIMEOUT, signal => store.locks.hold(`area:${id}`, () => {
      hasBegun = true
      return destroy()
    }, { signal }))
    if (!hasBegun) await destroy()
  }

  #forget (area) {
    this.#areas.delete(area.id)
    this.#store.changed()
    return area.detach()
  }

  /** Reads the list from the registry, where other tabs may have changed it. */
  read () {
    return this.#turns.run(async () => {
      const docs = await this.#store.registry.list()
      const registeredIds = new Set(docs.map(AreaRegistry.idOf))
      // not awaited: it may wait for this queue
      for (const area of this.list()) if (!registeredIds.has(area.id)) this.#forget(area).catch(() => {})
      for (const doc of docs) {
        const id = AreaRegistry.idOf(doc)
        const area = this.#areas.get(id)
        if (area) area.setDocument(doc)
        else this.#areas.set(id, new Area(this.#store, id, doc))
      }
      this.#store.changed()
    })
  }

  /** Finishes removals that killed pages began, and checks the databases. */
  async repair () {
    await Promise.all(this.list().map(area =>
      area.state === 'removing' ? this.#finishRemoval(area) : this.#checkDatabase(area)))
  }

  async #finishRemoval (area) {
    await this.#destroy(area.id)
    await this.#forget(area)
  }

  /** An area whose database was removed has no tiles. */
  async #checkDatabase (area) {
    if (area.document.state === 'new') return
    try {
      const { doc_count: count } = await area.db.info()
      if (!count) await area.update(doc => ({ ...doc, ...NO_TILES, state: 'new', updated: undefined }))
    } catch (error) {
      // only this area is damaged
      area.setLocally({ error: 'COUCHDB_ERROR', reason: scrub(error.reason ?? error.message) })
    }
  }
}

/** A full disk cannot be read: assume that the document exists. */
function assumeExists (error) {
  if (error.code !== 'DISK_FULL') throw error
  return true
}

const newId = () => crypto.getRandomValues(new Uint32Array(1))[0].toString(16).padStart(8, '0')
