// What the layers say of themselves: all of them, read at once and read again when one changes. A name that no layer has
// costs nothing, however many of them somebody makes up.
import { isDeepStrictEqual } from 'node:util'
import { AFTER, TilecouchError, checkLayer, editionId, isExactTime, soundOf } from '../../core/index.js'
import { pagesOf } from '../../core/couch/queries.js'
import { fieldsOf } from '../../loader/resolve/content.js'
import { BY_TIME } from '../../loader/store/reader.js'
import { BY_ZOOM } from '../../loader/store/stats.js'
import { join, ownError, unattended } from './flight.js'

export const layerDefaults = {
  page: 50, // documents of layers a request: a store that validates nothing may hold long ones
  named: 20, // documents that are not valid, by their ids in the log
  times: 1000, // of the newest editions of a layer, or of the newest changes of one without
  timesAge: 10000, // milliseconds before these, and where tiles are, are looked up again, when tiles have changed
  pause: 1000, // milliseconds before the layers are read again, when that has failed
  timeout: 5000, // milliseconds a reading may take: who asks for a tile waits for it
  viewTimeout: 25000, // milliseconds the time index may take, which may have to be built
  retries: 1 // repetitions after a lost connection
}

/**
 * @typedef {Record<string, any> & {layer: string}} Layer fields of a layer document
 * @typedef {{promise: Promise<string[]>, editions: boolean, at: number, stale: boolean}} Times
 * @typedef {Map<string, Map<number, import('../../core/grid.js').TileRange>>} Reach layer -> zoom -> box of its tiles, past ones included
 */

export class LayerBook {
  /** @type {Map<string, Layer> | undefined} */
  #book
  #version = 0 // raised by every change of a layer
  #read = -1 // version that the book was read at
  /** @type {Promise<void> | undefined} */
  #reading
  #failedAt = -Infinity
  #inTrouble = false
  /** Documents that are not valid, at the revisions that were told. @type {Set<string>} */
  #told = new Set()
  /** @type {Map<string, Times>} */
  #times = new Map()
  /** @type {{promise: Promise<Reach>, at: number, stale: boolean} | undefined} */
  #reach

  /**
   * @param {import('../../loader/store/index.js').Store} store
   * @param {{log?: any, onChange?: (book: Map<string, Layer>) => void, limits?: Partial<typeof layerDefaults>}} [options] onChange: told when layers are others than before
   */
  constructor (store, { log, onChange, limits } = {}) {
    this.couch = store.couch
    this.log = log
    this.onChange = onChange
    this.limits = { ...layerDefaults, ...limits }
  }

  /** What is known of a layer at the moment, without waiting. @param {string} name @returns {Layer | undefined} */
  look (name) {
    return this.#book?.get(name)
  }

  /**
   * The layer, or nothing when there is none of that name.
   * @param {string} name
   * @returns {Promise<Layer | undefined>}
   */
  async find (name) {
    // one that is about to be read again is known; one that is not may be new
    const known = this.#book?.get(name)
    if (this.#read === this.#version) return known
    const reading = this.#refresh()
    if (known) return known
    await reading
    return this.#book?.get(name)
  }

  /** @param {string} name @returns {Promise<Layer>} */
  async get (name) {
    const layer = await this.find(checkLayer(name))
    if (!layer) throw new TilecouchError('LAYER_NOT_FOUND', { layer: name })
    return layer
  }

  /** @returns {Promise<Layer[]>} by name */
  async list () {
    if (this.#read !== this.#version) await this.#refresh()
    return [...(this.#book ?? new Map()).values()].sort((a, b) => a.layer < b.layer ? -1 : 1)
  }

  /**
   * The times of a layer's newest editions, or of its newest changes when it has none. Oldest first.
   * @param {string} name
   * @returns {Promise<string[]>}
   */
  async times (name) {
    await this.get(name)
    const known = this.#times.get(name)
    // the newest changes of a layer that is being filled change all the time
    if (known && (!known.stale || (!known.editions && Date.now() - known.at < this.limits.timesAge))) return known.promise
    const times = /** @type {Times} */ ({ editions: false, at: Date.now(), stale: false })
    times.promise = this.#readTimes(name, times)
    times.promise.catch(() => { if (this.#times.get(name) === times) this.#times.delete(name) })
    this.#times.set(name, times)
    return join(times.promise)
  }

  /** @param {string} name @param {Times} times */
  async #readTimes (name, times) {
    const start = editionId(name, '')
    const rows = await this.#page({ startkey: `${start}~`, endkey: start, descending: true, limit: this.limits.times })
    times.editions = rows.length > 0
    if (times.editions) return rows.map(({ id }) => id.slice(start.length)).filter(isExactTime).reverse()
    const query = { startkey: [name, AFTER], endkey: [name], descending: true, group_level: 2, limit: this.limits.times }
    try {
      return (await this.#view(BY_TIME, query, this.limits.viewTimeout)).map(({ key }) => key[1]).reverse()
    } catch (error) {
      if (error.code === 'INDEX_MISSING') return [] // a store that nobody has published
      throw error
    }
  }

  /** Where the tiles of each zoom are, of all layers with one reduce; nothing where the store cannot say it. @returns {Promise<Reach>} */
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
      throw signal.aborted ? new TilecouchError('UNREACHABLE', { url: this.couch.url, why: `no answer within ${timeout / 1000} s` }) : error
    })
  }

  /**
   * Something in the store has changed.
   * @param {string} id of the document
   */
  changed (id) {
    const colon = id.indexOf(':')
    const kind = id.slice(0, colon)
    if (kind === 'layer') {
      this.#version++
      this.#failedAt = -Infinity
      unattended(this.#refresh())
      this.#times.delete(id.slice(colon + 1))
    } else if (kind === 'edition') {
      this.#times.delete(id.slice(colon + 1).split('@')[0])
    } else {
      const known = this.#times.get(kind)
      if (known) known.stale = true
      if (this.#reach) this.#reach.stale = true
    }
  }

  /** Everything may have changed. */
  reset () {
    this.#version++
    this.#failedAt = -Infinity
    this.#times.clear()
    this.#reach = undefined
    this.#book = undefined
    unattended(this.#refresh())
  }

  /** Reads the layers again, once, however many want to know. What is known stays known when that fails. */
  async #refresh () {
    if (this.#book && Date.now() - this.#failedAt < this.limits.pause) return
    this.#reading ??= this.#readAll().finally(() => { this.#reading = undefined })
    try {
      await this.#reading
    } catch (error) {
      if (!this.#book) throw ownError(error)
    }
  }

  /** @returns {Promise<{book: Map<string, Layer>, faults: {id: string, rev: string, why: string}[]}>} those whose documents are valid, and what is wrong with the others */
  async #readPages () {
    const [book, faults] = [new Map(), /** @type {any[]} */ ([])]
    const range = { startkey: 'layer:', endkey: 'layer;', include_docs: true }
    for await (const rows of pagesOf(part => this.#page(part), range, this.limits)) {
      const docs = soundOf(rows.map(({ doc }) => doc), 'layer', ({ _id: id, _rev: rev }, why) => faults.push({ id, rev, why }))
      for (const { type, ...doc } of docs) book.set(doc.layer, fieldsOf(doc))
    }
    return { book, faults }
  }

  /** Says once of each revision what is wrong with it. @param {{id: string, rev: string, why: string}[]} faults */
  #tell (faults) {
    const news = faults.filter(({ id, rev }) => !this.#told.has(`${id} ${rev}`))
    this.#told = new Set(faults.map(({ id, rev }) => `${id} ${rev}`))
    const { named } = this.limits
    for (const { id, why } of news.slice(0, named)) this.log?.warn?.({ document: id, reason: why }, 'the document of a layer is not valid: it is left out')
    if (news.length > named) this.log?.warn?.({ count: news.length - named }, 'more documents of layers are not valid: `tilecouch doctor` names them')
  }

  async #readAll () {
    try {
      let version, read
      do {
        version = this.#version
        read = await this.#readPages()
      } while (version !== this.#version)
      const before = this.#book
      this.#book = read.book
      this.#tell(read.faults)
      this.#read = version
      this.#inTrouble = false
      if (!isDeepStrictEqual(before, this.#book)) this.onChange?.(this.#book)
    } catch (error) {
      // once a trouble, not once a request
      if (!this.#inTrouble) this.log?.warn?.({ code: error.code, reason: error.message }, 'the layers cannot be read')
      this.#inTrouble = true
      this.#failedAt = Date.now()
      throw error
    }
  }
}
