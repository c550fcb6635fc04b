// Decides which documents of a store a mirror copies. The ids are enough for that: no document has to be read.
import { STORE_ID, UNMIRRORED_IDS, checkLayer, layerId, parseDocumentId, parseTileId } from '../ids.js'
import { parsePeriod } from '../times.js'
import { selectorOf } from '../area.js'
import { BLOCK_SIDE } from '../store/blocks.js'
import { gridIn } from '../store/limits.js'
import { attempt } from '../values.js'

const UNMIRRORED = new RegExp(UNMIRRORED_IDS)
const TILE = /^[a-z0-9][a-z0-9_-]*:\d/ // ids that may be tiles; others are not parsed

/**
 * @typedef {object} Wanted
 * @property {string[]} [layers] only documents of these layers
 * @property {import('../area.js').Area} [area] only tiles that touch it
 * @property {import('../grid.js').Zooms} [zooms] only tiles of these zooms
 * @property {boolean} [current] only heads: a mirror without a past
 * @property {string} [since] only past versions that were still visible at this time, and later ones
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
   * Reads the grids of the layers of some documents, because an area has other tiles in another grid. Does nothing
   * without an area.
   * @param {Iterable<string>} ids
   * @param {(id: string) => Promise<Record<string, any> | undefined>} read reads the document of a layer
   */
  async learn (ids, read) {
    if (!this.area) return
    const unknownLayers = new Set()
    for (const id of ids) {
      const layer = parseDocumentId(id)?.layer ?? parseTile(id)?.layer
      if (layer !== undefined && !this.#areas.has(layer)) unknownLayers.add(layer)
    }
    for (const layer of unknownLayers) {
      const doc = await read(layerId(layer))
      if (doc) this.#areas.set(layer, this.area.in(gridIn(doc))) // without a document, the next call reads it again
    }
  }

  /** The area in the grid of a layer, if `learn` has read that. @param {string} layer */
  areaOf (layer) {
    return this.#areas.get(layer) ?? this.area
  }

  /** Whether it selects all documents, except design documents and operating data of the source. */
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
   * Whether a document belongs to the selection. `maybe`: the version is from before `since`, and only the other
   * versions of its tile show whether it was still visible then.
   * @param {string} id
   * @returns {boolean | 'maybe'}
   */
  has (id) {
    if (UNMIRRORED.test(id)) return false
    if (this.isWhole || id === STORE_ID) return true
    const tile = parseTile(id)
    return tile ? this.#hasTile(tile) : this.#isOfLayer(id)
  }

  /**
   * Decides about a change. take: copy the document. lookUp: find out which versions of its tile belong to the
   * selection now (visible-past.js).
   * @param {{id: string, revs: string[], deleted: boolean}} change
   */
  decide ({ id, revs, deleted }) {
    const tile = this.since ? parseTile(id) : undefined
    if (!tile) return { take: this.has(id) === true, lookUp: false }
    const belongs = this.#hasTile(tile)
    // the mirror may have the version: copy its deletion
    if (belongs === 'maybe') return { take: deleted, lookUp: true }
    // A head in its first revision hides no version. A changed or deleted head may have been older in between, and may
    // have hidden a version that is visible now.
    const isChangedHead = deleted || revs.length > 1 || !revs[0].startsWith('1-')
    const mayUncover = tile.time === undefined ? isChangedHead : deleted && tile.time === this.since
    return { take: belongs, lookUp: belongs && mayUncover }
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
    // a mirror without a past needs no manifests; a mirror of an area needs only the blocks of the area
    return !this.current && (kind !== 'block' || this.#touchesBlock(document.layer, z, x, y))
  }

  #touches (layer, z, x, y) {
    const area = this.areaOf(layer)
    return area === this.area ? this.touches(z, x, y) : selectorOf(area, this.zooms)(z, x, y)
  }

  /** In Web Mercator a block covers the area of one tile six zooms above. */
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

/** The tile of an id, head or past; undefined for other documents. */
const parseTile = id => TILE.test(id) ? attempt(() => parseTileId(id)) : undefined
