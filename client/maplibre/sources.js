// The two kinds of sources that MapLibre draws a history from: images and vector tiles. MapLibre asks them for tiles,
// as it asks its own sources, and each answers with the picture that the time engine chose. A step of the clock changes
// all tiles between two frames: images are decoded and vector tiles are parsed before.
import { RasterTileSource, VectorTileSource, addProtocol, addSourceType, getVersion } from 'maplibre-gl'
import { TilecouchError, isInRanges, tileRanges } from '../../core/index.js'
import { Semaphore } from '../../core/promises.js'
import { decodeBitmap } from '../engine/layer-methods.js'
import { columnsOf } from '../engine/resolve.js'
import { attributionHtml } from '../source/attribution.js'
import { inflate } from './protocol.js'

// docs/client.md lists the internals of MapLibre that this file uses
const SUPPORTED = /^(5\.(2[4-9]|[3-9]\d)|6)\./
const value = getVersion()
if (!SUPPORTED.test(value)) {
  throw new TilecouchError('MAP_VERSION', { needed: 'MapLibre GL JS 6 or 5.24', value })
}

const SCHEME = 'tilecouch' // of addresses that MapLibre asks this module for
const IMAGES = 'tilecouch-images'
const VECTORS = 'tilecouch-vectors'
const VECTOR_SIZE = 512 // pixels: the only one that MapLibre knows for vector tiles

/**
 * @typedef {import('../engine/scene.js').Item & {tile: any, image: any, isPainted: boolean, isChanged: boolean,
 *   isReady: Promise<any>, loading?: Promise<any>, [more: string]: any}} Entry a tile, as engine and MapLibre know it
 * @typedef {import('./history-layer.js').HistoryLayer} HistoryLayer
 */

/** The layers of the page, by the names in the descriptions of their sources. @type {Map<string, HistoryLayer>} */
export const owners = new Map()

/**
 * The answers to the requests under way, by the number in the address.
 * @type {Map<string, () => ImageBitmap | ArrayBuffer>}
 */
const answers = new Map()
let count = 0

/** Publishes an answer at an address for one request. The address takes the place of a template of tiles. */
function publish (answer) {
  const number = String(++count)
  answers.set(number, answer)
  return { tiles: [`${SCHEME}://${number}/{z}/{x}/{y}`], withdraw: () => answers.delete(number) }
}

let isRegistered = false

/** Tells MapLibre of the sources, once. */
export function register () {
  if (isRegistered) return
  isRegistered = true
  addProtocol(SCHEME, async ({ url }) => ({ data: /** @type {any} */ (answers.get(new URL(url).host)?.()) }))
  addSourceType(IMAGES, /** @type {any} */ (ImageSource))
  addSourceType(VECTORS, /** @type {any} */ (VectorSource))
}

/** The description of a source that shows a layer, as in a style. @param {string} owner a key of `owners` */
export const sourceOf = (owner, isVector) => ({ type: isVector ? VECTORS : IMAGES, owner })

/** Whether a source of a style is one of these. */
export const isOurs = ({ type }) => type === IMAGES || type === VECTORS

/** @param {any} Base a class of MapLibre @returns {any} */
const withHistory = Base => class extends Base {
  constructor (id, options, dispatcher, parent) {
    super(id, options, dispatcher, parent)
    this.tiles = []
    /** @type {Map<any, Entry>} MapLibre's tile -> ours */
    this._entries = new Map()
    /** tiles that MapLibre asked for since the last microtask @type {{z: number, x: number, y: number}[]} */
    this._wanted = []
    this._ranges = new Map()
  }

  /** The engine reads the layer's document. */
  async load () {}

  onAdd (map) {
    this.map = map
    this._owner = owners.get(this._options.owner)
    this._owner?._connect(this)
  }

  onRemove () {
    super.onRemove?.()
    for (const tile of [...this._entries.keys()]) this.unloadTile(tile)
    this._owner?._disconnect(this)
  }

  /** @param {import('../engine/store-link.js').LayerDocument | null} doc */
  _describe (doc) {
    const { minzoom = 0, maxzoom = 22, bounds, tileSize = 256, attribution } = doc ?? {}
    Object.assign(this, {
      minzoom, maxzoom, tileSize: this.type === 'vector' ? VECTOR_SIZE : tileSize, _bounds: bounds, _loaded: true,
      attribution: attribution && attributionHtml(attribution)
    })
    for (const sourceDataType of ['metadata', 'content']) this.fire('data', { dataType: 'source', sourceDataType })
  }

  /** MapLibre calls it for every tile in view, whenever it updates the view. */
  hasTile (tileID) {
    const place = this._placeOf(tileID)
    if (!this._isWithin(place)) return false
    if (!this._wanted.length) {
      queueMicrotask(() => {
        const columns = columnsOf(this._wanted)
        this._wanted = []
        if (this._owner?.history.isOnMap) this._owner.history.setView(columns)
      })
    }
    this._wanted.push(place)
    return true
  }

  loadTile (tile) {
    this._isInUse = true
    const entry = this._entries.get(tile) ?? this._begin(tile)
    if (entry.isPainted) return this._again(entry)
    entry.loading ??= this._first(entry).catch(error => {
      entry.loading = undefined // the next request tries again
      throw error
    })
    return entry.loading
  }

  async unloadTile (tile) {
    const entry = this._entries.get(tile)
    if (entry) {
      this._entries.delete(tile)
      this._owner?.history.remove(entry)
      this._forget(entry)
    }
    await super.unloadTile(tile)
  }

  /**
   * Makes MapLibre drop its tiles out of view, which are of another time, and ask again for the tiles that it draws.
   * This loads nothing.
   */
  _refresh () {
    this._isRefreshing = true
    this._isInUse = false
    this.fire('data', { dataType: 'source', sourceDataType: 'content' })
    this._isRefreshing = false
    if (!this._isInUse) this._owner?.history.setView([])
  }

  _begin (tile) {
    const { z, x, y } = this._placeOf(tile.tileID)
    let ready = /** @type {any} */ (undefined)
    const isReady = new Promise(resolve => { ready = resolve })
    /** @type {Entry} */
    const entry = {
      z, x, y, tile, ready, isReady, image: null, isPainted: false, isChanged: false,
      view: { show: image => this._show(entry, image), mark () {}, note () {} }
    }
    this._entries.set(tile, entry)
    this._owner?.history.add(entry)
    return entry
  }

  async _first (entry) {
    await entry.isReady
    if (entry.tile.aborted) return
    await this._paint(entry)
    entry.isPainted = true
  }

  /** Answers when MapLibre asks again for a tile that it draws. */
  _again (entry) {
    entry.tile.state = 'loaded'
    const { isChanged } = entry
    entry.isChanged = false
    return Promise.resolve(isChanged ? undefined : { unmodified: true })
  }

  /** The tile of the layer. MapLibre enlarges parts of a vector tile: for these, the stored tile. */
  _placeOf ({ canonical: { z, x, y } }) {
    const up = Math.max(0, z - this.maxzoom)
    return { z: z - up, x: x >> up, y: y >> up }
  }

  _isWithin ({ z, x, y }) {
    if (!this._bounds) return true
    if (!this._ranges.has(z)) this._ranges.set(z, tileRanges(this._bounds, z))
    return isInRanges(this._ranges.get(z), x, y)
  }
}

/** Draws images. Each tile has a texture, and a step replaces its pixels. */
class ImageSource extends withHistory(RasterTileSource) {
  /** @param {Blob} blob @param {import('../engine/resolve.js').Picture} picture */
  decode (blob, picture) {
    return decodeBitmap(blob, picture)
  }

  _show (entry, image) {
    this._forget(entry)
    entry.image = image ?? emptyImage()
    if (!entry.isPainted) return
    entry.isChanged = true
    this._upload(entry)
  }

  async _paint (entry) {
    entry.image ??= emptyImage() // the tile failed
    const { tile } = entry
    tile.texture ??= this.map.painter.getTileTexture(entry.image.width)
    const sent = tile.texture ? null : await this._makeTexture(entry)
    if (entry.image === sent) this._forget(entry)
    else if (!tile.aborted) this._upload(entry)
  }

  /** Lets MapLibre make the texture: it gets the image as the answer to a request. @returns {Promise<ImageBitmap>} */
  async _makeTexture (entry) {
    /** @type {any} */
    let sent
    const { tiles, withdraw } = publish(() => (sent = entry.image))
    try {
      await RasterTileSource.prototype.loadTile.call(Object.create(this, { tiles: { value: tiles } }), entry.tile)
    } finally {
      withdraw()
    }
    return sent
  }

  _upload (entry) {
    const { tile, image } = entry
    tile.texture.update(image, { useMipmap: true })
    tile.state = 'loaded'
    this._forget(entry)
  }

  /** Frees an image that is on the graphics card, or not needed any more. */
  _forget (entry) {
    if (entry.image !== empty) entry.image?.close()
    entry.image = null
  }
}

/** @type {ImageBitmap | undefined} shown by a tile without an image */
let empty

function emptyImage () {
  if (empty) return empty
  const canvas = new OffscreenCanvas(1, 1)
  canvas.getContext('2d')
  return (empty = canvas.transferToImageBitmap())
}

/** Draws vector tiles. MapLibre's workers parse them; the result is held back until the step is complete. */
class VectorSource extends withHistory(VectorTileSource) {
  /** @param {Blob} blob @param {unknown} _ @param {Entry} entry @param {string} [target] */
  async decode (blob, _, entry, target = entry.target) {
    const bytes = await inflate(blob)
    entry.turns ??= new Semaphore(1) // a worker knows a tile by its number
    const image = await entry.turns.run(async () => entry.target === target ? this._parse(entry, bytes) : null)
    return image ? { ...image, blob } : new Promise(() => {}) // never resolves: the tile has another target now
  }

  _show (entry, image) {
    entry.image = image
    if (!entry.isPainted) return
    entry.isChanged = true
    this._apply(entry)
  }

  async _paint (entry) {
    this._apply(entry)
  }

  _apply (entry) {
    const { tile, image } = entry
    tile.loadVectorData(...image?.data ?? [null])
    if (image && image.look !== entry.look) this._reparse(entry)
    else if (image) image.data = null // it is in the tile now
  }

  /** The style changed: parses the shown tile again for the new layers. */
  loadTile (tile) {
    const entry = this._entries.get(tile)
    if (!entry || this._isRefreshing) return super.loadTile(tile)
    entry.look = {}
    return entry.isPainted && entry.image ? this._reparse(entry) : super.loadTile(tile)
  }

  async _reparse (entry) {
    const { image } = entry
    const next = await this.decode(image.blob, null, entry)
    if (entry.image !== image) return
    entry.image = next
    this._apply(entry)
  }

  async _parse (entry, bytes) {
    const { tile, look } = entry
    const { tiles, withdraw } = publish(() => bytes)
    let data
    tile.loadVectorData = (...parameters) => { data = parameters }
    tile.actor = undefined // otherwise the worker would parse its old data again
    try {
      await VectorTileSource.prototype.loadTile.call(Object.create(this, {
        tiles: { value: tiles }, dispatcher: { value: sameWorker(this.dispatcher, entry) }
      }), tile)
    } finally {
      delete tile.loadVectorData
      withdraw()
    }
    return data && { data, look }
  }

  async unloadTile (tile) {
    tile.actor ??= this._entries.get(tile)?.actor
    await super.unloadTile(tile)
  }

  _forget () {}
}

/** Keeps a tile with one worker, so that the worker drops its old data. */
const sameWorker = (dispatcher, entry) => Object.create(dispatcher, Object.fromEntries(
  ['getActor', 'getReadyActor'].map(name => [name, { value: () => (entry.actor ??= dispatcher[name]()) }])
))
