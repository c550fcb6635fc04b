// What of a store is mirrored, told by the ids of documents alone: no document need be read to know whether it belongs.
import { parsePeriod } from '../times.js'
import { STORE_ID, checkLayer, parseTileId } from '../ids.js'
import { selectorOf } from '../area.js'

const OF_LAYER = /^(?:layer:|edition:)([^@]+)/

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
    this.zooms = zooms
    this.current = current
    this.since = since === undefined ? undefined : parsePeriod(since).start
    this.touches = selectorOf(area, zooms)
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
    const [, layer] = OF_LAYER.exec(id) ?? []
    if (layer !== undefined) return this.#hasLayer(layer)
    const tile = parse(id)
    if (!tile || !this.#hasLayer(tile.layer) || !this.touches(tile.z, tile.x, tile.y)) return false
    if (tile.time === undefined) return true
    return !this.current && (this.since === undefined || tile.time >= this.since || 'ask')
  }

  #hasLayer (layer) {
    return !this.layers || this.layers.has(layer)
  }
}

function parse (id) {
  try {
    return parseTileId(id)
  } catch {
    return undefined // somebody else's document
  }
}
