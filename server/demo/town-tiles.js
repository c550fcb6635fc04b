// The town of the demo as sources for the loader: as vector tiles, and as images.
import { gzipSync } from 'node:zlib'
import { GeoJSONVT } from '@maplibre/geojson-vt'
import { fromGeojsonVt } from '@maplibre/vt-pbf'
import sharp from 'sharp'
import { latToY, lonToX, parseArea, tileRanges } from '../../core/index.js'
import { zoomsById } from '../../core/order.js'
import { TILE } from './basemap.js'
import { source, tilesOf } from './tiles.js'
import { ISLAND_BOUNDS, groundIn, townIn } from './town.js'

const VECTOR_ZOOMS = { min: 10, max: 14 }
const IMAGE_ZOOMS = { min: 11, max: 14 }

/** The source layers, as TileJSON lists them. */
export const townLayers = Object.entries({
  land: {},
  river: { name: 'String' },
  park: { name: 'String' },
  building: { use: 'String', floors: 'Number' },
  road: { name: 'String', kind: 'String' },
  railway: { name: 'String' },
  place: { name: 'String', kind: 'String' }
}).map(([id, fields]) => ({ id, fields, minzoom: VECTOR_ZOOMS.min, maxzoom: VECTOR_ZOOMS.max }))

const ISLAND = parseArea({ bbox: ISLAND_BOUNDS })

/** Vector tiles. @param {number} year @returns {import('../../loader/load/sources/index.js').Source} */
export const townVectorSource = year => source('town, vector tiles', async function * () {
  const zooms = { maxZoom: VECTOR_ZOOMS.max, indexMaxZoom: VECTOR_ZOOMS.max, indexMaxPoints: 0 }
  const cut = features => new GeoJSONVT({ type: 'FeatureCollection', features }, zooms)
  const layers = Object.entries(townIn(year)).map(([name, features]) => ({ name, tiles: cut(features) }))
  for (const { z, x, y } of tilesOf(ISLAND, VECTOR_ZOOMS)) yield { z, x, y, read: async () => encode(layers, z, x, y) }
}, { format: 'pbf' })

function encode (layers, z, x, y) {
  const tilesByLayer = layers.map(({ name, tiles }) => [name, tiles.getTile(z, x, y)]).filter(([, tile]) => tile)
  return gzipSync(fromGeojsonVt(Object.fromEntries(tilesByLayer), { version: 2 }))
}

/** Images. @param {number} year @returns {import('../../loader/load/sources/index.js').Source} */
export const townImageSource = year => source('town, images', async function * () {
  const features = { ...townIn(year), ground: groundIn(year) }
  for (const z of zoomsById(IMAGE_ZOOMS)) {
    const { pixels, raw, x0, y0 } = await drawSheet(features, z)
    for (const { x, y } of ISLAND.tiles(z)) {
      const place = { left: (x - x0) * TILE, top: (y - y0) * TILE, width: TILE, height: TILE }
      yield { z, x, y, read: () => sharp(pixels, { raw }).extract(place).png({ compressionLevel: 6 }).toBuffer() }
    }
  }
}, { format: 'png' })

/** Draws all tiles of a zoom as one image. */
async function drawSheet (features, z) {
  const { x0, x1, y0, y1 } = tileRanges(ISLAND_BOUNDS, z)[0]
  const [width, height] = [(x1 - x0 + 1) * TILE, (y1 - y0 + 1) * TILE]
  const svg = townSvg(features, { z, x0, y0, width, height })
  const pixels = await sharp(Buffer.from(svg), { unlimited: true }).ensureAlpha().raw().toBuffer()
  return { x0, y0, pixels, raw: /** @type {const} */ ({ width, height, channels: 4 }) }
}

const GROUND = { town: '#efe8dc', wood: '#a9c99a', meadow: '#d3e3b4', grain: '#ebe2b0', fallow: '#ded9b8' }
const USE = { homes: '#cf8d69', shops: '#a9505f', offices: '#647d9c', school: '#d0a042' }
const ROAD_WIDTH = { primary: 5, secondary: 3.5, street: 2.2 } // pixels at zoom 14

function townSvg (features, { z, x0, y0, width, height }) {
  const scale = 2 ** (z - 14)
  const pixelOf = ([lon, lat]) => [(lonToX(lon, z) - x0) * TILE, (latToY(lat, z) - y0) * TILE]
    .map(value => value.toFixed(1)).join()
  const pathOf = ({ geometry: { type, coordinates } }) => type === 'Polygon'
    ? `M${coordinates[0].map(pixelOf).join('L')}Z`
    : `M${coordinates.map(pixelOf).join('L')}`
  const shape = (list, attributes) => `<path d="${list.map(pathOf).join('')}" ${attributes}/>`
  const stroke = (colour, pixels) => `stroke="${colour}" stroke-width="${(pixels * scale).toFixed(2)}"`
  const byField = (list, field, values, attributesOf) => Object.entries(values)
    .map(([name, value]) => shape(list.filter(({ properties }) => properties[field] === name), attributesOf(value)))
    .join('')

  const { land, river, park, building, road, railway, ground } = features
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" fill="none"
    stroke-linejoin="round" stroke-linecap="round">
    ${shape(land, stroke('#7fb7d2" stroke-opacity="0.35', 60))}
    ${shape(land, stroke('#7fb7d2" stroke-opacity="0.45', 26))}
    ${shape(land, `fill="#dfe7c8" ${stroke('#efe3bd', 7)}`)}
    ${byField(ground, 'kind', GROUND, colour => `fill="${colour}"`)}
    ${shape(park, 'fill="#9cc98a"')}
    ${shape(river, stroke('#7fb7d2', 9))}
    ${shape(road, stroke('#a79a86', 4))}
    ${byField(road, 'kind', ROAD_WIDTH, pixels => stroke(pixels > 4 ? '#ffd97a' : '#ffffff', pixels))}
    ${shape(railway, stroke('#4b4f57', 2.6))}
    ${shape(railway, `${stroke('#ffffff', 1.2)} stroke-dasharray="${6 * scale} ${6 * scale}"`)}
    ${byField(building, 'use', USE, colour => `fill="${colour}"`)}
  </svg>`
}
