// The layers of the store, from their documents: all read at once, and again when one changes. A name that no layer has
// costs nothing, however many of them somebody makes up. Also the times of layers, the places of their tiles, and the
// settings of the viewer.
import { isDeepStrictEqual } from 'node:util'
import {
  AFTER, STORE_ID, checkLayer, editionId, isExactTime, limitsId, settingsOf, soundLayers
} from '../../core/index.js'
import { Limits } from '../../core/store/limits.js'
import { TilecouchError } from '../../loader/errors.js'
import { pagesOf } from '../../core/couch/queries.js'
import { fieldsOf } from '../../loader/store/revisions.js'
import { BY_TIME } from '../../loader/store/reader.js'
import { BY_ZOOM } from '../../loader/store/count.js'
import { copyError, ignoreRejection, waitFor } from './shared-work.js'

const layerDefaults = {
  page: 50, // layer documents a request: without validation they may be long
  logged: 20, // invalid documents whose ids are logged
  times: 1000, // of the newest editions of a layer, or of the newest changes of one without
  timesAge: 10000, // milliseconds before these, and where tiles are, are read again when tiles have changed
  pause: 1000, // milliseconds before the layers are read again after a failure
  timeout: 5000, // milliseconds without an answer of the store: requests for tiles wait for it
  viewTimeout: 25000, // milliseconds for the time index, which may have to be built
  settingsTimeout: 1500, // milliseconds for the settings of the viewer, whose page waits for them
  retries: 1 // repetitions after a lost connection
}

// Keys of what is kept, beside the names of layers.
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
  /** What the store does not keep of layers. @type {Map<string, Limits>} */
  #limits = new Map()
  #version = 0 // raised by every change of a layer
  #read = -1 // version at which the layers were read
  /** @type {Promise<void> | undefined} */
  #reading
  #failedAt = -Infinity // when the last read failed, unless something has changed since
  #isFailing = false // the last read failed, which is logged once
  /** Invalid documents, at the revisions that were logged. @type {Set<string>} */
  #logged = new Set()
  /** What else was read, and when. @type {Map<string, {promise: Promise<any>, at: number, isStale: boolean}>} */
  #kept = new Map()
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

  /** The layer as it is known at the moment, without waiting. @returns {Layer | undefined} */
  peek (name) {
    return this.#byName?.get(name)
  }

  /** What the store does not keep of a layer, if anything. @returns {Limits | undefined} */
  limitsOf (name) {
    return this.#limits.get(name)
  }

  /** The layer; undefined: there is no layer of that name. @returns {Promise<Layer | undefined>} */
  async find (name) {
    const knownLayer = this.#byName?.get(name)
    if (this.#read === this.#version) return knownLayer
    const reading = this.#refresh()
    if (knownLayer) return knownLayer // only a layer that is not known is waited for: it may be new
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
    if (this.#read !== this.#version) await this.#refresh()
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
    return waitFor(this.#keep(name, () => this.#readTimes(name)))
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
    try {
      const query = { ...range, group_level: 2 }
      const groups = await this.#view(BY_TIME, query, this.limits.viewTimeout)
      return groups.map(({ key }) => key[1]).reverse()
    } catch (error) {
      if (error.code === 'INDEX_MISSING') return [] // the store was not published
      throw error
    }
  }

  /** What was read before, unless it is stale and old. A failure is forgotten: the next request reads again. */
  #keep (key, read) {
    const kept = this.#kept.get(key)
    if (kept && (!kept.isStale || Date.now() - kept.at < this.limits.timesAge)) return kept.promise
    const reading = { promise: read(), at: Date.now(), isStale: false }
    this.#kept.set(key, reading)
    reading.promise.catch(() => { if (this.#kept.get(key) === reading) this.#kept.delete(key) })
    return reading.promise
  }

  #setStale (key) {
    const kept = this.#kept.get(key)
    if (kept) kept.isStale = true
  }

  /**
   * Where the tiles of each zoom are, of all layers with one reduce; empty when the store has no such index.
   * @returns {Promise<Reach>}
   */
  async reach () {
    return this.#keep(REACH, () => this.#readReach().catch(() => {
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
   * The settings of the viewer. While the store does not answer, the last known ones.
   * @returns {Promise<import('../../core/settings.js').Settings>}
   */
  async settings () {
    const read = async () => settingsOf(
      await this.couch.get(STORE_ID, undefined, this.#asking(this.limits.settingsTimeout))
    )
    this.#lastSettings = await this.#keep(SETTINGS, read).catch(() => this.#lastSettings)
    return this.#lastSettings
  }

  #page (range) {
    return this.couch.page(range, undefined, this.#asking())
  }

  async #view (view, query, timeout) {
    const [rows] = await this.couch.queries(view, [query], undefined, this.#asking(timeout))
    return rows
  }

  /** How the store is asked. */
  #asking (timeout = this.limits.timeout) {
    return { retries: this.limits.retries, timeout }
  }

  /** A document of the store has changed. @param {string} id */
  changed (id) {
    if (id === STORE_ID) {
      this.#kept.delete(SETTINGS)
      return
    }
    const colon = id.indexOf(':')
    const kind = id.slice(0, colon)
    const isLimits = kind === 'limits' && !id.includes(':', colon + 1) // not a tile of a layer called so
    if (kind === 'layer' || isLimits) {
      this.#kept.delete(id.slice(colon + 1))
      this.#readAgain()
    } else if (kind === 'edition') {
      this.#kept.delete(id.slice(colon + 1).split('@')[0])
    } else {
      this.#setStale(kind)
      this.#setStale(REACH)
    }
  }

  /** Anything may have changed. */
  reset () {
    this.#kept.clear()
    this.#byName = undefined
    this.#readAgain()
  }

  #readAgain () {
    this.#version++
    this.#failedAt = -Infinity
    ignoreRejection(this.#refresh())
  }

  /** Reads the layers again, once for all who wait. What is known stays known when that fails. */
  async #refresh () {
    if (this.#byName && Date.now() - this.#failedAt < this.limits.pause) return
    this.#reading ??= this.#readAll().finally(() => { this.#reading = undefined })
    try {
      await this.#reading
    } catch (error) {
      if (!this.#byName) throw copyError(error)
    }
  }

  /** The layers whose documents are valid, what the store does not keep of them, and what is wrong with the others. */
  async #readPages () {
    const [layers, limits] = [new Map(), new Map()]
    const faults = /** @type {{id: string, rev: string, why: string}[]} */ ([])
    const range = { startkey: 'layer:', endkey: 'layer;', include_docs: true }
    for await (const rows of pagesOf(part => this.#page(part), range, this.limits)) {
      const onFault = ({ _id: id, _rev: rev }, why) => faults.push({ id, rev, why })
      const docs = soundLayers(rows.map(({ doc }) => doc), onFault)
      for (const { type, ...doc } of docs) layers.set(doc.layer, fieldsOf(doc))
    }
    // by their ids: an older store may have a layer called "limits", whose tiles are in that range
    const ids = [...layers.keys()].map(limitsId)
    const parts = await this.couch.docs(ids, this.#asking())
    for (const { doc } of parts) if (doc) limits.set(doc.layer, new Limits(doc, layers.get(doc.layer)))
    return { layers, limits, faults }
  }

  /** Logs what is wrong with each revision, once. @param {{id: string, rev: string, why: string}[]} faults */
  #logFaults (faults) {
    const news = faults.filter(({ id, rev }) => !this.#logged.has(`${id} ${rev}`))
    this.#logged = new Set(faults.map(({ id, rev }) => `${id} ${rev}`))
    const { logged } = this.limits
    for (const { id, why } of news.slice(0, logged)) {
      this.log?.warn({ document: id, reason: why }, 'the document of a layer is not valid: it is left out')
    }
    const more = news.length - logged
    if (more > 0) {
      this.log?.warn({ count: more }, 'more documents of layers are not valid: `tilecouch doctor` names them')
    }
  }

  async #readAll () {
    try {
      let version, read
      do {
        version = this.#version
        read = await this.#readPages()
      } while (version !== this.#version)
      const before = this.#byName
      this.#byName = read.layers
      this.#limits = read.limits
      this.#logFaults(read.faults)
      this.#read = version
      this.#failedAt = -Infinity
      this.#isFailing = false
      if (!isDeepStrictEqual(before, this.#byName)) this.onChange(this.#byName)
    } catch (error) {
      if (!this.#isFailing) this.log?.warn({ code: error.code, reason: error.message }, 'the layers cannot be read')
      this.#isFailing = true
      this.#failedAt = Date.now()
      throw error
    }
  }
}
