// Shows areas on the map: their outlines with names, and on request the tiles that are on the device.
import { element } from '../../client/timeline/dom.js'
import L from 'leaflet'
import { CoverageLayer } from '../../client/leaflet/coverage-layer.js'
import { outlinesOf } from './geometry.js'

const WORLDS = [-360, 0, 360] // degrees: the copies of the world that a map may show at once

export class AreaOutlines {
  #map
  #style
  /** @type {L.Polygon[]} */
  #shapes = []

  constructor (map) {
    this.#map = map
    if (!map.getPane('areas')) map.createPane('areas').style.cssText = 'z-index: 440; pointer-events: none'
    this.#style = {
      pane: 'areas', renderer: L.svg({ pane: 'areas', padding: 0.5 }), interactive: false, smoothFactor: 0, fill: false
    }
  }

  show (areas) {
    this.clear()
    for (const area of areas) {
      const outlines = outlinesOf(area.spec)
      for (const shift of WORLDS) {
        this.#draw(area.name, outlines.map(rings => rings.map(ring => ring.map(([lat, lon]) => [lat, lon + shift]))))
      }
    }
  }

  #draw (name, outlines) {
    const casing = L.polygon(outlines, { ...this.#style, className: 'area-casing' })
    const line = L.polygon(outlines, { ...this.#style, className: 'area-outline' })
    // Leaflet takes a text for markup, but not an element
    const label = element('span', null, name)
    line.bindTooltip(label, { permanent: true, direction: 'center', className: 'area-name', pane: 'areas' })
    this.#shapes.push(casing.addTo(this.#map), line.addTo(this.#map))
  }

  clear () {
    for (const shape of this.#shapes.splice(0)) shape.remove()
  }
}

/** Which tiles of the shown layer are on the device. */
export class Coverage {
  isOn = false
  #offline
  #map
  #stage
  /** @type {any} */
  #layer = null

  constructor (offline, map, stage) {
    this.#offline = offline
    this.#map = map
    this.#stage = stage
  }

  /** Draws the coverage of the shown layer, if it is on. */
  show () {
    const isShown = this.isOn && this.#offline.areas.list().length > 0
    const layer = isShown ? this.#stage.doc?.layer : undefined
    if (this.#layer?.options.layer === layer) return
    this.hide()
    if (layer) this.#layer = new CoverageLayer(this.#offline, { layer }).addTo(this.#map)
  }

  hide () {
    this.#layer?.remove()
    this.#layer = null
  }
}
