// The layers of the store. All layer documents are read at once, and again when one changes, so that requests for
// invented names cost no reads. This module also caches the times of layers, the boxes of their tiles, and the settings
// of the viewer.
import { isDeepStrictEqual } from 'node:util'
import {
  AFTER, STORE_ID, checkLayer, editionId, isExactTime, limitsId, settingsOf, soundLayers
} from '../../core/index.js'
import { ignoring } from '../../core/promises.js'
import { Limits } from '../../core/store/limits.js'
import { TilecouchError } from '../../loader/errors.js'
import { pagesOf } from '../../core/couch/queries.js'
import { fieldsOf } from '../../loader/store/revisions.js'
import { BY_TIME } from '../../loader/store/reader.js'
import { BY_ZOOM } from '../../loader/store/count.js'
import { copyError, ignoreRejection, waitFor } from './shared-work.js'

const layerDefaults = {
  page: 50, // layer documents in a request: without validation they may be long
  logged: 20, // invalid documents whose ids are logged
  times: 1000, // newest editions of a layer, or newest changes if it has no editions
  timesAge: 10000, // milliseconds before times and boxes of tiles are read again when tiles have changed
  pause: 1000, // milliseconds before the layers are read again after a failure
  timeout: 5000, // milliseconds without an answer of the store: requests for tiles wait for it
  viewTimeout: 25000, // milliseconds for the time index, which may have to be built
  settingsTimeout: 1500, // milliseconds for the settings of the viewer, whose page waits for them
  retries: 1 // repetitions after a lost connection
}

// keys of the cache, besides the names of layers
const REACH = ':reach'
const SETTINGS = ':settings'

/**
 * @typedef {Record<string, any> & {layer: string, grid?: any}} Layer fields of a layer document
 * @typedef {Map<string, Map<number, import('../../core/grid.js').TileRange>>} Reach layer -> zoom -> box of its tiles,
 *   past ones included
 */

export class Layers {
  /** @type {Map<string, Layer> | undefined} */
  #byName
  /** Limits by the names of their layers. @type {Map<string, Limits>} */
  #limits = new Map()
  #version = 0 // raised by every change of a layer
  #readVersion = -1 // version at which the layers were read
  /** @type {Promise<void> | undefined} */
  #reading
  #failedAt = -Infinity // when the last read failed, unless something has changed since
  #isFailing = false // the last read failed, which is logged once
  /** Invalid documents, at the revisions that were logged. @type {Set<string>} */
  #logged = new Set()
  /** Times, boxes and settings. @type {Map<string, {promise: Promise<any>, readAt: number, isStale: boolean}>} */
  #cache = new Map()
  /** @type {import('../../core/settings.js').Settings} */
  #lastSettings = {}
  /** Called when layers have changed. @type {(layers: Map<string, Layer>) => void} */
  onChange = () => {}

  /**
   * @param {import('../../loader/store/index.js').Store} store
   * @param {{log?: any, limits?: Partial<typeof layerDefaults>}} [options]
   */
  constructor (store, { log, limits } = {}) {
    this.couch = store.couch
    this.log = log
    this.limits = { ...layerDefaults, ...limits }
  }

  /** The layer from memory, without waiting. @returns {Layer | undefined} */
  peek (name) {
    return this.#byName?.get(name)
  }

  /** The limits of a layer, if it has any. @returns {Limits | undefined} */
  limitsOf (name) {
    return this.#limits.get(name)
  }

  /** The layer; undefined: there is no layer of that name. @returns {Promise<Layer | undefined>} */
  async find (name) {
    const cachedLayer = this.#byName?.get(name)
    if (this.#readVersion === this.#version) return cachedLayer
    const reading = ignoreRejection(this.#refresh())
    if (cachedLayer) return cachedLayer // only a request for an unknown layer waits: the layer may be new
    await reading
    return this.#byName?.get(name)
  }

  /** @returns {Promise<Layer>} */
  async get (name) {
    const layer = await this.find(checkLayer(name))
    if (!layer) throw new TilecouchError('LAYER_NOT_FOUND', { layer: name })
    return layer
  }

  /** @returns {Promise<Layer[]>} by name */
  async list () {
    if (this.#readVersion !== this.#version) await this.#refresh()
    return [...(this.#byName ?? new Map()).values()].sort((a, b) => a.layer < b.layer ? -1 : 1)
  }

  /** The times of a layer's newest editions, or of its newest changes when it has none. Oldest first. */
  async times (name) {
    return (await this.#timesOf(name)).times
  }

  /** The times of a layer's newest editions, oldest first. */
  async editions (name) {
    const { times, areEditions } = await this.#timesOf(name)
    return areEditions ? times : []
  }

  /** @returns {Promise<{times: string[], areEditions: boolean}>} */
  async #timesOf (name) {
    await this.get(name)
    return waitFor(this.#readCached(name, () => this.#readTimes(name)))
  }

  async #readTimes (name) {
    const editions = await this.#editionTimes(name)
    const areEditions = editions.length > 0
    return { times: areEditions ? editions : await this.#changeTimes(name), areEditions }
  }

  async #editionTimes (name) {
    const start = editionId(name, '')
    const range = { startkey: start + AFTER, endkey: start, descending: true, limit: this.limits.times }
    const rows = await this.#page(range)
    return rows.map(({ id }) => id.slice(start.length)).filter(isExactTime).reverse()
  }

  async #changeTimes (name) {
    const range = { startkey: [name, AFTER, {}], endkey: [name, ''], descending: true, limit: this.limits.times }
    const query = { ...range, group_level: 2 }
    const groups = await this.#view(BY_TIME, query, this.limits.viewTimeout).catch(ignoring('INDEX_MISSING'))
    return groups?.map(({ key }) => key[1]).reverse() ?? [] // the store may not have been published
  }

  /** Returns the cached value, unless it is stale and old. A failure is not cached: the next request reads again. */
  #readCached (key, read) {
    const cached = this.#cache.get(key)
    if (cached && (!cached.isStale || Date.now() - cached.readAt < this.limits.timesAge)) return cached.promise
    const reading = { promise: read(), readAt: Date.now(), isStale: false }
    this.#cache.set(key, reading)
    reading.promise.catch(() => { if (this.#cache.get(key) === reading) this.#cache.delete(key) })
    return reading.promise
  }

  #setStale (key) {
    const cached = this.#cache.get(key)
    if (cached) cached.isStale = true
  }

  /**
   * The box of the tiles of each zoom, of all layers with one query; empty if the store has no such index.
   * @returns {Promise<Reach>}
   */
  async reach () {
    return this.#readCached(REACH, () => this.#readReach().catch(() => {
      this.#setStale(REACH)
      return new Map()
    }))
  }

  async #readReach () {
    /** @type {Reach} */
    const reach = new Map()
    for (const { key: [layer, z], value: [,, x, y] } of await this.#view(BY_ZOOM, { group_level: 2 })) {
      const zooms = reach.get(layer) ?? new Map()
      reach.set(layer, zooms.set(z, { x0: x.min, x1: x.max, y0: y.min, y1: y.max }))
    }
    return reach
  }

  /**
   * The settings of the viewer. While the store does not answer, these are the last ones that were read.
   * @returns {Promise<import('../../core/settings.js').Settings>}
   */
  async settings () {
    const read = async () => settingsOf(
      await this.couch.get(STORE_ID, undefined, this.#requestOptions(this.limits.settingsTimeout))
    )
    this.#lastSettings = await this.#readCached(SETTINGS, read).catch(() => this.#lastSettings)
    return this.#lastSettings
  }

  #page (range) {
    return this.couch.page(range, undefined, this.#requestOptions())
  }

  async #view (view, query, timeout) {
    const [rows] = await this.couch.queries(view, [query], undefined, this.#requestOptions(timeout))
    return rows
  }

  #requestOptions (timeout = this.limits.timeout) {
    return { retries: this.limits.retries, timeout }
  }

  /** A document of the store has changed. @param {string} id */
  changed (id) {
    if (id === STORE_ID) {
      this.#cache.delete(SETTINGS)
      return
    }
    const colon = id.indexOf(':')
    const kind = id.slice(0, colon)
    // a second colon: a tile of a layer that is called "limits"
    const isLimits = kind === 'limits' && !id.includes(':', colon + 1)
    if (kind === 'layer' || isLimits) {
      this.#cache.delete(id.slice(colon + 1))
      this.#readAgain()
    } else if (kind === 'edition') {
      this.#cache.delete(id.slice(colon + 1).split('@')[0])
    } else {
      this.#setStale(kind)
      this.#setStale(REACH)
    }
  }

  /** Forgets everything: any document may have changed. */
  reset () {
    this.#cache.clear()
    this.#byName = undefined
    this.#readAgain()
  }

  #readAgain () {
    this.#version++
    this.#failedAt = -Infinity
    ignoreRejection(this.#refresh())
  }

  /** Reads the layers again, once for all callers that wait. If that fails, the layers in memory stay. */
  async #refresh () {
    if (this.#byName && Date.now() - this.#failedAt < this.limits.pause) return
    this.#reading ??= this.#readAll().finally(() => { this.#reading = undefined })
    try {
      await this.#reading
    } catch (error) {
      if (!this.#byName) throw copyError(error)
    }
  }

  /** Reads the layers with valid documents, their limits, and the faults of invalid documents. */
  async #readPages () {
    const [layers, limits] = [new Map(), new Map()]
    const faults = /** @type {{id: string, rev: string, why: string}[]} */ ([])
    const range = { startkey: 'layer:', endkey: 'layer;', include_docs: true }
    for await (const rows of pagesOf(pageRange => this.#page(pageRange), range, this.limits)) {
      const onFault = ({ _id: id, _rev: rev }, why) => faults.push({ id, rev, why })
      const docs = soundLayers(rows.map(({ doc }) => doc), onFault)
      for (const { type, ...doc } of docs) layers.set(doc.layer, fieldsOf(doc))
    }
    // by id: the range of ids may have tiles, if an older store has a layer called "limits"
    const ids = [...layers.keys()].map(limitsId)
    const limitRows = await this.couch.docs(ids, this.#requestOptions())
    for (const { doc } of limitRows) if (doc) limits.set(doc.layer, new Limits(doc, layers.get(doc.layer)))
    return { layers, limits, faults }
  }

  /** Logs the fault of each revision once. @param {{id: string, rev: string, why: string}[]} faults */
  #logFaults (faults) {
    const newFaults = faults.filter(({ id, rev }) => !this.#logged.has(`${id} ${rev}`))
    this.#logged = new Set(faults.map(({ id, rev }) => `${id} ${rev}`))
    const { logged: mostLogged } = this.limits
    for (const { id, why } of newFaults.slice(0, mostLogged)) {
      this.log?.warn({ document: id, reason: why }, 'the document of a layer is not valid: it is left out')
    }
    const unloggedCount = newFaults.length - mostLogged
    if (unloggedCount > 0) {
      this.log?.warn({ count: unloggedCount }, 'more documents of layers are not valid: `tilecouch doctor` names them')
    }
  }

  async #readAll () {
    try {
      let version, content
      do {
        version = this.#version
        content = await this.#readPages()
      } while (version !== this.#version)
      const previousLayers = this.#byName
      this.#byName = content.layers
      this.#limits = content.limits
      this.#logFaults(content.faults)
      this.#readVersion = version
      this.#failedAt = -Infinity
      this.#isFailing = false
      if (!isDeepStrictEqual(previousLayers, this.#byName)) this.onChange(this.#byName)
    } catch (error) {
      if (!this.#isFailing) this.log?.warn({ code: error.code, reason: error.message }, 'the layers cannot be read')
      this.#isFailing = true
      this.#failedAt = Date.now()
      throw error
    }
  }
}
