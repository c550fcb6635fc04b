// Converts between shapes on the map, whose longitudes may lie in any copy of the world, and the shapes of areas.
import { readPolygons } from '../../core/geojson.js'
import { MAX_LATITUDE, eastOf, parseBbox } from '../../core/index.js'

const DIGITS = 5 // of a degree: about a metre

const round = degrees => Math.round(degrees * 10 ** DIGITS) / 10 ** DIGITS
const clampLatitude = lat => round(Math.min(Math.max(lat, -MAX_LATITUDE), MAX_LATITUDE))

/** A longitude between -180 and 180. */
const wrap = lon => round(lon - 360 * Math.floor((lon + 180) / 360))

/** @typedef {{lat: number, lng: number}} Place */

/**
 * The box around places: west > east when it crosses the antimeridian.
 * @param {Place[]} places
 * @returns {[number, number, number, number]}
 */
export function boxOf (places) {
  const [lats, lons] = [places.map(({ lat }) => clampLatitude(lat)), places.map(({ lng }) => lng)]
  const [west, east] = [Math.min(...lons), Math.max(...lons)]
  const isWorld = east - west >= 360
  // the east end of the world is 180, not -180
  const eastEnd = isWorld || wrap(east) === -180 ? 180 : wrap(east)
  return [isWorld ? -180 : wrap(west), Math.min(...lats), eastEnd, Math.max(...lats)]
}

/** Corners in the order of a walk around it, beginning in the north-west. @param {number[]} bbox @returns {Place[]} */
export function cornersOf (bbox) {
  const [west, south, , north] = bbox
  const eastLng = eastOf(bbox)
  return [
    { lat: north, lng: west }, { lat: north, lng: eastLng }, { lat: south, lng: eastLng }, { lat: south, lng: west }
  ]
}

/** GeoJSON of a shape, in the copy of the world that begins at -180 in the west. @param {Place[]} places */
export function polygonOf (places) {
  const first = Math.min(...places.map(({ lng }) => lng))
  const shift = wrap(first) - round(first)
  const ring = places.map(({ lat, lng }) => [round(lng + shift), clampLatitude(lat)])
  return { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
}

/**
 * The outlines of an area, holes included, as Leaflet takes them.
 * @param {{bbox?: number[] | string, polygon?: object}} spec
 * @returns {[number, number][][][]} polygons of rings of [lat, lon]
 */
export function outlinesOf ({ bbox, polygon }) {
  const latLon = ring => ring.map(([lon, lat]) => [lat, lon])
  if (polygon) return readPolygons(polygon).map(rings => rings.map(latLon))
  return bbox === undefined ? [] : [[cornersOf(parseBbox(bbox)).map(({ lat, lng }) => [lat, lng])]]
}
