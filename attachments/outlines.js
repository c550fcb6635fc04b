// Marks tiles on the map: tiles that changed, the tile whose card is open, and the area of an edition.
import L from 'leaflet'
import { tileBounds } from '../core/index.js'

const SIDES = [ // a neighbour, and the edge towards it: two corners [west or east, south or north]
  { dx: -1, dy: 0, edge: [['w', 's'], ['w', 'n']] },
  { dx: 1, dy: 0, edge: [['e', 's'], ['e', 'n']] },
  { dx: 0, dy: -1, edge: [['w', 'n'], ['e', 'n']] },
  { dx: 0, dy: 1, edge: [['w', 's'], ['e', 's']] }
]

export class Outlines {
  #map
  #renderer
  #shapes = { changed: [], picked: [], covered: [] }
  /** @type {{z: number, x: number, y: number}[]} */
  #covered = []

  constructor (map) {
    this.#map = map
    map.createPane('outlines').style.cssText = 'z-index: 450; pointer-events: none'
    this.#renderer = L.svg({ pane: 'outlines', padding: 0.5 })
  }

  /** @param {{z: number, x: number, y: number}[]} tiles each has a thin line, all together a thick one */
  changed (tiles) {
    const { boxes, rims } = this.#around(tiles)
    this.#draw('changed', boxes.length
      ? [
          L.polygon(boxes.map(box => [box]), this.#style('changed-tiles')),
          L.polyline(rims, this.#style('changed-casing')),
          L.polyline(rims, this.#style('changed-rim'))
        ]
      : [])
  }

  /** @param {{z: number, x: number, y: number} | null} tile */
  picked (tile) {
    const rings = tile ? copiesOf(this.#map, tile).map(copy => [ring(copy)]) : []
    const classes = rings.length ? ['picked-casing', 'picked-tile'] : []
    this.#draw('picked', classes.map(name => L.polygon(rings, this.#style(name))))
  }

  /**
   * The area of an edition. Without tiles: the same area, after the map was moved.
   * @param {{z: number, x: number, y: number}[]} [tiles] of one zoom
   */
  covered (tiles = this.#covered) {
    this.#covered = tiles
    const { rims } = this.#around(tiles)
    const classes = rims.length ? ['changed-casing', 'covered-rim'] : []
    this.#draw('covered', classes.map(name => L.polyline(rims, this.#style(name))))
  }

  /** The share of the view that tiles cover, 0 to 1. Copies of the world are a part of the view. */
  shareOf (tiles) {
    const { min, max } = this.#map.getPixelBounds()
    const world = this.#map.options.crs.scale(this.#map.getZoom())
    const view = { top: Math.max(min.y, 0), bottom: Math.min(max.y, world) }
    let area = 0
    for (const { z, x, y } of tiles) {
      const size = world / 2 ** z
      const height = Math.min(view.bottom, (y + 1) * size) - Math.max(view.top, y * size)
      const first = Math.floor((min.x - x * size) / world)
      for (let left = x * size + first * world; left < max.x && height > 0; left += world) {
        area += height * Math.max(0, Math.min(max.x, left + size) - Math.max(min.x, left))
      }
    }
    return Math.min(1, area / ((view.bottom - view.top) * (max.x - min.x)))
  }

  /** The boxes of tiles of one zoom, and their edges without a neighbour. */
  #around (tiles) {
    const places = new Set(tiles.map(({ x, y }) => `${x}/${y}`))
    const boxes = []
    const rims = []
    for (const tile of tiles) {
      const columns = 2 ** tile.z
      const isRim = ({ dx, dy }) => !places.has(`${(tile.x + dx + columns) % columns}/${tile.y + dy}`)
      for (const sides of copiesOf(this.#map, tile)) {
        boxes.push(ring(sides))
        for (const { edge } of SIDES.filter(isRim)) rims.push(edge.map(([lon, lat]) => [sides[lat], sides[lon]]))
      }
    }
    return { boxes, rims }
  }

  #style (className) {
    const fill = className.includes('tile')
    return { className, fill, renderer: this.#renderer, interactive: false, smoothFactor: 0, noClip: true }
  }

  #draw (name, shapes) {
    for (const shape of this.#shapes[name]) shape.remove()
    this.#shapes[name] = shapes.map(shape => shape.addTo(this.#map))
  }
}

/** The sides of a tile in every copy of the world in view. @param {{z: number, x: number, y: number}} tile */
export function copiesOf (map, { z, x, y }) {
  const [west, south, east, north] = tileBounds(z, x, y)
  const view = map.getBounds().pad(0.5)
  const copies = []
  for (let shift = Math.ceil((view.getWest() - east) / 360) * 360; west + shift <= view.getEast(); shift += 360) {
    copies.push({ w: west + shift, s: south, e: east + shift, n: north })
  }
  return copies
}

/** The corners of a tile. */
export const ring = ({ w, s, e, n }) => [[s, w], [n, w], [n, e], [s, e]]
