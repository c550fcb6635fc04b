// The features of vector tiles, and which of them were added, removed or changed between two times.
//
//   const differ = new FeatureDiff()
//   for (const { z, x, y, before, after } of tiles) differ.add({ z, x, y }, before, after) // unpacked: see unzipTile
//   const geojson = { type: 'FeatureCollection', features: [...differ.features()] }
//
// A feature is matched by its id, over all tiles that were added; without an id, or where an id is repeated in a layer
// of a tile, by its geometry and attributes within its tile. Not in core/index.js: a map without vector tiles does not
// need the decoder.
import { VectorTileLayer } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'

export { unzipTile } from './images.js'

const LAYER = 3 << 3 | 2 // field 3 of a tile, of bytes
const DIGITS = 9 // of a degree: a tenth of a millimetre
const KINDS = /** @type {const} */ ([undefined, 'Point', 'LineString', 'Polygon']) // by the types of vector tiles
const OWN = ['change', 'source_layer', 'before'] // properties of a difference

/**
 * @typedef {'added' | 'removed' | 'changed'} FeatureChange
 *
 * @typedef {object} Difference GeoJSON
 * @property {'Feature'} type
 * @property {number} [id]
 * @property {Record<string, any>} properties the later attributes (of removed features the earlier), `change`,
 *   `source_layer`, and of changed features `before`: the earlier attributes. An attribute of such a name gets a `_`
 *   in front
 * @property {{type: string, coordinates?: any[], geometries?: any[]}} geometry the later one in the tiles that differ;
 *   the earlier one if no part of the feature is left in them
 *
 * @typedef {object} Decoded a feature of a tile
 * @property {number} [id]
 * @property {string} shape type, extent and points: equal texts are equal geometries
 * @property {string} attributes sorted: equal texts are equal attributes
 * @property {import('@mapbox/vector-tile').VectorTileFeature} feature
 *
 * @typedef {[earlier: Decoded | undefined, later: Decoded | undefined]} Match one side at least
 *
 * @typedef {object} Joined what the tiles say of a feature with an id
 * @property {Record<string, any>} [old] earlier attributes
 * @property {Record<string, any>} [now] later attributes
 * @property {Parts} earlier empty if there are later ones
 * @property {Parts} later
 *
 * @typedef {Map<'Point' | 'LineString' | 'Polygon', any[]>} Parts type -> coordinates
 */

/**
 * @param {Uint8Array} bytes unpacked
 * @returns {Map<string, Decoded[]>} source layer -> features, those of two layers of one name together; throws if the
 *   tile is damaged
 */
function readFeatures (bytes) {
  const pbf = new PbfReader(bytes)
  const layers = []
  while (pbf.pos < pbf.length) {
    const tag = pbf.readVarint()
    if (tag === LAYER) layers.push(new VectorTileLayer(pbf, pbf.readVarint() + pbf.pos))
    else pbf.skip(tag)
  }
  const features = new Map()
  for (const layer of layers.filter(({ length }) => length)) {
    const decodedFeatures = Array.from({ length: layer.length }, (_, index) => decode(layer.feature(index)))
    features.set(layer.name, [...features.get(layer.name) ?? [], ...decodedFeatures])
  }
  return features
}

/** @param {import('@mapbox/vector-tile').VectorTileFeature} feature @returns {Decoded} */
function decode (feature) {
  const { id, type, extent, properties } = feature
  const lines = feature.loadGeometry().map(line => line.map(({ x, y }) => `${x},${y}`).join(' '))
  const attributes = Object.keys(properties).sort().map(key => [key, typeof properties[key], String(properties[key])])
  return { id, shape: `${type}/${extent} ${lines.join(';')}`, attributes: JSON.stringify(attributes), feature }
}

/**
 * A text that is the same for two tiles with the same features, however they were encoded. The order of layers, of
 * points and lines and of tables has no meaning. The extent, the order of positions and the order of polygons have one:
 * a polygon is drawn over those before it.
 * @param {Uint8Array} bytes unpacked
 * @returns {string | undefined} nothing if numbers are too large to be compared
 */
export function canonicalText (bytes) {
  const isExact = value => !Number.isInteger(value) || Number.isSafeInteger(value)
  const layers = [...readFeatures(bytes)]
  const features = layers.flatMap(([, list]) => list.map(({ feature }) => feature))
  if (!features.every(({ id, properties }) => [id, ...Object.values(properties)].every(isExact))) return undefined
  return JSON.stringify(layers.sort(([a], [b]) => a < b ? -1 : 1).map(([name, list]) => {
    const isPolygon = ({ feature }) => KINDS[feature.type] === 'Polygon'
    const others = list.filter(one => !isPolygon(one)).map(textOf).sort()
    return [name, others, list.filter(isPolygon).map(textOf)]
  }))
}

/** @param {Decoded} decoded */
const textOf = ({ id, shape, attributes }) => `${id} ${shape} ${attributes}`

export class FeatureDiff {
  #usesIds
  /** @type {Map<string, {joined: Map<number, Joined>, same: Set<number>, loose: Difference[]}>} */
  #layers = new Map()
  /** Differences that are kept, at most: parts of features, before those of one id are joined. */
  size = 0

  /**
   * @param {{ids?: boolean}} [options] ids: false if the encoder only numbers features, so that an id means another
   *   feature in the next edition
   */
  constructor ({ ids = true } = {}) {
    this.#usesIds = ids
  }

  /**
   * Compares a tile of two times. All tiles must be of one zoom. Those that are the same at both times may be added
   * too, with the same array twice: a feature that is in them and got another part elsewhere is changed, not added.
   * @param {{z: number, x: number, y: number}} tile
   * @param {Uint8Array} [before] unpacked; nothing if there is no tile
   * @param {Uint8Array} [after]
   */
  add (tile, before, after) {
    const read = bytes => bytes ? readFeatures(bytes) : new Map()
    const earlier = read(before)
    const later = before === after ? earlier : read(after)
    for (const name of new Set([...earlier.keys(), ...later.keys()])) {
      if (!this.#layers.has(name)) this.#layers.set(name, { joined: new Map(), same: new Set(), loose: [] })
      this.#compare(name, earlier.get(name) ?? [], later.get(name) ?? [], tile)
    }
  }

  /** @param {string} name @param {Decoded[]} earlier @param {Decoded[]} later */
  #compare (name, earlier, later, tile) {
    const repeated = new Set([...repeatedIds(earlier), ...repeatedIds(later)])
    const isLoose = (/** @type {Decoded} */ { id }) => !this.#usesIds || id === undefined || repeated.has(id)
    const [olds, news] = [earlier, later].map(list =>
      new Map(list.filter(one => !isLoose(one)).map(one => [/** @type {number} */ (one.id), one])))
    for (const id of new Set([...olds.keys(), ...news.keys()])) this.#join(name, id, [olds.get(id), news.get(id)], tile)
    if (earlier === later) return
    for (const match of matchLoose(earlier.filter(isLoose), later.filter(isLoose))) this.#addLoose(name, match, tile)
  }

  /** @param {string} name @param {number} id @param {Match} match */
  #join (name, id, match, tile) {
    const { joined, same } = /** @type {any} */ (this.#layers.get(name))
    const [old, now] = match
    if (old && now && old.shape === now.shape && old.attributes === now.attributes) {
      same.add(id)
      return
    }
    const all = joined.get(id) ?? { earlier: new Map(), later: new Map() }
    joined.set(id, all)
    this.size++
    all.old ??= old?.feature.properties
    all.now ??= now?.feature.properties
    if (now) addPart(all.later, now.feature, tile)
    if (all.later.size) all.earlier.clear()
    else if (old) addPart(all.earlier, old.feature, tile)
  }

  /** @param {string} name @param {Match} match */
  #addLoose (name, [old, now], tile) {
    const parts = new Map()
    addPart(parts, /** @type {Decoded} */ (now ?? old).feature, tile)
    if (!parts.size) return
    this.size++
    const properties = [old?.feature.properties, now?.feature.properties]
    this.#layers.get(name)?.loose.push(difference(name, undefined, properties, parts))
  }

  /** The differences, layer by layer. @returns {Generator<Difference>} */
  * features () {
    for (const name of [...this.#layers.keys()].sort()) {
      const { joined, same, loose } = /** @type {any} */ (this.#layers.get(name))
      for (const [id, { old, now, earlier, later }] of joined) {
        const parts = later.size ? later : earlier
        // what is only in the margins of the tiles belongs to their neighbours
        if (parts.size) yield difference(name, id, same.has(id) ? [old ?? now, now ?? old] : [old, now], parts)
      }
      yield * loose
    }
  }
}

function repeatedIds (features) {
  const seen = new Set()
  return features.map(({ id }) => id).filter(id => seen.size === seen.add(id).size)
}

/**
 * Pairs of one geometry, and what is left over on either side. Of those with the same geometry and attributes nothing
 * is said.
 * @param {Decoded[]} earlier @param {Decoded[]} later
 * @returns {Match[]}
 */
function matchLoose (earlier, later) {
  const exact = pair(earlier, later, ({ shape, attributes }) => `${shape} ${attributes}`)
  const byAttributes = (a, b) => a.attributes < b.attributes ? -1 : 1
  const [olds, news] = [exact.removed, exact.added].map(list => list.sort(byAttributes))
  const { pairs, removed, added } = pair(olds, news, one => one.shape)
  return [
    ...pairs,
    ...removed.map(one => /** @type {Match} */ ([one, undefined])),
    ...added.map(one => /** @type {Match} */ ([undefined, one]))
  ]
}

/** @param {Decoded[]} earlier @param {Decoded[]} later @param {(one: Decoded) => string} keyOf */
function pair (earlier, later, keyOf) {
  /** @type {Map<string, Decoded[]>} */
  const waiting = new Map()
  for (const one of earlier) waiting.get(keyOf(one))?.push(one) ?? waiting.set(keyOf(one), [one])
  /** @type {Match[]} */
  const pairs = []
  /** @type {Decoded[]} */
  const added = []
  for (const one of later) {
    const old = waiting.get(keyOf(one))?.shift()
    if (old) pairs.push([old, one])
    else added.push(one)
  }
  return { pairs, removed: [...waiting.values()].flat(), added }
}

/** Whether any of a feature lies in its tile, not only in the margin around it. */
function isInside (feature) {
  const [x1, y1, x2, y2] = feature.bbox()
  return x1 < feature.extent && y1 < feature.extent && x2 >= 0 && y2 >= 0
}

/** Adds the geometry of a feature, unless it lies in the margin of its tile alone. @param {Parts} parts */
function addPart (parts, feature, { z, x, y }) {
  const kind = KINDS[feature.type]
  if (!kind || !isInside(feature)) return
  const { type, coordinates } = /** @type {any} */ (feature.toGeoJSON(x, y, z).geometry)
  const geometries = type === kind ? [coordinates] : coordinates
  // vector tiles have the outer ring clockwise, RFC 7946 counterclockwise
  if (kind === 'Polygon') for (const ring of geometries.flat()) ring.reverse()
  if (geometries.length) parts.set(kind, [...parts.get(kind) ?? [], ...geometries])
}

function changeBetween (old, now) {
  if (!old) return 'added'
  return now ? 'changed' : 'removed'
}

/** @param {string} name @param {number | undefined} id @param {any[]} sides attributes @param {Parts} parts */
function difference (name, id, [old, now], parts) {
  const change = changeBetween(old, now)
  const entries = Object.entries(now ?? old).map(([key, value]) => [OWN.includes(key) ? `_${key}` : key, value])
  const properties = { change, source_layer: name, ...(change === 'changed' && { before: { ...old } }) }
  return /** @type {Difference} */ ({
    type: 'Feature',
    ...(id !== undefined && { id }),
    properties: { ...Object.fromEntries(entries), ...properties },
    geometry: geometryOf(parts)
  })
}

/** @param {Parts} parts */
function geometryOf (parts) {
  const geometries = [...parts].map(([kind, list]) => list.length === 1
    ? { type: kind, coordinates: rounded(list[0]) }
    : { type: `Multi${kind}`, coordinates: rounded(list) })
  return geometries.length === 1 ? geometries[0] : { type: 'GeometryCollection', geometries }
}

const rounded = value => Array.isArray(value) ? value.map(rounded) : +value.toFixed(DIGITS)
