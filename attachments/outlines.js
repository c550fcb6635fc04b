// Tiles marked on the map: those that changed, the one whose versions are being looked at, and what an edition covers.
import L from 'leaflet'
import { tileBounds } from '../core/index.js'

const SIDES = [ // neighbour, and the edge towards it as corners [west or east, south or north]
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

  /** @param {{z: number, x: number, y: number}[]} tiles each with a thin line, all together with a thick one */
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
    const rings = tile ? copiesOf(this.#map, tile).map(ring) : []
    this.#draw(
      'picked',
      rings.length
        ? [
          L.polygon(rings.map(box => [box]), this.#style('picked-casing')),
          L.polygon(rings.map(box => [box]), this.#style('picked-tile'))
        ]
        : []
    )
  }

  /**
   * What an edition covers, as the tiles that its blocks are; drawn anew where the map went.
   * @param {{z: number, x: number, y: number}[]} [tiles] of one zoom
   */
  covered (tiles = this.#covered) {
    this.#covered = tiles
    const { rims } = this.#around(tiles)
    this.#draw(
      'covered',
      rims.length ? [L.polyline(rims, this.#style('changed-casing')), L.polyline(rims, this.#style('covered-rim'))] : []
    )
  }

  /** The boxes of tiles of one zoom, and the edges beyond which there is none of them. */
  #around (tiles) {
    const there = new Set(tiles.map(({ x, y }) => `${x}/${y}`))
    const boxes = []
    const rims = []
    for (const tile of tiles) {
      const across = 2 ** tile.z
      for (const side of copiesOf(this.#map, tile)) {
        boxes.push(ring(side))
        for (const { dx, dy, edge } of SIDES) {
          if (!there.has(
            `${(tile.x + dx + across) % across}/${tile.y + dy}`
          )) rims.push(edge.map(([lon, lat]) => [side[lat], side[lon]]))
        }
      }
    }
    return { boxes, rims }
  }

  #style (className) {
    return {
      className,
      renderer: this.#renderer,
      interactive: false,
      smoothFactor: 0,
      noClip: true,
      fill: /tile/.test(className)
    }
  }

  #draw (name, shapes) {
    for (const shape of this.#shapes[name]) shape.remove()
    this.#shapes[name] = shapes.map(shape => shape.addTo(this.#map))
  }
}

/** The sides of a tile in every copy of the world that is in sight. @param {{z: number, x: number, y: number}} tile */
export function copiesOf (map, { z, x, y }) {
  const [west, south, east, north] = tileBounds(z, x, y)
  const sight = map.getBounds().pad(0.5)
  const copies = []
  for (let shift = Math.ceil((sight.getWest() - east) / 360) * 360; west + shift <= sight.getEast(); shift += 360) {
    copies.push({ w: west + shift, s: south, e: east + shift, n: north })
  }
  return copies
}

/** The corners of a tile. */
export const ring = ({ w, s, e, n }) => [[s, w], [n, w], [n, e], [s, e]]
