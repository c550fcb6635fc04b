// The names of countries, which the viewer's search finds in the demo: where the largest part of each is, and how close
// to look at it.
import * as topojson from 'topojson-client'
import { readWorld, unwrapped } from './basemap.js'

const CLOSEST = 8 // zoom

/** @returns {[string, number, number, number][]} name, longitude, latitude, zoom */
export function countries () {
  const world = readWorld('50m')
  const { features } = /** @type {any} */ (topojson.feature(world, world.objects.countries))
  return features.filter(({ properties, geometry }) => properties.name && geometry).map(placeOf)
}

function placeOf ({ properties: { name }, geometry: { type, coordinates } }) {
  const boxes = (type === 'Polygon' ? [coordinates] : coordinates).map(([ring]) => boxOf(unwrapped(ring)))
  const { west, south, east, north } = boxes.reduce((largest, box) => sizeOf(box) > sizeOf(largest) ? box : largest)
  const lon = (west + east) / 2
  const zoom = Math.floor(Math.log2(360 / Math.max(east - west, 1.5 * (north - south)))) + 1
  const middle = [round(lon - 360 * Math.round(lon / 360)), round((south + north) / 2)]
  return [name, ...middle, Math.min(Math.max(zoom, 1), CLOSEST)]
}

function boxOf (ring) {
  const [lons, lats] = [0, 1].map(axis => ring.map(place => place[axis]))
  return { west: Math.min(...lons), south: Math.min(...lats), east: Math.max(...lons), north: Math.max(...lats) }
}

const sizeOf = ({ west, south, east, north }) => (east - west) * (north - south)

const round = degrees => Math.round(degrees * 100) / 100
