// The upstream of a layer: fetches tiles, checks them, and cuts metatiles. It stores nothing.
import { LARGEST, imageSize } from '../../../core/images.js'
import { checkUpstream, gridOf, now as currentTime, parseArea, selectorOf, tileId } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { digestOf } from '../../store/tile.js'
import { tileAddress, getMapAddress } from '../../../core/upstream-address.js'
import { expiryFrom, modifiedFrom, retryAfter, validatorsFrom } from './freshness.js'
import { userAgentOf } from '../../store/package.js'
import { Requester } from './http.js'
import { tileFrom, blockOf, cut, rectangleOf, sideOf, tilesOf } from './image.js'
import { Limiter } from './limiter.js'
import { Networks } from './networks.js'
import { Secrets } from './secrets.js'

export { userAgentOf } from '../../store/package.js'

const IMAGE_TYPES = { png: 'image/png', jpg: 'image/jpeg', webp: 'image/webp' }

/**
 * @typedef {{z: number, x: number, y: number}} Tile
 * @typedef {{url?: string, etag?: string, lastModified?: string, digest?: string}} Validators the `origin` of a stored
 * tile
 * @typedef {{url: string, etag?: string, lastModified?: string, digest?: string}} Origin digest: of a metatile as it
 * came, before it was cut
 *
 * About a tile, and those fetched with it:
 * @typedef {{kind: 'tiles', tiles: (Tile & {bytes: Buffer, type: string})[], lastModified?: string} & Common} Tiles
 * @typedef {{kind: 'unchanged', tiles: Tile[], asked: Tile} & Common} Unchanged
 * @typedef {{origin: Origin, expires: string | null}} Common expires: ISO time, null for never
 * @typedef {Tiles | Unchanged | {kind: 'missing', until: number}} Answer until: milliseconds since 1970
 *
 * @typedef {import('../../../core/upstream-address.js').Rectangle} Rectangle
 * @typedef {{url: string, block?: import('./image.js').Block, rectangle?: Rectangle}} Address
 */

/**
 * @typedef {object} UpstreamOptions
 * @property {string} [userAgent] with a contact: see userAgentOf
 * @property {import('./secrets.js').SecretsByHost} [secrets]
 * @property {readonly string[] | Networks} [networks] inner networks that are allowed: host names, addresses, networks;
 * * for all
 * @property {Partial<typeof import('./limiter.js').limiterDefaults> & {maxBytes?: number, held?: number}} [limits]
 */

export class Upstream {
  #layer
  #grid
  /** @type {import('../../../core/upstream.js').UpstreamSettings} */
  #settings
  #tileSize
  #boxes
  #selectors
  #secrets
  #requester
  #limiter
  #missing = new ExpiringMap()

  /**
   * @param {Record<string, any>} layer a layer document with an `upstream`
   * @param {UpstreamOptions} [options]
   */
  constructor (layer, { userAgent = userAgentOf(), secrets, networks, limits = {} } = {}) {
    const grid = this.#grid = gridOf(layer)
    const settings = checkUpstream(layer.upstream, grid)
    this.#layer = layer
    this.#settings = { ...settings, format: settings.format ?? IMAGE_TYPES[layer.format] ?? 'image/png' }
    this.#tileSize = layer.tileSize ?? 256
    this.#boxes = [layer.bounds, settings.bounds].filter(Boolean)
    this.#selectors = [layer, settings].map(({ minzoom, maxzoom, bounds }) =>
      selectorOf(bounds && parseArea({ bbox: bounds, grid }), { min: minzoom ?? 0, max: maxzoom ?? Infinity }))
    this.#secrets = new Secrets(secrets)
    const sample = new URL(this.#addressOf({ z: grid.firstZoom, x: 0, y: 0 }).url)
    this.url = sample.origin
    this.host = sample.host
    const { concurrency, rate, timeout } = settings
    this.#limiter = new Limiter(this.url, { concurrency, rate, ...limits })
    this.#requester = new Requester({
      secrets: this.#secrets,
      networks: networks instanceof Networks ? networks : new Networks(networks),
      headers: {
        'user-agent': userAgent,
        accept: this.#isVector
          ? 'application/vnd.mapbox-vector-tile,application/x-protobuf;q=0.9,*/*;q=0.5'
          : 'image/png,image/jpeg,image/webp,*/*;q=0.5',
        'accept-encoding': this.#isVector ? 'gzip' : 'identity',
        ...lowerCaseNames(settings.headers)
      },
      timeout,
      connections: concurrency,
      maxBytes: limits.maxBytes,
      held: limits.held
    })
  }

  get #isVector () { return this.#layer.format === 'pbf' }

  get #isWms () { return this.#settings.type === 'wms' }

  /** Whether a tile is within the zooms and bounds of the layer and of the upstream. */
  covers (z, x, y) {
    return this.#grid.has(z, x, y) && this.#selectors.every(selects => selects(z, x, y))
  }

  /**
   * The tiles that are fetched together with a tile: a metatile for WMS, else the tile alone.
   * @returns {{key: string, tiles: Tile[]}}
   */
  groupOf (z, x, y) {
    const block = this.#blockOf({ z, x, y })
    return { key: `${this.#layer.layer}:${z}:${block.x0}:${block.y0}`, tiles: tilesOf(block) }
  }

  #blockOf (tile) {
    const { metatile = 1, buffer = 0 } = this.#settings
    return blockOf(tile, sideOf(metatile, this.#tileSize, buffer), this.#boxes, this.#grid)
  }

  /** @param {Tile} tile @returns {Address} */
  #addressOf (tile) {
    if (!this.#isWms) return { url: tileAddress(this.#settings, tile, this.#tileSize, this.#grid) }
    const block = this.#blockOf(tile)
    const rectangle = rectangleOf(block, this.#tileSize, this.#settings.buffer ?? 0, this.#grid)
    return { block, rectangle, url: getMapAddress(this.#settings, rectangle, this.#tileSize, this.#grid) }
  }

  /**
   * Fetches a tile and those that come with it. Throws UPSTREAM_ADDRESS, UPSTREAM_UNREACHABLE, UPSTREAM_FAILED (5xx,
   * timeout, no image, damaged), UPSTREAM_REFUSED (401, 403, 429 after waiting), UPSTREAM_BUSY (not requested:
   * `details.retryAfter` seconds) or ABORTED.
   * @param {Tile} tile
   * @param {{validators?: Validators, signal?: AbortSignal}} [options] validators: the `origin` of the stored tile, if
   * it has bytes
   * @returns {Promise<Answer>}
   */
  async fetch (tile, { validators, signal } = {}) {
    const { z, x, y } = tile
    if (!this.covers(z, x, y)) return { kind: 'missing', until: Date.now() + this.#settings.negative * 1000 }
    const missing = this.#missing.get(this.groupOf(z, x, y).key)
    if (missing?.error) throw new TilecouchError(missing.error.code, missing.error.details)
    if (missing) return { kind: 'missing', until: missing.until }
    const address = this.#addressOf(tile)
    // validators of another address do not apply
    const usableValidators = validators && (validators.url ?? address.url) === address.url ? validators : {}
    const answer = await this.#limiter.run(stop => this.#request(tile, address, usableValidators, stop), { signal })
    const { block, rectangle } = address
    if (answer.kind !== 'tiles' || !block || !rectangle || !this.#mustCut(address)) return answer
    try {
      const cutOptions = { block, rectangle, tileSize: this.#tileSize, type: this.#typeOfTiles }
      return { ...answer, tiles: await cut(answer.tiles[0].bytes, cutOptions) }
    } catch (error) {
      throw this.#failed(error.message)
    }
  }

  /** Whether a picture must be cut. A picture of exactly one tile is that tile. @param {Address} address */
  #mustCut ({ rectangle }) {
    return rectangle !== undefined && (rectangle.width > this.#tileSize || rectangle.height > this.#tileSize)
  }

  /** The fault of a picture or tile that shows before it is decoded. */
  #problemOf ({ bytes, type }, address) {
    if (this.#mustCut(address)) return Object.values(IMAGE_TYPES).includes(type) ? undefined : `its picture is ${type}`
    const { width, height } = imageSize(bytes) ?? { width: 0, height: 0 }
    return Math.max(width, height) > LARGEST ? `its image has ${width} x ${height} pixels` : undefined
  }

  get #typeOfTiles () {
    return Object.values(IMAGE_TYPES).find(type => this.#settings.format?.startsWith(type)) ?? 'image/png'
  }

  /**
   * Sends one request, and interprets its answer.
   * @param {Tile} tile @param {Address} address @param {Validators} validators @param {AbortSignal} signal
   * @returns {Promise<Answer>} a picture that must be cut is the only tile
   */
  async #request (tile, address, validators, signal) {
    const { url, block } = address
    const answer = await this.#requester.get(url, { headers: conditions(validators), signal })
    const { status, headers } = answer
    const time = currentTime()
    const expires = expiryFrom(headers, { ...this.#settings, ttl: this.#layer.ttl, now: time })
    const unchanged = { kind: /** @type {const} */ ('unchanged'), tiles: block ? tilesOf(block) : [tile], asked: tile }
    if (status === 304 && (validators.etag || validators.lastModified)) {
      return { ...unchanged, origin: { ...validatorFields(validators), url, ...validatorsFrom(headers) }, expires }
    }
    const isEmpty = status === 200 && this.#isVector && !answer.bytes.length
    if ([404, 410, 204].includes(status) || isEmpty) return this.#rememberMissing(tile)
    if (status !== 200) throw this.#errorOf(answer, tile)

    const image = await this.#imageFrom(answer, address)
    const digest = this.#mustCut(address) ? digestOf(answer.bytes) : undefined
    const origin = { url, ...validatorsFrom(headers), ...(digest && { digest }) }
    // the same picture is not cut again: another encoder must not make a new version
    if (digest && digest === validators.digest) return { ...unchanged, origin, expires }
    const lastModified = this.#settings.time === 'modified' ? modifiedFrom(headers, time) : undefined
    return { kind: 'tiles', tiles: [{ ...tile, ...image }], origin, expires, ...(lastModified && { lastModified }) }
  }

  /** The error of an answer that has neither a tile nor says that there is none. */
  #errorOf ({ status, headers }, tile) {
    if (status === 401 || status === 403) return this.#rememberRefused(tile, status)
    if (status !== 429) return this.#failed(`it answered ${status}`, status)
    const details = { why: 'it gets too many requests (429)', retryAfter: retryAfter(headers) }
    return new TilecouchError('UPSTREAM_REFUSED', { url: this.url, status, ...details })
  }

  /** The tile or picture of an answer. */
  async #imageFrom (answer, address) {
    const conceal = text => this.#secrets.conceal(text)
    const image = await tileFrom(answer, { vector: this.#isVector, conceal, limit: this.#requester.maxBytes })
    if ('why' in image) throw this.#failed(image.why)
    const problem = this.#problemOf(image, address)
    if (problem) throw this.#failed(problem)
    return image
  }

  /** @returns {Answer} */
  #rememberMissing (tile) {
    return { kind: 'missing', until: this.#remember(tile) }
  }

  /** Remembers a refusal. Otherwise each request with a wrong key, or for a forbidden tile, would be sent again. */
  #rememberRefused (tile, status) {
    const { z, x, y } = tile
    const isHeld = this.#secrets.keepsFrom(new URL(this.#addressOf(tile).url))
    const hint = isHeld ? `; the upstreamHeaders of its host go to https alone, unless their key is ${this.url}` : ''
    const why = `it answered ${status} for ${tileId(this.#layer.layer, z, x, y)}${hint}`
    const error = new TilecouchError('UPSTREAM_REFUSED', { url: this.url, status, why })
    this.#remember(tile, error)
    return error
  }

  #remember ({ z, x, y }, error) {
    const until = Date.now() + this.#settings.negative * 1000
    this.#missing.set(this.groupOf(z, x, y).key, { until, error })
    return until
  }

  #failed (why, status) {
    return new TilecouchError('UPSTREAM_FAILED', {
      url: this.url, why: this.#secrets.conceal(why), ...(status && { status })
    })
  }

  /** The state, for /metrics and /health. */
  state () {
    const { circuit, inFlight, queued, failures } = this.#limiter
    const { requests } = this.#requester
    return { layer: this.#layer.layer, host: this.host, circuit, inFlight, queued, failures, requests }
  }

  /** Stops all requests. */
  async close () {
    this.#limiter.close()
    await this.#requester.close()
  }
}

const lowerCaseNames = (headers = {}) =>
  Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))

/** @param {Validators} validators */
const conditions = ({ etag, lastModified }) =>
  ({ ...(etag && { 'if-none-match': etag }), ...(lastModified && { 'if-modified-since': lastModified }) })

/** @param {Validators} validators */
const validatorFields = ({ etag, lastModified, digest }) =>
  ({ ...(etag && { etag }), ...(lastModified && { lastModified }), ...(digest && { digest }) })

/**
 * @param {Record<string, any>} layer a layer document with an `upstream`
 * @param {UpstreamOptions} [options]
 */
export const openUpstream = (layer, options) => new Upstream(layer, options)

const MOST = 10000 // entries, a hundred bytes each

/**
 * @typedef {{until: number, error?: TilecouchError}} Entry until: milliseconds since 1970; error: the tile is refused,
 * not missing
 */

export class ExpiringMap {
  /** @type {Map<string, Entry>} */
  #entries = new Map()

  constructor (most = MOST) {
    this.most = most
  }

  /** An entry that has not expired. @param {string} key @returns {Entry | undefined} */
  get (key) {
    const entry = this.#entries.get(key)
    if (!entry || entry.until > Date.now()) return entry
    this.#entries.delete(key)
    return undefined
  }

  /** @param {string} key @param {Entry} entry */
  set (key, entry) {
    if (entry.until <= Date.now()) return
    this.#entries.delete(key)
    this.#entries.set(key, entry)
    // the oldest is the next to expire
    const [oldest] = this.#entries.keys()
    if (this.#entries.size > this.most) this.#entries.delete(oldest)
  }
}
