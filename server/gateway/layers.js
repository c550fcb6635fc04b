// The layers of the store, from their documents: all read at once, and again when one changes. A name that no layer has
// costs nothing, however many of them somebody makes up. And what the operator says of the viewer.
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
import { copyError, ignoreRejection, readOnce, waitFor } from './shared-work.js'

const layerDefaults = {
  page: 50, // layer documents a request: without validation they may be long
  logged: 20, // invalid documents whose ids are logged
  times: 1000, // of the newest editions of a layer, or of the newest changes of one without
  timesBetween: 100000, // the same, of a range of times
  timesAge: 10000, // milliseconds before these, and where tiles are, are read again when tiles have changed
  pause: 1000, // milliseconds before the layers are read again after a failure
  timeout: 5000, // milliseconds a read may take: requests for tiles wait for it
  viewTimeout: 25000, // milliseconds for the time index, which may have to be built
  settingsTimeout: 1500, // milliseconds for the settings of the viewer, whose page waits for them
  retries: 1 // repetitions after a lost connection
}

/**
 * @typedef {Record<string, any> & {layer: string, grid?: any}} Layer fields of a layer document
 * @typedef {{promise: Promise<string[]>, editions: boolean, at: number, stale: boolean}} Times
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
  #failedAt = -Infinity
  #hasFailed = false
  /** Invalid documents, at the revisions that were logged. @type {Set<string>} */
  #logged = new Set()
  /** @type {Map<string, Times>} */
  #times = new Map()
  /** @type {{promise: Promise<Reach>, at: number, stale: boolean} | undefined} */
  #reach
  /** @type {Promise<import('../../core/settings.js').Settings> | undefined} */
  #settings
  /** @type {import('../../core/settings.js').Settings} */
  #lastSettings = {}

  /**
   * @param {import('../../loader/store/index.js').Store} store @param {object} [options]
   * @param {any} [options.log]
   * @param {(book: Map<string, Layer>) => void} [options.onChange] called when layers have changed
   * @param {Partial<typeof layerDefaults>} [options.limits]
   */
  constructor (store, { log, onChange, limits } = {}) {
    this.couch = store.couch
    this.log = log
    this.onChange = onChange
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
    await this.get(name)
    const knownTimes = this.#times.get(name)
    // the newest changes of a layer that is being filled change all the time
    const mayBeOld = knownTimes && !knownTimes.editions && Date.now() - knownTimes.at < this.limits.timesAge
    if (knownTimes && (!knownTimes.stale || mayBeOld)) return knownTimes.promise
    const times = /** @type {Times} */ ({ editions: false, at: Date.now(), stale: false })
    times.promise = this.#readTimes(name, times)
    times.promise.catch(() => { if (this.#times.get(name) === times) this.#times.delete(name) })
    this.#times.set(name, times)
    return waitFor(times.promise)
  }

  /**
   * The same from one time to another: the newest `timesBetween`, if there are more.
   * @param {string} name @param {{from?: string, to?: string}} [between] exact, inclusive
   * @returns {Promise<string[]>} oldest first
   */
  async timesBetween (name, between = {}) {
    const { from = '', to = AFTER } = between
    const newest = await this.times(name)
    const isAll = newest.length < this.limits.times || from >= newest[0]
    if (isAll) return newest.filter(time => time >= from && time <= to)
    const range = { from, to, limit: this.limits.timesBetween }
    const { editions } = /** @type {Times} */ (this.#times.get(name) ?? { editions: false })
    const read = () => editions ? this.#editionTimes(name, range) : this.#changeTimes(name, range)
    return readOnce(this, JSON.stringify([name, range]), read)
  }

  /** The times of a layer's newest editions, oldest first. */
  async editions (name) {
    const times = await this.times(name)
    return this.#times.get(name)?.editions ? times : []
  }

  /** @param {Times} times */
  async #readTimes (name, times) {
    const range = { from: '', to: AFTER, limit: this.limits.times }
    const editionTimes = await this.#editionTimes(name, range)
    times.editions = editionTimes.length > 0
    return times.editions ? editionTimes : this.#changeTimes(name, range)
  }

  /** The newest ones of a range. @returns {Promise<string[]>} oldest first */
  async #editionTimes (name, { from, to, limit }) {
    const start = editionId(name, '')
    const rows = await this.#page({ startkey: start + to, endkey: start + from, descending: true, limit })
    return rows.map(({ id }) => id.slice(start.length)).filter(isExactTime).reverse()
  }

  async #changeTimes (name, { from, to, limit }) {
    const query = { startkey: [name, to, {}], endkey: [name, from], descending: true, group_level: 2, limit }
    try {
      const groups = await this.#view(BY_TIME, query, this.limits.viewTimeout)
      return groups.map(({ key }) => key[1]).reverse()
    } catch (error) {
      if (error.code === 'INDEX_MISSING') return [] // the store was not published
      throw error
    }
  }

  /**
   * Where the tiles of each zoom are, of all layers with one reduce; empty when the store has no such index.
   * @returns {Promise<Reach>}
   */
  async reach () {
    if (!this.#reach || (this.#reach.stale && Date.now() - this.#reach.at >= this.limits.timesAge)) {
      const reach = { promise: this.#readReach(), at: Date.now(), stale: false }
      reach.promise = reach.promise.catch(() => {
        reach.stale = true
        return new Map()
      })
      this.#reach = reach
    }
    return this.#reach.promise
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
   * What the operator says of the viewer. While the store does not answer, what it said before.
   * @returns {Promise<import('../../core/settings.js').Settings>}
   */
  settings () {
    if (!this.#settings) {
      const reading = this.#readSettings().catch(() => {
        if (this.#settings === reading) this.#settings = undefined // the next one asks again
        return this.#lastSettings
      })
      this.#settings = reading
    }
    return this.#settings
  }

  async #readSettings () {
    const read = (signal, options) => this.couch.get(STORE_ID, signal, options)
    this.#lastSettings = settingsOf(await this.#inTime(read, this.limits.settingsTimeout))
    return this.#lastSettings
  }

  #page (range) {
    return this.#inTime((signal, options) => this.couch.page(range, signal, options))
  }

  async #view (view, query, timeout = this.limits.timeout) {
    const [rows] = await this.#inTime((signal, options) => this.couch.queries(view, [query], signal, options), timeout)
    return rows
  }

  /** @template T @param {(signal: AbortSignal, options: {retries: number}) => Promise<T>} read @returns {Promise<T>} */
  #inTime (read, timeout = this.limits.timeout) {
    const signal = AbortSignal.timeout(timeout)
    return read(signal, { retries: this.limits.retries }).catch(error => {
      if (!signal.aborted) throw error
      throw new TilecouchError('UNREACHABLE', { url: this.couch.url, why: `no answer within ${timeout / 1000} s` })
    })
  }

  /** Something in the store has changed. @param {string} id of the document */
  changed (id) {
    if (id === STORE_ID) {
      this.#settings = undefined
      return
    }
    const colon = id.indexOf(':')
    const kind = id.slice(0, colon)
    const isLimits = kind === 'limits' && !id.includes(':', colon + 1) // not a tile of a layer called so
    if (kind === 'layer' || isLimits) {
      this.#version++
      this.#failedAt = -Infinity
      ignoreRejection(this.#refresh())
      this.#times.delete(id.slice(colon + 1))
    } else if (kind === 'edition') {
      this.#times.delete(id.slice(colon + 1).split('@')[0])
    } else {
      const layerTimes = this.#times.get(kind)
      if (layerTimes) layerTimes.stale = true
      if (this.#reach) this.#reach.stale = true
    }
  }

  /** Anything may have changed. */
  reset () {
    this.#version++
    this.#failedAt = -Infinity
    this.#times.clear()
    this.#reach = this.#settings = undefined
    this.#byName = undefined
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

  /**
   * @returns {Promise<{book: Map<string, Layer>, limits: Map<string, Limits>,
   *   faults: {id: string, rev: string, why: string}[]}>} book: layers whose documents
   *   are valid; faults: what is wrong with the others
   */
  async #readPages () {
    const [book, limits, faults] = [new Map(), new Map(), /** @type {any[]} */ ([])]
    const range = { startkey: 'layer:', endkey: 'layer;', include_docs: true }
    for await (const rows of pagesOf(part => this.#page(part), range, this.limits)) {
      const onFault = ({ _id: id, _rev: rev }, why) => faults.push({ id, rev, why })
      const docs = soundLayers(rows.map(({ doc }) => doc), onFault)
      for (const { type, ...doc } of docs) book.set(doc.layer, fieldsOf(doc))
    }
    // by their ids: an older store may have a layer called "limits", whose tiles are in that range
    const ids = [...book.keys()].map(limitsId)
    const parts = await this.#inTime((signal, options) => this.couch.docs(ids, { signal, ...options }))
    for (const { doc } of parts) if (doc) limits.set(doc.layer, new Limits(doc, book.get(doc.layer)))
    return { book, limits, faults }
  }

  /** Logs what is wrong with each revision, once. @param {{id: string, rev: string, why: string}[]} faults */
  #logFaults (faults) {
    const news = faults.filter(({ id, rev }) => !this.#logged.has(`${id} ${rev}`))
    this.#logged = new Set(faults.map(({ id, rev }) => `${id} ${rev}`))
    const { logged } = this.limits
    for (const { id, why } of news.slice(0, logged)) {
      this.log?.warn?.({ document: id, reason: why }, 'the document of a layer is not valid: it is left out')
    }
    const more = news.length - logged
    if (more > 0) {
      this.log?.warn?.({ count: more }, 'more documents of layers are not valid: `tilecouch doctor` names them')
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
      this.#byName = read.book
      this.#limits = read.limits
      this.#logFaults(read.faults)
      this.#read = version
      this.#hasFailed = false
      if (!isDeepStrictEqual(before, this.#byName)) this.onChange?.(this.#byName)
    } catch (error) {
      // once, and not for each request
      if (!this.#hasFailed) this.log?.warn?.({ code: error.code, reason: error.message }, 'the layers cannot be read')
      this.#hasFailed = true
      this.#failedAt = Date.now()
      throw error
    }
  }
}
