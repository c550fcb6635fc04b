// Natural Earth drawn once for each zoom: SVG by sharp, then one byte a pixel that says which base colour it has.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import sharp from 'sharp'
import * as topojson from 'topojson-client'
import { latToY, lonToX } from '../../core/index.js'
import { sharePromise } from '../../core/shared-promise.js'
import { inks, quantise } from './palette.js'

export const TILE = 256 // pixels

/**
 * How each zoom is drawn: which generalisation of Natural Earth, widths in pixels, degrees between the lines of the
 * grid.
 */
const styles = [
  { scale: '110m', coast: 0.6, border: 0, grid: 0 },
  { scale: '110m', coast: 0.7, border: 0.4, grid: 0 },
  { scale: '110m', coast: 0.8, border: 0.6, grid: 30 },
  { scale: '50m', coast: 0.9, border: 0.8, grid: 15 },
  { scale: '50m', coast: 1, border: 1, grid: 10 }
]

export const ZOOMS = { min: 0, max: styles.length - 1 }

const ICE = new Set(['010', '304']) // Antarctica, Greenland

/** @type {Map<number, Promise<Uint8Array>>} */
const drawn = new Map()

/** Base colours of a whole zoom, row by row; drawn when first asked for. */
export function basemap (z) {
  return sharePromise(drawn, z, () => draw(z))
}

/** Base colours of one tile. */
export async function baseTile (z, x, y) {
  const world = await basemap(z)
  const size = TILE * 2 ** z
  const tile = new Uint8Array(TILE * TILE)
  for (let row = 0; row < TILE; row++) {
    const from = (y * TILE + row) * size + x * TILE
    tile.set(world.subarray(from, from + TILE), row * TILE)
  }
  return tile
}

async function draw (z) {
  const svg = Buffer.from(worldSvg(z))
  // librsvg refuses long texts by default
  const image = sharp(svg, { unlimited: true }).removeAlpha().toColourspace('srgb').raw()
  const { data } = await image.toBuffer({ resolveWithObject: true })
  return quantise(data)
}

export function worldSvg (z) {
  const size = TILE * 2 ** z
  const { scale, coast, border, grid } = styles[z]
  const world = readWorld(scale)
  const { countries } = world.objects
  const project = ([lon, lat]) => [lonToX(lon, z) * TILE, latToY(lat, z) * TILE]
  const stroke = (lines, ink, width) => width
    ? `<path d="${lines.map(points => path(points, project)).join('')}" stroke="${inks[ink].day}" stroke-width="${width}" fill="none" stroke-linejoin="round"/>`
    : ''
  const area = (filter, ink) => {
    const { coordinates } = topojson.merge(world, countries.geometries.filter(filter))
    const rings = coordinates.flat().flatMap(ring => copies(closed(unwrapped(ring))))
    return `<path d="${rings.map(ring => path(ring, project) + 'Z').join('')}" fill="${inks[ink].day}" fill-rule="evenodd"/>`
  }
  const lines = filter =>
    topojson.mesh(world, countries, filter).coordinates.flatMap(points => copies(unwrapped(points)))
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}">` +
    `<rect width="100%" height="100%" fill="${inks.sea.day}"/>` +
    graticule(grid, size, project) +
    area(({ id }) => !ICE.has(id), 'land') + area(({ id }) => ICE.has(id), 'ice') +
    stroke(lines((a, b) => a !== b), 'border', border) + stroke(lines((a, b) => a === b), 'coast', coast) + '</svg>'
}

const worlds = new Map()

/** Natural Earth at a scale, as TopoJSON. */
export function readWorld (scale) {
  if (!worlds.has(scale)) {
    const file = fileURLToPath(import.meta.resolve(`world-atlas/countries-${scale}.json`))
    worlds.set(scale, JSON.parse(readFileSync(file, 'utf8')))
  }
  return worlds.get(scale)
}

const NEAR = 0.4 // pixels: points closer than this to the last one are left out

function path (points, project) {
  let text = ''
  let [lastX, lastY] = [Infinity, Infinity]
  for (const [index, point] of points.entries()) {
    const [x, y] = project(point)
    if (index < points.length - 1 && Math.abs(x - lastX) < NEAR && Math.abs(y - lastY) < NEAR) continue
    text += `${text ? 'L' : 'M'}${x.toFixed(1)} ${y.toFixed(1)}`
    ;[lastX, lastY] = [x, y]
  }
  return text
}

// Natural Earth jumps from 180 to -180 degrees: continue beyond 180 instead
export function unwrapped (points) {
  let turn = 0
  return points.map(([lon, lat], index) => {
    if (index) turn -= 360 * Math.round((lon - points[index - 1][0]) / 360)
    return [lon + turn, lat]
  })
}

/** A ring round the world is closed over the pole; the only one is Antarctica. */
function closed (ring) {
  const [start] = ring
  const end = ring[ring.length - 1]
  return Math.abs(end[0] - start[0]) < 180 ? ring : [...ring, [end[0], -90], [start[0], -90]]
}

/** Shapes that cross one edge of the map continue at the other. */
function copies (points) {
  const shifted = by => points.map(([lon, lat]) => [lon + by, lat])
  return [
    points,
    ...(points.some(([lon]) => lon > 180) ? [shifted(-360)] : []),
    ...(points.some(([lon]) => lon < -180) ? [shifted(360)] : [])
  ]
}

// on whole pixels: a line between two of them would be twice as wide and half as strong
function graticule (step, size, project) {
  if (!step) return ''
  let lines = ''
  for (let lon = -180; lon < 180; lon += step) {
    lines += `<rect x="${Math.round(project([lon, 0])[0])}" y="0" width="1" height="${size}"/>`
  }
  for (let lat = -90 + step; lat < 90; lat += step) {
    lines += `<rect x="0" y="${Math.round(project([0, lat])[1])}" width="${size}" height="1"/>`
  }
  return `<g fill="${inks.grid.day}">${lines}</g>`
}

/** Frees the memory: the deepest zoom alone has 17 MB. */
export function forgetBasemap () {
  drawn.clear()
  worlds.clear()
}
