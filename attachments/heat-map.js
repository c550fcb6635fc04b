// How often each tile in view changed, as squares over the map: the more often, the darker, with the number in them.
// All squares of a level are one shape: hundreds of them would keep a slow device busy whenever the map moves.
import L from 'leaflet'
import { count } from './format.js'
import { copiesOf, ring } from './outlines.js'

const LEVELS = 5
const ROOM = 40 // pixels of a tile from which on its number is written into it

/** The level of a number, 1 to 5; by the root, so that few changes beside many are still told apart. */
export const levelOf = (changes, most) => Math.min(LEVELS, Math.max(1, Math.ceil(Math.sqrt(changes / most) * LEVELS)))

export class HeatMap {
  #map
  #renderer
  /** @type {L.Layer[]} */
  #marks = []

  constructor (map) {
    this.#map = map
    map.createPane('heat').style.cssText = 'z-index: 445; pointer-events: none'
    this.#renderer = L.svg({ pane: 'heat', padding: 0.5 })
  }

  /** @param {{z: number, x: number, y: number, changes: number}[] | null} tiles null: nothing */
  show (tiles) {
    for (const mark of this.#marks.splice(0)) mark.remove()
    const changed = (tiles ?? []).filter(({ changes }) => changes > 0)
    const most = changed.reduce((greatest, { changes }) => Math.max(greatest, changes), 1)
    /** @type {Map<number, any[]>} level -> rings */
    const levels = new Map()
    for (const tile of changed) {
      const level = levelOf(tile.changes, most)
      const rings = copiesOf(this.#map, tile).map(ring)
      levels.set(level, [...levels.get(level) ?? [], ...rings.map(one => [one])])
      for (const [[south, west], , [north, east]] of rings) this.#write([south, west], [north, east], tile.changes)
    }
    for (const [level, rings] of levels) this.#add(L.polygon(rings, this.#style(level)))
  }

  #style (level) {
    const className = `heat-square heat-${level}`
    return { pane: 'heat', renderer: this.#renderer, interactive: false, className, smoothFactor: 0, noClip: true }
  }

  /** The number of a square, where there is room. */
  #write (southWest, northEast, changes) {
    const [low, high] = [southWest, northEast].map(place => this.#map.latLngToLayerPoint(place))
    if (high.x - low.x < ROOM) return
    const html = Object.assign(document.createElement('span'), { textContent: count(changes) })
    const icon = L.divIcon({ className: 'heat-number', iconSize: [ROOM, 20], html })
    const middle = this.#map.layerPointToLatLng(low.add(high).divideBy(2))
    // over the squares, wherever it lies: Leaflet stacks markers by their pixels, which may be negative
    this.#add(L.marker(middle, { pane: 'heat', icon, interactive: false, keyboard: false, zIndexOffset: 1e6 }))
  }

  #add (mark) {
    this.#marks.push(mark.addTo(this.#map))
  }
}
