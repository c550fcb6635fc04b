// What this device holds of the store. PouchDB and the panel of areas come in a file of their own, offline.js: it is loaded
// only when something is on the device, or when somebody presses the button. A note says so without loading anything.
import { wait } from '../client/source/patience.js'
import { Held } from './held.js'

const PATIENCE = 3000 // milliseconds that a map which could come from the store waits for the device

/** The same for every address of a store on one origin, and another for every other store: both are folders. */
const folder = () => new URL('.', document.baseURI).pathname.replace(/\/_design\/[^/]+\/_rewrite\/$/, '/')

export class Device {
  /** @type {any} the OfflineStore, once it is open */
  offline = null
  /** Name of the databases on the device. */
  name = `tilecouch:${folder().split('/').filter(Boolean).join(':')}`
  /** @type {Promise<{panel: any, held: Held}> | null} */
  #opening = null
  #onOpen
  #onAreas

  /**
   * @param {object} options
   * @param {(offline: any, file: any) => any} options.onOpen mounts the panel; file: what offline.js exports
   * @param {(areas: any[]) => void} options.onAreas whenever there are others, or in another state
   */
  constructor ({ onOpen, onAreas }) {
    this.#onOpen = onOpen
    this.#onAreas = onAreas
  }

  /** @returns {{db: string, areas: number} | null} what was on the device when somebody last looked */
  get note () {
    try {
      return JSON.parse(localStorage.getItem(this.name) ?? 'null')
    } catch { // not allowed, or not ours
      return null
    }
  }

  get isUsed () {
    return Boolean(this.note?.areas)
  }

  /**
   * Opens what there is, or an empty one.
   * @param {string} [db] address of the database; the one that was noted, when it does not answer
   */
  open (db = this.note?.db) {
    this.#opening ??= this.#open(db).catch(error => {
      this.#opening = null
      throw error
    })
    return this.#opening
  }

  /** Opens it when there is anything, and does not keep anybody waiting who could do without. */
  async prepare () {
    if (this.isUsed) await Promise.race([this.open().catch(() => {}), wait(PATIENCE)])
  }

  /** What is on the device, to read. */
  async held () {
    return (await this.open()).held
  }

  /**
   * Since when the device says what it says of a layer: the last time that all of it was as the store had it.
   * @param {string} layer
   * @returns {string | null | undefined} null: it lacks something; undefined: nothing of the layer is here
   */
  asOf (layer) {
    const areas = this.offline?.areas.list().filter(area => area.layer === layer) ?? []
    const times = areas.map(area => area.status().updated).filter(time => time).sort()
    return areas.length ? times[0] ?? null : undefined
  }

  async #open (db) {
    const file = await import(await fetched('later'))
    const offline = await file.openOffline(db, this.name)
    this.offline = offline
    const tell = () => {
      const areas = offline.areas.list()
      this.#write({ db, areas: areas.length })
      this.#onAreas(areas)
    }
    const panel = this.#onOpen(offline, file)
    offline.on('areas', tell)
    tell()
    return { panel, held: new Held(offline) }
  }

  #write (note) {
    try {
      if (note.areas) localStorage.setItem(this.name, JSON.stringify(note))
      else localStorage.removeItem(this.name)
    } catch { // full, or not allowed
      return // the next visit begins without
    }
  }
}

/**
 * A script that the page names and did not ask for: of its version, and with its digest, which is what CouchDB lets run.
 * @param {string} id of the template that holds it
 * @returns {Promise<string>} its address: whoever imports it now gets what was fetched
 */
function fetched (id) {
  const template = /** @type {HTMLTemplateElement} */ (document.getElementById(id))
  const script = /** @type {HTMLScriptElement} */ (document.importNode(template.content.children[0], true))
  return new Promise((resolve, reject) => {
    script.onload = () => resolve(script.src)
    script.onerror = () => {
      script.remove()
      reject(new TypeError(`cannot load ${script.src}`))
    }
    document.head.append(script)
  })
}
