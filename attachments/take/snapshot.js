// A picture of the map: its layers of tiles in their order, each with its opacity and clipping; in a comparison on two
// maps, both maps. It is drawn from a hidden map in the size of the picture, at the same place, with copies of the
// layers. Therefore the map of the page and its clock do not change, and a snapshot does not change with them.
//
//   const snapshot = new Snapshot(page, { width, height, scale }, signal)
//   await snapshot.ready()
//   await snapshot.load(time, { signal })
//   snapshot.paint(context)
import { raceAbort } from '../../core/promises.js'
import { uniteChanges } from '../../client/timeline/steps.js'
import { closeHiddenMap, openHiddenMap } from '../vector/hidden-map.js'
import { writeCaption } from './caption.js'
import { TakeError } from './errors.js'
import { copyOf } from './layers.js'

/**
 * @typedef {{width: number, height: number, scale: number}} Size in pixels; scale: of these per pixel of the page
 * @typedef {{dates: {left: number, top: number, time: string | null, names: string[]}[], attribution: string}} Caption
 *   left, top: of the part to which a date belongs, as shares of the picture
 * @typedef {{map: import('leaflet').Map, box: import('./layers.js').Box, copies: any[]}} HiddenMap
 */

const WHOLE = { left: 0, top: 0, right: 1, bottom: 1 }
/** @type {[number, string][]} */
const DIVIDER = [[5, '#0c1f2a4d'], [3, '#fff']] // pixels of the page and colours, as in CompareControl

export class Snapshot {
  /** @type {HiddenMap[]} */
  #maps = []
  #page
  #size
  #background
  #chosen
  /** @type {any} the layer that the chosen one is compared with */
  #compared
  #isFading
  /** the layers that cannot be drawn, and why @type {TakeError[]} */
  omitted = []

  /** @param {import('./index.js').Page} page @param {Size} size @param {AbortSignal} signal closes it */
  constructor (page, size, signal) {
    const { view: { map }, stage: { comparison, layer: chosen } } = page
    const { control, isFading } = comparison
    const isHidden = isFading && control?.getSplit() === 0
    this.#page = page
    this.#size = { width: size.width / size.scale, height: size.height / size.scale }
    this.#background = backgroundOf(map)
    this.#chosen = chosen
    this.#compared = control && !isHidden ? comparison.layer : null
    this.#isFading = isFading
    signal.addEventListener('abort', () => this.#close(), { once: true })
    try {
      for (const view of viewsOf(map, control?.getSideMap() ?? null, size)) this.#maps.push(this.#copy(view))
      if (!this.#copies.length) throw this.omitted[0] ?? new TakeError('NOTHING')
    } catch (error) {
      this.#close()
      throw error
    }
  }

  /** Prepares all copies of layers. @param {AbortSignal} signal */
  async ready (signal) {
    await Promise.all(this.#copies.map(copy => copy.ready(signal)))
    for (const { isForbidden, title } of this.#copies) {
      if (isForbidden) this.omitted.push(new TakeError('BASE_NOT_READABLE', { title: title && ` (${title})` }))
    }
  }

  /** The times at which the picture changes with the clock, oldest first. */
  changes () {
    return uniteChanges(this.#moving.map(({ copy }) => copy.changes())).changes
  }

  /** The number of tiles that change with the clock. */
  get tiles () {
    return this.#moving.reduce((sum, { copy }) => sum + (copy.changesByTile()?.length ?? 0), 0)
  }

  /** Maximum pixels of an edge that can be drawn. */
  get maxEdge () {
    return Math.min(...this.#copies.map(({ maxEdge = Infinity }) => maxEdge))
  }

  /**
   * Loads the images of a time.
   * @param {string | null} time
   * @param {{signal: AbortSignal, next?: string | null, isLenient?: boolean}} options next: the following time,
   *   which begins to load; isLenient: images that do not load are left out
   * @returns {Promise<number>} images that were left out
   */
  async load (time, { signal, next, isLenient = false }) {
    const loads = this.#copies.map(copy => copy.load(time, signal, next))
    const counts = await raceAbort(Promise.all(loads), signal)
    const missing = counts.reduce((sum, count) => sum + count, 0)
    if (missing && !isLenient) throw new TakeError('IMAGE', { time })
    return missing
  }

  /** Paints the loaded images in the size of the canvas, with the date and the sources. @returns {Caption} */
  paint (context, time) {
    const { width, height } = context.canvas
    const scale = width / this.#size.width
    context.globalAlpha = 1
    context.imageSmoothingQuality = 'medium'
    context.fillStyle = this.#background
    context.fillRect(0, 0, width, height)
    for (const { map, box, copies } of this.#maps) {
      const { x, y } = map.getSize()
      const left = (box.left + box.right) / 2 * width - x / 2 * scale
      const top = (box.top + box.bottom) / 2 * height - y / 2 * scale
      for (const copy of copies) paintCopy(context, copy, { left, top, scale })
    }
    this.#paintDividers(context, scale)
    const caption = this.#caption(time)
    writeCaption(context, caption, { scale, written: this.#page.written })
    return caption
  }

  get #copies () {
    return this.#maps.flatMap(({ copies }) => copies)
  }

  get #moving () {
    return this.#copies.filter(({ isOnClock }) => isOnClock)
  }

  /** @returns {HiddenMap} */
  #copy ({ map, box, center }) {
    const { stage } = this.#page
    const hidden = openHiddenMap(map, {
      center,
      width: Math.ceil((box.right - box.left) * this.#size.width),
      height: Math.ceil((box.bottom - box.top) * this.#size.height)
    })
    const copies = this.#layersOf(map).map(layer => copyOf(layer, stage, this.#boxOf(layer, box)))
      .filter(copy => copy.box.right > copy.box.left)
    for (const { copy } of copies) copy.addTo(hidden)
    return { map: hidden, box, copies }
  }

  /** The visible layers of tiles, the lowest first. */
  #layersOf (map) {
    /** @type {any[]} */
    const layers = []
    map.eachLayer(layer => {
      const link = layer.history ?? layer._link
      if (!(link ?? layer._url) || !layer.getContainer() || layer.options.opacity === 0) return
      if (link?.isReady === false) throw new TakeError('NOT_READY')
      if (link?.doc?.format === 'pbf' && !layer.gl) this.omitted.push(new TakeError('NO_WEBGL', { title: layer.title }))
      else layers.push(layer)
    })
    return layers.sort((a, b) => (a.options.zIndex ?? 1) - (b.options.zIndex ?? 1))
  }

  /** The part of a picture that shows a layer. The handle of a comparison divides the width. */
  #boxOf (layer, box) {
    const { control, mode, layer: left } = this.#page.stage.comparison
    if (!control || mode !== 'swipe') return box
    const split = control.getSplit()
    if (layer === left) return { ...box, right: split }
    return layer === this.#page.stage.layer ? { ...box, left: split } : box
  }

  /** Paints the lines between the two sides of a comparison. */
  #paintDividers (context, scale) {
    const { width, height } = context.canvas
    const isInside = share => share > 0 && share < 1
    const edges = side => new Set(this.#copies.map(({ box }) => box[side]).filter(isInside))
    for (const [thick, colour] of DIVIDER) {
      context.fillStyle = colour
      for (const left of edges('left')) context.fillRect(left * width - thick * scale / 2, 0, thick * scale, height)
      for (const top of edges('top')) context.fillRect(0, top * height - thick * scale / 2, width, thick * scale)
    }
  }

  /** The date of each side, and the sources. @param {string | null} time @returns {Caption} */
  #caption (time) {
    const dates = []
    const compared = this.#copies.find(({ layer }) => layer === this.#compared)
    if (compared) dates.push({ ...compared.box, time: compared.time ?? compared.newest, names: [compared.title] })
    const moving = this.#moving
    const main = moving.find(({ layer }) => layer === this.#chosen) ?? moving[0]
    if (main) { // a base map has no date
      const left = compared && this.#isFading ? 0.5 : main.box.left
      const names = [...new Set(moving.map(({ title }) => title))]
      dates.push({ left, top: main.box.top, time: time ?? main.newest, names })
    }
    const [sources, titles] = ['attribution', 'title'].map(field =>
      new Set(this.#copies.map(copy => copy[field]).filter(Boolean)))
    return { dates, attribution: [...sources.size ? sources : titles].join(' · ') }
  }

  #close () {
    for (const copy of this.#copies) copy.close()
    for (const { map } of this.#maps.splice(0)) closeHiddenMap(map)
  }
}

/** The maps of a picture: one, or two side by side; one above the other if the picture is higher than wide. */
function viewsOf (map, sideMap, { width, height }) {
  if (!sideMap) return [{ map, box: WHOLE, center: map.getCenter() }]
  const [first, second] = height > width
    ? [{ ...WHOLE, bottom: 0.5 }, { ...WHOLE, top: 0.5 }]
    : [{ ...WHOLE, right: 0.5 }, { ...WHOLE, left: 0.5 }]
  const center = sideMap.getCenter() // the centre of the other map is under the divider
  return [{ map: sideMap, box: first, center }, { map, box: second, center }]
}

function backgroundOf (map) {
  const { backgroundColor } = getComputedStyle(map.getContainer())
  return /^rgba\(.*, 0\)$|^transparent$/.test(backgroundColor) ? '#fff' : backgroundColor
}

function paintCopy (context, copy, place) {
  const { width, height } = context.canvas
  const { opacity, box: { left, top, right, bottom } } = copy
  context.save()
  context.globalAlpha = opacity
  context.beginPath()
  context.rect(left * width, top * height, (right - left) * width, (bottom - top) * height)
  context.clip()
  copy.paint(context, place)
  context.restore()
}

/**
 * A canvas to draw on.
 * @param {{width: number, height: number}} size @param {{reads?: boolean}} [options] reads: its pixels are read often
 */
export function newContext ({ width, height }, { reads = false } = {}) {
  const canvas = Object.assign(document.createElement('canvas'), { width, height })
  const context = canvas.getContext('2d', { alpha: false, willReadFrequently: reads })
  if (!context) throw new TakeError('TOO_LARGE', { width, height })
  return context
}

/** @param {HTMLCanvasElement} canvas @returns {Promise<Blob>} */
export const toPng = canvas => new Promise((resolve, reject) => {
  canvas.toBlob(blob => {
    if (blob) resolve(blob)
    else reject(new TakeError('TOO_LARGE', { width: canvas.width, height: canvas.height }))
  }, 'image/png')
})
