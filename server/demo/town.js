// The demo's layer of vector tiles: Tilby, a town that never was, on an island that is not there, and how it grew.
import { gzipSync } from 'node:zlib'
import { GeoJSONVT } from '@maplibre/geojson-vt'
import { fromGeojsonVt } from '@maplibre/vt-pbf'
import { tileRanges } from '../../core/index.js'

const CENTER = [-30, 45] // longitude, latitude: in the middle of the Atlantic
const BLOCK = [0.0024, 0.0017] // degrees, longitude and latitude: about 190 metres
const STREET = 0.1 // of a block, on each side, that belongs to the streets
const REACH = 9 // blocks from the middle to the edge of the town
const PACE = 2.1 // years in which the town grows by a block on each side

export const TOWN_ZOOMS = { min: 10, max: 14 }
export const FIRST_YEAR = 2005
export const YEARS = 20

const EDGE = REACH + 6 // blocks from the middle to the edge of the island
export const TOWN_BOUNDS = [
  CENTER[0] - EDGE * BLOCK[0], CENTER[1] - EDGE * BLOCK[1], CENTER[0] + EDGE * BLOCK[0], CENTER[1] + EDGE * BLOCK[1]
]

/** What TileJSON says of the source layers. */
export const townLayers = [
  { id: 'land', fields: {} },
  { id: 'park', fields: { name: 'String' } },
  { id: 'building', fields: { use: 'String', floors: 'Number' } },
  { id: 'road', fields: { name: 'String', kind: 'String' } },
  { id: 'place', fields: { name: 'String', kind: 'String' } }
].map(layer => ({ ...layer, minzoom: TOWN_ZOOMS.min, maxzoom: TOWN_ZOOMS.max }))

const STREETS = ['Harbour Street', 'Mill Lane', 'Chapel Row', 'Ropewalk', 'Orchard Street', 'Quarry Road', 'Station Road', 'Fell Street', 'Beacon Way', 'Gull Lane']
const AVENUES = ['Main Avenue', 'Elm Avenue', 'Ash Avenue', 'Birch Avenue', 'Cedar Avenue', 'Hazel Avenue', 'Maple Avenue', 'Oak Avenue', 'Pine Avenue', 'Rowan Avenue']
const USES = ['homes', 'homes', 'homes', 'shops', 'offices', 'school']

/** A number from 0 to 1 that is always the same for the same numbers. */
function chance (...numbers) {
  let value = 2166136261
  for (const number of numbers) value = Math.imul(value ^ (number + 1000), 16777619) >>> 0
  value = Math.imul(value ^ (value >>> 15), 2246822519) >>> 0
  return ((value ^ (value >>> 13)) >>> 0) / 2 ** 32
}

const at = (x, y) => [CENTER[0] + x * BLOCK[0], CENTER[1] + y * BLOCK[1]]
const box = (x0, y0, x1, y1) => [[at(x0, y0), at(x1, y0), at(x1, y1), at(x0, y1), at(x0, y0)]]
/** @returns {any} GeoJSON */
const feature = (id, type, coordinates, properties) => ({ type: 'Feature', id, properties, geometry: { type, coordinates } })

/** How many blocks the town reaches from its middle. */
const reachIn = year => Math.min(REACH, 1 + Math.floor((year - FIRST_YEAR) / PACE))

function island () {
  const ring = Array.from({ length: 73 }, (_, step) => {
    const angle = (step % 72) / 36 * Math.PI
    const reach = REACH * (1.5 + 0.08 * Math.sin(3 * angle) + 0.06 * Math.cos(5 * angle + 1))
    return at(reach * Math.cos(angle), reach * Math.sin(angle))
  })
  return [feature(1, 'Polygon', [ring], {})]
}

function roads (year) {
  const reach = reachIn(year)
  /** @type {any[]} */
  const found = []
  for (let line = -reach; line <= reach; line++) {
    const kind = line === 0 ? 'primary' : Math.abs(line) % 3 === 0 ? 'secondary' : 'street'
    const name = list => `${line < 0 ? 'Old ' : ''}${list[Math.abs(line)]}`
    found.push(
      feature(100 + line, 'LineString', [at(-reach, line), at(reach, line)], { name: name(STREETS), kind }),
      feature(200 + line, 'LineString', [at(line, -reach), at(line, reach)], { name: name(AVENUES), kind }))
  }
  return found
}

/** Each block is a park, or four lots that are built on, rebuilt and given up one by one. */
function blocks (year) {
  const reach = reachIn(year)
  /** @type {any[][]} */
  const [park, building] = [[], []]
  for (let x = -reach; x < reach; x++) {
    for (let y = -reach; y < reach; y++) {
      const id = 1000 + ((x + REACH) * 2 * REACH + y + REACH) * 4
      if (chance(x, y, 1) < 0.09) {
        const name = `${['North', 'South', 'East', 'West', 'Garden', 'River'][Math.floor(chance(x, y, 2) * 6)]} Park`
        park.push(feature(id, 'Polygon', box(x + STREET, y + STREET, x + 1 - STREET, y + 1 - STREET), { name }))
        continue
      }
      for (let lot = 0; lot < 4; lot++) {
        const begun = FIRST_YEAR + Math.max(Math.abs(x + 0.5), Math.abs(y + 0.5)) * PACE + chance(x, y, lot, 3) * 5 - 3
        const ended = chance(x, y, lot, 4) < 0.08 ? begun + 4 + 8 * chance(x, y, lot, 5) : Infinity
        if (year < begun || year >= ended) continue
        const isRaised = chance(x, y, lot, 6) < 0.2 && year >= begun + 3 + 6 * chance(x, y, lot, 7)
        const floors = 1 + Math.floor(chance(x, y, lot, 8) * 4) + (isRaised ? 2 : 0)
        const size = (1 - 3 * STREET) / 2
        const [left, bottom] = [x + STREET + (lot % 2) * (size + STREET), y + STREET + (lot >> 1) * (size + STREET)]
        const [wide, high] = [0.6 + 0.4 * chance(x, y, lot, 9), 0.6 + 0.4 * chance(x, y, lot, 10)]
        const use = USES[Math.floor(chance(x, y, lot, 11) * USES.length)]
        building.push(feature(id + lot, 'Polygon', box(left, bottom, left + size * wide, bottom + size * high), { use, floors }))
      }
    }
  }
  return { park, building }
}

const PLACES = [
  ['Tilby', 'town', 0, 0, 2005], ['Old Harbour', 'quarter', -2.5, -2.5, 2009], ['Northgate', 'quarter', 1.5, 4.5, 2013],
  ['Eastfield', 'quarter', 5.5, -1.5, 2016], ['Mill Hill', 'quarter', -5.5, 3.5, 2017], ['Tilby Central', 'station', 0.5, -0.5, 2010],
  ['Southport', 'quarter', 3.5, -6.5, 2020], ['Tilby West', 'station', -6.5, -0.5, 2021]
]

const places = year => PLACES.flatMap(([name, kind, x, y, since], index) => {
  const called = name === 'Tilby West' && year >= 2023 ? 'Westgate' : name // a station gets another name
  return year >= since ? [feature(5000 + index, 'Point', at(x, y), { name: called, kind })] : []
})

/** The town in a year, by source layer. @param {number} year */
export function townIn (year) {
  const { park, building } = blocks(year)
  return { land: island(), park, building, road: roads(year), place: places(year) }
}

/** @param {number} year @returns {import('../../loader/sources/index.js').Source} */
export const townSource = year => ({
  name: 'tilecouch demo: town',
  fields: { format: 'pbf' },
  async * tiles () {
    const { max } = TOWN_ZOOMS
    const zooms = { maxZoom: max, indexMaxZoom: max, indexMaxPoints: 0 }
    const cut = features => new GeoJSONVT({ type: 'FeatureCollection', features }, zooms)
    const collections = Object.entries(townIn(year)).map(([name, features]) => ({ name, tiles: cut(features) }))
    for (let z = TOWN_ZOOMS.min; z <= TOWN_ZOOMS.max; z++) {
      for (const { x0, x1, y0, y1 } of tileRanges(/** @type {any} */ (TOWN_BOUNDS), z)) {
        for (let x = x0; x <= x1; x++) {
          for (let y = y0; y <= y1; y++) yield { z, x, y, read: async () => encode(collections, z, x, y) }
        }
      }
    }
  },
  close () {}
})

function encode (collections, z, x, y) {
  const found = collections.map(({ name, tiles }) => [name, tiles.getTile(z, x, y)]).filter(([, tile]) => tile)
  return gzipSync(fromGeojsonVt(Object.fromEntries(found), { version: 2 }))
}
