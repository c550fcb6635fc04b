// Reads areas in GeoJSON (RFC 7946) into plain polygons. Other input is refused with the place in the file and the
// fault. Nothing is guessed: a wrong guess would seed half a continent.
import { TilecouchError, show } from './errors.js'
import { isObject } from './values.js'

export const geojsonLimits = {
  depth: 16, // collections within collections
  longitude: 540, // degrees: one world to either side, as maps that scroll round give it
  step: 300, // degrees: a step in longitude of this length crosses the antimeridian; from 180 on it is unclear
  flat: 1e-10 // degrees: a point this near to a line lies on it; about 10 micrometres
}

/** @typedef {[number, number][]} Ring closed: its last position is its first */
/** @typedef {Ring[]} Polygon the outline, then its holes */

const bad = why => new TilecouchError('BAD_AREA', { why })

/**
 * The polygons of a GeoJSON object. Longitudes are unwrapped: a polygon over the antimeridian continues beyond 180.
 * Outlines and holes that are only a point or a line, such as simplified islands, are dropped. If no other outline is
 * left, the object is refused.
 * @param {any} geojson parsed
 * @returns {Polygon[]}
 */
export function readPolygons (geojson) {
  const polygons = []
  let flatPlace
  for (const { rings, where } of polygonsOf(geojson, 'the GeoJSON', 0)) {
    const [outline, ...holes] = rings
    const [west, east] = extent(outline)
    if (east - west > 360) throw bad(`${where} is wider than the world: ${west} to ${east}`)
    if (isFlat(outline)) flatPlace ??= where
    else polygons.push([outline, ...holes.filter(hole => !isFlat(hole)).map(hole => beside(hole, west, east))])
  }
  if (flatPlace && !polygons.length) throw bad(`ring 1 of ${flatPlace} has no inside: its points lie on one line`)
  if (!polygons.length) throw bad('the GeoJSON has no polygon')
  return polygons
}

/** @returns {Generator<{rings: Polygon, where: string}>} */
function * polygonsOf (object, where, depth) {
  if (!isObject(object)) throw bad(`${where} is ${show(object)}, not an object`)
  if (depth > geojsonLimits.depth) throw bad(`${where} holds collections more than ${geojsonLimits.depth} deep`)
  checkCrs(object.crs)
  const polygonsOfList = (list, name) => eachOf(list, where, name, depth)
  switch (object.type) {
    case 'Polygon':
      return yield * readPolygon(object.coordinates, where)
    case 'MultiPolygon':
      if (!Array.isArray(object.coordinates)) throw bad(`${where} has no coordinates`)
      for (const [index, rings] of object.coordinates.entries()) {
        yield * readPolygon(rings, `polygon ${index + 1} of ${where}`)
      }
      return
    case 'Feature':
      // RFC 7946 allows a feature without a geometry
      if (object.geometry !== null) yield * polygonsOf(object.geometry, `the geometry of ${where}`, depth + 1)
      return
    case 'FeatureCollection':
      return yield * polygonsOfList(object.features, 'feature')
    case 'GeometryCollection':
      return yield * polygonsOfList(object.geometries, 'geometry')
    default:
      throw bad(`${where} is of type ${show(object.type)}, which has no inside`)
  }
}

function * eachOf (list, where, name, depth) {
  if (!Array.isArray(list)) throw bad(`${where} has no list of ${name === 'feature' ? 'features' : 'geometries'}`)
  for (const [index, object] of list.entries()) {
    yield * polygonsOf(object, `${name} ${index + 1} of ${where}`, depth + 1)
  }
}

// GeoJSON of before 2016 could name another system; its numbers would be read as degrees
function checkCrs (crs) {
  if (crs === undefined || crs === null) return
  const name = crs?.properties?.name
  if (typeof name === 'string' && /CRS:?84$|EPSG:+4326$/i.test(name)) return
  throw bad(`its coordinate system is ${show(name ?? crs)}, not longitude and latitude in degrees`)
}

/**
 * @returns {Generator<{rings: Polygon, where: string}>} none for the empty list, which RFC 7946 takes for no geometry
 */
function * readPolygon (rings, where) {
  if (!Array.isArray(rings)) throw bad(`${where} has no coordinates`)
  if (rings.length) yield { rings: rings.map((ring, index) => readRing(ring, `ring ${index + 1} of ${where}`)), where }
}

/** @returns {Ring} */
function readRing (ring, where) {
  if (!Array.isArray(ring)) throw bad(`${where} is ${show(ring)}, not a list of positions`)
  if (ring.length < 4) {
    throw bad(`${where} has ${ring.length} positions: a ring has at least 4, the last being the first again`)
  }
  const positions = ring.map((position, index) => readPosition(position, () => `position ${index + 1} of ${where}`))
  const [first, last] = [positions[0], positions[positions.length - 1]]
  if (first[0] !== last[0] || first[1] !== last[1]) {
    throw bad(`${where} is not closed: it starts at ${show(first)} and ends at ${show(last)}`)
  }
  return unwrap(positions, where)
}

/** @returns {[number, number]} */
function readPosition (position, where) {
  const [lon, lat] = Array.isArray(position) ? position : []
  if (!Number.isFinite(lon) || !Number.isFinite(lat)) {
    throw bad(`${where()} is ${show(position)}, not [longitude, latitude]`)
  }
  const beyond = coordinate => bad(`${where()} has the ${coordinate}: positions are [longitude, latitude] in degrees`)
  if (Math.abs(lat) > 90) throw beyond(`latitude ${lat}`)
  if (Math.abs(lon) > geojsonLimits.longitude) throw beyond(`longitude ${lon}`)
  return [lon, lat]
}

/**
 * Unwraps the longitudes of a ring. From 170 to -170 is 20 degrees over the antimeridian, or 340 around the world by
 * RFC 7946. Published coasts and countries mean the short way. A rectangle may mean either, so it is refused.
 * @returns {Ring}
 */
function unwrap (ring, where) {
  const widths = ring.slice(1).map(([lon], index) => lon - ring[index][0])
  if (widths.every(width => Math.abs(width) <= 180)) return ring
  const isRectangle = [0, 1].every(axis => new Set(ring.map(position => position[axis])).size === 2)
  if (isRectangle && widths.some(width => Math.abs(width) === 360)) return ring // all round
  let turn = 0
  const unwrapped = ring.map(([lon, lat], index) => {
    const width = index ? widths[index - 1] : 0
    if (Math.abs(width) > 180) {
      const isUnclear = isRectangle || Math.abs(width) < geojsonLimits.step || Math.abs(width) > 360
      if (isUnclear) throw unclear(ring[index - 1][0], lon, where)
      turn += width < 0 ? 360 : -360
    }
    return /** @type {[number, number]} */ ([lon + turn, lat])
  })
  return turn ? overPole(unwrapped) : unwrapped
}

function unclear (from, to, where) {
  const beyond = to < from ? to + 360 : to - 360
  const advice = `write ${beyond} for ${to} if it crosses the antimeridian, or add a point between if it does not`
  return bad(`${where} goes from ${from} to ${to}: ${advice}`)
}

/** Closes a ring around the world over the nearer pole. */
function overPole (ring) {
  const pole = ring.reduce((sum, [, lat]) => sum + lat, 0) < 0 ? -90 : 90
  return /** @type {Ring} */ ([...ring, [ring[ring.length - 1][0], pole], [ring[0][0], pole], ring[0]])
}

/** West and east end of a ring. @returns {[number, number]} */
export function extent (ring) {
  let [west, east] = [Infinity, -Infinity]
  for (const [lon] of ring) {
    if (lon < west) west = lon
    if (lon > east) east = lon
  }
  return [west, east]
}

/** Moves a hole to the side of the antimeridian on which its outline is. */
function beside (hole, west, east) {
  const [left, right] = extent(hole)
  const turn = [0, 360, -360, 720, -720].find(degrees => left + degrees >= west && right + degrees <= east)
  return turn ? hole.map(([lon, lat]) => /** @type {[number, number]} */ ([lon + turn, lat])) : hole
}

/** Whether all points lie on the line between the first point and the one farthest from it. */
function isFlat (ring) {
  const [[lon, lat]] = ring
  let [dx, dy, length] = [0, 0, 0]
  for (const [x, y] of ring) {
    const distance = (x - lon) ** 2 + (y - lat) ** 2
    if (distance > length) [dx, dy, length] = [x - lon, y - lat, distance]
  }
  const most = geojsonLimits.flat * Math.sqrt(length)
  const isOnLine = ([x, y]) => Math.abs((x - lon) * dy - (y - lat) * dx) <= most
  return Math.sqrt(length) <= geojsonLimits.flat || ring.every(isOnLine)
}
