// The areas on the map: dashed, each with its name.
import L from 'leaflet'
import { element } from '../dom.js'
import { outlinesOf } from './geometry.js'

const WORLDS = [-360, 0, 360] // degrees: the copies of the world that a map may show at once

export class AreaOutlines {
  #map
  #style
  /** @type {L.Polygon[]} */
  #shapes = []

  /** @param {L.Map} map */
  constructor (map) {
    this.#map = map
    if (!map.getPane('areas')) map.createPane('areas').style.cssText = 'z-index: 440; pointer-events: none'
    this.#style = { pane: 'areas', renderer: L.svg({ pane: 'areas', padding: 0.5 }), interactive: false, smoothFactor: 0, fill: false }
  }

  /** @param {any[]} areas @param {string} [chosen] id of the one that stands out */
  show (areas, chosen) {
    this.clear()
    for (const area of areas) {
      const outlines = outlinesOf(area.spec)
      for (const shift of WORLDS) {
        const there = outlines.map(rings => rings.map(ring => ring.map(([lat, lon]) => L.latLng(lat, lon + shift))))
        const name = L.polygon(there, { ...this.#style, className: `area-outline${area.id === chosen ? ' chosen' : ''}` })
        // an element, since a text would be taken for markup
        name.bindTooltip(element('span', null, area.name), { permanent: true, direction: 'center', className: 'area-name', pane: 'areas' })
        this.#shapes.push(L.polygon(there, { ...this.#style, className: 'area-casing' }).addTo(this.#map), name.addTo(this.#map))
      }
    }
  }

  clear () {
    for (const shape of this.#shapes.splice(0)) shape.remove()
  }
}
