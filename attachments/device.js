// The data on this device: areas of the store, and the files of this page. PouchDB and the card of areas are a separate
// bundle, offline.js. It is loaded when something is on the device, or when the user presses the button.
import { wait } from '../client/source/wait.js'
import { formats, tileId, versionId } from '../core/index.js'
import { sharePromise } from '../core/promises.js'
import { jsonOf } from '../core/values.js'
import { keepText, keptText } from './kept-text.js'

const DEVICE_TIMEOUT = 3000 // milliseconds that the page waits for the device, if the store may answer instead
const MOST_URLS = 500 // addresses of images that the page may use at the same time
const DRAW_TIMEOUT = 5000 // milliseconds after which the page no longer waits for the first map
const REST_DELAY = 20000 // milliseconds until the files are cached that only offline maps need

/** Path of the database: the same for every address of a store on one origin. */
const storePath = () => new URL('.', document.baseURI).pathname.replace(/\/_design\/[^/]+\/_rewrite\/$/, '/')

export class Device {
  /** @type {any} the OfflineStore, once it is open */
  offline = null
  /** Name of the databases on the device. */
  name = `tilecouch:${storePath().split('/').filter(Boolean).join(':')}`
  /** @type {Map<string, Promise<{panel: any, local: DeviceStore}>>} at most one, by the name */
  #opened = new Map()
  #onOpen
  #onAreas

  /**
   * @param {object} options
   * @param {(offline: any, file: any) => any} options.onOpen mounts the card; file: the exports of offline.js
   * @param {(areas: any[]) => void} options.onAreas an area was added or removed, or changed its state
   */
  constructor ({ onOpen, onAreas }) {
    this.#onOpen = onOpen
    this.#onAreas = onAreas
  }

  /** @returns {{db: string, areas: number} | null} the state of the device at the last visit */
  get note () {
    return jsonOf(keptText(this.name) ?? 'null') ?? null // the text may not be ours
  }

  get isUsed () {
    return Boolean(this.note?.areas)
  }

  /** @param {string} [db] address of the database; that of the last visit if the store does not answer */
  open (db = this.note?.db) {
    return sharePromise(this.#opened, this.name, () => this.#open(db))
  }

  /** Opens the OfflineStore if it has areas, and does not wait long for it. */
  async prepare () {
    if (this.isUsed) await Promise.race([this.open().catch(() => {}), wait(DEVICE_TIMEOUT)])
  }

  /** Opens the areas for reading. */
  async local () {
    return (await this.open()).local
  }

  /**
   * The time at which all areas of a layer were last up to date.
   * @returns {string | null | undefined} null: an area was never complete; undefined: the layer has no area
   */
  asOf (layer) {
    const areas = this.offline?.areas.list().filter(area => area.layer === layer) ?? []
    if (!areas.length) return undefined
    const times = areas.map(area => area.status().updated)
    return times.every(Boolean) ? times.sort()[0] : null
  }

  async #open (db) {
    const file = await import(await loadScript('later'))
    const offline = await file.openOffline(db, this.name)
    const report = () => {
      const areas = offline.areas.list()
      keepText(this.name, areas.length ? JSON.stringify({ db, areas: areas.length }) : null)
      this.#onAreas(areas)
    }
    this.offline = offline
    const panel = this.#onOpen(offline, file)
    offline.on('areas', report)
    report()
    return { panel, local: new DeviceStore(offline) }
  }
}

/**
 * Loads a script that the page names in a template: with the version of the page, and with the digest without which
 * CouchDB's policy does not let it run.
 * @param {string} id of the template
 * @returns {Promise<string>} address of the script, for an import
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

/** Reads areas as store.js reads the store. */
export class DeviceStore {
  #device
  /** @type {Map<string, Promise<string | undefined>>} by id and revision, the least recently used first */
  #urls = new Map()

  /** @param {any} offline the OfflineStore */
  constructor (offline) {
    this.#device = offline.device
  }

  /** @returns {Promise<import('./store.js').Layer[]>} */
  layers () {
    return this.#device.layers()
  }

  /** @returns {Promise<Map<string, import('./store.js').Stats>>} */
  async stats () {
    const layers = await this.layers()
    const entries = layers.map(async ({ layer }) => /** @type {const} */ ([layer, await this.#device.stats(layer)]))
    return new Map(await Promise.all(entries))
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

  /** Address of the image of a version. */
  async tileUrl (version) {
    return this.#url(version._id, version._rev, () => this.#device.tile(version))
  }

  /** Address of the newest image of a tile. */
  async newestUrl (layer, { z, x, y }) {
    const image = await this.#device.head(layer, z, x, y)
    return image && this.#url(tileId(layer, z, x, y), image.version.rev, async () => image.blob)
  }

  /** The address is made once for each revision; later images do not replace it. */
  async #url (id, rev, read) {
    const key = `${id} ${rev}`
    const pending = sharePromise(this.#urls, key, async () => {
      const blob = await read()
      return blob && URL.createObjectURL(blob)
    })
    this.#urls.delete(key)
    this.#urls.set(key, pending) // the most recently used one is last
    this.#dropOldest()
    const url = await pending
    if (!url) this.#urls.delete(key)
    return url
  }

  #dropOldest () {
    if (this.#urls.size <= MOST_URLS) return
    const [[key, pending]] = this.#urls
    this.#urls.delete(key)
    pending.then(url => { if (url) URL.revokeObjectURL(url) }, () => {})
  }
}

/**
 * Makes a button load its code when it is first pressed.
 * @param {HTMLElement} button @param {import('./notices.js').Notices} notices
 * @param {{topic: string, failed: (message: string) => string, open: () => Promise<void>}} options topic: of the notice
 *   of a failure; open: loads it first
 * @returns {() => void} stops listening
 */
export function listenToButton (button, notices, { topic, failed, open }) {
  async function press () {
    if (button.hasAttribute('aria-busy')) return
    button.setAttribute('aria-busy', 'true')
    try {
      await open()
      notices.end(topic)
    } catch (error) { // the file did not load, or the browser stores nothing for this page
      notices.show(topic, { text: failed(error.message), tone: 'warn', canClose: true })
    }
    button.removeAttribute('aria-busy')
  }
  button.hidden = false
  button.addEventListener('click', press)
  return () => button.removeEventListener('click', press)
}

/** Why the page cannot open without a network; undefined if it can. Browsers require https or localhost. */
export function obstacle () {
  if (navigator.serviceWorker) return undefined
  return isSecureContext ? 'blocked' : 'insecure'
}

/** Makes the browser cache the page. @param {Promise<any>} drawn resolves when the first map is drawn, before that */
export async function keepPage (drawn) {
  if (obstacle()) return
  await Promise.race([drawn, wait(DRAW_TIMEOUT)])
  try {
    const registration = await navigator.serviceWorker.register('sw.js')
    await registration.update() // browsers look for a new version only some time after a visit
  } catch {
    return // the next visit tries again
  }
  await wait(REST_DELAY)
  navigator.serviceWorker.addEventListener('controllerchange', keepRest) // the files of a new version
  await keepRest()
}

/** Makes the browser also cache the files that only offline maps need. */
export async function keepRest () {
  if (!obstacle()) (await navigator.serviceWorker.ready).active?.postMessage('rest')
}
