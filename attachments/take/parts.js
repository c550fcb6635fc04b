// The layers of a picture: where their tiles are in it, and what these show as of a time.
import L from 'leaflet'
import { ancestors, resolve } from '../../client/engine/resolve.js'
import { VersionIndex } from '../../client/engine/version-index.js'
import { attributionNodes } from '../../client/source/attribution.js'
import { TakeError } from './errors.js'
import { plainImage } from './images.js'

/**
 * @typedef {{width: number, height: number, scale: number}} Size pixels, and how many of them one of the page is
 * @typedef {{left: number, top: number, right: number, bottom: number}} Box shares of the width and height of a picture
 * @typedef {{map: L.Map, center: L.LatLng, box: Box}} MapView a map in a picture: the part that it fills, and the place
 *   in the middle of that
 * @typedef {{coords: L.Coords, left: number, top: number, width: number, height: number}} PlacedTile
 * @typedef {PlacedTile & {image: Promise<CanvasImageSource | null>, up: number, dx: number, dy: number}} Draw
 *   up, dx, dy: which part of the image is shown, as client/engine/resolve.js says it
 */

/** What all layers have: how they lie in the picture. */
class Part {
  /** @param {any} layer @param {MapView} view @param {Size} size */
  constructor (layer, view, size) {
    this.layer = layer
    this.title = layer.title ?? ''
    this.opacity = layer.options.opacity ?? 1
    /** that is seen of it */
    this.box = boxOf(layer, view)
    this.tiles = placeTiles(layer, view, this.box, size)
    this.attribution = attributionNodes(layer.getAttribution?.() ?? '').map(node => node.textContent).join('').trim()
  }
}

/** A layer with a past. */
export class HistoryPart extends Part {
  #index = new VersionIndex({ limit: Infinity })
  #columns
  #ancestry
  #name

  /** @param {any} clock of the page: a layer on it shows the time of the picture, another one its own */
  constructor (layer, view, size, clock) {
    super(layer, view, size)
    this.moves = layer.clock === clock
    this.time = layer.getTime()
    this.cache = layer.history.images
    this.#name = layer.options.layer
    this.#ancestry = layer.history.ancestry()
    const z = layer._zoom()
    for (const tile of this.tiles) tile.coords.z = z
    this.#columns = columnsOf(this.tiles)
  }

  /** Learns which versions there are: what the layer knows is not asked for again. */
  async read (signal) {
    await this.#fill(this.#columns, signal)
    if (this.#lacksImages()) await this.#fill(ancestors(this.#columns, this.#ancestry), signal)
  }

  /** When anything in the picture changed. */
  changes () {
    return this.#index.changes(this.#columns)
  }

  /** The time of what is shown as the newest. */
  get newest () {
    return this.layer.extent()?.last ?? this.changes().at(-1)?.time ?? null
  }

  /** What is to be drawn as of a time. @param {import('./images.js').Images} images @returns {Draw[]} */
  at (time, images) {
    const draws = []
    for (const tile of this.tiles) {
      const picture = resolve(this.#index, tile.coords, this.moves ? time : this.time, this.#ancestry)
      if (picture) draws.push({ ...tile, ...picture, image: images.want(this.cache, picture.version) })
    }
    return draws
  }

  async #fill (columns, signal) {
    const { index: known, source } = this.layer.history
    const blocks = this.#index.blocks(columns)
    const asked = blocks.filter(column => !known.covers([column]))
    for (const column of blocks) if (!asked.includes(column)) this.#index.add(column, rowsOf(known, column))
    const answers = asked.length ? await source.versions(this.#name, asked, signal) : []
    asked.forEach((column, at) => this.#index.add(column, answers[at]))
  }

  /** Whether at any time a tile has no image of its own: then a part of an ancestor's may be there. */
  #lacksImages () {
    const lists = this.tiles.map(({ coords: { z, x, y } }) => this.#index.versions(z, x, y))
    const begins = lists.map(([first]) => first?.time ?? '')
    const earliest = begins.reduce((least, time) => time < least ? time : least, begins[0] ?? '')
    return lists.some((versions, at) => !versions.length || begins[at] > earliest || versions.some(({ gone }) => gone))
  }
}

/** Any other layer of tiles: the base map, or the newest tiles of the store. */
export class PlainPart extends Part {
  /** @type {Draw[]} */
  #draws = []
  #urls

  constructor (layer, view, size) {
    super(layer, view, size)
    this.#urls = this.tiles.map(({ coords }) => layer.getTileUrl(coords)) // now: they depend on the zoom of the map
  }

  async read (signal, { lenient = false } = {}) {
    const images = await Promise.all(this.#urls.map(url => plainImage(url, signal)))
    signal.throwIfAborted()
    if (images.length && !lenient && images.every(image => !image)) {
      const title = this.title || this.attribution || new URL(this.#urls[0], document.baseURI).host
      throw new TakeError('BASE_NOT_READABLE', { title })
    }
    this.#draws = this.tiles.map((tile, at) => ({ ...tile, up: 0, dx: 0, dy: 0, image: Promise.resolve(images[at]) }))
  }

  at () {
    return this.#draws
  }
}

/**
 * Where the tiles of a layer are in a picture. Edges are whole pixels: no seams.
 * @param {any} layer @param {MapView} view @param {Box} seen @param {Size} size
 * @returns {PlacedTile[]}
 */
function placeTiles (layer, { map, center, box }, seen, { width, height, scale }) {
  const zoom = layer._tileZoom
  const { x: size } = layer.getTileSize()
  const factor = map.getZoomScale(map.getZoom(), zoom) * scale // pixels of the picture for one of the layer
  const { x: middleX, y: middleY } = map.project(center, zoom)
  const across = axisOf(middleX, (box.left + box.right) / 2 * width)
  const down = axisOf(middleY, (box.top + box.bottom) / 2 * height)
  const tiles = []
  for (const y of down.range(seen.top * height, seen.bottom * height)) {
    for (const x of across.range(seen.left * width, seen.right * width)) {
      const coords = Object.assign(L.point(x, y), { z: zoom })
      if (!layer._isValidTile(coords)) continue
      const [left, top] = [across.edge(x), down.edge(y)]
      const place = { left, top, width: across.edge(x + 1) - left, height: down.edge(y + 1) - top }
      tiles.push({ coords: layer._wrapCoords(coords), ...place })
    }
  }
  return tiles

  /** @param {number} middle pixels of the layer that lie @param {number} at pixels of the picture */
  function axisOf (middle, at) {
    const tileAt = pixel => (middle + (pixel - at) / factor) / size
    return {
      edge: tile => Math.round((tile * size - middle) * factor + at),
      range: (from, to) => {
        const first = Math.floor(tileAt(from))
        return Array.from({ length: Math.max(0, Math.ceil(tileAt(to)) - first) }, (_, index) => first + index)
      }
    }
  }
}

/**
 * The part of a picture in which a layer is seen: CompareControl cuts it in the width.
 * @param {any} layer @param {MapView} view
 * @returns {Box}
 */
function boxOf (layer, { map, box }) {
  const points = /^polygon\((.*)\)$/.exec(layer.getContainer().style.clipPath)?.[1].split(',')
  if (!points) return box
  const shares = points.map(point => map.layerPointToContainerPoint([parseFloat(point), 0]).x / map.getSize().x)
  return { ...box, left: Math.max(box.left, Math.min(...shares)), right: Math.min(box.right, Math.max(...shares)) }
}

/** @param {PlacedTile[]} tiles @returns {import('../../client/source/couch-source.js').Column[]} */
function columnsOf (tiles) {
  const columns = new Map()
  for (const { coords: { z, x, y } } of tiles) {
    const column = columns.get(x)
    if (column) Object.assign(column, { y0: Math.min(column.y0, y), y1: Math.max(column.y1, y) })
    else columns.set(x, { z, x, y0: y, y1: y })
  }
  return [...columns.values()]
}

function rowsOf (index, { z, x, y0, y1 }) {
  const rows = []
  for (let y = y0; y <= y1; y++) rows.push(...index.versions(z, x, y))
  return rows
}
