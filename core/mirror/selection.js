// What of a store is mirrored, told by the ids of documents alone: no document need be read to know whether it belongs.
import { STORE_ID, checkLayer, parseDocumentId, parseTileId } from '../ids.js'
import { parsePeriod } from '../times.js'
import { selectorOf } from '../area.js'

const TILE = /^[a-z0-9][a-z0-9_-]*:\d/ // what may be a tile, so that others are not taken apart for nothing

/**
 * @typedef {object} Wanted
 * @property {string[]} [layers] only these
 * @property {import('../area.js').Area} [area] only tiles that touch it
 * @property {import('../grid.js').Zooms} [zooms] only these
 * @property {boolean} [current] only heads: a mirror without a past
 * @property {string} [since] of the past, only what was still to be seen then or came later
 */

export class Selection {
  /** @param {Wanted} [wanted] */
  constructor ({ layers, area, zooms, current = false, since } = {}) {
    this.layers = layers?.length ? new Set(layers.map(checkLayer)) : undefined
    this.area = area
    this.zooms = zooms && { min: zooms.min, max: zooms.max }
    this.current = current
    const { start } = since === undefined ? { start: undefined } : parsePeriod(since)
    this.since = current ? undefined : start // without a past there is none to choose from
    this.touches = selectorOf(area, this.zooms)
  }

  /** Everything, whatever it is: as CouchDB's own replicator takes it, but for design documents. */
  get isWhole () {
    return !this.layers && !this.area && !this.zooms && !this.current && !this.since
  }

  /** Selections of the same documents have the same key. */
  get key () {
    return JSON.stringify({
      ...(this.layers && { layers: [...this.layers].sort() }), ...(this.area && { area: this.area.key }), ...(this.zooms && { zooms: this.zooms }),
      ...(this.current && { current: true }), ...(this.since && { since: this.since })
    })
  }

  /**
   * Whether a document belongs. `ask`: it is a version from before `since`, and only the versions of its tile tell whether
   * it was still to be seen then.
   * @param {string} id
   * @returns {boolean | 'ask'}
   */
  has (id) {
    if (id.startsWith('_design/')) return false // code is never taken from elsewhere
    if (this.isWhole || id === STORE_ID) return true
    const tile = parse(id)
    return tile ? this.#hasTile(tile) : this.#isOfLayer(id)
  }

  /**
   * What a change calls for. take: the document belongs as it is now. ask: something else may belong from now on, or this as
   * well: the versions of its tile tell.
   * @param {{id: string, revs: string[], deleted: boolean}} change
   */
  judge ({ id, revs, deleted }) {
    if (!this.since) return { take: this.has(id) === true, ask: false }
    const tile = parse(id)
    if (!tile) return { take: this.has(id) === true, ask: false }
    const belongs = this.#hasTile(tile)
    // a mirror that ever had it learns that it is deleted
    if (belongs === 'ask') return { take: deleted, ask: true }
    // a head that is as it was made hides nothing. Of one that was changed or deleted, any state in between may have been passed over:
    // one that was older, and hid a version that is to be seen again.
    const uncovers = tile.time === undefined ? deleted || revs.length > 1 || !revs[0].startsWith('1-') : deleted && tile.time === this.since
    return { take: belongs, ask: belongs && uncovers }
  }

  /** @param {import('../ids.js').VersionAddress} tile @returns {boolean | 'ask'} */
  #hasTile ({ layer, z, x, y, time }) {
    if (!this.#hasLayer(layer) || (this.current && time !== undefined) || !this.touches(z, x, y)) return false
    return time === undefined || this.since === undefined || time >= this.since || 'ask'
  }

  #isOfLayer (id) {
    const document = parseDocumentId(id)
    if (!document || !this.#hasLayer(document.layer)) return false
    const { kind, z, x, y } = document
    if (kind === 'layer' || kind === 'edition') return true
    // without a past nothing follows from what editions said; of a part, its blocks are needed
    return !this.current && (kind !== 'block' || this.#touchesBlock(z, x, y))
  }

  /** A block of a zoom is what one tile covers six zooms above. */
  #touchesBlock (z, x, y) {
    if (this.zooms && (z < this.zooms.min || z > this.zooms.max)) return false
    return !this.area || this.area.has(Math.max(0, z - 6), x, y)
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
    return undefined // somebody else's document
  }
}
