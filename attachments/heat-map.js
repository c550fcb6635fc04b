// How often each tile in view changed, as squares over the map: the more often, the darker, with the number in them.
import L from 'leaflet'
import { tileBounds } from '../core/index.js'
import { count } from './format.js'

const LEVELS = 5
const ROOM = 40 // pixels of a tile from which on its number is written into it

/** The level of a number, 1 to 5; by the root, so that few changes beside many are still told apart. */
export const levelOf = (changes, most) => Math.min(LEVELS, Math.max(1, Math.ceil(Math.sqrt(changes / most) * LEVELS)))

export class HeatMap {
  #map
  /** @type {L.Layer[]} */
  #marks = []

  constructor (map) {
    this.#map = map
    map.createPane('heat').style.cssText = 'z-index: 445; pointer-events: none'
  }

  /** @param {{z: number, x: number, y: number, changes: number}[] | null} tiles null: nothing */
  show (tiles) {
    for (const mark of this.#marks.splice(0)) mark.remove()
    const changed = (tiles ?? []).filter(({ changes }) => changes > 0)
    if (!changed.length) return
    const most = changed.reduce((greatest, { changes }) => Math.max(greatest, changes), 1)
    const sight = this.#map.getBounds().pad(0.5)
    for (const { z, x, y, changes } of changed) {
      const [west, south, east, north] = tileBounds(z, x, y)
      for (let shift = Math.ceil((sight.getWest() - east) / 360) * 360; west + shift <= sight.getEast(); shift += 360) {
        this.#mark([[south, west + shift], [north, east + shift]], levelOf(changes, most), changes)
      }
    }
  }

  #mark (bounds, level, changes) {
    const square = L.rectangle(bounds, { pane: 'heat', renderer: this.#renderer, interactive: false, className: `heat-square heat-${level}`, stroke: true })
    this.#marks.push(square.addTo(this.#map))
    const [low, high] = bounds.map(place => this.#map.latLngToLayerPoint(place))
    if (high.x - low.x < ROOM) return
    const icon = L.divIcon({ className: `heat-number heat-${level}`, iconSize: [ROOM, 20], html: Object.assign(document.createElement('span'), { textContent: count(changes) }) })
    this.#marks.push(L.marker(square.getCenter(), { pane: 'heat', icon, interactive: false, keyboard: false }).addTo(this.#map))
  }

  #drawn = /** @type {L.Renderer | null} */ (null)

  get #renderer () {
    return this.#drawn ??= L.svg({ pane: 'heat', padding: 0.5 })
  }
}
