// The source of layers with the option `offline`: reads from the device, from the network, or from one after the other.
// It has the interface of CouchSource, and methods for callers that can show the device's answer first.
import { TilecouchError, checkLayer, tileId } from '../../core/index.js'
import { gridOf } from '../../core/grids/index.js'
import { CouchSource } from '../source/couch-source.js'
import { isPassing } from '../source/failure.js'

export const offlineSourceDefaults = {
  // milliseconds that the network is waited for where the device could answer, when the network comes first
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
   *   limits?: Partial<typeof offlineSourceDefaults>}} parts newestOnly: an area without the past has all of a tile
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
    const here = () => this.#device.layer(layer)
    const asked = () => this.#ask(couch => couch.layer(layer, signal), signal)
    if (this.read === 'only') {
      const doc = await here()
      if (doc) return doc
      throw new TilecouchError('NOT_ON_DEVICE', { layer })
    }
    if (this.read === 'network') return this.#networkFirst(asked, here)
    return await this.#device.layer(layer) ?? this.#networkOr(asked, here)
  }

  /**
   * @param {string} layer @param {Column[]} columns @param {AbortSignal} [signal]
   * @param {{onEarly?: (columns: LocalColumn[]) => void}} [options] onEarly: called with what the device has before the
   *   network is asked, or when it takes long; then the network's failure is a failure. Without it, what the device has
   *   is the answer, whose lists are marked `isPartial`.
   * @returns {Promise<Version[][]>}
   */
  async versions (layer, columns, signal, { onEarly } = {}) {
    if (this.read === 'network') return this.#versionsOfNetwork(layer, columns, signal, onEarly)
    const localColumns = await this.local(layer, columns)
    const lacking = columns.filter((column, at) => !localColumns[at].isWhole)
    if (!lacking.length) return localColumns.map(({ versions }) => versions)
    onEarly?.(localColumns)
    try {
      const answers = await this.#askVersions(layer, lacking, signal)
      return localColumns.map(({ versions, isWhole }) => isWhole ? versions : answers.shift() ?? [])
    } catch (error) {
      if (onEarly || signal?.aborted || !localColumns.some(({ versions }) => versions.length)) throw error
      return localColumns.map(partial)
    }
  }

  async #versionsOfNetwork (layer, columns, signal, onEarly) {
    const asked = this.#askVersions(layer, columns, signal)
    asked.catch(() => {}) // handled here, or after the device was asked
    try {
      const answers = await this.#withTimeout(asked)
      if (answers !== TIMED_OUT) return answers
    } catch (error) {
      if (signal?.aborted) throw error
    }
    const localColumns = await this.local(layer, columns)
    onEarly?.(localColumns)
    return onEarly || !localColumns.some(({ versions }) => versions.length) ? asked : localColumns.map(partial)
  }

  /**
   * What the device has of columns, and whether that is all there is.
   * @param {Column[]} columns
   * @returns {Promise<LocalColumn[]>}
   */
  async local (layer, columns) {
    const [versions, databases, doc] = await Promise.all([
      this.#device.versions(layer, columns), this.#device.databases(layer), this.#device.layer(layer)
    ])
    const whole = databases.filter(database => this.#hasAll(database))
    return columns.map((column, at) => {
      const { z, x, y0, y1 } = column
      let isWhole = !this.#pending.compare(column, versions[at])
      for (let y = y0; y <= y1; y++) {
        isWhole &&= whole.some(({ holds }) => holds(z, x, y)) || !isInBounds(doc, z, x, y)
      }
      return { versions: versions[at], isWhole: (isWhole && this.read !== 'network') || !this.#couch }
    })
  }

  /** Whether a database has every version of its tiles that may be asked for. */
  #hasAll ({ isComplete, hasHistory }) {
    return isComplete && (hasHistory === true || this.newestOnly)
  }

  /** What the network says. */
  #askVersions (layer, columns, signal) {
    return this.#ask(couch => couch.versions(layer, columns, signal), signal)
  }

  /** @returns {Promise<{first: string, last: string} | null>} */
  async extent (layer, signal) {
    const here = () => this.#device.extent(layer)
    if (!this.#couch) return await here() ?? null
    const asked = () => this.#ask(couch => couch.extent(layer, signal), signal)
    if (this.read === 'network') return this.#networkFirst(asked, here)
    const databases = await this.#device.databases(layer)
    if (databases.some(database => this.#hasAll(database))) return here()
    return this.#networkOr(asked, here)
  }

  /**
   * @param {Version} version @param {AbortSignal} [signal]
   * @param {{fresh?: boolean}} [options] fresh: what the device has is no good
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

  /** The same from the network. @param {{fresh?: boolean}} [options] @returns {Promise<Blob>} */
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
   * As CouchSource; with `only`, changes come as events of the OfflineStore.
   * @param {string} layer @param {string} since @param {AbortSignal} signal
   * @param {{wait?: boolean, past?: boolean}} [options]
   */
  async changes (layer, since, signal, { wait, past = false } = {}) {
    if (!this.#couch) {
      if (since !== 'now') {
        await new Promise((resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason), { once: true })
        })
      }
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

  /** Resolves when the network answers, whatever it says. */
  async probe (signal) {
    await this.#ask(
      couch => couch.layer(this.name, signal), signal
    ).catch(error => { if (isPassing(error)) throw error })
  }

  tileUrl (version) {
    return this.#couch?.tileUrl(version)
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
   * What the network says; what is here, when it fails or takes long.
   * @template T
   * @param {() => Promise<T>} asked @param {() => Promise<T | undefined>} here
   */
  async #networkFirst (asked, here) {
    const asking = asked()
    asking.catch(() => {}) // handled here, or when there is nothing here
    const answer = await this.#withTimeout(asking).catch(() => TIMED_OUT)
    return answer === TIMED_OUT ? await here() ?? asking : /** @type {T} */ (answer)
  }

  /**
   * What the network says, however long that takes; what is here, when it fails.
   * @template T
   * @param {() => Promise<T>} asked @param {() => Promise<T | undefined>} here
   */
  async #networkOr (asked, here) {
    try {
      return await asked()
    } catch (error) {
      const localAnswer = await here()
      if (localAnswer === undefined || localAnswer === null) throw error
      return localAnswer
    }
  }

  /**
   * The answer; TIMED_OUT when it takes too long, at once while offline. The request continues.
   * @template T
   * @param {Promise<T>} asked
   * @returns {Promise<T | typeof TIMED_OUT>}
   */
  #withTimeout (asked) {
    if (this.#offline.isOnline === false) return Promise.resolve(TIMED_OUT)
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => resolve(TIMED_OUT), this.limits.networkTimeout)
      asked.finally(() => clearTimeout(timer)).then(resolve, reject)
    })
  }
}

/** A list that may lack what only the network knows. @param {LocalColumn} column */
const partial = ({ versions, isWhole }) => isWhole ? versions : Object.assign([...versions], { isPartial: true })

/** Whether a layer may have a tile there. @param {any} doc its document */
function isInBounds (doc, z, x, y) {
  if (!doc?.bounds) return true
  return gridOf(doc).ranges(doc.bounds, z).some(({ x0, x1, y0, y1 }) => x >= x0 && x <= x1 && y >= y0 && y <= y1)
}

/** What is answered when it takes longer. */
const TIMED_OUT = Symbol('timed out')

/** @typedef {{z: number, x: number, y: number, time?: string, rev: string, deleted: boolean}} PendingChange */

class PendingChanges {
  /** @type {Map<string, Map<string, PendingChange>>} tile -> time, or nothing for its head -> the last change */
  #tiles = new Map()

  /** @param {PendingChange} change */
  add (change) {
    const changes = this.#tiles.get(tileKey(change)) ?? new Map()
    this.#tiles.set(tileKey(change), changes.set(change.time ?? '', change))
  }

  /**
   * Forgets the changes that the device has in the meantime.
   * @param {import('../source/couch-source.js').Column} column
   * @param {import('../source/couch-source.js').Version[]} versions what the device has there
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

/** Whether the device has what a change made. @param {PendingChange} change @param {Version[]} versions of its tile */
function isApplied ({ time, rev, deleted }, versions) {
  if (!deleted) return versions.some(version => version.rev === rev)
  return !versions.some(version => time ? !version.current && version.time === time : version.current)
}

const tileKey = ({ z, x, y }) => `${z}/${x}/${y}`
