// Names the place of a box on the map as people would: "Switzerland, near Bern". It needs no network: countries come
// from Natural Earth in the package world-atlas, which is read on first use.
//
//   placeOf([7.3, 46.9, 7.5, 47]) // { name: 'Switzerland, near Bern', isLand: true }
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { feature } from 'topojson-client'
import { boxAround } from '../../../core/grids/grid.js'
import { eastOf, latToY, parseArea } from '../../../core/index.js'
import { attempt } from '../../../core/values.js'
import { cities, seas } from './names.js'

const TILES = 16 // across the longer side of a box: they measure how much of it lies in each country
const MAX_ZOOM = 24 // of those tiles
const MAIN = 0.75 // of the land in a box: a country with so much of it is named alone
const LEAST = 0.05 // of the land in a box: countries with less are not named
const NAMED = 3 // countries at most
const TOWN = 200 // kilometres across: the nearest city is named only for boxes that are not larger
const NEAR = 30 // kilometres from a city
const FAR = 150 // kilometres from a city, beyond which it is not named

const KM = 111.2 // of a degree of latitude

/** @typedef {import('../../../core/grid.js').Bbox} Bbox */

/**
 * @param {Bbox} bbox
 * @returns {{name: string, isLand: boolean}} isLand: the box has land, on a coarse map
 */
export function placeOf (bbox) {
  const [west, south, , north] = bbox
  if (widthOf(bbox) >= 300 && south < -50 && north > 50) return { name: 'the whole world', isLand: true }
  const lon = wrap(west + widthOf(bbox) / 2)
  const lat = (south + north) / 2
  const land = countriesIn(bbox)
  const name = land.length ? joined(land) : seaAt(lon, lat)
  const height = (north - south) * KM
  const across = Math.hypot(height, widthOf(bbox) * KM * Math.cos(lat * Math.PI / 180))
  return { name: name + (across <= TOWN ? besideCity(lon, lat) : ''), isLand: land.length > 0 }
}

/** Degrees. @param {Bbox} bbox */
const widthOf = bbox => eastOf(bbox) - bbox[0]

const wrap = lon => lon > 180 ? lon - 360 : lon

/** The countries in a box, the one with the most tiles first. @param {Bbox} bbox @returns {string[]} */
function countriesIn (bbox) {
  const [, south, , north] = bbox
  const part = Math.max(widthOf(bbox) / 360, latToY(south, 0) - latToY(north, 0)) || Number.EPSILON
  const z = Math.min(Math.max(Math.floor(Math.log2(TILES / part)), 0), MAX_ZOOM)
  const touched = countries().filter(country => meets(country.bbox, bbox))
    .map(({ name, area }) => ({ name, tiles: area()?.within(bbox).count({ min: z, max: z }) ?? 0 }))
    .filter(({ tiles }) => tiles).sort((a, b) => b.tiles - a.tiles)
  const total = touched.reduce((sum, { tiles }) => sum + tiles, 0)
  const isMain = touched[0]?.tiles >= MAIN * total
  const largest = isMain ? touched.slice(0, 1) : touched.filter(({ tiles }) => tiles >= LEAST * total)
  return (largest.length ? largest : touched).map(({ name }) => name)
}

/** @param {Bbox} country never over the antimeridian @param {Bbox} bbox */
function meets ([west, south, east, north], bbox) {
  if (south > bbox[3] || north < bbox[1]) return false
  return bbox[0] <= bbox[2] ? west <= bbox[2] && east >= bbox[0] : west <= bbox[2] || east >= bbox[0]
}

/** @type {{name: string, bbox: Bbox, area: () => import('../../../core/area.js').Area | undefined}[] | undefined} */
let countryList

function countries () {
  if (countryList) return countryList
  const file = fileURLToPath(import.meta.resolve('world-atlas/countries-50m.json'))
  const world = JSON.parse(readFileSync(file, 'utf8'))
  countryList = feature(world, world.objects.countries).features.filter(({ geometry }) => geometry).map(country => {
    let area
    return {
      name: fullName(country.properties.name),
      bbox: boxOf(country.geometry),
      // a country that is only a point at this scale has no area
      area: () => (area ??= { is: attempt(() => parseArea({ polygon: country })) }).is
    }
  })
  return /** @type {NonNullable<typeof countryList>} */ (countryList)
}

const boxOf = ({ type, coordinates }) => /** @type {Bbox} */ (
  boxAround((type === 'Polygon' ? [coordinates] : coordinates).flatMap(([outline]) => outline))
)

const SHORT = {
  'Barb.': 'Barbuda',
  'Br.': 'British',
  'Dem.': 'Democratic',
  'Eq.': 'Equatorial',
  'Fr.': 'French',
  'Geo.': 'Georgia',
  'Gren.': 'the Grenadines',
  'Herz.': 'Herzegovina',
  'I.': 'Island',
  'Is.': 'Islands',
  'N.': 'Northern',
  'Rep.': 'Republic',
  'S.': 'South',
  'St.': 'Saint',
  'Ter.': 'Territory',
  'Vin.': 'Vincent',
  'W.': 'Western'
}

/** A name without the abbreviations of Natural Earth. */
const fullName = name => name.replace(/(?<![.\w])[A-Z][a-z]*\./g, word => SHORT[word] ?? word)

function joined (names) {
  const more = names.length - NAMED
  if (more > 0) return `${names.slice(0, NAMED).join(', ')} and ${more} more ${more > 1 ? 'countries' : 'country'}`
  return names.length > 1 ? `${names.slice(0, -1).join(', ')} and ${names.at(-1)}` : names[0]
}

function seaAt (lon, lat) {
  const isAround = ([, west, south, east, north]) => lon >= west && lon <= east && lat >= south && lat <= north
  return seas.find(isAround)?.[0] ?? 'the sea'
}

const DIRECTIONS = ['north', 'north-east', 'east', 'south-east', 'south', 'south-west', 'west', 'north-west']

/** Such as `, near Bern` or `, 80 km north-east of Bern`; empty if no large city is near. */
function besideCity (lon, lat) {
  const offsetFrom = city => ({
    city,
    x: (((lon - city.lon + 540) % 360) - 180) * KM * Math.cos(lat * Math.PI / 180),
    y: (lat - city.lat) * KM
  })
  const lengthOf = ({ x, y }) => Math.hypot(x, y)
  const nearest = cities.map(offsetFrom).reduce((best, offset) => lengthOf(offset) < lengthOf(best) ? offset : best)
  const km = lengthOf(nearest)
  if (km > FAR) return ''
  if (km <= NEAR) return `, near ${nearest.city.name}`
  const eighth = Math.round(Math.atan2(nearest.x, nearest.y) / (Math.PI / 4))
  return `, ${Math.round(km / 10) * 10} km ${DIRECTIONS[(eighth + 8) % 8]} of ${nearest.city.name}`
}
