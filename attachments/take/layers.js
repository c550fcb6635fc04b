// The layers of a picture: copies of the layers of the page's map, on a hidden map. A copy loads and paints the layer
// as of a time. All kinds have the same interface:
//   ready(signal)            resolves when the copy knows its tiles
//   load(time, signal)       loads them, and resolves to the number of tiles that did not load
//   paint(context, place)    paints the loaded tiles; place: see snapshot.js
import { Clock } from '../../client/engine/clock.js'
import { attributionNodes } from '../../client/source/attribution.js'
import { wait } from '../../client/source/wait.js'

const POLL = 20 // milliseconds between two checks of a map that is being drawn
const NO_TIME = '0001-01-01T00:00:00Z' // no layer has tiles of that time, so a copy loads no image by itself
const CACHE = 256e6 // bytes of images: all tiles of the largest picture

/**
 * @typedef {{left: number, top: number, right: number, bottom: number}} Box shares of the width and height of a picture
 * @typedef {{left: number, top: number, scale: number}} Place left, top: pixels of the picture at which a map begins;
 *   scale: pixels of the picture per pixel of the map
 * @typedef {{image: any, x: number, y: number, share: number, left: number, top: number, size: number}} Tile
 *   x, y, share: the part of the image that is shown; left, top, size: pixels of the map
 */

class LayerCopy {
  /** @type {any} */
  #error

  /** @param {any} layer on the map of the page @param {any} copy @param {Box} box the part of the picture for it */
  constructor (layer, copy, box) {
    this.layer = layer
    this.copy = copy
    this.box = box
    this.opacity = layer.options.opacity ?? 1
    this.title = layer.title ?? ''
    this.attribution = attributionNodes(layer.getAttribution?.() ?? '').map(node => node.textContent).join('').trim()
    copy.on('storeerror', ({ error }) => { this.#error = error })
  }

  async ready (signal) {
    while (!this.isSettled()) {
      if (this.#error) throw this.#error
      await wait(POLL, signal)
    }
  }

  async load () {
    return 0
  }

  close () {}
}

/** A layer with a past. */
class HistoryCopy extends LayerCopy {
  constructor (layer, copy, box, isOnClock) {
    super(layer, copy, box)
    this.isOnClock = isOnClock // otherwise the layer has a fixed time
    this.time = layer.getTime()
  }

  isSettled () {
    return this.copy.changes() !== null && this.copy.isShown()
  }

  get newest () {
    return this.layer.extent()?.last ?? this.copy.changes()?.at(-1)?.time ?? null
  }

  timeAt (time) {
    return this.isOnClock ? time : this.time
  }
}

/** A layer of images. Loads only blobs: a browser decodes no image elements in a background tab. */
class ImageCopy extends HistoryCopy {
  /** @type {Map<Blob, Promise<ImageBitmap | null>>} */
  #bitmaps = new Map()
  /** @type {Tile[]} */
  #tiles = []

  async load (time, signal, next) {
    await this.copy.preload([this.timeAt(time)], signal)
    signal.throwIfAborted()
    const pictures = this.copy.pictures(this.timeAt(time))
    if (next !== undefined && this.isOnClock) this.copy.preload([next], signal)
    const bitmaps = await this.#decode(pictures.map(({ image }) => image))
    this.#tiles = pictures.map(({ up, dx, dy, ...tile }, index) => {
      const share = 1 / 2 ** up
      return { ...tile, image: bitmaps[index], x: dx * share, y: dy * share, share }
    })
    return bitmaps.filter(bitmap => !bitmap).length
  }

  paint (context, place) {
    paintTiles(context, place, this.#tiles)
  }

  /** Decodes images, and releases unused ones of the previous time. @param {(Blob | undefined)[]} images */
  #decode (images) {
    const previous = this.#bitmaps
    this.#bitmaps = new Map()
    for (const image of images) {
      if (image) this.#bitmaps.set(image, previous.get(image) ?? createImageBitmap(image).catch(() => null))
    }
    for (const [image, bitmap] of previous) if (!this.#bitmaps.has(image)) bitmap.then(unused => unused?.close())
    return Promise.all(images.map(image => image ? this.#bitmaps.get(image) : null))
  }

  close () {
    this.#decode([])
  }
}

/** Vector tiles, drawn by MapLibre on a canvas of the copy. */
class VectorCopy extends HistoryCopy {
  #failed = new Set()

  constructor (layer, copy, box, isOnClock) {
    super(layer, copy, box, isOnClock)
    copy.clock.setTime(this.timeAt(null))
    copy.history.on('tileerror', ({ tile }) => this.#failed.add(tile))
  }

  /** Maximum pixels of an edge that the graphics card can draw. */
  get maxEdge () {
    const gl = this.copy.gl.getCanvas().getContext('webgl2')
    return gl.getParameter(gl.MAX_RENDERBUFFER_SIZE)
  }

  isSettled () {
    return this.copy.isDrawn()
  }

  async load (time, signal) {
    this.copy.clock.setTime(this.timeAt(time))
    await this.ready(signal)
    return [...this.#failed].filter(tile => tile.failed && this.copy.history.isInView(tile)).length
  }

  paint (context, place) {
    this.copy.paint(context, place)
  }
}

/** Any other layer of images: the base map. */
class PlainCopy extends LayerCopy {
  isSettled () {
    return !this.copy.isLoading() && this.copy._link?.isReady !== false
  }

  /** Whether the server of the images forbids pages to read them. */
  get isForbidden () {
    const tiles = this.#tiles
    return !this.copy._link && tiles.length > 0 && tiles.every(isBroken)
  }

  paint (context, place) {
    paintTiles(context, place, this.#tiles.filter(tile => !isBroken(tile)))
  }

  /** @returns {Tile[]} */
  get #tiles () {
    const { copy } = this
    return Object.values(copy._tiles).filter(({ current }) => current).flatMap(({ el, coords }) => {
      const image = el.localName === 'img' ? el : el.querySelector('img')
      if (!image) return []
      const { offsetWidth: width } = image
      const part = image === el || !width
        ? { x: 0, y: 0, share: 1 }
        : { x: -image.offsetLeft / width, y: -image.offsetTop / width, share: el.offsetWidth / width }
      return { image, ...part, ...placeOf(copy, coords) }
    })
  }
}

const isBroken = ({ image }) => !image.naturalWidth

/** The pixels of the map at which a tile of a layer lies. */
function placeOf (layer, { x, y }) {
  const map = layer._map
  const size = layer.getTileSize().x * map.getZoomScale(map.getZoom(), layer._tileZoom)
  const origin = map.getPixelBounds().min
  return { left: x * size - origin.x, top: y * size - origin.y, size }
}

/** Paints tiles. Their edges are whole pixels, so that there are no seams. */
function paintTiles (context, { left: startX, top: startY, scale }, tiles) {
  const [edgeX, edgeY] = [startX, startY].map(start => pixels => Math.round(start + pixels * scale))
  for (const { image, x, y, share, left, top, size } of tiles) {
    if (!image) continue
    const { naturalWidth: width = image.width, naturalHeight: height = image.height } = image
    const [x0, y0] = [edgeX(left), edgeY(top)]
    context.drawImage(
      image, x * width, y * height, share * width, share * height,
      x0, y0, edgeX(left + size) - x0, edgeY(top + size) - y0
    )
  }
}

/**
 * Creates a copy of a layer, which is on no map yet.
 * @param {any} layer @param {import('../stage.js').Stage} stage @param {Box} box
 */
export function copyOf (layer, stage, box) {
  const { history, options: { opacity, zIndex } } = layer
  if (!history) {
    const options = { ...layer.options, live: false, crossOrigin: 'anonymous' } // required to read the picture
    return new PlainCopy(layer, new layer.constructor(layer._link ? stage.db : layer._url, options), box)
  }
  const isOnClock = layer.clock === stage.clock
  const options = { opacity, zIndex, live: false, fade: 0, preload: 0 }
  const open = extraOptions => stage.open(history.doc, { ...options, ...extraOptions })
  return layer.gl
    ? new VectorCopy(layer, open({ clock: new Clock(), padding: 0 }), box, isOnClock)
    : new ImageCopy(layer, open({ clock: new Clock({ time: NO_TIME }), cacheSize: CACHE }), box, isOnClock)
}
