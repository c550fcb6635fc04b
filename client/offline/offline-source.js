// The source of layers with the option `offline`: reads from the device, from the network, or from both in turn.
// It has the interface of CouchSource, and methods for callers that can show the device's answer first.
import { TilecouchError, checkLayer, isInRanges, tileId } from '../../core/index.js'
import { gridOf } from '../../core/grids/index.js'
import { raceAbort } from '../../core/promises.js'
import { CouchSource } from '../source/couch-source.js'
import { isPassing } from '../source/failure.js'
import { withinTime } from '../source/wait.js'

export const offlineSourceDefaults = {
  // milliseconds to wait for the network before the device answers, if the network is asked first
  networkTimeout: 3000
}

const READ_ORDERS = ['device', 'network', 'only']

/**
 * @typedef {import('../source/couch-source.js').Version} Version
 * @typedef {import('../source/couch-source.js').Column} Column
 * @typedef {{versions: Version[], isWhole: boolean}} LocalColumn isWhole: the store has no other versions there
 */

export class OfflineSource {
  #offline
  #couch
  #fromDevice = new WeakSet() // images that came from the device
  #pending = new PendingChanges()

  /**
   * @param {{offline: any, layer: string, read?: string, couch?: CouchSource, newestOnly?: boolean,
   *   limits?: Partial<typeof offlineSourceDefaults>}} parts newestOnly: an area without the past is enough
   */
  constructor ({ offline, layer, read = 'device', couch, newestOnly = false, limits }) {
    if (!READ_ORDERS.includes(read)) {
      const why = `it is one of ${READ_ORDERS.join(', ')}`
      throw new TilecouchError('BAD_OPTION', { option: 'read', value: read, why })
    }
    checkLayer(layer)
    this.read = read
    this.name = /** @type {string} */ (layer)
    this.newestOnly = newestOnly
    this.limits = { ...offlineSourceDefaults, ...limits }
    this.#offline = offline
    const open = () => couch ?? new CouchSource(offline.remote, { fetchOptions: offline.fetchOptions })
    this.#couch = read === 'only' ? undefined : open()
  }

  get #device () {
    return this.#offline.device
  }

  /** @returns {Promise<Record<string, any>>} */
  async layer (layer, signal) {
    checkLayer(layer)
    const readDevice = () => this.#device.layer(layer)
    const askNetwork = () => this.#ask(couch => couch.layer(layer, signal), signal)
    if (this.read === 'only') {
      const doc = await readDevice()
      if (doc) return doc
      throw new TilecouchError('NOT_ON_DEVICE', { layer })
    }
    if (this.read === 'network') return this.#networkFirst(askNetwork, readDevice)
    return await readDevice() ?? askNetwork()
  }

  /**
   * @param {string} layer @param {Column[]} columns @param {AbortSignal} [signal]
   * @param {{onEarly?: (columns: LocalColumn[]) => void}} [options] onEarly: called with the versions on the device
   *   before the network answers. With `read: 'network'`, it is only called when the network is slow or fails
   * @returns {Promise<Version[][]>} rejects if the network had to be asked and failed
   */
  async versions (layer, columns, signal, { onEarly } = {}) {
    if (this.read === 'network') return this.#versionsOfNetwork(layer, columns, signal, onEarly)
    const localColumns = await this.local(layer, columns)
    onEarly?.(localColumns) // also if all are whole: then the caller knows that the network was not asked
    const partialColumns = columns.filter((column, index) => !localColumns[index].isWhole)
    const answers = partialColumns.length ? await this.#askVersions(layer, partialColumns, signal) : []
    return localColumns.map(({ versions, isWhole }) => isWhole ? versions : answers.shift() ?? [])
  }

  async #versionsOfNetwork (layer, columns, signal, onEarly) {
    const request = this.#askVersions(layer, columns, signal)
    request.catch(() => {}) // handled by the caller
    const result = await this.#resultInTime(request).catch(() => undefined)
    if (!result) onEarly?.(await this.local(layer, columns))
    return request
  }

  /**
   * The versions of columns on the device, and whether the store has no others.
   * @param {Column[]} columns
   * @returns {Promise<LocalColumn[]>}
   */
  async local (layer, columns) {
    const [versions, databases, doc] = await Promise.all([
      this.#device.versions(layer, columns), this.#device.databases(layer), this.#device.layer(layer)
    ])
    const completeDatabases = databases.filter(database => this.#hasAll(database))
    return columns.map((column, index) => {
      const { z, x, y0, y1 } = column
      let isWhole = !this.#pending.compare(column, versions[index])
      for (let y = y0; y <= y1; y++) {
        isWhole &&= completeDatabases.some(({ holds }) => holds(z, x, y)) || !isInBounds(doc, z, x, y)
      }
      return { versions: versions[index], isWhole: (isWhole && this.read !== 'network') || !this.#couch }
    })
  }

  /** Whether a database has every version of its tiles that this source may read. */
  #hasAll ({ isComplete, hasHistory }) {
    return isComplete && (hasHistory === true || this.newestOnly)
  }

  #askVersions (layer, columns, signal) {
    return this.#ask(couch => couch.versions(layer, columns, signal), signal)
  }

  /** @returns {Promise<{first: string, last: string} | null>} */
  async extent (layer, signal) {
    const readDevice = () => this.#device.extent(layer)
    if (!this.#couch) return await readDevice() ?? null
    const askNetwork = () => this.#ask(couch => couch.extent(layer, signal), signal)
    if (this.read === 'network') return this.#networkFirst(askNetwork, readDevice)
    const databases = await this.#device.databases(layer)
    if (databases.some(database => this.#hasAll(database))) return readDevice()
    return askNetwork().catch(async error => await readDevice() ?? Promise.reject(error))
  }

  /**
   * @param {Version} version @param {AbortSignal} [signal]
   * @param {{fresh?: boolean}} [options] fresh: do not read the image from the device
   * @returns {Promise<Blob>}
   */
  async tile (version, signal, { fresh = false } = {}) {
    return (fresh ? undefined : await this.fromDevice(version)) ?? this.fromNetwork(version, signal, { fresh })
  }

  /** The image of a version from the device. @returns {Promise<Blob | undefined>} */
  async fromDevice (version) {
    const blob = await this.#device.tile(version)
    if (blob) this.#fromDevice.add(blob)
    return blob
  }

  /** The image of a version from the network. @param {{fresh?: boolean}} [options] @returns {Promise<Blob>} */
  async fromNetwork (version, signal, options) {
    const { layer, z, x, y, time } = version
    if (!this.#couch) throw new TilecouchError('TILE_NOT_FOUND', { id: tileId(layer, z, x, y), time })
    return this.#ask(couch => couch.tile(version, signal, options), signal)
  }

  /** Whether an image came from the device. */
  isFromDevice (blob) {
    return this.#fromDevice.has(blob)
  }

  /** Which of these versions are on the device. @param {Version[]} versions @returns {Promise<boolean[]>} */
  holds (layer, versions) {
    return this.#device.holds(layer, versions)
  }

  /**
   * As in CouchSource. With `read: 'only'`, the OfflineStore fires events instead.
   * @param {string} layer @param {string} since @param {AbortSignal} signal
   * @param {{wait?: boolean, past?: boolean}} [options]
   */
  async changes (layer, since, signal, { wait, past = false } = {}) {
    if (!this.#couch) {
      if (since !== 'now') await raceAbort(new Promise(() => {}), signal)
      return { since: 'device', tiles: [], layer: false }
    }
    const options = { wait, past: past && !this.newestOnly }
    const answer = await this.#ask(couch => couch.changes(layer, since, signal, options), signal)
    const databases = await this.#device.databases(layer)
    for (const tile of answer.tiles) {
      if (databases.some(({ holds }) => holds(tile.z, tile.x, tile.y))) this.#pending.add(tile)
    }
    return answer
  }

  /** Resolves when the network answers, even with an error. */
  async probe (signal) {
    await this.#ask(
      couch => couch.layer(this.name, signal), signal
    ).catch(error => { if (isPassing(error)) throw error })
  }

  template (layer) {
    return this.#couch?.template(layer) ?? ''
  }

  /**
   * @template T
   * @param {(couch: CouchSource) => Promise<T>} question @param {AbortSignal} [signal]
   * @returns {Promise<T>}
   */
  #ask (question, signal) {
    return this.#offline.watch(() => question(/** @type {CouchSource} */ (this.#couch)), signal)
  }

  /**
   * The network's answer; the device's answer if the network fails or is slow.
   * @template T
   * @param {() => Promise<T>} askNetwork @param {() => Promise<T | undefined>} readDevice
   */
  async #networkFirst (askNetwork, readDevice) {
    const request = askNetwork()
    request.catch(() => {}) // handled by the callers of `request`
    const result = await this.#resultInTime(request).catch(() => undefined)
    return result ? result.answer : await readDevice() ?? request
  }

  /**
   * The answer to a request; undefined after the timeout, and at once while offline. The request continues.
   * @template T
   * @param {Promise<T>} request
   * @returns {Promise<{answer: T} | undefined>}
   */
  async #resultInTime (request) {
    if (this.#offline.isOnline === false) return undefined
    return withinTime(this.limits.networkTimeout, () => request.then(answer => ({ answer })))
  }
}

/** Whether a layer may have a tile there. @param {any} doc its document */
function isInBounds (doc, z, x, y) {
  if (!doc?.bounds) return true
  return isInRanges(gridOf(doc).ranges(doc.bounds, z), x, y)
}

/** @typedef {{z: number, x: number, y: number, time?: string, rev: string, deleted: boolean}} PendingChange */

class PendingChanges {
  /** @type {Map<string, Map<string, PendingChange>>} tile -> time, empty for its head -> last change */
  #tiles = new Map()

  /** @param {PendingChange} change */
  add (change) {
    const changes = this.#tiles.get(tileKey(change)) ?? new Map()
    this.#tiles.set(tileKey(change), changes.set(change.time ?? '', change))
  }

  /**
   * Forgets the changes that the device has in the meantime.
   * @param {import('../source/couch-source.js').Column} column
   * @param {import('../source/couch-source.js').Version[]} versions on the device
   * @returns {boolean} whether the device lacks any
   */
  compare ({ z, x, y0, y1 }, versions) {
    let lacks = false
    for (let y = y0; y <= y1 && this.#tiles.size; y++) {
      const key = tileKey({ z, x, y })
      const changes = this.#tiles.get(key)
      if (!changes) continue
      const versionsOfTile = versions.filter(version => version.y === y)
      for (const [time, change] of changes) if (isApplied(change, versionsOfTile)) changes.delete(time)
      if (changes.size) lacks = true
      else this.#tiles.delete(key)
    }
    return lacks
  }
}

/** Whether the device has applied a change. @param {PendingChange} change @param {Version[]} versions of its tile */
function isApplied ({ time, rev, deleted }, versions) {
  if (!deleted) return versions.some(version => version.rev === rev)
  return !versions.some(version => time ? !version.current && version.time === time : version.current)
}

const tileKey = ({ z, x, y }) => `${z}/${x}/${y}`
