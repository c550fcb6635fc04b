// What a store does not keep of a layer: tiles outside the parts that were mirrored into it, times before those parts
// begin, and what a prune has dropped. Settling, checks and readers use it: what is not kept is no fault, and nothing
// else is shown in its place.
//
// The document `limits:LAYER` has the parts. It belongs to one store: mirrors do not copy it, they write their own. A
// layer without it is whole. The field `dropped` of the layer has what was dropped, since deletions replicate as well.
//
//   { "_id": "limits:osm", "type": "limits", "layer": "osm",
//     "parts": [{ "area": { "boxes": [[5.9, 45.8, 10.5, 47.8]] }, "zooms": { "min": 0, "max": 12 },
//       "since": "2020-01-01T00:00:00Z" }] }
import { areaFrom, selectorOf } from '../area.js'
import { faultIn } from '../documents.js'
import { gridOf } from '../grids/index.js'
import { compareIds } from '../ids.js'
import { isLayerField } from '../layers.js'
import { lowerBound } from '../lists.js'
import { AFTER } from '../times.js'
import { tilesOfPlace } from './blocks.js'
import { recordKinds } from './records.js'

/**
 * @typedef {object} Part of a layer, as a mirror selects it
 * @property {{boxes: any[], polygon?: object}} [area]
 * @property {import('../grid.js').Zooms} [zooms]
 * @property {string} [since] the map is right as of this time and later ones
 * @property {boolean} [current] only the newest versions are kept
 * @property {Part[]} [of] the parts that the source of the mirror keeps
 *
 * @typedef {[from: string, until: string, run: string]} Dropped times that a prune dropped: `until` is kept again;
 *   run: of the prune, which knew nothing of later ones
 * @typedef {object} Span of times that are not kept
 * @property {string} from
 * @property {string} until is kept again
 * @property {string} [run] only statements of earlier runs are concerned
 *
 * `own` in the document: the layer was here before the parts came, or was written here later. Readers then show all of
 * it.
 */

export class Limits {
  #parts
  #isOwn
  /** @type {Span[]} */
  #dropped
  /** Whether places have blocks of a part. @type {Map<string, boolean>} */
  #places = new Map()
  /** Since when tiles are kept, by their images in memory. @type {WeakMap<object, string | undefined>} */
  #sinceByImage = new WeakMap()

  /** @param {any} doc `limits:LAYER`, if there is one @param {any} [layer] the document of the layer */
  constructor (doc, layer) {
    const { parts = [], own = false } = doc && !faultIn(doc, recordKinds) ? doc : {}
    this.#parts = parts.length ? withSelectors(parts, gridIn(layer)) : undefined
    this.#isOwn = own
    // the document of a layer may hold anything
    const dropped = isLayerField('dropped', layer?.dropped) ? layer.dropped : []
    this.#dropped = dropped.map(([from, until, run]) => ({ from, until, run }))
  }

  /** Whether a mirror has brought only a part. */
  get isPart () {
    return this.#parts !== undefined
  }

  /** Whether everything of the layer came from elsewhere. */
  get isMirrored () {
    return this.isPart && !this.#isOwn
  }

  /** Whether a part has the past, and so the manifests. */
  get hasPast () {
    return this.#isOwn || !this.#parts?.every(({ current }) => current)
  }

  /** Whether the blocks of a place belong to a part. @param {string} place */
  hasBlocks (place) {
    let hasBlocks = this.#places.get(place)
    if (hasBlocks === undefined) {
      // a part without a past has no blocks
      const hasPast = ({ z, x, y }) => (this.#sinceAt(z, x, y) ?? AFTER) < AFTER
      hasBlocks = !this.#parts || [...tilesOfPlace(place)].some(hasPast)
      this.#places.set(place, hasBlocks)
    }
    return hasBlocks
  }

  /**
   * Whether a store keeps a tile as of a time.
   * @param {string} [time] exact; the newest version unless given
   * @param {object} [image] of the tile, in memory: the area is asked about it once, since polygons take long
   */
  isKept (z, x, y, time = AFTER, image) {
    if (this.#isOwn) return true
    if (image && !this.#sinceByImage.has(image)) this.#sinceByImage.set(image, this.#sinceAt(z, x, y))
    const since = image ? this.#sinceByImage.get(image) : this.#sinceAt(z, x, y)
    return since !== undefined && time >= since
  }

  /** Times of a tile that are not kept. @returns {Span[] | undefined} undefined: nothing of it is */
  droppedAt (z, x, y) {
    const since = this.#sinceAt(z, x, y)
    if (since) return [{ from: '', until: since }, ...this.#dropped]
    return since === '' || this.#isOwn ? this.#dropped : undefined
  }

  #sinceAt (z, x, y) {
    return this.#parts ? earliest(this.#parts, z, x, y) : ''
  }
}

/** The first time that is kept of a tile; undefined: no part has the tile. @returns {string | undefined} */
function earliest (parts, z, x, y) {
  const times = parts.filter(({ selects }) => selects(z, x, y)).map(({ since = '', current, of }) => {
    const atSource = of ? earliest(of, z, x, y) : ''
    const ofPart = current ? AFTER : since
    return atSource === undefined || atSource > ofPart ? atSource : ofPart
  })
  return times.filter(time => time !== undefined).sort(compareIds)[0]
}

const withSelectors = (parts, grid) => parts.map(part => ({
  ...part,
  of: part.of && withSelectors(part.of, grid),
  selects: selectorOf(part.area && areaFrom(part.area).in(grid), part.zooms)
}))

/** A layer whose grid cannot be read counts as one in Web Mercator: `tilecouch check` names it. */
export function gridIn (layer) {
  try {
    return gridOf(layer ?? {})
  } catch {
    return gridOf()
  }
}

/**
 * Dropped times together. Spans of one prune are joined; those of several are not, since between them others may have
 * loaded what counts.
 * @param {Dropped[]} spans @returns {Dropped[]} in their order
 */
export function joinSpans (spans) {
  /** @type {Dropped[]} */
  const joined = []
  const isCovered = ([from, until, run]) =>
    joined.some(other => other[0] <= from && other[1] >= until && other[2] >= run)
  for (const span of [...spans].sort(([a], [b]) => compareIds(a, b))) {
    const [from, until, run] = span
    if (isCovered(span)) continue
    // a span begins at a dropped time: where the one before ends there, that time is kept no longer
    const before = joined.findLast(other => other[2] === run && from <= other[1])
    if (before) before[1] = until
    else joined.push([from, until, run])
  }
  return joined
}

/**
 * Without the statements of manifests for times that the store does not keep. The last one before a kept time stays:
 * it is what is shown then. So do stored versions.
 * @param {Map<string, {content: string, run: string, inManifest: boolean}>} byTime
 * @param {{time: string}[]} sources versions whose bytes are here
 * @param {Span[]} spans
 */
export function keptStatements (byTime, sources, spans) {
  if (!spans.length || ![...byTime.values()].some(({ inManifest }) => inManifest)) return byTime
  const times = [...byTime.keys()].sort(compareIds)
  const stored = new Set(sources.map(({ time }) => time))
  for (const { from, until, run: before } of spans) {
    const end = lowerBound(times, until)
    const last = times[end] === until ? end : end - 1
    for (const time of times.slice(lowerBound(times, from), last)) {
      const { run = '', inManifest } = byTime.get(time) ?? {}
      const isEarlier = before === undefined || run < before
      if (inManifest && isEarlier && !stored.has(time)) byTime.delete(time)
    }
  }
  return byTime
}
