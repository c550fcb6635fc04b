// What the map shows, so that it can be drawn elsewhere: its layers of tiles in their order, each with its opacity and
// the part of the map that it is cut to; in a comparison on two maps, both. It is taken once: whatever happens to the
// map afterwards, the same place and layers are drawn, as of any time. The clock of the page stays where it is.
//
//   const snapshot = new Snapshot(page, { width, height, scale })
//   await snapshot.read({ signal })
//   snapshot.paint(context, await snapshot.load(time, { signal }))
//   snapshot.close()
import L from 'leaflet'
import { raceAbort } from '../../core/promises.js'
import { uniteChanges } from '../../client/timeline/steps.js'
import { TakeError } from './errors.js'
import { Images } from './images.js'
import { HistoryPart, PlainPart } from './parts.js'

/**
 * @typedef {import('./parts.js').Size} Size
 * @typedef {{part: HistoryPart | PlainPart, draws: (import('./parts.js').Draw & {bitmap?: any})[]}} Drawn
 * @typedef {{time: string | null, drawn: Drawn[], missing: number}} Picture all that is to be painted; missing: images
 *   that were left out
 * @typedef {{dates: {left: number, top: number, time: string | null, names: string[]}[], attribution: string}} Caption
 *   left, top: of the part that a date belongs to, shares of the picture
 */

const WHOLE = { left: 0, top: 0, right: 1, bottom: 1 }
/** @type {[number, string][]} */
const DIVIDER = [[5, '#0c1f2a4d'], [3, '#fff']] // pixels of the page and colours, as that of CompareControl

export class Snapshot {
  #images = new Images()
  #parts
  #background
  #chosen
  /** @type {any} the layer that the chosen one is compared with */
  #compared
  #isFading

  /** @param {Pick<import('./index.js').Page, 'view' | 'stage'>} page @param {Size} size */
  constructor ({ view: { map }, stage: { clock, comparison, layer: chosen } }, size) {
    const { control, isFading } = comparison
    const isHidden = isFading && control?.getSplit() === 0
    this.size = size
    this.#background = backgroundOf(map)
    this.#chosen = chosen
    this.#compared = control && !isHidden ? comparison.layer : null
    this.#isFading = isFading
    this.#parts = viewsOf(map, control?.getSideMap() ?? null, size).flatMap(view => layersOf(view.map)
      .map(layer => isHistory(layer) ? new HistoryPart(layer, view, size, clock) : new PlainPart(layer, view, size)))
      .filter(({ box }) => box.right > box.left)
    if (!this.#parts.length) throw new TakeError('NOTHING')
  }

  /**
   * Learns what there is to draw.
   * @param {{signal: AbortSignal, lenient?: boolean}} options lenient: a layer that cannot be read is left out
   */
  async read ({ signal, lenient }) {
    await raceAbort(Promise.all(this.#parts.map(part => part.read(signal, { lenient }))), signal)
  }

  get #moving () {
    return this.#parts.filter(part => part instanceof HistoryPart && part.moves)
  }

  /** When the picture changes with the clock, oldest first. */
  changes () {
    return uniteChanges(this.#moving.map(part => part.changes())).changes
  }

  /** How many tiles change with the clock. */
  get tiles () {
    return this.#moving.reduce((sum, { tiles }) => sum + tiles.length, 0)
  }

  /**
   * The images of a time, decoded.
   * @param {string | null} time
   * @param {{signal: AbortSignal, next?: string | null, lenient?: boolean}} options next: the time after it, whose
   *   images begin to load; lenient: images that do not load are left out
   * @returns {Promise<Picture>}
   */
  async load (time, { signal, next, lenient = false }) {
    this.#images.begin()
    const drawn = this.#parts.map(part => ({ part, draws: part.at(time, this.#images) }))
    if (next !== undefined) for (const part of this.#parts) part.at(next, this.#images)
    this.#images.forget()
    const draws = drawn.flatMap(one => one.draws)
    const results = await raceAbort(Promise.allSettled(draws.map(({ image }) => image)), signal)
    const failed = results.filter(({ status }) => status === 'rejected')
    if (failed.length && !lenient) {
      throw new TakeError('IMAGE', { time, count: failed.length, why: /** @type {any} */ (failed[0]).reason?.message })
    }
    draws.forEach((draw, at) => { draw.bitmap = /** @type {any} */ (results[at]).value ?? null })
    return { time, drawn, missing: failed.length }
  }

  /** @param {CanvasRenderingContext2D} context of a canvas of this size @param {Picture} picture just loaded */
  paint (context, { drawn }) {
    const { width, height } = this.size
    context.globalAlpha = 1
    context.imageSmoothingQuality = 'medium'
    context.fillStyle = this.#background
    context.fillRect(0, 0, width, height)
    for (const { part: { opacity, box }, draws } of drawn) {
      context.save()
      context.globalAlpha = opacity
      context.beginPath()
      context.rect(box.left * width, box.top * height, (box.right - box.left) * width, (box.bottom - box.top) * height)
      context.clip()
      for (const draw of draws) if (draw.bitmap) paintTile(context, draw)
      context.restore()
    }
    this.#paintDividers(context)
  }

  /** Between the two sides of a comparison. */
  #paintDividers (context) {
    const { width, height, scale } = this.size
    const isInside = share => share > 0 && share < 1
    const [lefts, tops] = ['left', 'top'].map(edge =>
      new Set(this.#parts.map(({ box }) => box[edge]).filter(isInside)))
    for (const [thick, colour] of DIVIDER) {
      context.fillStyle = colour
      for (const left of lefts) context.fillRect(left * width - thick * scale / 2, 0, thick * scale, height)
      for (const top of tops) context.fillRect(0, top * height - thick * scale / 2, width, thick * scale)
    }
  }

  /** What is to be written on a picture: the date of each side, and the sources. @param {string | null} time */
  caption (time) {
    /** @type {Caption['dates']} */
    const dates = []
    const compared = /** @type {HistoryPart | undefined} */ (this.#parts.find(({ layer }) => layer === this.#compared))
    if (compared) {
      dates.push({ ...compared.box, time: compared.time ?? compared.newest, names: [compared.title] })
    }
    const moving = this.#moving
    const main = moving.find(({ layer }) => layer === this.#chosen) ?? moving[0]
    if (main) { // a base map has no date
      const left = compared && this.#isFading ? 0.5 : main.box.left
      const names = [...new Set(moving.map(({ title }) => title))]
      dates.push({ left, top: main.box.top, time: time ?? main.newest, names })
    }
    const [sources, titles] = ['attribution', 'title'].map(field =>
      new Set(this.#parts.map(part => part[field]).filter(Boolean)))
    return { dates, attribution: [...sources.size ? sources : titles].join(' · ') }
  }

  close () {
    this.#images.close()
  }
}

const isHistory = layer => Boolean(layer.history?.source.versions)

/** The maps of a picture: one, or two beside each other, or above where it is higher than wide. */
function viewsOf (map, sideMap, { width, height }) {
  if (!sideMap) return [{ map, center: map.getCenter(), box: WHOLE }]
  const [first, second] = height > width
    ? [{ ...WHOLE, bottom: 0.5 }, { ...WHOLE, top: 0.5 }]
    : [{ ...WHOLE, right: 0.5 }, { ...WHOLE, left: 0.5 }]
  const center = sideMap.getCenter()
  return [{ map: sideMap, center, box: first }, { map, center, box: second }]
}

/** The layers of tiles that are to be seen, the lowest first. */
function layersOf (map) {
  /** @type {any[]} */
  const layers = []
  map.eachLayer(layer => {
    if (!(layer instanceof L.GridLayer) || !layer.getContainer()) return
    const any = /** @type {any} */ (layer)
    if ((any.history ?? any._link)?.isReady === false) throw new TakeError('NOT_READY')
    const isOfImages = (any.history ?? any._link)?.doc?.format !== 'pbf'
    const isSeen = any._tileZoom !== undefined && (any.options.opacity ?? 1) > 0 && isOfImages
    if (isSeen && (isHistory(any) || any.getTileUrl)) layers.push(any)
  })
  const level = node => Number(getComputedStyle(node).zIndex) || 0
  return layers.sort((a, b) => level(a.getPane()) - level(b.getPane()) ||
    level(a.getContainer()) - level(b.getContainer()) ||
    (a.getContainer().compareDocumentPosition(b.getContainer()) & Node.DOCUMENT_POSITION_FOLLOWING ? -1 : 1))
}

function backgroundOf (map) {
  const { backgroundColor } = getComputedStyle(map.getContainer())
  return /^rgba\(.*, 0\)$|^transparent$/.test(backgroundColor) ? '#fff' : backgroundColor
}

function paintTile (context, { bitmap, up, dx, dy, left, top, width, height }) {
  const [across, down] = [bitmap.width / 2 ** up, bitmap.height / 2 ** up]
  context.drawImage(bitmap, dx * across, dy * down, across, down, left, top, width, height)
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
