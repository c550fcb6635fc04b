// A small map of where an edition is: rectangles of tiles, and the outline of an area, over tiles of the layer itself.
import { svg } from '../../../client/timeline/dom.js'
import { readPolygons } from '../../../core/geojson.js'
import { latToY, lonToX, xToLon, yToLat } from '../../../core/grid.js'
import { gridOf } from '../../../core/grids/index.js'
import { tileId } from '../../../core/ids.js'
import { docsOf } from './reading.js'

const WIDTH = 1000 // of a map, in units of its drawing
const LEAST = 2 ** -20 // of the world that a map shows: a large house
const AROUND = 0.25 // of what is drawn, as much is shown on each side
const TALL = 0.75 // height of a map by its width, at most
const WIDE = 0.4 // at least
const ACROSS = 512 // pixels of tiles that a map is wide, at least
const IMAGES = 40 // tiles under a map, at most
const ZOOMS = 8 // that are looked at for tiles
const VIEW = 800 // pixels that the view of a link is supposed to be wide

/**
 * Part of the world, 0 to 1 from west to east and from north to south.
 * @typedef {{x0: number, x1: number, y0: number, y1: number}} Extent
 * @typedef {import('./reading.js').Rectangle} Rectangle
 */

/** Whether the tiles of a layer lie where a map of the world has them. */
export function isDrawable (layer) {
  try {
    return gridOf(layer).isWebMercator
  } catch { // a grid that is not known here
    return false
  }
}

/** @param {Rectangle} rectangle @returns {Extent} */
export const extentOf = ({ z, x0, x1, y0, y1 }) =>
  ({ x0: x0 / 2 ** z, x1: (x1 + 1) / 2 ** z, y0: y0 / 2 ** z, y1: (y1 + 1) / 2 ** z })

/** @param {Extent[]} extents @returns {Extent | undefined} around all */
export function around (extents) {
  if (!extents.length) return undefined
  return extents.reduce((a, b) => ({
    x0: Math.min(a.x0, b.x0), x1: Math.max(a.x1, b.x1), y0: Math.min(a.y0, b.y0), y1: Math.max(a.y1, b.y1)
  }))
}

/** Neighbours become one: first those in a row, then rows that are as wide. @param {Rectangle[]} rectangles */
function joined (rectangles) {
  const join = (list, isNext, grow) => {
    const found = /** @type {Rectangle[]} */ ([])
    for (const one of list) {
      const last = found[found.length - 1]
      if (last && isNext(last, one)) grow(last, one)
      else found.push({ ...one })
    }
    return found
  }
  const rows = join([...rectangles].sort((a, b) => a.y0 - b.y0 || a.y1 - b.y1 || a.x0 - b.x0),
    (a, b) => a.y0 === b.y0 && a.y1 === b.y1 && a.x1 + 1 === b.x0, (a, b) => { a.x1 = b.x1 })
  return join(rows.sort((a, b) => a.x0 - b.x0 || a.x1 - b.x1 || a.y0 - b.y0),
    (a, b) => a.x0 === b.x0 && a.x1 === b.x1 && a.y1 + 1 === b.y0, (a, b) => { a.y1 = b.y1 })
}

/** The boxes of an area; one over the antimeridian is two. @returns {Extent[]} */
const boxesOf = ({ boxes = [] }) => boxes.flatMap(([west, south, east, north]) => {
  const span = (from, to) => ({ x0: lonToX(from, 0), x1: lonToX(to, 0), y0: latToY(north, 0), y1: latToY(south, 0) })
  return west <= east ? [span(west, east)] : [span(west, 180), span(-180, east)]
})

/** West, south, east and north in degrees. @param {Extent} extent */
export const degreesOf = ({ x0, x1, y0, y1 }) => [xToLon(x0, 0), yToLat(y1, 0), xToLon(x1, 0), yToLat(y0, 0)]

/** Where the viewer shows an extent. @param {Extent} extent */
export function viewOf ({ x0, x1, y0, y1 }) {
  const z = Math.floor(Math.log2(VIEW / 256 / Math.max(x1 - x0, y1 - y0, LEAST)))
  return { z: Math.min(Math.max(z, 0), 19), lat: yToLat((y0 + y1) / 2, 0), lon: xToLon((x0 + x1) / 2, 0) }
}

/**
 * @param {{couch: import('../couch.js').Couch, layer: any, signal?: AbortSignal}} of layer: its document
 * @param {{rectangles: Rectangle[], area?: {boxes: any[], polygon?: any}, within?: Extent, label: string}} what within:
 *   what the map shows, unless it is what is drawn
 * @returns {SVGElement} tiles come into it as they are found
 */
export function smallMap (of, { rectangles, area, within, label }) {
  const extents = joined(rectangles).map(extentOf)
  const boxes = area ? boxesOf(area) : []
  const frame = frameOf(within ?? around([...extents, ...boxes]) ?? { x0: 0, x1: 1, y0: 0, y1: 1 })
  const scale = WIDTH / (frame.x1 - frame.x0)
  const height = (frame.y1 - frame.y0) * scale
  const at = (x, y) => `${((x - frame.x0) * scale).toFixed(1)} ${((y - frame.y0) * scale).toFixed(1)}`
  const box = ({ x0, x1, y0, y1 }) => `M${at(x0, y0)}L${at(x1, y0)}L${at(x1, y1)}L${at(x0, y1)}Z`
  const path = (name, parts) => parts.length
    ? [svg('path', { class: name, d: parts.join(''), 'vector-effect': 'non-scaling-stroke', 'fill-rule': 'evenodd' })]
    : []
  const images = svg('g')
  const polygons = area?.polygon ? readPolygons(area.polygon).flat() : []
  const rings = polygons.map(ring => `M${ring.map(([lon, lat]) => at(lonToX(lon, 0), latToY(lat, 0))).join('L')}Z`)
  drawImages(of, frame, images, { scale })
  return svg('svg', { class: 'small-map', viewBox: `0 0 ${WIDTH} ${height.toFixed(1)}`, role: 'img', 'aria-label': label }, [
    svg('rect', { class: 'ground', width: WIDTH, height: height.toFixed(1) }),
    images,
    ...path('tiles', extents.map(box)),
    ...path('area', rings.length ? rings : boxes.map(box))
  ])
}

/** @param {Extent} extent @returns {Extent} with something around it, neither very tall nor very flat */
function frameOf ({ x0, x1, y0, y1 }) {
  const size = (from, to) => Math.max((to - from) * (1 + 2 * AROUND), LEAST)
  let width = size(x0, x1)
  let height = size(y0, y1)
  width = Math.min(Math.max(width, height / TALL), 1)
  height = Math.min(Math.max(height, width * WIDE), 1)
  // not beyond the edge of the world
  const place = (from, to, span) => Math.min(Math.max((from + to - span) / 2, 0), 1 - span)
  const [left, top] = [place(x0, x1, width), place(y0, y1, height)]
  return { x0: left, x1: left + width, y0: top, y1: top + height }
}

/** Tiles of the layer as they are now: of the zoom that suits the map, or of one above it that has most of them. */
async function drawImages ({ couch, layer, signal }, frame, group, { scale }) {
  if (layer.format === 'pbf') return
  const { minzoom = 0, maxzoom = 22 } = layer
  const suits = Math.ceil(Math.log2(ACROSS / 256 / (frame.x1 - frame.x0)))
  const first = Math.min(Math.max(suits, minzoom), maxzoom)
  const upTo = Math.min(first - minzoom + 1, ZOOMS)
  const zooms = Array.from({ length: upTo }, (_, up) => tilesIn(layer, frame, first - up))
  const asked = zooms.filter(tiles => tiles.length <= IMAGES)
  const ids = asked.flat().map(({ id }) => id)
  const docs = await docsOf(couch, ids, { signal }).catch(() => []) // a map without a picture
  const there = new Set(docs.filter(({ doc }) => doc?._attachments?.tile).map(({ id }) => id))
  const found = asked.map(tiles => ({ tiles: tiles.filter(({ id }) => there.has(id)), most: tiles.length }))
  const best = found.find(({ tiles, most }) => tiles.length > most / 2) ?? found.find(({ tiles }) => tiles.length)
  group.append(...(best?.tiles ?? []).map(({ id, x, y, across }) => svg('image', {
    href: `${couch.db}/${encodeURIComponent(id)}/tile`,
    x: ((x / across - frame.x0) * scale).toFixed(1),
    y: ((y / across - frame.y0) * scale).toFixed(1),
    width: (scale / across).toFixed(1),
    height: (scale / across).toFixed(1),
    preserveAspectRatio: 'none'
  })))
}

/**
 * No more than too many.
 * @param {Extent} frame @returns {{id: string, x: number, y: number, across: number}[]}
 */
function tilesIn ({ layer }, frame, z) {
  const across = 2 ** z
  const last = value => Math.min(Math.ceil(value * across), across) - 1
  const tiles = []
  for (let x = Math.floor(frame.x0 * across); x <= last(frame.x1); x++) {
    for (let y = Math.floor(frame.y0 * across); y <= last(frame.y1); y++) {
      tiles.push({ id: tileId(layer, z, x, y), x, y, across })
      if (tiles.length > IMAGES) return tiles
    }
  }
  return tiles
}
