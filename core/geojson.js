// Areas as GeoJSON (RFC 7946) writes them, read into plain polygons. What cannot be an area is refused with the place in
// the file and what is wrong there; nothing is guessed, since a wrong guess seeds half a continent.
import { TilecouchError } from './errors.js'

export const geojsonLimits = {
  depth: 16, // collections within collections
  longitude: 540, // degrees: one world to either side, as maps that scroll round give it
  flat: 1e-10 // degrees from a line within which points lie on it: about 10 micrometres
}

/** @typedef {[number, number][]} Ring closed: its last position is its first */
/** @typedef {Ring[]} Polygon the outline, then its holes */

const bad = why => new TilecouchError('BAD_AREA', { why })
const isObject = value => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A value as a message shows it, never at length. */
function show (value) {
  const text = JSON.stringify(value) ?? String(value)
  return text.length > 60 ? `${text.slice(0, 57)}…` : text
}

/**
 * The polygons of a GeoJSON object, longitudes unwrapped: a polygon over the antimeridian goes on beyond 180.
 * @param {any} geojson parsed
 * @returns {Polygon[]}
 */
export function readPolygons (geojson) {
  const polygons = [...polygonsOf(geojson, 'the GeoJSON', 0)]
  if (!polygons.length) throw bad('the GeoJSON holds no polygon')
  return polygons
}

/** @returns {Generator<Polygon>} */
function * polygonsOf (object, where, depth) {
  if (!isObject(object)) throw bad(`${where} is ${show(object)}, not an object`)
  if (depth > geojsonLimits.depth) throw bad(`${where} holds collections more than ${geojsonLimits.depth} deep`)
  checkCrs(object.crs)
  const each = (list, name) => eachOf(list, where, name, depth)
  switch (object.type) {
    case 'Polygon':
      return yield * readPolygon(object.coordinates, where)
    case 'MultiPolygon':
      if (!Array.isArray(object.coordinates)) throw bad(`${where} has no coordinates`)
      for (const [index, rings] of object.coordinates.entries()) yield * readPolygon(rings, `polygon ${index + 1} of ${where}`)
      return
    case 'Feature':
      // a feature without a geometry is allowed, and is nowhere
      if (object.geometry !== null) yield * polygonsOf(object.geometry, `the geometry of ${where}`, depth + 1)
      return
    case 'FeatureCollection':
      return yield * each(object.features, 'feature')
    case 'GeometryCollection':
      return yield * each(object.geometries, 'geometry')
    default:
      throw bad(`${where} is of type ${show(object.type)}, which has no inside`)
  }
}

function * eachOf (list, where, name, depth) {
  if (!Array.isArray(list)) throw bad(`${where} has no list of ${name === 'feature' ? 'features' : 'geometries'}`)
  for (const [index, object] of list.entries()) yield * polygonsOf(object, `${name} ${index + 1} of ${where}`, depth + 1)
}

// GeoJSON of before 2016 could name another system; its numbers would be read as degrees
function checkCrs (crs) {
  if (crs === undefined || crs === null) return
  const name = crs?.properties?.name
  if (typeof name !== 'string' || !/CRS:?84$|EPSG:+4326$/i.test(name)) throw bad(`its coordinate system is ${show(name ?? crs)}, not longitude and latitude in degrees`)
}

/** @returns {Generator<Polygon>} none for the empty list, which RFC 7946 takes for no geometry */
function * readPolygon (rings, where) {
  if (!Array.isArray(rings)) throw bad(`${where} has no coordinates`)
  if (!rings.length) return
  const [outline, ...holes] = rings.map((ring, index) => readRing(ring, `ring ${index + 1} of ${where}`))
  if (isFlat(outline)) throw bad(`ring 1 of ${where} has no inside: its points lie on one line`)
  const [west, east] = extent(outline)
  if (east - west > 360) throw bad(`${where} is wider than the world: ${west} to ${east}`)
  // a hole that has collapsed to a line takes nothing away
  yield [outline, ...holes.filter(hole => !isFlat(hole)).map(hole => beside(hole, west, east))]
}

/** @returns {Ring} */
function readRing (ring, where) {
  if (!Array.isArray(ring)) throw bad(`${where} is ${show(ring)}, not a list of positions`)
  if (ring.length < 4) throw bad(`${where} has ${ring.length} positions: a ring has at least 4, the last being the first again`)
  const read = ring.map((position, index) => readPosition(position, () => `position ${index + 1} of ${where}`))
  const [first, last] = [read[0], read[read.length - 1]]
  if (first[0] !== last[0] || first[1] !== last[1]) throw bad(`${where} is not closed: it starts at ${show(first)} and ends at ${show(last)}`)
  for (let index = 1; index < read.length; index++) checkEdge(read[index - 1], read[index], where)
  return read
}

/** @returns {[number, number]} */
function readPosition (position, where) {
  if (!Array.isArray(position) || position.length < 2 || !Number.isFinite(position[0]) || !Number.isFinite(position[1])) {
    throw bad(`${where()} is ${show(position)}, not [longitude, latitude]`)
  }
  const [lon, lat] = position
  if (Math.abs(lat) > 90) throw bad(`${where()} has the latitude ${lat}: positions are [longitude, latitude] in degrees`)
  if (Math.abs(lon) > geojsonLimits.longitude) throw bad(`${where()} has the longitude ${lon}: positions are [longitude, latitude] in degrees`)
  return [lon, lat]
}

// From 170 to -170 is 20 degrees over the antimeridian or 340 round the world. RFC 7946 has it be 340, and most who write it
// mean 20. All round, along a pole or in a box of the whole world, has one meaning.
/** @param {[number, number]} start @param {[number, number]} end @param {string} where */
function checkEdge ([from], [to], where) {
  const width = Math.abs(to - from)
  if (width <= 180 || width === 360) return
  if (width > 360) throw bad(`${where} goes from ${from} to ${to}, more than once round the world`)
  const beyond = to < from ? to + 360 : to - 360
  throw bad(`${where} goes from ${from} to ${to}: write ${beyond} for ${to} if it crosses the antimeridian, or add a point between if it does not`)
}

const extent = ring => ring.reduce(([west, east], [lon]) => [Math.min(west, lon), Math.max(east, lon)], [Infinity, -Infinity])

/** A hole may be written on the other side of the antimeridian than its outline. */
function beside (hole, west, east) {
  const [left, right] = extent(hole)
  const turn = [0, 360, -360, 720, -720].find(degrees => left + degrees >= west && right + degrees <= east)
  return turn ? hole.map(([lon, lat]) => /** @type {[number, number]} */ ([lon + turn, lat])) : hole
}

/** Whether all points lie on one line: between the first and the one farthest from it. @param {Ring} ring */
function isFlat (ring) {
  const [[lon, lat]] = ring
  let [dx, dy, length] = [0, 0, 0]
  for (const [x, y] of ring) {
    const distance = Math.hypot(x - lon, y - lat)
    if (distance > length) [dx, dy, length] = [x - lon, y - lat, distance]
  }
  if (length <= geojsonLimits.flat) return true
  return ring.every(([x, y]) => Math.abs((x - lon) * dy - (y - lat) * dx) / length <= geojsonLimits.flat)
}
