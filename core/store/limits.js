// The limits of a layer in a store: tiles outside the mirrored parts, times before those parts begin, and times that a
// prune dropped. Settling, checks and readers use them. A missing version outside the limits is no fault, and no other
// version is shown in its place.
//
// The document `limits:LAYER` has the parts. It belongs to one store: mirrors do not copy it but write their own. A
// layer without it is whole. The field `dropped` of the layer has the dropped times, because deletions replicate too.
//
//   { "_id": "limits:osm", "type": "limits", "layer": "osm",
//     "parts": [{ "area": { "boxes": [[5.9, 45.8, 10.5, 47.8]] }, "zooms": { "min": 0, "max": 12 },
//       "since": "2020-01-01T00:00:00Z" }] }
import { areaFrom, selectorOf } from '../area.js'
import { cached } from '../cache.js'
import { faultIn } from '../documents.js'
import { gridOf } from '../grids/index.js'
import { compareIds } from '../ids.js'
import { isLayerField } from '../layers.js'
import { lowerBound } from '../lists.js'
import { AFTER } from '../times.js'
import { attempt } from '../values.js'
import { tilesOfPlace } from './blocks.js'
import { recordKinds } from './records.js'

/**
 * @typedef {object} Part of a layer, as a mirror selects it
 * @property {{boxes: any[], polygon?: object}} [area]
 * @property {import('../grid.js').Zooms} [zooms]
 * @property {string} [since] the map is complete as of this time and later times
 * @property {boolean} [current] only the newest versions are kept
 * @property {Part[]} [of] the parts that the source of the mirror keeps
 * @property {boolean} [ofOwn] the source shows other tiles, too: `own` in its limits
 *
 * @typedef {[from: string, until: string, run: string]} Dropped times that a prune dropped, without `until`;
 *   run: of the prune. Statements of later runs are kept.
 * @typedef {object} Span of times that are not kept
 * @property {string} from
 * @property {string} until first time that is kept again
 * @property {string} [run] only statements of earlier runs are dropped
 *
 * `own` in the document: the layer existed in this store before the mirror, or was written here later. Readers then
 * show all of it.
 */

export class Limits {
  #parts
  #isOwn
  /** @type {Span[]} */
  #dropped
  /** Cache of hasBlocks. @type {Map<string, boolean>} */
  #places = new Map()
  /** Image in memory -> first time of its tile that readers see. @type {WeakMap<object, string | undefined>} */
  #sinceByImage = new WeakMap()

  /** @param {any} doc `limits:LAYER`, if there is one @param {any} [layer] the document of the layer */
  constructor (doc, layer) {
    const { parts = [], own = false } = doc && !faultIn(doc, recordKinds) ? doc : {}
    this.#parts = parts.length ? withSelectors(parts, gridIn(layer)) : undefined
    this.#isOwn = own
    // the field of a layer document may be invalid
    const dropped = isLayerField('dropped', layer?.dropped) ? layer.dropped : []
    this.#dropped = dropped.map(([from, until, run]) => ({ from, until, run }))
  }

  /** Whether the layer is a mirrored part. */
  get isPart () {
    return this.#parts !== undefined
  }

  /** Whether all of the layer was mirrored from another store. */
  get isMirrored () {
    return this.isPart && !this.#isOwn
  }

  /** Whether a part has the past, and therefore the manifests. */
  get hasPast () {
    return this.#isOwn || !this.#parts?.every(({ current }) => current)
  }

  /** Whether the blocks of a place belong to a part. @param {string} place */
  hasBlocks (place) {
    // a part without a past has no blocks
    const hasPast = ({ z, x, y }) => (this.#sinceAt(z, x, y) ?? AFTER) < AFTER
    return cached(this.#places, place, () => !this.#parts || [...tilesOfPlace(place)].some(hasPast))
  }

  /**
   * Whether a store keeps a tile as of a time.
   * @param {string} [time] exact; by default the newest version
   * @param {object} [image] of the tile, in memory; the result of the area is cached for it, since polygons are slow
   */
  isKept (z, x, y, time = AFTER, image) {
    if (this.#isOwn) return true
    if (image && !this.#sinceByImage.has(image)) this.#sinceByImage.set(image, this.#shownSince(z, x, y))
    const since = image ? this.#sinceByImage.get(image) : this.#shownSince(z, x, y)
    return since !== undefined && time >= since
  }

  /** Times of a tile that are not kept. @returns {Span[] | undefined} undefined: no time is kept */
  droppedAt (z, x, y) {
    const since = this.#sinceAt(z, x, y)
    if (since) return [{ from: '', until: since }, ...this.#dropped]
    return since === '' || this.isKept(z, x, y) ? this.#dropped : undefined
  }

  /** Whether a tile belongs to no mirrored part: images that manifests have for it may be missing. */
  mayLack (z, x, y) {
    return this.#sinceAt(z, x, y) === undefined
  }

  #sinceAt (z, x, y) {
    return this.#parts ? earliest(this.#parts, z, x, y) : ''
  }

  #shownSince (z, x, y) {
    return this.#parts ? earliest(this.#parts, z, x, y, true) : ''
  }
}

/**
 * The first kept time of a tile.
 * @param {boolean} [forReaders] a source with other tiles shows all times
 * @returns {string | undefined} undefined: no part contains the tile
 */
function earliest (parts, z, x, y, forReaders = false) {
  const times = parts.filter(({ selects }) => selects(z, x, y)).map(({ since = '', current, of, ofOwn }) => {
    const sourceStart = of && !(forReaders && ofOwn) ? earliest(of, z, x, y, forReaders) : ''
    const partStart = current ? AFTER : since
    return sourceStart === undefined || sourceStart > partStart ? sourceStart : partStart
  })
  return times.filter(time => time !== undefined).sort(compareIds)[0]
}

const withSelectors = (parts, grid) => parts.map(part => ({
  ...part,
  of: part.of && withSelectors(part.of, grid),
  selects: selectorOf(part.area && areaFrom(part.area).in(grid), part.zooms)
}))

/** The grid of a layer, or Web Mercator if that is invalid: `tilecouch check` reports it. */
export const gridIn = layer => attempt(() => gridOf(layer ?? {})) ?? gridOf()

/**
 * Sorts dropped times and joins the overlapping spans of each prune. Spans of different prunes are not joined: a load
 * between them may have written versions that count.
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
    // a span begins at a dropped time: if the previous span ends there, that time is dropped, too
    const previous = joined.findLast(other => other[2] === run && from <= other[1])
    if (previous) previous[1] = until
    else joined.push([from, until, run])
  }
  return joined
}

/**
 * Removes the statements of manifests for times that the store does not keep. Stored versions stay. The last statement
 * before a kept time stays, too: the map shows it at that time.
 * @param {Map<string, {content: string, run: string, inManifest: boolean}>} byTime
 * @param {{time: string}[]} sources versions whose bytes the store has
 * @param {Span[]} spans
 */
export function keptStatements (byTime, sources, spans) {
  if (!spans.length || ![...byTime.values()].some(({ inManifest }) => inManifest)) return byTime
  const times = [...byTime.keys()].sort(compareIds)
  const stored = new Set(sources.map(({ time }) => time))
  for (const { from, until, run: pruneRun } of spans) {
    const end = lowerBound(times, until)
    const last = times[end] === until ? end : end - 1
    for (const time of times.slice(lowerBound(times, from), last)) {
      const { run = '', inManifest } = byTime.get(time) ?? {}
      const isEarlier = pruneRun === undefined || run < pruneRun
      if (inManifest && isEarlier && !stored.has(time)) byTime.delete(time)
    }
  }
  return byTime
}
