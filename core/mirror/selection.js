// Which documents of a store a mirror takes. Their ids alone decide: no document has to be read.
import { STORE_ID, UNMIRRORED_IDS, checkLayer, layerId, parseDocumentId, parseTileId } from '../ids.js'
import { parsePeriod } from '../times.js'
import { selectorOf } from '../area.js'
import { BLOCK_SIDE } from '../store/blocks.js'
import { gridIn } from '../store/limits.js'

const UNMIRRORED = new RegExp(UNMIRRORED_IDS)
const TILE = /^[a-z0-9][a-z0-9_-]*:\d/ // may be a tile: others are not parsed

/**
 * @typedef {object} Wanted
 * @property {string[]} [layers] only these
 * @property {import('../area.js').Area} [area] only tiles that touch it
 * @property {import('../grid.js').Zooms} [zooms] only these
 * @property {boolean} [current] only heads: a mirror without a past
 * @property {string} [since] of the past, only versions that were still visible then, and later ones
 */

export class Selection {
  /** The area in the grids of layers. @type {Map<string, import('../area.js').Area>} */
  #areas = new Map()

  /** @param {Wanted} [wanted] */
  constructor ({ layers, area, zooms, current = false, since } = {}) {
    this.layers = layers?.length ? new Set(layers.map(checkLayer)) : undefined
    this.area = area
    this.zooms = zooms && { min: zooms.min, max: zooms.max }
    this.current = current
    const { start } = since === undefined ? { start: undefined } : parsePeriod(since)
    this.since = current ? undefined : start // `current` has no past to choose from
    this.touches = selectorOf(area, this.zooms)
  }

  /**
   * Reads in which grids the layers of some documents have their tiles: an area is not the same tiles in each. Only an
   * area needs it.
   * @param {Iterable<string>} ids
   * @param {(id: string) => Promise<Record<string, any> | undefined>} read the document of a layer
   */
  async learn (ids, read) {
    if (!this.area) return
    const unknown = new Set()
    for (const id of ids) {
      const layer = parseDocumentId(id)?.layer ?? parse(id)?.layer
      if (layer !== undefined && !this.#areas.has(layer)) unknown.add(layer)
    }
    for (const layer of unknown) {
      const doc = await read(layerId(layer))
      if (doc) this.#areas.set(layer, this.area.in(gridIn(doc))) // a layer that is not described yet is asked for again
    }
  }

  /** The area in the grid of a layer, once that is known. @param {string} layer */
  areaOf (layer) {
    return this.#areas.get(layer) ?? this.area
  }

  /** Everything except design documents and what is about the running of the source. */
  get isWhole () {
    return !this.layers && !this.area && !this.zooms && !this.current && !this.since
  }

  /** Selections of the same documents have the same key. */
  get key () {
    return JSON.stringify({
      ...(this.layers && { layers: [...this.layers].sort() }),
      ...(this.area && { area: this.area.key }),
      ...(this.zooms && { zooms: this.zooms }),
      ...(this.current && { current: true }),
      ...(this.since && { since: this.since })
    })
  }

  /**
   * Whether a document belongs. `maybe`: it is a version from before `since`, and only the other versions of its tile
   * tell whether it was still visible then.
   * @param {string} id
   * @returns {boolean | 'maybe'}
   */
  has (id) {
    if (UNMIRRORED.test(id)) return false
    if (this.isWhole || id === STORE_ID) return true
    const tile = parse(id)
    return tile ? this.#hasTile(tile) : this.#isOfLayer(id)
  }

  /**
   * What to do about a change. take: copy the document. lookUp: find out which versions of its tile belong now
   * (visible-past.js).
   * @param {{id: string, revs: string[], deleted: boolean}} change
   */
  decide ({ id, revs, deleted }) {
    const tile = this.since ? parse(id) : undefined
    if (!tile) return { take: this.has(id) === true, lookUp: false }
    const belongs = this.#hasTile(tile)
    // a mirror that had the version takes its deletion
    if (belongs === 'maybe') return { take: deleted, lookUp: true }
    // A head in its first revision hides nothing. One that was changed or deleted may have been older in between, and
    // have hidden a version that is visible now.
    const isChangedHead = deleted || revs.length > 1 || !revs[0].startsWith('1-')
    const uncovers = tile.time === undefined ? isChangedHead : deleted && tile.time === this.since
    return { take: belongs, lookUp: belongs && uncovers }
  }

  /** @param {import('../ids.js').VersionAddress} tile @returns {boolean | 'maybe'} */
  #hasTile ({ layer, z, x, y, time }) {
    if (!this.#hasLayer(layer) || (this.current && time !== undefined) || !this.#touches(layer, z, x, y)) return false
    return time === undefined || this.since === undefined || time >= this.since || 'maybe'
  }

  #isOfLayer (id) {
    const document = parseDocumentId(id)
    if (!document || !this.#hasLayer(document.layer)) return false
    const { kind, z, x, y } = document
    if (kind === 'layer' || kind === 'edition' || kind === 'style') return true
    // a mirror without a past needs no manifests; one of an area needs only its blocks
    return !this.current && (kind !== 'block' || this.#touchesBlock(document.layer, z, x, y))
  }

  #touches (layer, z, x, y) {
    const area = this.areaOf(layer)
    return area === this.area ? this.touches(z, x, y) : selectorOf(area, this.zooms)(z, x, y)
  }

  /** In Web Mercator a block covers the same as one tile six zooms above. */
  #touchesBlock (layer, z, x, y) {
    if (this.zooms && (z < this.zooms.min || z > this.zooms.max)) return false
    const area = this.areaOf(layer)
    if (!area || area.grid.isWebMercator) return !area || area.has(Math.max(0, z - 6), x, y)
    const [x0, y0] = [x * BLOCK_SIDE, y * BLOCK_SIDE]
    return area.touches(z, { x0, y0, x1: x0 + BLOCK_SIDE - 1, y1: y0 + BLOCK_SIDE - 1 })
  }

  #hasLayer (layer) {
    return !this.layers || this.layers.has(layer)
  }
}

function parse (id) {
  if (!TILE.test(id)) return undefined
  try {
    return parseTileId(id)
  } catch {
    return undefined // not a tile
  }
}
