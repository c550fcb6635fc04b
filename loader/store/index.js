// The store: one CouchDB database with the tiles of layers and their past. All access to a database goes through here.
import { createRequire } from 'node:module'
import { registerProj4 } from '../../core/grids/index.js'
import { STORE_ID, checkLayer } from '../../core/index.js'
import { ignoring } from '../../core/promises.js'
import { hasMarker, newMarker, refuseForeign } from './marker.js'
import { StatementsByLayer } from '../../core/store/statements.js'
import { Couch } from './couch.js'
import { countListed, layerStats } from './count.js'
import { editionCoverage, manifestTotals, shownSince } from './coverage.js'
import { extendHeads } from './extend.js'
import { fetchListed, versionsById } from './fetch.js'
import { defineLayer, editions, getEdition, getLayer, layerGrid, layers, putEdition } from './layers.js'
import {
  readAt, readHead, readTimes, readTimesByZoom, readTimesLooked, readVersions, readVersionsIn
} from './reader.js'
import { list, listHeads, listNamed, listTiles } from './list.js'
import { getStyle, getStyleFile, putStyle, styles } from './styles.js'
import { writeVersions } from './writer.js'

export { WRITER_ROLE } from '../../core/access.js'

// proj4js is loaded when the first grid other than Web Mercator is used: see core/grids/projections.js
const require = createRequire(import.meta.url)
registerProj4(definition => require('proj4')(definition))

/** Everybody may read. Admins may write and, by validate_doc_update, so may the writer role. */
export const PUBLIC_SECURITY = { admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: [] } }

/**
 * Only admins may do anything: the default of CouchDB 3. A store is filled like this until it has a validation
 * function.
 */
export const PRIVATE_SECURITY = { admins: { names: [], roles: ['_admin'] }, members: { names: [], roles: ['_admin'] } }

/** Only admins, on purpose: publishing the store does not open it. */
export const CLOSED_SECURITY = { ...PRIVATE_SECURITY, tilecouch: { closed: true } }

/** @typedef {ConstructorParameters<typeof Couch>[1]} CouchOptions */

export class Store {
  #statements

  /** @param {Couch} couch */
  constructor (couch) {
    this.couch = couch
    this.#statements = new StatementsByLayer(couch)
    /** Whether opening the store created the database. */
    this.isNew = false
  }

  /**
   * Opens an existing store.
   * @param {string | import('./couch.js').NanoDatabase} database its URL, or what nano uses
   * @param {CouchOptions} [options]
   */
  static async open (database, options) {
    const store = new Store(new Couch(database, options))
    await store.checkIsStore()
    return store
  }

  /**
   * Opens a store, and creates the database first if it does not exist.
   * @param {string} url
   * @param {CouchOptions & {q?: number, n?: number, public?: boolean, closed?: boolean}} [options] q: shards; n: copies
   *   in a cluster; public: everybody may read from the start; closed: only admins may, also after it is published
   */
  static async create (url, { q, n, closed = false, public: open = !closed, ...options } = {}) {
    const store = new Store(new Couch(url, options))
    const restricted = closed ? CLOSED_SECURITY : PRIVATE_SECURITY
    const security = open ? PUBLIC_SECURITY : restricted
    // checked first: a writer who is no admin may not even try to create a database
    if (!await store.info().catch(ignoring('DATABASE_NOT_FOUND'))) await store.#make({ q, n }, security)
    if (!store.isNew) await store.checkIsStore()
    await store.couch.update(STORE_ID, doc => doc ? undefined : newMarker())
    return store
  }

  async #make ({ q, n }, security) {
    if (!await this.couch.createDatabase({ q, n })) return
    this.isNew = true
    await this.secure(security)
  }

  /** Refuses a database with documents of other programs, before anything is written into it. */
  async checkIsStore () {
    const info = await this.info()
    if (info.doc_count === 0) return
    if (hasMarker(await this.couch.get(STORE_ID), this.url)) return
    const rows = await this.couch.page({ limit: 20 })
    refuseForeign(rows.map(({ id }) => id), this.url)
  }

  /** URL of the database, without any password. */
  get url () {
    return this.couch.url
  }

  /**
   * A text that identifies this store and its mirrors at any address: an embedded store has another port each time. A
   * store that is created anew gets another one. An older store without uuid has its creation time, and a store of
   * another program its database.
   * @returns {Promise<string>}
   */
  async identity () {
    const { uuid, created } = await this.couch.get(STORE_ID) ?? {}
    const stated = [uuid, created].find(value => typeof value === 'string')
    return stated ?? `${this.url} of ${(await this.info()).instance_start_time}`
  }

  /** Facts about the database: documents, sizes, shards. */
  info () {
    return this.couch.request({ path: '' })
  }

  security () {
    return this.couch.request({ path: '_security' })
  }

  secure (security) {
    return this.couch.request({ method: 'PUT', path: '_security', body: security })
  }

  async destroy () {
    await this.couch.request({ method: 'DELETE' })
  }

  // layers and editions
  /** @param {string} layer @param {Parameters<typeof defineLayer>[2]} [fields] @param {{isThere?: boolean}} [how] */
  defineLayer (layer, fields, how) { return defineLayer(this.couch, layer, fields, how) }
  /** @param {string} layer */
  grid (layer) { return layerGrid(this.couch, layer) }
  /**
   * An area in the grid of a layer.
   * @template {import('../../core/area.js').Area | undefined} T
   * @param {string} layer @param {T} area @returns {Promise<T>}
   */
  async areaIn (layer, area) { return /** @type {T} */ (area?.in(await this.grid(layer))) }
  layers () { return layers(this.couch) }
  /** @param {string} layer */
  layer (layer) { return getLayer(this.couch, layer) }
  /** @param {string} layer */
  editions (layer) { return editions(this.couch, layer) }
  edition (layer, time) { return getEdition(this.couch, layer, time) }
  putEdition (layer, time, fields) { return putEdition(this.couch, layer, time, fields) }

  // styles
  /** @param {string} layer @param {string} [time] as written @param {{signal?: AbortSignal}} [options] */
  style (layer, time, { signal } = {}) { return getStyle(this.couch, layer, time, signal) }
  /** @param {string} layer */
  styles (layer) { return styles(this.couch, layer) }
  /** @param {string} layer @param {Parameters<typeof putStyle>[2]} fields @param {{signal?: AbortSignal}} [options] */
  putStyle (layer, fields, { signal } = {}) { return putStyle(this.couch, layer, fields, signal) }
  /** @param {string} layer @param {string} time @param {string} name @param {{signal?: AbortSignal}} [options] */
  styleFile (layer, time, name, { signal } = {}) { return getStyleFile(this.couch, layer, time, name, signal) }

  // writing
  /** @param {Parameters<typeof writeVersions>[1]} versions @param {Parameters<typeof writeVersions>[2]} [options] */
  write (versions, options) { return writeVersions(this.couch, versions, options) }
  /**
   * Lets heads that are still up to date expire later.
   * @param {import('./extend.js').Extension[]} extensions
   * @param {{signal?: AbortSignal}} [options]
   */
  extend (extensions, options) { return extendHeads(this.couch, extensions, options) }

  // reading
  head (layer, z, x, y) { return readHead(this.couch, layer, z, x, y) }
  at (layer, z, x, y, time) { return readAt(this.couch, layer, z, x, y, time) }
  /**
   * Every version of one tile, oldest first; with `checked` if it was confirmed after its time.
   * @param {string} layer
   */
  async versions (layer, z, x, y) { return readVersions(this.couch, this.#statementsOf(layer), layer, z, x, y) }
  /**
   * Since when a tile has shown its content, now or as of a time, and when that was last confirmed: "unchanged since
   * 2022, checked in 2024".
   * @param {string} layer @param {number} z @param {number} x @param {number} y @param {string} [time]
   * @returns {Promise<{since: string, checked: string, gone: boolean} | undefined>} undefined without any version
   */
  async shownSince (layer, z, x, y, time) {
    return shownSince(await readVersions(this.couch, this.#statementsOf(layer), layer, z, x, y, time))
  }

  /** @param {string} layer @param {{bbox: import('../../core/grid.js').Bbox, z: number, signal?: AbortSignal}} view */
  versionsIn (layer, view) { return readVersionsIn(this.couch, layer, view) }
  /** @param {string} layer @param {{bbox?: import('../../core/grid.js').Bbox, z?: number}} [view] */
  times (layer, view) { return readTimes(this.couch, layer, view) }
  /**
   * The times of `times` and, with 0 tiles, those of editions that checked the view and found nothing new.
   * @param {string} layer
   * @param {{bbox?: import('../../core/grid.js').Bbox, z?: number}} [view]
   */
  async timesLooked (layer, view) { return readTimesLooked(this.couch, this.#statementsOf(layer), view) }
  /** What an edition covered: tiles, blocks and boxes by zoom. @param {string} layer @param {string} time */
  async coverage (layer, time) { return editionCoverage(this.#statementsOf(layer), await this.editions(layer), time) }
  /** Counts the manifests of a layer, their blocks and the bytes of these. @param {string} layer */
  async manifests (layer) { return manifestTotals(this.couch, this.#statementsOf(layer)) }
  #statementsOf (layer) { return this.#statements.ofLayer(checkLayer(layer)) }
  /** The number of versions of each time and zoom. @param {string} layer @param {string} [until] */
  timesByZoom (layer, until) { return readTimesByZoom(this.couch, layer, until) }
  stats (layer) { return layerStats(this.couch, layer) }
  heads (layer, options) { return listHeads(this.couch, layer, options) }

  // reading much
  /** @param {string} layer @param {import('./list.js').ListOptions} [options] */
  listTiles (layer, options) { return listTiles(this.couch, layer, options) }
  /**
   * @param {string} layer
   * @param {Iterable<{z: number, x: number, ys: number[]}>} columns
   * @param {{signal?: AbortSignal}} [options]
   */
  listNamed (layer, columns, options) { return listNamed(this.couch, layer, columns, options) }
  /** @param {string} layer @param {import('./list.js').ListOptions & {time?: string}} [options] */
  list (layer, options) { return list(this.couch, layer, options) }
  /** @param {string} layer @param {import('./list.js').ListOptions & {time?: string}} [options] */
  count (layer, options) { return countListed(this.couch, layer, options) }
  /**
   * @template {import('./list.js').Listed} T
   * @param {Iterable<T> | AsyncIterable<T>} listed
   * @param {{signal?: AbortSignal, concurrency?: number, onMissing?: (listed: T) => void}} [options]
   */
  fetch (listed, options) { return fetchListed(this.couch, listed, options) }
  /** @param {Iterable<string>} ids @param {{signal?: AbortSignal}} [options] */
  versionsById (ids, options) { return versionsById(this.couch, ids, options) }
}

/** Opens an existing store. @type {typeof Store.open} */
export const openStore = (database, options) => Store.open(database, options)
