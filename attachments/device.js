// What this device holds of the store. PouchDB and the panel of areas come in a file of their own, offline.js: it is loaded
// only when something is on the device, or when somebody presses the button. A note says so without loading anything.

/** The same for every address of a store on one origin, and another for every other store: both are folders. */
const folder = () => new URL('.', document.baseURI).pathname.replace(/\/_design\/[^/]+\/_rewrite\/$/, '/')

export class Device {
  /** @type {any} the OfflineStore, once it is open */
  offline = null
  /** @type {Promise<any> | null} */
  #opening = null
  #onOpen
  #onAreas

  /**
   * @param {object} options
   * @param {(offline: any, file: any) => any} options.onOpen mounts the panel; file: what offline.js exports
   * @param {(areas: any[]) => void} [options.onAreas]
   */
  constructor ({ onOpen, onAreas = () => {} }) {
    this.#onOpen = onOpen
    this.#onAreas = onAreas
  }

  /** Name of the databases on the device. */
  get name () {
    return `tilecouch:${decodeURIComponent(folder()).split('/').filter(Boolean).join(':')}`
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
   * Opens what there is, or an empty one, and answers with its panel.
   * @param {string} [db] address of the database; the one that was noted, when it does not answer
   */
  open (db = this.note?.db) {
    this.#opening ??= this.#open(db).catch(error => {
      this.#opening = null
      throw error
    })
    return this.#opening
  }

  async #open (db) {
    const file = await import(new URL(`offline.js${new URL(import.meta.url).search}`, import.meta.url).href)
    const offline = this.offline = await file.openOffline(db, this.name)
    const tell = () => {
      const areas = offline.areas.list()
      this.#write({ db, areas: areas.length })
      this.#onAreas(areas)
    }
    const panel = this.#onOpen(offline, file)
    offline.on('areas', tell)
    tell()
    return panel
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
