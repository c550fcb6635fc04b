// Fetches expired and missing tiles from the upstream of their layer, once for all clients that wait, and stores them.
// Meanwhile clients get the expired tile, for as long as staleWhileRevalidate and staleIfError allow. A fetch continues
// when its clients have left, since the upstream has done the work.
import { now as currentTime, tileId } from '../../../core/index.js'
import { TilecouchError } from '../../../loader/errors.js'
import { saveAnswer } from '../../../loader/load/upstream/save.js'
import { ThrottledLog } from '../log.js'
import { ignoreRejection, joinTask, waitAtMost, waitFor } from '../shared-work.js'
import { Entry } from './entry.js'
import { StoreQueue } from './store-queue.js'

const refreshDefaults = {
  upstreamTimeout: 5000, // milliseconds for an upstream before a tile that expired long ago is shown
  rest: 10000, // milliseconds before an upstream is asked again for a tile after a failure
  storeTimeout: 3000, // milliseconds for the store to take a tile, before clients get it anyway
  unstored: 500, // fetches that may wait for the store: further tiles are answered but not stored
  closing: 10000 // milliseconds for fetches and writes under way when the gateway stops
}

/** @typedef {Map<string, Entry>} Entries by the ids of heads */

export class Refresher {
  /** Fetches under way, by the key of the tiles that are fetched together. @type {Map<string, Promise<Entries>>} */
  #fetches = new Map()
  /** @type {Set<Promise<Entries>>} */
  #storing = new Set()
  #stop = new AbortController()
  #giveUp = new AbortController()
  #queue

  /** @param {Omit<import('./index.js').Parts, 'layers' | 'upstreams' | 'memory' | 'asOf' | 'follower'>} parts */
  constructor ({ store, cache, reader, metrics, log, options, limits = {} }) {
    this.limits = { ...refreshDefaults, ...limits }
    this.cache = cache
    this.reader = reader
    this.metrics = metrics
    this.log = new ThrottledLog(log)
    this.staleWhileRevalidate = options.staleWhileRevalidate * 1000
    this.staleIfError = options.staleIfError * 1000
    this.counts = { stored: 0, unstored: 0 }
    this.#queue = new StoreQueue(store, this.#giveUp.signal)
  }

  /**
   * A tile that is missing or expired.
   * @param {import('../layers.js').Layer} layer @param {import('./upstreams.js').Upstream} upstream
   * @param {{z: number, x: number, y: number}} tile @param {Entry | null} entry in the store
   * @param {AbortSignal} [signal] of the client
   * @returns {Promise<import('./index.js').TileAnswer>}
   */
  async get (layer, upstream, tile, entry, signal) {
    if (entry?.bytes) return this.#getExpired(layer, upstream, tile, entry, signal)
    const id = tileId(layer.layer, tile.z, tile.x, tile.y)
    const newEntry = (await waitFor(this.#fetchOnce(layer, upstream, tile, entry), signal)).get(id)
    if (!newEntry?.bytes) throw new TilecouchError('TILE_NOT_FOUND', { id })
    return { entry: newEntry, outcome: 'upstream' }
  }

  /** Answers an expired tile at once while it is fetched again, unless it expired long ago. @param {Entry} entry */
  async #getExpired (layer, upstream, tile, entry, signal) {
    const now = Date.now()
    const age = now - entry.expiresAt
    const stale = { entry, outcome: 'stale' }
    if (now < entry.retryAt && age <= this.staleIfError) return stale
    const fetching = ignoreRejection(this.#fetchOnce(layer, upstream, tile, entry).catch(error => {
      entry.retryAt = Date.now() + this.limits.rest
      throw error
    }))
    if (age <= this.staleWhileRevalidate) return stale
    try {
      const waited = waitFor(fetching, signal)
      const entries = await (age <= this.staleIfError ? waitAtMost(waited, this.limits.upstreamTimeout) : waited)
      const newEntry = entries?.get(entry.id)
      // too late, or the upstream no longer has the tile
      if (!newEntry?.bytes) return stale
      return { entry: newEntry, outcome: newEntry.etag === entry.etag ? 'revalidated' : 'upstream' }
    } catch (error) {
      if (error.code === 'ABORTED' || age > this.staleIfError) throw error
      return stale
    }
  }

  /** @returns {Promise<Entries>} all fetched tiles; this tile is not among them if the upstream has none */
  #fetchOnce (layer, upstream, tile, entry) {
    const { key } = upstream.groupOf(tile.z, tile.x, tile.y)
    return joinTask(this.#fetches, key, () => this.#fetch(layer, upstream, tile, entry))
  }

  async #fetch (layer, upstream, tile, entry) {
    if (this.#stop.signal.aborted) throw new TilecouchError('ABORTED')
    const readNumber = this.cache.changes.beginRead()
    const answer = await this.#fetchAnswer(layer, upstream, tile, entry)
    if (answer.kind === 'missing') {
      if (!entry) this.cache.setMissing(tileId(layer.layer, tile.z, tile.x, tile.y), answer.until)
      return new Map()
    }
    const fetchResult = { layer, answer, tile, entry, readNumber, time: currentTime() }
    const slowError = why => new TilecouchError('UNREACHABLE', { url: this.#queue.url, why })
    if (this.#storing.size >= this.limits.unstored) {
      return this.#unstoredEntries(fetchResult, slowError('too many tiles wait to be stored'))
    }
    const storing = this.#store(fetchResult)
    this.#storing.add(storing)
    storing.finally(() => this.#storing.delete(storing))
    const stored = await waitAtMost(storing, this.limits.storeTimeout)
    return stored ?? this.#unstoredEntries(fetchResult, slowError('storing takes long'))
  }

  async #fetchAnswer (layer, upstream, tile, entry) {
    const start = performance.now()
    let outcome = 'failed'
    try {
      const validators = entry?.bytes ? entry.origin : undefined
      const answer = await upstream.fetch(tile, { validators, signal: this.#stop.signal })
      outcome = answer.kind
      return answer
    } catch (error) {
      const { code, message: reason, advice } = error
      const details = { layer: layer.layer, ...tile, code, reason, advice }
      this.log.write('warn', `${layer.layer} ${code}`, details, 'the upstream gave no tile')
      throw error
    } finally {
      this.metrics.upstream({ layer: layer.layer, outcome, seconds: (performance.now() - start) / 1000 })
    }
  }

  /** Never fails: a tile that cannot be stored is answered anyway. @returns {Promise<Entries>} */
  async #store (fetchResult) {
    const { layer, answer, entry, time } = fetchResult
    // without a revision, the tile is only in memory, and no head
    const storedEntry = entry?.rev === null ? undefined : entry
    const head = storedEntry && headOf(storedEntry)
    let savedTiles
    try {
      savedTiles = await saveAnswer(/** @type {any} */ (this.#queue), layer, answer, { head, now: time })
    } catch (error) {
      return this.#unstoredEntries(fetchResult, error)
    }
    const newEntries = await Promise.all(savedTiles.map(tile => this.#entryOf(tile, fetchResult)))
    return new Map(/** @type {any[]} */ (newEntries).filter(Boolean).map(newEntry => [newEntry.id, newEntry]))
  }

  /** The entry for one tile of an answer, after storing it. */
  async #entryOf (tile, { answer, tile: requestedTile, entry, readNumber }) {
    const { id, outcome, failure } = tile
    const unstoredEntry = () => tile.bytes && new Entry({ ...tile, rev: null, origin: answer.origin })
    if (outcome === 'failed') {
      this.#logUnstored(id, failure)
      const newEntry = unstoredEntry()
      return newEntry && this.cache.takeWritten(newEntry, readNumber)
    }
    if (outcome === 'overtaken') {
      const { z, x, y } = requestedTile
      const isRequested = tile.z === z && tile.x === x && tile.y === y
      if (!isRequested) return undefined // other tiles are read when a client requests them
      return this.reader.documents.get(id).catch(error => {
        // there is a tile, even if it cannot be read: show the previous one, or the one just fetched
        const fallback = entry ?? unstoredEntry()
        if (!fallback) throw error
        return fallback
      })
    }
    this.counts.stored++
    const entryBefore = entry?.id === id ? entry : this.cache.entry(id)
    const bytes = tile.bytes ?? (entryBefore?.digest === tile.digest ? entryBefore?.bytes : undefined)
    const content = { ...tile, bytes, type: tile.type ?? entryBefore?.type, origin: answer.origin }
    return bytes ? this.cache.takeWritten(new Entry(content), readNumber) : undefined
  }

  /** The entries of an answer that the store did not accept. @returns {Entries} */
  #unstoredEntries ({ layer, answer, entry, readNumber, time }, { code, message }) {
    this.#logUnstored(layer.layer, { code, reason: message })
    if (answer.kind === 'unchanged') {
      if (!entry?.bytes) return new Map()
      // fresh in memory again: the upstream is not asked with every request
      const content = { ...entry, digest: entry.digest, rev: null, expires: answer.expires }
      return new Map([[entry.id, this.cache.takeWritten(new Entry(content), readNumber)]])
    }
    const { expires, origin } = answer
    return new Map(answer.tiles.map(({ z, x, y, bytes, type }) => {
      const id = tileId(layer.layer, z, x, y)
      const content = { id, rev: null, time: answer.lastModified ?? time, stored: time, expires, origin, type, bytes }
      return [id, this.cache.takeWritten(new Entry(content), readNumber)]
    }))
  }

  #logUnstored (name, { code, reason }) {
    this.counts.unstored++
    this.log.write('error', code, { what: name, code, reason }, 'a tile that was fetched could not be stored')
  }

  /** Waits until fetches under way have ended and their tiles are stored, for a limited time. */
  async close () {
    const timer = setTimeout(() => {
      this.#stop.abort()
      this.#giveUp.abort()
    }, this.limits.closing)
    await Promise.allSettled(this.#fetches.values())
    this.#stop.abort()
    await Promise.allSettled(this.#storing)
    await this.#queue.drain()
    clearTimeout(timer)
  }
}

/** The head in the store, for `saveAnswer`. @param {Entry} entry */
const headOf = ({ id, rev, time, stored, ownExpires: expires, origin, type, digest }) =>
  ({ id, rev: /** @type {string} */ (rev), time, stored, expires, origin, type, digest })
