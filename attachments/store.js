// What the page reads of the store itself: layers, editions, figures and the documents of one tile; what the device
// holds of it, while the store does not answer. The map and the timeline read for themselves.
import { pastRange, soundOf, tileId, timeline } from '../core/index.js'
import { isPlace } from '../core/store/blocks.js'

const TIMEOUT = 20000 // milliseconds until a request counts as unanswered
const SHORT_TIMEOUT = 4000 // milliseconds of it, where the device can answer instead
const MAX_PAGES = 5 // at editions, where many are not valid
const INDEX_TIMEOUT = 300000 // milliseconds: figures may wait for an index that is being built

/** What went wrong, in words for the page. */
export class StoreError extends Error {
  /** @param {number} [status] none when nobody answered */
  constructor (message, status) {
    super(message)
    this.status = status
  }
}

async function read (url, { timeout = TIMEOUT, ...init } = {}) {
  let answer
  try {
    answer = await fetch(url, { ...init, signal: AbortSignal.timeout(timeout) })
  } catch (error) {
    throw new StoreError(error.name === 'TimeoutError' ? `No answer within ${timeout / 1000} seconds.` : 'The server cannot be reached.')
  }
  const body = await answer.json().catch(() => null)
  if (answer.ok && body) return body
  throw new StoreError(body?.reason ?? `The server answered ${answer.status} ${answer.statusText}.`, answer.status)
}

/** Nobody is there, or a proxy whose server is away. @param {any} error */
const isAway = ({ status }) => status === undefined || (status >= 502 && status <= 504)

const key = value => encodeURIComponent(JSON.stringify(value))

/** The database behind this page, when CouchDB serves it; nothing behind a gateway. */
export function databaseUrl (page = document.baseURI) {
  const match = /^(.*)\/_design\/[^/]+\/_rewrite\//.exec(page)
  return match ? match[1] : null
}

/**
 * Address of a layer's tiles for other map clients, relative to the page.
 * @param {Layer} layer @param {string | null} [time]
 */
export const template = ({ layer, format = 'png' }, time) => `${time ? `${layer}@${time}` : layer}/{z}/{x}/{y}.${format}`

export class Store {
  /** Address of the database, once it has answered. A rewrite costs CouchDB twice as much as what it leads to. */
  db = ''
  /** Whether the store does not answer and the device does. Then only layers() asks the store again. */
  isAway = false
  #device

  constructor (device) {
    this.#device = device
  }

  /**
   * @template T
   * @param {(local: import('./device.js').DeviceStore) => Promise<T>} ofDevice
   * @param {() => Promise<T>} ofStore
   * @returns {Promise<T>}
   */
  async #ask (ofDevice, ofStore, { again = false } = {}) {
    if (this.isAway && !again) return ofDevice(await this.#device.local())
    try {
      const answer = await ofStore()
      this.isAway = false
      return answer
    } catch (error) {
      const local = isAway(error) && this.#device.isUsed && await this.#device.local().catch(() => null)
      const layers = local ? await local.layers().catch(() => []) : []
      if (!layers.length) throw error
      this.isAway = true
      this.db ||= this.#device.note?.db ?? ''
      return ofDevice(local)
    }
  }

  /** @returns {Promise<Layer[]>} every layer, without figures */
  layers () {
    return this.#ask(local => local.layers(), () => this.#layers(), { again: true })
  }

  async #layers () {
    const path = `_all_docs?include_docs=true&startkey=${key('layer:')}&endkey=${key('layer;')}`
    const addresses = this.db ? [this.db] : [databaseUrl(), new URL('db', document.baseURI).href]
    let problem
    for (const address of addresses) {
      if (!address) continue
      try {
        const { rows } = await read(`${address}/${path}`, { timeout: this.#device.isUsed ? SHORT_TIMEOUT : TIMEOUT })
        this.db = address
        return soundOf(rows.map(({ doc }) => doc), 'layer')
      } catch (error) { // a proxy may show the page and hide the database
        problem ??= error
      }
    }
    throw problem
  }

  /** The figures of every layer. @returns {Promise<Map<string, Stats>>} empty where the view was not deployed */
  stats () {
    return this.#ask(local => local.stats(), () => this.#stats())
  }

  async #stats () {
    try {
      return addUp(await read(`${this.db}/_design/versions/_view/by_zoom?group_level=3`, { timeout: INDEX_TIMEOUT }))
    } catch (error) {
      if (error.status === 404) return new Map()
      throw error
    }
  }

  /**
   * Notes how many documents of each layer have conflicts, which masters make that were loaded apart.
   * @param {Map<string, Stats>} stats
   * @returns {Promise<boolean>} whether there are any; false where that is not known
   */
  async countConflicts (stats) {
    if (this.isAway) return false
    const { rows } = await read(`${this.db}/_design/versions/_view/conflicts?group_level=1`).catch(() => ({ rows: [] }))
    for (const { key: [layer], value } of rows) {
      const known = stats.get(layer)
      if (known) known.conflicts = value
    }
    return rows.length > 0
  }

  /** Editions of a layer, newest first. @returns {Promise<Edition[]>} */
  editions (layer, limit) {
    return this.#ask(local => local.editions(layer, limit), () => this.#editions(layer, limit))
  }

  async #editions (layer, limit) {
    const found = []
    // of those that are not valid others take the places
    for (let look = 0, from = `edition:${layer}@~`; look < MAX_PAGES && found.length < limit; look++) {
      const { rows } = await read(`${this.db}/_all_docs?include_docs=true&descending=true&inclusive_end=false&limit=${limit}&startkey=${key(from)}&endkey=${key(`edition:${layer}@`)}`)
      found.push(...soundOf(rows.map(({ doc }) => doc), 'edition'))
      if (rows.length < limit) break
      from = rows[rows.length - 1].id.slice(0, -1) // of ids that begin alike none is before it
    }
    return found.slice(0, limit)
  }

  /**
   * What an edition covers at its deepest zoom: blocks of 64 x 64 tiles, as the tiles that they are six zooms above.
   * Nothing while the store is away, or where the edition has no manifest.
   * @returns {Promise<{z: number, x: number, y: number}[]>}
   */
  async footprint (layer, time) {
    if (this.isAway) return []
    const { rows } = await read(`${this.db}/_all_docs?include_docs=true&startkey=${key(`manifest:${layer}@${time}`)}&endkey=${key(`manifest:${layer}@${time}~`)}`)
    const places = [...new Set(rows.flatMap(({ doc }) => Object.keys(doc?.blocks ?? {})))].filter(isPlace).map(place => place.split(':').map(Number))
    const deepest = places.reduce((most, [z]) => Math.max(most, z), 0)
    return places.filter(([z]) => z === deepest).map(([z, x, y]) => ({ z: Math.max(0, z - 6), x, y }))
  }

  /**
   * The newest versions of a tile, oldest first.
   * @param {{z: number, x: number, y: number}} tile
   * @returns {Promise<TileDocument[]>}
   */
  versions (layer, tile, limit) {
    return this.#ask(local => local.versions(layer, tile, limit), () => this.#versions(layer, tile, limit))
  }

  async #versions (layer, { z, x, y }, limit) {
    const id = tileId(layer, z, x, y)
    const { startkey, endkey } = pastRange(id)
    const { results } = await read(`${this.db}/_all_docs/queries`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ queries: [{ keys: [id], include_docs: true }, {
        startkey: endkey, endkey: startkey, descending: true, limit, include_docs: true
      }] })
    })
    const rows = results.flatMap(({ rows: own, error = 'no answer', reason }) => own ?? [{ error, reason }])
    const bad = rows.find(({ error }) => error && error !== 'not_found')
    if (bad) throw new StoreError(bad.reason ?? bad.error, 500)
    return timeline(rows.map(({ doc }) => doc).filter(doc => doc?.type === 'tile')).slice(-limit)
  }

  /**
   * Where the image of a version is: the address names what never changes.
   * @param {TileDocument} doc @returns {Promise<string | undefined>}
   */
  async tileUrl (doc) {
    return this.isAway ? (await this.#device.local()).tileUrl(doc) : `${this.db}/${encodeURI(doc._id)}/tile?rev=${doc._rev}`
  }

  /** Where the newest image of a tile is. @returns {Promise<string | undefined>} */
  async newestUrl (layer, { z, x, y }) {
    return this.isAway ? (await this.#device.local()).newestUrl(layer, { z, x, y }) : `${this.db}/${tileId(layer, z, x, y)}/tile`
  }
}

// The view emits [bytes, seconds, x, y] under [layer, zoom, 'current' | 'past' | 'gone'] and reduces with _stats
function addUp ({ rows }) {
  /** @type {Map<string, Stats>} */
  const layers = new Map()
  for (const { key: [layer, z, kind], value: [size, seconds, x, y] } of rows) {
    const stats = layers.get(layer) ?? { tiles: 0, versions: 0, bytes: 0, first: Infinity, last: -Infinity, zooms: [] }
    layers.set(layer, stats)
    stats.versions += size.count
    stats.bytes += size.sum
    stats.first = Math.min(stats.first, seconds.min)
    stats.last = Math.max(stats.last, seconds.max)
    if (kind !== 'current') continue
    stats.tiles += size.count
    stats.zooms.push({ z, tiles: size.count, x0: x.min, x1: x.max, y0: y.min, y1: y.max })
  }
  return layers
}

/**
 * @typedef {{tiles: number, versions: number, bytes: number, first: number, last: number, conflicts?: number, zooms:
 *   {z: number, tiles: number, x0: number, x1: number, y0: number, y1: number}[]}} Stats
 * @typedef {{layer: string, name?: string, description?: string, attribution?: string, minzoom?: number, maxzoom?:
 *   number, bounds?: number[], center?: number[], format?: string, tileSize?: number, ttl?: number}} Layer
 * @typedef {{layer: string, time: string, title?: string, tiles?: number, finished?: string}} Edition
 * @typedef {{_id: string, _rev: string, z: number, x: number, y: number, time: string, stored?: string, expires?:
 *   string, gone?: boolean, current?: boolean, _attachments?:
 *   {tile?: {length: number, content_type: string}}}} TileDocument
 */
