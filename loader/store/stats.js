// What a layer holds, from reduces alone: the cost does not grow with the number of tiles.
import { checkLayer, fromSeconds, tileBounds } from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { union } from '../../core/store/extent.js'

export const BY_ZOOM = '_design/versions/_view/by_zoom'

/**
 * @typedef {object} Stats
 * @property {number} tiles that exist now
 * @property {number} versions present and past, those that say "gone" included; one that a head fell back to has a
 *   document in the past as well, and counts twice
 * @property {number} bytes of all versions
 * @property {number} currentBytes of the newest versions
 * @property {string | null} first time of any version
 * @property {string | null} last time of any version
 * @property {[number, number, number, number] | null} bounds of the tiles that exist now
 */

/** @returns {Promise<Stats & {layer: string, zooms: (Stats & {z: number})[]}>} */
export async function layerStats (couch, layer) {
  checkLayer(layer)
  const rows = await couch.view(BY_ZOOM, { startkey: [layer], endkey: [layer, {}], group_level: 3 })
  const zooms = new Map()
  for (const { key: [, z, kind], value } of rows) {
    const entry = zooms.get(z) ?? { z, ...empty() }
    add(entry, kind, z, value)
    zooms.set(z, entry)
  }
  const perZoom = [...zooms.values()].sort((a, b) => a.z - b.z)
  if (!perZoom.length && !await couch.get(`layer:${layer}`)) throw new TilecouchError('LAYER_NOT_FOUND', { layer })
  return { layer, ...perZoom.reduce(total, empty()), zooms: perZoom }
}

/** @returns {Stats} */
const empty = () => ({ tiles: 0, versions: 0, bytes: 0, currentBytes: 0, first: null, last: null, bounds: null })

// the view emits [bytes, seconds, x, y] under [layer, z, 'current' | 'past' | 'gone']
function add (entry, kind, z, [size, seconds, x, y]) {
  entry.versions += size.count
  entry.bytes += size.sum
  entry.first = earlier(entry.first, fromSeconds(seconds.min))
  entry.last = later(entry.last, fromSeconds(seconds.max))
  if (kind !== 'current') return
  entry.tiles += size.count
  entry.currentBytes += size.sum
  const [west, , , north] = tileBounds(z, x.min, y.min)
  const [, south, east] = tileBounds(z, x.max, y.max)
  entry.bounds = [west, south, east, north]
}

function total (sum, part) {
  return {
    tiles: sum.tiles + part.tiles,
    versions: sum.versions + part.versions,
    bytes: sum.bytes + part.bytes,
    currentBytes: sum.currentBytes + part.currentBytes,
    first: earlier(sum.first, part.first),
    last: later(sum.last, part.last),
    bounds: union(sum.bounds, part.bounds)
  }
}

const earlier = (a, b) => a === null || (b !== null && b < a) ? b : a
const later = (a, b) => a === null || (b !== null && b > a) ? b : a
