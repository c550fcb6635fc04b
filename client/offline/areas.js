// The areas of a device: one list, the same in every tab.
import { TilecouchError } from '../../core/index.js'
import { Area } from './area.js'
import { Registry } from './registry.js'
import { readName, readSpec } from './spec.js'

const NOTHING = { tiles: 0, versions: 0, bytes: 0, failed: 0 }

export class Areas {
  #store
  /** @type {Map<string, Area>} */
  #areas = new Map()

  /** @param {any} store the OfflineStore */
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

  /**
   * @param {{name: string, layer: string, bounds?: any, bbox?: any, polygon?: object, zooms?: any, history?: boolean | {since: any}, permission?: boolean}} asked
   * @returns {Promise<Area>}
   */
  async add ({ permission = false, name: given, ...asked }) {
    const store = this.#store
    const spec = readSpec(asked)
    const name = readName(given)
    await store.ready
    const doc = await store.checkLayer(spec.layer, { permission })
    spec.zooms ??= { min: doc.minzoom ?? 0, max: doc.maxzoom ?? 18 }
    return this.#named(name, async () => {
      const id = newId()
      const area = new Area(store, id, await store.registry.add({
        id, name, spec, ...(permission && { permission }), created: new Date().toISOString(), state: 'new', ...NOTHING, live: false
      }))
      this.#areas.set(id, area)
      store.changed(area)
      store.tell({ kind: 'areas' })
      return area
    })
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
    await area.change(doc => ({ ...doc, state: 'removing', live: false }))
    store.tell({ kind: 'remove', id: area.id })
    await area.stop('stop')
    await store.locks.hold(`area:${area.id}`, () => this.#finish(area.id, area.db))
    await this.#drop(area)
    store.tell({ kind: 'areas' })
    store.touch(area.layer, area)
  }

  async #finish (id, db) {
    await db.destroy()
    await this.#store.registry.remove(id)
  }

  async #drop (area) {
    this.#areas.delete(area.id)
    this.#store.changed(area)
    await area.leave()
  }

  /** The list as the registry has it, whoever changed it. */
  async read () {
    const store = this.#store
    const docs = await store.registry.list()
    const there = new Set(docs.map(Registry.idOf))
    for (const area of this.list()) if (!there.has(area.id)) await this.#drop(area)
    for (const doc of docs) {
      const id = Registry.idOf(doc)
      const area = this.#areas.get(id)
      if (area) {
        if (area.take(doc)) store.changed(area)
      } else {
        const made = new Area(store, id, doc)
        this.#areas.set(id, made)
        store.changed(made)
      }
    }
  }

  /** What a page that was killed has left half done. */
  async repair () {
    for (const area of this.list()) if (area.state === 'removing') await this.remove(area)
  }
}

const newId = () => [...crypto.getRandomValues(new Uint8Array(4))].map(byte => byte.toString(16).padStart(2, '0')).join('')
