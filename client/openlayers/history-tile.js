// A place of the layer, whose image the engine chooses, and the tiles of OpenLayers that show it.
import DataTile from 'ol/DataTile.js'

// as in ol/TileState.js, which OpenLayers' script for pages does not have
const IDLE = 0
const LOADING = 1
const LOADED = 2
const ERROR = 3
const EMPTY = 4

/** One tile of the store, as HistoryEngine knows it. It holds the image to show now. */
export class Place {
  /** @type {ImageBitmap | HTMLCanvasElement | null} null: not known yet */
  image = null
  /** its image may be shown */
  isShown = false
  isFailed = false
  isClosed = false
  /** the engine knows it */
  isAdded = false
  /** tiles without an image @type {Set<HistoryTile>} */
  waiting = new Set()
  #onShow

  /**
   * @param {{z: number, x: number, y: number}} coords
   * @param {(place: Place, isFirst: boolean) => void} onShow called when it has another image
   */
  constructor ({ z, x, y }, onShow) {
    this.z = z
    this.x = x
    this.y = y
    this.#onShow = onShow
    this.view = {
      show: image => this.#show(image),
      mark: isFailed => { this.isFailed = isFailed },
      note () {}
    }
  }

  /** The engine calls it once. It retries a failed tile itself. @param {Error} [error] */
  ready (error) {
    if (error) this.#settle(ERROR)
  }

  /** Shows the first image. */
  reveal () {
    this.isShown = true
    this.#settle(LOADED)
    this.waiting.clear()
  }

  /** Frees the image. No tile may show this place any more. */
  close () {
    this.isClosed = true
    if (this.image instanceof ImageBitmap) this.image.close()
    this.#settle(EMPTY) // OpenLayers waits for no more than 16 tiles at a time
    this.waiting.clear()
  }

  /** @param {ImageBitmap | null} image */
  #show (image) {
    const before = this.image
    this.image = image ?? emptyImage()
    if (before instanceof ImageBitmap) before.close()
    this.#onShow(this, !before)
  }

  #settle (state) {
    for (const tile of [...this.waiting]) if (tile.getState() !== state) tile.setState(state)
  }
}

/** An empty image for a place without one: for OpenLayers, a loaded tile without data is an error. */
const emptyImage = () => Object.assign(document.createElement('canvas'), { width: 1, height: 1 })

/** A tile of OpenLayers. Each layer and each copy of the world has its own. */
export class HistoryTile extends DataTile {
  /** @param {Place} place @param {Omit<import('ol/DataTile.js').Options, 'loader'>} options */
  constructor (place, options) {
    super({ ...options, transition: 0, loader: /** @type {any} */ (() => {}) /* the engine loads it */ })
    this.place = place
    if (place.isShown) this.state = LOADED
  }

  getData () {
    return this.place.image
  }

  /** The size in pixels of the image, which may differ from that of the tile on the map. */
  getSize () {
    const { image } = this.place
    return image ? [image.width, image.height] : super.getSize()
  }

  load () {
    if (this.state !== IDLE && this.state !== ERROR) return
    this.setState(LOADING)
    if (this.place.isClosed) return this.setState(EMPTY)
    if (this.place.isShown) return this.setState(LOADED)
    this.place.waiting.add(this)
    if (this.place.isFailed) this.setState(ERROR)
  }

  disposeInternal () {
    this.place.waiting.delete(this)
    super.disposeInternal()
  }
}
