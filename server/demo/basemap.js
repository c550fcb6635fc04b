// The base map of the demo: Natural Earth, drawn once for each zoom by sharp.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { geoGraticule, geoMercator, geoPath } from 'd3-geo'
import sharp from 'sharp'
import { merge, mesh } from 'topojson-client'
import { sharePromise } from '../../core/promises.js'

export const TILE = 256 // pixels

/** How each zoom is drawn: the scale of Natural Earth, widths in pixels, degrees between the lines of the grid. */
const styles = [
  { scale: '110m', coast: 0.6, border: 0, grid: 0 },
  { scale: '110m', coast: 0.7, border: 0.4, grid: 0 },
  { scale: '110m', coast: 0.8, border: 0.6, grid: 30 },
  { scale: '50m', coast: 0.9, border: 0.8, grid: 15 },
  { scale: '50m', coast: 1, border: 1, grid: 10 }
]

export const ZOOMS = { min: 0, max: styles.length - 1 }

export const colours = {
  sea: '#b7d3e2', grid: '#a9c8d9', coast: '#6f9cb5', land: '#f4f4ec', border: '#b9a98f', ice: '#fdfdfb'
}

const ICE = new Set(['010', '304']) // Antarctica, Greenland

/** @type {Map<number, Promise<Buffer>>} */
const pixelsByZoom = new Map()

/** The pixels of a whole zoom, row by row: red, green, blue. */
export function worldPixels (z) {
  return sharePromise(pixelsByZoom, z, () => {
    const image = sharp(Buffer.from(worldSvg(z)), { unlimited: true }) // librsvg refuses long texts by default
    return image.removeAlpha().raw().toBuffer()
  })
}

export function worldSvg (z) {
  const size = TILE * 2 ** z
  const { scale, coast, border, grid } = styles[z]
  const file = fileURLToPath(import.meta.resolve(`world-atlas/countries-${scale}.json`))
  const world = JSON.parse(readFileSync(file, 'utf8'))
  const { countries } = world.objects
  const path = geoPath(geoMercator().scale(size / 2 / Math.PI).translate([size / 2, size / 2])).digits(1)

  const line = (shape, colour, width) => `<path d="${path(shape)}" stroke="${colour}" stroke-width="${width}"/>`
  const area = (isIncluded, colour) => {
    const shape = merge(world, countries.geometries.filter(isIncluded))
    return `<path d="${path(shape)}" fill="${colour}"/>`
  }

  return `<svg xmlns="http://www.w3.org/2000/svg" width="${size}" height="${size}" fill="none" stroke-linejoin="round">
    <rect width="100%" height="100%" fill="${colours.sea}"/>
    <g shape-rendering="crispEdges">${grid ? line(geoGraticule().step([grid, grid])(), colours.grid, 1) : ''}</g>
    ${area(({ id }) => !ICE.has(id), colours.land)}
    ${area(({ id }) => ICE.has(id), colours.ice)}
    ${line(mesh(world, countries, (a, b) => a !== b), colours.border, border)}
    ${line(mesh(world, countries, (a, b) => a === b), colours.coast, coast)}
  </svg>`
}

/** Frees the memory: the deepest zoom alone has 50 MB. */
export function forgetBasemap () {
  pixelsByZoom.clear()
}
