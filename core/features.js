// The features of vector tiles, and which of them were added, removed or changed between two times.
//
//   const differ = new FeatureDiff()
//   for (const { z, x, y, before, after } of tiles) differ.add({ z, x, y }, before, after) // unpacked: see unzipTile
//   const geojson = { type: 'FeatureCollection', features: [...differ.features()] }
//
// A feature is matched by its id over all added tiles. A feature without an id, or with one that its tile repeats, is
// matched by geometry and attributes within its tile. Not in core/index.js: a map without vector tiles does not need
// the decoder.
import { VectorTileLayer } from '@mapbox/vector-tile'
import { PbfReader } from 'pbf'

export { unzipTile } from './images.js'

const LAYER = 3 << 3 | 2 // field 3 of a tile, of bytes
const DIGITS = 9 // decimal places of degrees: a tenth of a millimetre
const KINDS = /** @type {const} */ ([undefined, 'Point', 'LineString', 'Polygon']) // by the types of vector tiles
const RESERVED_PROPERTIES = ['change', 'source_layer', 'before'] // names that a difference uses itself

/**
 * @typedef {'added' | 'removed' | 'changed'} FeatureChange
 *
 * @typedef {object} Difference GeoJSON
 * @property {'Feature'} type
 * @property {number} [id]
 * @property {Record<string, any>} properties the later attributes (of removed features the earlier), `change`,
 *   `source_layer`, and of changed features `before`: the earlier attributes. An attribute with one of these names gets
 *   a `_` in front
 * @property {{type: string, coordinates?: any[], geometries?: any[]}} geometry the later one in the tiles that differ;
 *   the earlier one if no part of the feature is left in them
 *
 * @typedef {object} Decoded a feature of a tile
 * @property {number} [id]
 * @property {string} shape type, extent and points: equal texts are equal geometries
 * @property {string} attributes sorted: equal texts are equal attributes
 * @property {import('@mapbox/vector-tile').VectorTileFeature} feature
 *
 * @typedef {[earlier: Decoded | undefined, later: Decoded | undefined]} Match at least one of them is defined
 *
 * @typedef {object} Joined the differences of a feature with an id, over all tiles
 * @property {Record<string, any>} [old] earlier attributes
 * @property {Record<string, any>} [now] later attributes
 * @property {Parts} earlier empty if there are later ones
 * @property {Parts} later
 *
 * @typedef {Map<'Point' | 'LineString' | 'Polygon', any[]>} Parts type -> coordinates
 */

/**
 * @param {Uint8Array} bytes unpacked
 * @returns {Map<string, Decoded[]>} source layer -> features, joined for layers with the same name; throws if the tile
 *   is damaged
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
 * Makes a text that is equal for two tiles with the same features, however they were encoded. It ignores the order of
 * layers, of points and lines, and of tables. It keeps the extent, the order of positions and the order of polygons: a
 * polygon is drawn over earlier ones.
 * @param {Uint8Array} bytes unpacked
 * @returns {string | undefined} undefined if numbers are too large to be compared
 */
export function canonicalText (bytes) {
  const isExact = value => !Number.isInteger(value) || Number.isSafeInteger(value)
  const layers = [...readFeatures(bytes)]
  const features = layers.flatMap(([, list]) => list.map(({ feature }) => feature))
  if (!features.every(({ id, properties }) => [id, ...Object.values(properties)].every(isExact))) return undefined
  return JSON.stringify(layers.sort(([a], [b]) => a < b ? -1 : 1).map(([name, list]) => {
    const isPolygon = ({ feature }) => KINDS[feature.type] === 'Polygon'
    const others = list.filter(decoded => !isPolygon(decoded)).map(textOf).sort()
    return [name, others, list.filter(isPolygon).map(textOf)]
  }))
}

/** @param {Decoded} decoded */
const textOf = ({ id, shape, attributes }) => `${id} ${shape} ${attributes}`

export class FeatureDiff {
  #usesIds
  /** @type {Map<string, {joined: Map<number, Joined>, same: Set<number>, loose: Difference[]}>} */
  #layers = new Map()
  /** An upper bound of the number of differences: it counts parts of features before parts with one id are joined. */
  size = 0

  /**
   * @param {{ids?: boolean}} [options] ids: false if the encoder only numbers features, so that an id means another
   *   feature in the next edition
   */
  constructor ({ ids = true } = {}) {
    this.#usesIds = ids
  }

  /**
   * Compares a tile at two times. All tiles must be of one zoom. Unchanged tiles may be added too, with the same array
   * twice: a feature in them that gets a part in another tile is changed, not added.
   * @param {{z: number, x: number, y: number}} tile
   * @param {Uint8Array} [before] unpacked; undefined if there is no tile
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
    const [earlierById, laterById] = [earlier, later].map(list => new Map(
      list.filter(decoded => !isLoose(decoded)).map(decoded => [/** @type {number} */ (decoded.id), decoded])))
    for (const id of new Set([...earlierById.keys(), ...laterById.keys()])) {
      this.#join(name, id, [earlierById.get(id), laterById.get(id)], tile)
    }
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
    const joinedFeature = joined.get(id) ?? { earlier: new Map(), later: new Map() }
    joined.set(id, joinedFeature)
    this.size++
    joinedFeature.old ??= old?.feature.properties
    joinedFeature.now ??= now?.feature.properties
    if (now) addPart(joinedFeature.later, now.feature, tile)
    if (joinedFeature.later.size) joinedFeature.earlier.clear()
    else if (old) addPart(joinedFeature.earlier, old.feature, tile)
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
        // a feature that is only in the margins of the tiles belongs to their neighbours
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
 * Pairs features with the same geometry, and returns the unpaired ones of both sides. It skips features with the same
 * geometry and attributes.
 * @param {Decoded[]} earlier @param {Decoded[]} later
 * @returns {Match[]}
 */
function matchLoose (earlier, later) {
  const exact = pair(earlier, later, ({ shape, attributes }) => `${shape} ${attributes}`)
  const byAttributes = (a, b) => a.attributes < b.attributes ? -1 : 1
  const [unmatchedOld, unmatchedNew] = [exact.removed, exact.added].map(list => list.sort(byAttributes))
  const { pairs, removed, added } = pair(unmatchedOld, unmatchedNew, decoded => decoded.shape)
  return [
    ...pairs,
    ...removed.map(decoded => /** @type {Match} */ ([decoded, undefined])),
    ...added.map(decoded => /** @type {Match} */ ([undefined, decoded]))
  ]
}

/** @param {Decoded[]} earlier @param {Decoded[]} later @param {(decoded: Decoded) => string} keyOf */
function pair (earlier, later, keyOf) {
  /** @type {Map<string, Decoded[]>} */
  const unpaired = new Map()
  for (const old of earlier) unpaired.get(keyOf(old))?.push(old) ?? unpaired.set(keyOf(old), [old])
  /** @type {Match[]} */
  const pairs = []
  /** @type {Decoded[]} */
  const added = []
  for (const now of later) {
    const old = unpaired.get(keyOf(now))?.shift()
    if (old) pairs.push([old, now])
    else added.push(now)
  }
  return { pairs, removed: [...unpaired.values()].flat(), added }
}

/** Whether a part of a feature lies in its tile, not only in the margin around it. */
function isInside (feature) {
  const [x1, y1, x2, y2] = feature.bbox()
  return x1 < feature.extent && y1 < feature.extent && x2 >= 0 && y2 >= 0
}

/** Adds the geometry of a feature, unless it lies only in the margin of its tile. @param {Parts} parts */
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
  const entries = Object.entries(now ?? old)
    .map(([key, value]) => [RESERVED_PROPERTIES.includes(key) ? `_${key}` : key, value])
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
