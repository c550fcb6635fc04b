// Reads layers, editions, figures and the documents of one tile for the viewer: from the store, or from the device
// while the store does not answer. The map and the timeline have sources of their own.
import { STORE_ID, blockId, editionId, pastRange, settingsOf, soundOf, tileId, timeline } from '../core/index.js'
import { ignoreMissing } from '../core/promises.js'
import { isRecordValue } from '../core/record-values.js'
import { Block, contentOf, placeOfTile } from '../core/store/blocks.js'
import { addUp } from '../core/store/layer-stats.js'
import { AnswerError, Database, databaseUrl } from './requests.js'

const SHORT_TIMEOUT = 4000 // milliseconds until a request counts as unanswered, where the device can answer instead
const MAX_PAGES = 5 // maximum requests for editions, when many are invalid
const INDEX_TIMEOUT = 300000 // milliseconds: figures may wait for an index that is being built
const ALL_PAGE = 1000 // editions per request when all are read
const MANIFESTS = 12 // maximum manifests to search for a tile, the newest first

/** Whether no server answers, or a proxy cannot reach the store. @param {any} error */
const isAway = ({ status }) => status === undefined || (status >= 502 && status <= 504)

/**
 * Address of a layer's tiles for other map clients, relative to the page.
 * @param {Layer} layer @param {string | null} [time]
 */
export const template = ({ layer, format = 'png' }, time) =>
  `${time ? `${layer}@${time}` : layer}/{z}/{x}/{y}.${format}`

export class Store extends Database {
  /** Settings by the operator. @type {import('../core/settings.js').Settings} */
  settings = {}
  /** Whether the store does not answer and the device does. Then only layers() asks the store again. */
  isAway = false
  #device

  constructor (device) {
    super('') // layers() finds the address
    this.#device = device
  }

  /**
   * @template T
   * @param {(local: import('./device.js').DeviceStore) => Promise<T>} readDevice
   * @param {() => Promise<T>} readStore
   * @returns {Promise<T>}
   */
  async #either (readDevice, readStore, { again = false } = {}) {
    if (this.isAway && !again) return readDevice(await this.#device.local())
    try {
      const answer = await readStore()
      this.isAway = false
      return answer
    } catch (error) {
      const local = isAway(error) && this.#device.isUsed && await this.#device.local().catch(() => null)
      const layers = local ? await local.layers().catch(() => []) : []
      if (!layers.length) throw error
      this.isAway = true
      this.db ||= this.#device.note?.db ?? ''
      return readDevice(local)
    }
  }

  /** @returns {Promise<Layer[]>} every layer, without figures */
  layers () {
    return this.#either(local => local.layers(), () => this.#layers(), { again: true })
  }

  async #layers () {
    const timeout = this.#device.isUsed ? SHORT_TIMEOUT : undefined
    const addresses = this.db ? [this.db] : [databaseUrl(), new URL('db', document.baseURI).href]
    let problem
    for (const address of addresses) {
      if (!address) continue
      try {
        const docs = await new Database(address).docs({ startkey: 'layer:', endkey: 'layer;' }, { timeout })
        this.db = address
        return soundOf(docs, 'layer')
      } catch (error) { // a proxy may show the page and hide the database
        problem ??= error
      }
    }
    throw problem
  }

  /**
   * Reads the settings by the operator. Without them the page keeps its defaults.
   * @returns {Promise<string | undefined>} address of the logo, if there is one
   */
  async readSettings () {
    if (this.isAway) return
    const doc = await this.ask(STORE_ID, { timeout: SHORT_TIMEOUT }).catch(() => null)
    this.settings = settingsOf(doc)
    const { logo } = this.settings
    if (logo) return new URL(logo, document.baseURI).origin === location.origin ? logo : undefined
    return doc?._attachments?.logo && `${this.db}/${STORE_ID}/logo`
  }

  /** Whether a layer has any tile; true if that is unknown. */
  async hasTiles (layer) {
    if (this.isAway) return true
    const query = { limit: 1, startkey: `${layer}:`, endkey: `${layer};` }
    return this.rows('_all_docs', query).then(({ length }) => length > 0, () => true)
  }

  /** The figures of every layer as a whole. @returns {Promise<Map<string, Stats>>} empty without the view */
  stats () {
    const read = async () => new Map((await this.#byZoom({ group_level: 1 })).map(figuresOf))
    return this.#either(local => local.stats(), read)
  }

  /** How many tiles a layer has now. @returns {Promise<number | undefined>} */
  async countTiles (layer) {
    return (await this.#zooms(layer))?.tiles
  }

  /**
   * The URL of a picture of a layer: the middle tile of its first zoom, if that zoom has no gaps.
   * @param {number} maxBytes of a tile, on average
   * @returns {Promise<string | undefined>}
   */
  async thumbnailUrl (layer, maxBytes) {
    const stats = await this.#zooms(layer, { limit: 1 })
    const [first] = (stats?.zooms ?? []).filter(({ tiles }) => tiles > 0).sort((a, b) => a.z - b.z)
    if (!first) return
    const { z, x0 = 0, x1 = 0, y0 = 0, y1 = 0, tiles, currentBytes = 0 } = first
    const hasNoGaps = tiles === (x1 - x0 + 1) * (y1 - y0 + 1)
    if (!hasNoGaps || currentBytes / tiles > maxBytes) return
    return this.newestUrl(layer, { z, x: (x0 + x1) >> 1, y: (y0 + y1) >> 1 })
  }

  /**
   * The figures of a layer, with those of each zoom.
   * @param {string} layer @param {object} [options] of the query
   * @returns {Promise<Stats | undefined>}
   */
  async #zooms (layer, options) {
    const query = { group_level: 3, startkey: [layer], endkey: [layer, {}], ...options }
    const stats = await this.#either(local => local.stats(), async () => addUp(await this.#byZoom(query)))
    return stats.get(layer)
  }

  /** Rows of the view by_zoom, each with four sums; none if it is not deployed. @param {object} query */
  async #byZoom (query) {
    const reading = this.rows('_design/versions/_view/by_zoom', query, { timeout: INDEX_TIMEOUT })
    return await reading.catch(ignoreMissing) ?? []
  }

  /**
   * Adds the number of conflicts to the figures of each layer. Masters that are loaded separately cause conflicts.
   * @param {Map<string, Stats>} stats
   * @returns {Promise<boolean>} whether there are any; false if unknown
   */
  async countConflicts (stats) {
    if (this.isAway) return false
    const rows = await this.rows('_design/versions/_view/conflicts', { group_level: 1 }).catch(() => [])
    for (const { key: [layer], value } of rows) {
      const figures = stats.get(layer)
      if (figures) figures.conflicts = value
    }
    return rows.length > 0
  }

  /** Editions of a layer, newest first. @returns {Promise<Edition[]>} */
  editions (layer, limit) {
    return this.#either(local => local.editions(layer, limit), () => this.#editions(layer, limit))
  }

  async #editions (layer, limit) {
    const editions = []
    let reads = 0
    for await (const docs of this.#editionPages(layer, limit)) {
      editions.push(...soundOf(docs, 'edition'))
      if (editions.length >= limit || ++reads === MAX_PAGES) break // further pages replace invalid editions
    }
    return editions.slice(0, limit)
  }

  #editionPages (layer, limit, signal) {
    return this.pages(editionId(layer, ''), { limit, signal, descending: true })
  }

  /**
   * Every edition of a layer, newest first.
   * @param {AbortSignal} signal @param {(editions: Edition[]) => void} onProgress so far
   * @returns {Promise<Edition[]>}
   */
  async allEditions (layer, signal, onProgress) {
    if (this.isAway) return this.editions(layer, Infinity)
    const editions = []
    for await (const docs of this.#editionPages(layer, ALL_PAGE, signal)) {
      editions.push(...soundOf(docs, 'edition'))
      onProgress(editions)
    }
    return editions
  }

  /** One edition; undefined if it does not exist. @returns {Promise<Edition | undefined>} */
  async edition (layer, time) {
    if (this.isAway) return (await this.editions(layer, Infinity)).find(edition => edition.time === time)
    return soundOf(await this.docs({ key: editionId(layer, time) }), 'edition')[0]
  }

  /**
   * The newest edition that found a tile as a version shows it. Undefined if none of the newest editions did, or while
   * the store is away.
   * @param {{z: number, x: number, y: number}} tile @param {TileDocument} version
   * @param {string} [before] time of the next version
   * @returns {Promise<{time: string, title?: string} | undefined>}
   */
  async lastCheck (layer, { z, x, y }, version, before) {
    const seenTime = lastSeen(version)
    const seen = seenTime ? { time: seenTime } : undefined
    if (this.isAway || version.gone) return seen
    const [startkey, endkey] = [before ?? '~', `${version.time}~`].map(time => `manifest:${layer}@${time}`)
    const order = { descending: true, inclusive_end: false, limit: MANIFESTS }
    for (const doc of await this.docs({ startkey, endkey, ...order })) {
      if (doc.time <= (seenTime ?? version.time)) break
      const contents = await this.#statements(layer, { z, x, y }, doc.blocks)
      if (!contents.includes(contentOf(version._attachments?.tile?.digest))) continue
      const edition = await this.edition(layer, doc.time) // without a document it was withdrawn
      if (edition) return edition
    }
    return seen
  }

  /** The digests that the blocks of a manifest have for a tile. */
  #statements (layer, { z, x, y }, blocks) {
    const names = blocks?.[placeOfTile(z, x, y)] ?? []
    return Promise.all(names.map(name => this.#statement(layer, { z, x, y }, name)))
  }

  /** The digest that a block has for a tile. */
  async #statement (layer, { z, x, y }, name) {
    const id = encodeURIComponent(blockId(layer, placeOfTile(z, x, y), name))
    const bytes = await this.ask(`${id}/digests`, { as: 'arrayBuffer' }).catch(() => null)
    return bytes ? Block.decode(new Uint8Array(bytes))?.get(x, y) : undefined
  }

  /**
   * The blocks of 64 x 64 tiles that an edition covers at its deepest zoom, each as the tile six zooms above. Empty
   * while the store is away, or if the edition has no manifest.
   * @returns {Promise<{z: number, x: number, y: number}[]>}
   */
  async footprint (layer, time) {
    if (this.isAway) return []
    const id = `manifest:${layer}@${time}`
    const docs = await this.docs({ startkey: id, endkey: `${id}~` })
    const names = new Set(docs.flatMap(({ blocks }) => Object.keys(blocks ?? {})))
    const places = [...names].filter(name => isRecordValue(name, 'place')).map(place => place.split(':').map(Number))
    const deepest = places.reduce((max, [z]) => Math.max(max, z), 0)
    return places.filter(([z]) => z === deepest).map(([z, x, y]) => ({ z: Math.max(0, z - 6), x, y }))
  }

  /**
   * The newest versions of a tile, oldest first.
   * @param {{z: number, x: number, y: number}} tile
   * @returns {Promise<TileDocument[]>}
   */
  versions (layer, tile, limit) {
    return this.#either(local => local.versions(layer, tile, limit), () => this.#versions(layer, tile, limit))
  }

  async #versions (layer, { z, x, y }, limit) {
    const id = tileId(layer, z, x, y)
    const { startkey, endkey } = pastRange(id)
    const past = { startkey: endkey, endkey: startkey, descending: true, limit, include_docs: true }
    const queries = [{ keys: [id], include_docs: true }, past]
    const { results } = await this.ask('_all_docs/queries', { body: { queries } })
    const rows = results.flatMap(({ rows: queryRows, error = 'no answer', reason }) => queryRows ?? [{ error, reason }])
    const failedRow = rows.find(({ error }) => error && error !== 'not_found')
    if (failedRow) throw new AnswerError(failedRow.reason ?? failedRow.error, 500)
    return timeline(rows.map(({ doc }) => doc).filter(doc => doc?.type === 'tile')).slice(-limit)
  }

  /**
   * The URL of the image of a version. It names a revision, whose image never changes.
   * @param {TileDocument} doc @returns {Promise<string | undefined>}
   */
  async tileUrl (doc) {
    return this.isAway
      ? (await this.#device.local()).tileUrl(doc)
      : `${this.db}/${encodeURI(doc._id)}/tile?rev=${doc._rev}`
  }

  /** The URL of the newest image of a tile. @returns {Promise<string | undefined>} */
  async newestUrl (layer, { z, x, y }) {
    return this.isAway
      ? (await this.#device.local()).newestUrl(layer, { z, x, y })
      : `${this.db}/${tileId(layer, z, x, y)}/tile`
  }
}

/** When a version was last seen unchanged, by the documents of the tile itself. @param {TileDocument} version */
const lastSeen = ({ time, seen, origin }) =>
  [...(seen ?? []).map(([seenTime]) => seenTime), origin?.checked].filter(seenTime => seenTime > time).sort().at(-1)

/** A layer and its total figures, from a row of the view. @returns {[string, Stats]} */
const figuresOf = ({ key: [layer], value: [size, seconds] }) =>
  [layer, { versions: size.count, bytes: size.sum, first: seconds.min, last: seconds.max, zooms: [] }]

/**
 * @typedef {{tiles?: number, versions: number, bytes: number, first: number, last: number, conflicts?: number, zooms:
 *   {z: number, tiles: number, currentBytes?: number, x0?: number, x1?: number, y0?: number, y1?: number}[]}} Stats
 *   tiles, zooms: of the heads, where requested
 * @typedef {{layer: string, name?: string, description?: string, attribution?: string, minzoom?: number, maxzoom?:
 *   number, bounds?: number[], center?: number[], format?: string, tileSize?: number, ttl?: number,
 *   group?: string, order?: number}} Layer
 * @typedef {{layer: string, time: string, title?: string, source?: string, tiles?: number, finished?: string}} Edition
 * @typedef {{_id: string, _rev: string, z: number, x: number, y: number, time: string, stored?: string, expires?:
 *   string, gone?: boolean, current?: boolean, _attachments?:
 *   {tile?: {length: number, content_type: string, digest?: string}}, origin?: {url?: string, checked?: string},
 *   seen?: [string, string][]}} TileDocument
 */
