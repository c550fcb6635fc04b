// What this device keeps: areas of the store, and the files of this page. PouchDB and the panel of areas come in a file
// of their own, offline.js, which is loaded only when something is on the device, or when the button is pressed.
import { wait } from '../client/source/wait.js'
import { formats, tileId, versionId } from '../core/index.js'
import { words } from './words.js'

const DEVICE_TIMEOUT = 3000 // milliseconds that a map which could come from the store waits for the device

/** The same for every address of a store on one origin, and another for every other store: both are folders. */
const folder = () => new URL('.', document.baseURI).pathname.replace(/\/_design\/[^/]+\/_rewrite\/$/, '/')

export class Device {
  /** @type {any} the OfflineStore, once it is open */
  offline = null
  /** Name of the databases on the device. */
  name = `tilecouch:${folder().split('/').filter(Boolean).join(':')}`
  /** @type {Promise<{panel: any, local: DeviceStore}> | null} */
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

  /** @returns {{db: string, areas: number} | null} what was on the device at the last visit */
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

  /** Opens it when there is anything, and does not wait long for it. */
  async prepare () {
    if (this.isUsed) await Promise.race([this.open().catch(() => {}), wait(DEVICE_TIMEOUT)])
  }

  /** What is on the device, to read. */
  async local () {
    return (await this.open()).local
  }

  /**
   * Since when the device says what it says of a layer: the last time that all of it was as the store had it.
   * @returns {string | null | undefined} null: it lacks something; undefined: nothing of the layer is here
   */
  asOf (layer) {
    const areas = this.offline?.areas.list().filter(area => area.layer === layer) ?? []
    const times = areas.map(area => area.status().updated).filter(time => time).sort()
    return areas.length ? times[0] ?? null : undefined
  }

  async #open (db) {
    const file = await import(await loadScript('later'))
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
    return { panel, local: new DeviceStore(offline) }
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
 * A script that the page names and did not ask for: of its version, and with its digest, which is what CouchDB lets
 * run.
 * @param {string} id of the template that holds it
 * @returns {Promise<string>} its address: an import now gets what was fetched
 */
export function loadScript (id) {
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

const PICTURES = 500 // addresses of images that the page may use at the same time

export class DeviceStore {
  #offline
  /**
   * @type {Map<string, string>} document and revision -> address of its image in this page, least recently used first
   */
  #pictures = new Map()

  /** @param {any} offline the OfflineStore */
  constructor (offline) {
    this.#offline = offline
  }

  get #device () {
    return this.#offline.device
  }

  /** @returns {Promise<import('./store.js').Layer[]>} */
  layers () {
    return this.#device.layers()
  }

  /** @returns {Promise<Map<string, import('./store.js').Stats>>} */
  async stats () {
    const names = (await this.layers()).map(({ layer }) => layer)
    const stats = await Promise.all(names.map(name => this.#device.stats(name)))
    return new Map(names.map((name, at) => [name, stats[at]]))
  }

  async editions (layer, limit) {
    return (await this.#device.editions(layer)).slice(0, limit)
  }

  /** @param {string} layer @param {{z: number, x: number, y: number}} tile @param {number} limit */
  async versions (layer, { z, x, y }, limit) {
    const [[versions], doc] =
      await Promise.all([this.#device.versions(layer, [{ z, x, y0: y, y1: y }]), this.#device.layer(layer)])
    const type = Object.values(formats).find(({ ext }) => ext === (doc?.format ?? 'png'))?.type
    return versions.slice(-limit).map(version => ({
      ...version,
      _id: version.current ? tileId(layer, z, x, y) : versionId(layer, z, x, y, version.time),
      _rev: version.rev,
      ...(!version.gone && { _attachments: { tile: { length: version.bytes, content_type: type } } })
    }))
  }

  /** Address of the image of such a version. */
  async tileUrl (version) {
    return this.#picture(`${version._id} ${version._rev}`, () => this.#device.tile(version))
  }

  /** Address of the newest image of a tile. */
  async newestUrl (layer, { z, x, y }) {
    return this.#picture(tileId(layer, z, x, y), async () => (await this.#device.head(layer, z, x, y))?.blob)
  }

  async #picture (key, read) {
    const known = this.#pictures.get(key)
    const blob = known ? undefined : await read()
    const url = known ?? (blob && URL.createObjectURL(blob))
    if (!url) return
    this.#pictures.delete(key)
    this.#pictures.set(key, url)
    const [[oldest, useless]] = this.#pictures
    if (this.#pictures.size > PICTURES) {
      this.#pictures.delete(oldest)
      URL.revokeObjectURL(useless)
    }
    return url
  }
}

/**
 * @param {() => Promise<{open: () => void}>} load the panel
 * @returns {() => void} to be called when the panel is there, however it came
 */
export function listenToButton (button, notices, load) {
  async function open () {
    button.setAttribute('aria-busy', 'true')
    try {
      (await load()).open()
      notices.end('device')
    } catch (error) { // the file did not come, or the browser lets this page keep nothing
      notices.show('device', { text: words.offlineFailed(error.message), tone: 'warn', onClose: () => {} })
    }
    button.removeAttribute('aria-busy')
  }
  button.hidden = false
  button.addEventListener('click', open)
  return () => button.removeEventListener('click', open)
}

const DRAW_TIMEOUT = 5000 // milliseconds after which a map that is still not drawn need not be waited for
const REST_DELAY = 20000 // milliseconds after which the files come that only offline maps need

/** Why the page cannot open without a network; undefined where it can. Browsers want https, or the machine itself. */
export const obstacle = () => navigator.serviceWorker ? undefined : isSecureContext ? 'blocked' : 'insecure'

/** @param {Promise<any>} drawn what comes before: the map must not wait for its own copy */
export async function keepPage (drawn) {
  if (obstacle()) return
  await Promise.race([drawn, wait(DRAW_TIMEOUT)])
  try {
    const registration = await navigator.serviceWorker.register('sw.js')
    await registration.update() // browsers look for a new one some time after a visit, when nothing moves any more
  } catch {
    return // next time, then
  }
  await wait(REST_DELAY)
  navigator.serviceWorker.addEventListener('controllerchange', keepRest) // of a new version
  await keepRest()
}

/** Has the browser keep what only offline maps need, too. */
export async function keepRest () {
  if (!obstacle()) (await navigator.serviceWorker.ready).active?.postMessage('rest')
}
