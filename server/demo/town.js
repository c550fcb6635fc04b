// The demo's vector tiles: Tilby, a town that never was, on an island in the middle of the Atlantic, and how it grew.
import { gzipSync } from 'node:zlib'
import { GeoJSONVT } from '@maplibre/geojson-vt'
import { fromGeojsonVt } from '@maplibre/vt-pbf'
import { parseArea } from '../../core/index.js'
import { zoomsById } from '../../core/order.js'

const CENTER = [-30, 45] // longitude, latitude
const BLOCK = [0.0024, 0.0017] // degrees of longitude and latitude: about 190 metres
const STREET = 0.1 // of a block, on each side
const REACH = 9 // blocks from the middle to the edge of the town
const PACE = 2.1 // years in which the town grows by a block on each side

const ZOOMS = { min: 10, max: 14 }
export const FIRST_YEAR = 2005
export const YEARS = 20

/** A place of the town, in blocks from the middle, as longitude and latitude. */
const at = (x, y) => [CENTER[0] + x * BLOCK[0], CENTER[1] + y * BLOCK[1]]

export const TOWN_BOUNDS = /** @type {import('../../core/grid.js').Bbox} */ ([...at(-15, -15), ...at(15, 15)])

/** What TileJSON says of the source layers. */
export const townLayers = Object.entries({
  land: {},
  park: { name: 'String' },
  building: { use: 'String', floors: 'Number' },
  road: { name: 'String', kind: 'String' },
  place: { name: 'String', kind: 'String' }
}).map(([id, fields]) => ({ id, fields, minzoom: ZOOMS.min, maxzoom: ZOOMS.max }))

const NAMES = ['Main', 'Harbour', 'Mill', 'Chapel', 'Orchard', 'Quarry', 'Station', 'Beacon', 'Hazel', 'Rowan']
const USES = ['homes', 'homes', 'homes', 'shops', 'offices', 'school']

const PLACES = [
  { name: 'Tilby', kind: 'town', x: 0, y: 0, since: 2005 },
  { name: 'Old Harbour', kind: 'quarter', x: -2.5, y: -2.5, since: 2009 },
  { name: 'Tilby Central', kind: 'station', x: 0.5, y: -0.5, since: 2010 },
  { name: 'Northgate', kind: 'quarter', x: 1.5, y: 4.5, since: 2013 }
]

/** A number from 0 to 1 that is always the same for the same numbers. */
function chance (...numbers) {
  let value = 2166136261
  for (const number of [...numbers, 0]) value = Math.imul(value ^ value >>> 15 ^ (number + 1000), 2246822519)
  return (value >>> 0) / 2 ** 32
}

/** @returns {any} GeoJSON */
function feature (id, type, coordinates, properties = {}) {
  return { type: 'Feature', id, properties, geometry: { type, coordinates } }
}

function box (id, left, bottom, width, height, properties) {
  const [right, top] = [left + width, bottom + height]
  const ring = [at(left, bottom), at(right, bottom), at(right, top), at(left, top), at(left, bottom)]
  return feature(id, 'Polygon', [ring], properties)
}

function island () {
  const ring = Array.from({ length: 73 }, (_, step) => {
    const angle = (step % 72) / 36 * Math.PI
    const reach = REACH * (1.5 + 0.1 * Math.sin(3 * angle))
    return at(reach * Math.cos(angle), reach * Math.sin(angle))
  })
  return feature(1, 'Polygon', [ring])
}

/** The street and the avenue that are `line` blocks from the middle, when the town has this reach. */
function roads (line, reach) {
  const side = line % 3 === 0 ? 'secondary' : 'street'
  const kind = line === 0 ? 'primary' : side
  const name = `${line < 0 ? 'Old ' : ''}${NAMES[Math.abs(line)]}`
  return [
    feature(100 + line, 'LineString', [at(-reach, line), at(reach, line)], { name: `${name} Street`, kind }),
    feature(200 + line, 'LineString', [at(line, -reach), at(line, reach)], { name: `${name} Avenue`, kind })
  ]
}

/** One of the four lots of a block: built on, perhaps raised by two floors, perhaps given up. */
function building (year, x, y, lot, id) {
  const begun = FIRST_YEAR + Math.max(Math.abs(x + 0.5), Math.abs(y + 0.5)) * PACE + chance(x, y, lot, 1) * 5 - 3
  const ended = chance(x, y, lot, 2) < 0.08 ? begun + 4 + 8 * chance(x, y, lot, 3) : Infinity
  if (year < begun || year >= ended) return []
  const isRaised = chance(x, y, lot, 4) < 0.2 && year >= begun + 3 + 6 * chance(x, y, lot, 5)
  const floors = 1 + Math.floor(chance(x, y, lot, 6) * 4) + (isRaised ? 2 : 0)
  const use = USES[Math.floor(chance(x, y, lot, 7) * USES.length)]
  const size = (1 - 3 * STREET) / 2
  const left = x + STREET + (lot % 2) * (size + STREET)
  const bottom = y + STREET + (lot >> 1) * (size + STREET)
  const [width, height] = [8, 9].map(number => size * (0.6 + 0.4 * chance(x, y, lot, number)))
  return [box(id, left, bottom, width, height, { use, floors })]
}

/** The town in a year: features by source layer. @param {number} year */
export function townIn (year) {
  const reach = Math.min(REACH, 1 + Math.floor((year - FIRST_YEAR) / PACE))
  const lines = Array.from({ length: 2 * reach + 1 }, (_, index) => index - reach)
  /** @type {Record<string, any[]>} */
  const town = { land: [island()], park: [], building: [], road: lines.flatMap(line => roads(line, reach)), place: [] }
  for (const x of lines.slice(0, -1)) {
    for (const y of lines.slice(0, -1)) {
      const id = 1000 + ((x + REACH) * 2 * REACH + y + REACH) * 4
      const isPark = chance(x, y) < 0.09
      const name = `${NAMES[Math.abs(x + y) % NAMES.length]} Park`
      if (isPark) town.park.push(box(id, x + STREET, y + STREET, 1 - 2 * STREET, 1 - 2 * STREET, { name }))
      else town.building.push(...[0, 1, 2, 3].flatMap(lot => building(year, x, y, lot, id + lot)))
    }
  }
  for (const [index, { name, kind, x, y, since }] of PLACES.entries()) {
    if (year >= since) town.place.push(feature(5000 + index, 'Point', at(x, y), { name, kind }))
  }
  return town
}

/** @param {number} year @returns {import('../../loader/load/sources/index.js').Source} */
export const townSource = year => ({
  name: 'tilecouch demo: town',
  fields: { format: 'pbf' },
  async * tiles () {
    const zooms = { maxZoom: ZOOMS.max, indexMaxZoom: ZOOMS.max, indexMaxPoints: 0 }
    const cut = features => new GeoJSONVT({ type: 'FeatureCollection', features }, zooms)
    const layers = Object.entries(townIn(year)).map(([name, features]) => ({ name, tiles: cut(features) }))
    const area = parseArea({ bbox: TOWN_BOUNDS })
    for (const zoom of zoomsById(ZOOMS)) {
      for (const { z, x, y } of area.tiles(zoom)) yield { z, x, y, read: async () => encode(layers, z, x, y) }
    }
  },
  close () {}
})

function encode (layers, z, x, y) {
  const tilesByLayer = layers.map(({ name, tiles }) => [name, tiles.getTile(z, x, y)]).filter(([, tile]) => tile)
  return gzipSync(fromGeojsonVt(Object.fromEntries(tilesByLayer), { version: 2 }))
}
