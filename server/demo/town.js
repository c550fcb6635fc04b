// The town of the demo: Tilby, an invented town on an island in the middle of the Atlantic. It grew from a few houses
// at a crossing in 1930. Returns its features as GeoJSON; town-tiles.js makes vector tiles and images of them.

const CENTER = [-30, 45] // longitude, latitude
const BLOCK = [0.0024, 0.0017] // degrees of longitude and latitude: about 190 metres
const STREET = 0.1 // of a block, on each side
const REACH = 10 // blocks from the middle to the edge of the town
const SHORE = 13 // blocks from the middle to the sea
const FRAME = 10.5 // blocks from the middle to the edge of the first view: at zoom 14 in a window of 1280 pixels

export const FIRST_YEAR = 1930
export const INTERVAL = 10 // years between two surveys
export const SURVEYS = 10
const RAILWAY = 1955 // the year in which it is built
const PACE = INTERVAL * (SURVEYS - 1) / REACH // years in which the town grows by a block on each side

/** A place of the town, in blocks from the middle, as longitude and latitude. */
const lonLatOf = (x, y) => [CENTER[0] + x * BLOCK[0], CENTER[1] + y * BLOCK[1]]

/** @returns {import('../../core/grid.js').Bbox} */
const square = reach => /** @type {any} */ ([...lonLatOf(-reach, -reach), ...lonLatOf(reach, reach)])

export const TOWN_BOUNDS = square(FRAME)
/** The whole island. */
export const ISLAND_BOUNDS = square(SHORE * 1.25)

/** Names of streets, by their blocks from the middle, and of parks. */
const NAMES = [
  'Main', 'Harbour', 'Mill', 'Chapel', 'Orchard', 'Quarry', 'Station', 'Beacon', 'Hazel', 'Rowan', 'Lime', 'Linden',
  'Meadow', 'Shore'
]
const USES = ['homes', 'homes', 'homes', 'homes', 'homes', 'homes', 'homes', 'shops', 'shops', 'offices', 'school']

const PLACES = [
  { name: 'Tilby', kind: 'town', x: 0, y: 0, since: 1930 },
  { name: 'Old Harbour', kind: 'quarter', x: -2.5, y: -2.5, since: 1950 },
  { name: 'Tilby Central', kind: 'station', x: 3.3, y: -0.5, since: 1960 },
  { name: 'Northgate', kind: 'quarter', x: 1.5, y: 5.5, since: 1980 }
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
  const ring = [
    lonLatOf(left, bottom), lonLatOf(right, bottom), lonLatOf(right, top), lonLatOf(left, top), lonLatOf(left, bottom)
  ]
  return feature(id, 'Polygon', [ring], properties)
}

/** How far the sea is from the middle, in this direction. @param {number} angle */
const shoreAt = angle => SHORE * (1 + 0.09 * Math.sin(3 * angle) + 0.05 * Math.sin(5 * angle + 1))

function island () {
  const ring = Array.from({ length: 145 }, (_, step) => {
    const angle = (step % 144) / 72 * Math.PI
    return lonLatOf(shoreAt(angle) * Math.cos(angle), shoreAt(angle) * Math.sin(angle))
  })
  return feature(1, 'Polygon', [ring])
}

const riverAt = x => 1.6 * Math.sin(x / 3.2) - 1.8
const railwayAt = y => 3.3 + 0.8 * Math.sin(y / 4)

/** Places along a line across the island that are on land. @param {(step: number) => [number, number]} placeAt */
function lineOnLand (placeAt) {
  const places = Array.from({ length: 20 * SHORE }, (_, index) => placeAt(index / 8 - 1.25 * SHORE))
  return places.filter(([x, y]) => Math.hypot(x, y) < shoreAt(Math.atan2(y, x))).map(([x, y]) => lonLatOf(x, y))
}

const river = () => feature(2, 'LineString', lineOnLand(x => [x, riverAt(x)]), { name: 'Til' })
const railway = () => feature(3, 'LineString', lineOnLand(y => [railwayAt(y), y]), { name: 'Tilby Line' })

/** The year in which a block is built on: near the middle first, and along the main streets. */
function settledIn (x, y) {
  const [east, north] = [x + 0.5, y + 0.5]
  const angle = Math.atan2(north, east)
  const isAtMainStreet = Math.min(Math.abs(east), Math.abs(north)) < 1
  const distance = Math.hypot(east, north) * (1 + 0.16 * Math.sin(3 * angle + 1) + 0.1 * Math.sin(4 * angle))
  return FIRST_YEAR + (distance - 1.5) * PACE * (isAtMainStreet ? 0.75 : 1)
}

/** The blocks of the island, each with its lower left corner. @returns {{x: number, y: number, id: number}[]} */
function blocks () {
  const size = 2 * SHORE
  const squares = Array.from({ length: size * size }, (_, index) =>
    ({ x: index % size - SHORE, y: Math.floor(index / size) - SHORE, id: 1000 + 4 * index }))
  return squares.filter(({ x, y }) =>
    Math.hypot(x + 0.5, y + 0.5) + 1 < shoreAt(Math.atan2(y + 0.5, x + 0.5)))
}

const BLOCKS = blocks()

/** The streets and avenues between the blocks of the town. @param {{x: number, y: number}[]} settled */
function roads (settled) {
  return /** @type {('x' | 'y')[]} */ (['x', 'y']).flatMap(along => {
    const across = along === 'x' ? 'y' : 'x'
    const ends = new Map()
    for (const block of settled) {
      for (const position of [block[across], block[across] + 1]) {
        const { from, to } = ends.get(position) ?? { from: Infinity, to: -Infinity }
        ends.set(position, { from: Math.min(from, block[along]), to: Math.max(to, block[along] + 1) })
      }
    }
    return [...ends].map(([position, { from, to }]) => road(along, position, from, to))
  })
}

/** @param {'x' | 'y'} along @param {number} position blocks from the middle */
function road (along, position, from, to) {
  const name = `${position < 0 ? 'Old ' : ''}${NAMES[Math.abs(position)]} ${along === 'x' ? 'Street' : 'Avenue'}`
  const kind = ['primary', 'street', 'street', 'secondary'][position === 0 ? 0 : 1 + (Math.abs(position) + 2) % 3]
  const [start, end] = along === 'x'
    ? [lonLatOf(from, position), lonLatOf(to, position)]
    : [lonLatOf(position, from), lonLatOf(position, to)]
  return feature((along === 'x' ? 100 : 200) + position, 'LineString', [start, end], { name, kind })
}

/** One of the four lots of a block: built on, perhaps raised by two floors, perhaps given up. */
function building (year, { x, y, id }, lot) {
  const begun = settledIn(x, y) + chance(x, y, lot, 1) * 12 - 4
  const isGivenUp = chance(x, y, lot, 2) < 0.08
  const ended = isGivenUp ? begun + 15 + 30 * chance(x, y, lot, 3) : Infinity
  if (year < begun || year >= ended) return []
  const isRaised = chance(x, y, lot, 4) < 0.2 && year >= begun + 12 + 20 * chance(x, y, lot, 5)
  const floors = 1 + Math.floor(chance(x, y, lot, 6) * 4) + (isRaised ? 2 : 0)
  const use = USES[Math.floor(chance(x, y, lot, 7) * USES.length)]
  const size = (1 - 3 * STREET) / 2
  const left = x + STREET + (lot % 2) * (size + STREET)
  const bottom = y + STREET + (lot >> 1) * (size + STREET)
  const [width, height] = [8, 9].map(number => size * (0.7 + 0.3 * chance(x, y, lot, number)))
  const [east, north] = [left + width / 2, bottom + height / 2]
  const isInRiver = Math.abs(north - riverAt(east)) < 0.45
  const isOnTracks = year >= RAILWAY && Math.abs(east - railwayAt(north)) < 0.35
  return isInRiver || isOnTracks ? [] : [box(id + lot, left, bottom, width, height, { use, floors })]
}

/** The ground of each block in a year: streets and yards, or fields and woods. @param {number} year */
export function groundIn (year) {
  return BLOCKS.map(({ x, y, id }) => {
    const isWood = chance(x >> 1, y >> 1, 10) < 0.3
    const country = isWood ? 'wood' : ['meadow', 'grain', 'fallow'][Math.floor(3 * chance(x, y, 11))]
    return box(id, x, y, 1, 1, { kind: settledIn(x, y) <= year ? 'town' : country })
  })
}

/** The town in a year: features by source layer. @param {number} year @returns {Record<string, any[]>} */
export function townIn (year) {
  const settled = BLOCKS.filter(({ x, y }) => settledIn(x, y) <= year)
  const isPark = ({ x, y }) => chance(x, y) < 0.09
  const nameOf = ({ x, y }) => `${NAMES[Math.abs(x + y) % NAMES.length]} Park`
  const park = block =>
    box(block.id, block.x + STREET, block.y + STREET, 1 - 2 * STREET, 1 - 2 * STREET, { name: nameOf(block) })
  const buildings = block => [0, 1, 2, 3].flatMap(lot => building(year, block, lot))
  const places = PLACES.map(({ name, kind, x, y, since }, index) =>
    ({ since, place: feature(5000 + index, 'Point', lonLatOf(x, y), { name, kind }) }))
  return {
    land: [island()],
    river: [river()],
    park: settled.filter(isPark).map(park),
    building: settled.filter(block => !isPark(block)).flatMap(buildings),
    road: roads(settled),
    railway: year >= RAILWAY ? [railway()] : [],
    place: places.filter(({ since }) => year >= since).map(({ place }) => place)
  }
}
