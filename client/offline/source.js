// What layers read from when a device may have it: the device, the network, or one after the other. The interface of
// CouchSource, and more of it for those who can begin with what is near.
import { TilecouchError, checkLayer, soundOf, tileId, tileRanges } from '../../core/index.js'
import { CouchSource } from '../source/couch-source.js'
import { isPassing } from '../source/failure.js'
import { HeadSource } from './head-source.js'
import { LATE, Line } from './line.js'
import { Stale } from './stale.js'

export const offlineSourceDefaults = {
  patience: 3000, // milliseconds that the network is waited for where the device could answer, when the network comes first
  enlarged: 6 // zooms up to an ancestor on the device that is shown where a tile is not to be had
}

const ORDERS = ['device', 'network', 'only']

/**
 * @typedef {import('../source/couch-source.js').Version} Version
 * @typedef {import('../source/couch-source.js').Column} Column
 * @typedef {{versions: Version[], isWhole: boolean}} Held isWhole: nobody would know more
 */

export class OfflineSource {
  #offline
  #couch
  #line
  #near = new WeakSet() // images that came from the device
  #stale = new Stale()

  /** @param {{offline: any, layer: string, read?: string, couch?: CouchSource, limits?: Partial<typeof offlineSourceDefaults>}} parts */
  constructor ({ offline, layer, read = 'device', couch, limits }) {
    if (!ORDERS.includes(read)) throw new TilecouchError('BAD_OPTION', { option: 'read', value: read, why: `it is one of ${ORDERS.join(', ')}` })
    checkLayer(layer)
    this.read = read
    this.name = /** @type {string} */ (layer)
    this.limits = { ...offlineSourceDefaults, ...limits }
    this.#offline = offline
    this.#couch = read === 'only' ? undefined : couch ?? new CouchSource(offline.remote, { fetchOptions: offline.fetchOptions })
    this.#line = new Line(offline, this.#couch, this.limits)
    /** The newest tiles. */
    this.heads = new HeadSource({ offline, layer, read, line: this.#line, stale: this.#stale, enlarged: this.limits.enlarged })
  }

  get #device () {
    return this.#offline.device
  }

  get #browse () {
    return this.#offline.browse
  }

  /** @param {string} layer @param {AbortSignal} [signal] @returns {Promise<Record<string, any>>} */
  async layer (layer, signal) {
    checkLayer(layer)
    const here = async () => await this.#device.layer(layer) ?? soundOf([await this.#browse?.fact(layer, 'layer')], 'layer')[0]
    const asked = async () => {
      const doc = await this.#line.ask(couch => couch.layer(layer, signal), signal)
      this.#browse?.putFact(layer, 'layer', doc)
      return doc
    }
    if (this.read === 'only') {
      const doc = await here()
      if (doc) return doc
      throw new TilecouchError('NOT_ON_DEVICE', { layer })
    }
    if (this.read === 'network') return this.#line.first(asked, here)
    return await this.#device.layer(layer) ?? this.#line.orElse(asked, here)
  }

  /**
   * @param {string} layer @param {Column[]} columns @param {AbortSignal} [signal]
   * @param {{onEarly?: (held: Held[]) => void}} [options] onEarly: told what the device has before the network is asked, or when it takes long;
   *   then the network's failure is a failure. Without it, what the device has is the answer, whose lists are marked `isPartial`.
   * @returns {Promise<Version[][]>}
   */
  async versions (layer, columns, signal, { onEarly } = {}) {
    if (this.read === 'network') return this.#versionsOfNetwork(layer, columns, signal, onEarly)
    const held = await this.atHand(layer, columns)
    const lacking = columns.filter((column, at) => !held[at].isWhole)
    if (!lacking.length) return held.map(({ versions }) => versions)
    onEarly?.(held)
    try {
      const answers = await this.#askVersions(layer, lacking, signal)
      return held.map(({ versions, isWhole }) => isWhole ? versions : /** @type {Version[]} */ (answers.shift()))
    } catch (error) {
      if (onEarly || signal?.aborted || !held.some(({ versions }) => versions.length)) throw error
      return held.map(partial)
    }
  }

  async #versionsOfNetwork (layer, columns, signal, onEarly) {
    const asked = this.#askVersions(layer, columns, signal)
    asked.catch(() => {}) // heard here, or after the device was asked
    try {
      const answers = await this.#line.patiently(asked)
      if (answers !== LATE) return answers
    } catch (error) {
      if (signal?.aborted) throw error
    }
    const held = await this.atHand(layer, columns)
    onEarly?.(held)
    return onEarly || !held.some(({ versions }) => versions.length) ? asked : held.map(partial)
  }

  /**
   * What the device has of columns, and whether that is all there is.
   * @param {string} layer @param {Column[]} columns
   * @returns {Promise<Held[]>}
   */
  async atHand (layer, columns) {
    const [found, browsed, databases, doc] = await Promise.all([
      this.#device.versions(layer, columns), this.#browsed(layer, columns), this.#device.databases(layer), this.#device.layer(layer)
    ])
    const whole = databases.filter(({ area, isComplete, hasHistory }) => area && isComplete && hasHistory === true)
    return columns.map((column, at) => {
      const { z, x, y0, y1 } = column
      const held = new Set()
      let isWhole = !this.#stale.touches(column, found[at])
      for (let y = y0; y <= y1; y++) {
        if (databases.some(({ area, holds }) => area && holds(z, x, y))) held.add(y)
        isWhole &&= whole.some(({ holds }) => holds(z, x, y)) || !isWithin(doc, z, x, y)
      }
      const others = browsed[at].filter(({ y }) => !held.has(y) && !found[at].some(version => version.y === y))
      const versions = others.length ? [...found[at], ...others].sort((a, b) => a.y - b.y || (a.time < b.time ? -1 : 1)) : found[at]
      return { versions, isWhole: (isWhole && this.read !== 'network') || !this.#couch }
    })
  }

  /** Lists that the network gave once, of tiles of which an image was kept. */
  async #browsed (layer, columns) {
    const browse = this.#browse
    if (!browse) return columns.map(() => [])
    const [lists, places] = await Promise.all([browse.versions(layer, columns), Promise.all(columns.map(column => browse.places(layer, column)))])
    return lists.map((list, at) => list.filter(({ y }) => places[at].includes(y)))
  }

  /** What the network says, and what was made on this device and it does not know yet. */
  async #askVersions (layer, columns, signal) {
    const [answers, made] = await Promise.all([
      this.#line.ask(couch => couch.versions(layer, columns, signal), signal),
      this.#device.versions(layer, columns, ({ area }) => !area)
    ])
    this.#browse?.putVersions(layer, columns, answers)
    return answers.map((answer, at) => {
      if (!made[at].length) return answer
      const times = new Set(made[at].map(({ y, time }) => `${y} ${time}`))
      return [...made[at], ...answer.filter(({ y, time }) => !times.has(`${y} ${time}`))].sort((a, b) => a.y - b.y || (a.time < b.time ? -1 : 1))
    })
  }

  /** @param {string} layer @param {AbortSignal} [signal] @returns {Promise<{first: string, last: string} | null>} */
  async extent (layer, signal) {
    const here = async () => await this.#device.extent(layer) ?? await this.#browse?.fact(layer, 'extent')
    if (!this.#couch) return await here() ?? null
    const asked = async () => {
      const extent = await this.#line.ask(couch => couch.extent(layer, signal), signal)
      if (extent) this.#browse?.putFact(layer, 'extent', extent)
      return extent
    }
    if (this.read === 'network') return this.#line.first(asked, here)
    const databases = await this.#device.databases(layer)
    if (databases.some(({ area, isComplete, hasHistory }) => area && isComplete && hasHistory === true)) return here()
    return this.#line.orElse(asked, here)
  }

  /**
   * @param {Version} version @param {AbortSignal} [signal]
   * @param {{fresh?: boolean}} [options] fresh: what the device has is no good
   * @returns {Promise<Blob>}
   */
  async tile (version, signal, { fresh = false } = {}) {
    return (fresh ? undefined : await this.near(version)) ?? this.far(version, signal, { fresh })
  }

  /** The image of a version from the device. @param {Version} version @returns {Promise<Blob | undefined>} */
  async near (version) {
    const blob = await this.#device.tile(version) ?? await this.#browse?.get(version)
    if (blob) this.#near.add(blob)
    return blob
  }

  /** The same from the network. @param {Version} version @param {AbortSignal} [signal] @param {{fresh?: boolean}} [options] @returns {Promise<Blob>} */
  async far (version, signal, options) {
    const { layer, z, x, y, time } = version
    if (!this.#couch) throw new TilecouchError('TILE_NOT_FOUND', { id: tileId(layer, z, x, y), time })
    const blob = await this.#line.ask(couch => couch.tile(version, signal, options), signal)
    this.#browse?.put(version, blob)
    return blob
  }

  /** Whether an image came from the device. @param {Blob} blob */
  isNear (blob) {
    return this.#near.has(blob)
  }

  /** Which of these versions are on the device. @param {string} layer @param {Version[]} versions @returns {Promise<boolean[]>} */
  holds (layer, versions) {
    return this.#device.holds(layer, versions)
  }

  /**
   * The newest image of a place.
   * @param {AbortSignal} [signal]
   */
  async head (z, x, y, signal) {
    return await this.heads.near(z, x, y) ?? this.heads.far(z, x, y, signal)
  }

  /**
   * As CouchSource tells it; the device alone tells by the events of its store.
   * @param {string} layer @param {string} since @param {AbortSignal} signal
   * @param {{wait?: boolean, past?: boolean}} [options]
   */
  async changes (layer, since, signal, options) {
    if (!this.#couch) {
      if (since !== 'now') await new Promise((resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))
      return { since: 'device', tiles: [], layer: false }
    }
    const answer = await this.#line.ask(couch => couch.changes(layer, since, signal, options), signal)
    const databases = await this.#device.databases(layer)
    for (const tile of answer.tiles) if (databases.some(({ area, holds }) => area && holds(tile.z, tile.x, tile.y))) this.#stale.note(tile)
    return answer
  }

  /** Resolves when the network answers, whatever it says. @param {AbortSignal} signal */
  async probe (signal) {
    await this.#line.ask(couch => couch.layer(this.name, signal), signal).catch(error => { if (isPassing(error)) throw error })
  }

  /** @param {Version} version */
  tileUrl (version) {
    return this.#couch?.tileUrl(version)
  }

  /** @param {string} layer */
  template (layer) {
    return this.#couch?.template(layer) ?? ''
  }
}

/** A list that may lack what only the network knows. @param {Held} held */
const partial = ({ versions, isWhole }) => isWhole ? versions : Object.assign([...versions], { isPartial: true })

/** Whether a layer may have a tile there. @param {any} doc its document */
function isWithin (doc, z, x, y) {
  if (!doc?.bounds) return true
  return tileRanges(doc.bounds, z).some(({ x0, x1, y0, y1 }) => x >= x0 && x <= x1 && y >= y0 && y <= y1)
}
