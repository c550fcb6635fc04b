// What the map shows of areas: their outlines with names, and on request which tiles are on the device.
import { element } from '../../client/timeline/dom.js'
import L from 'leaflet'
import { CoverageLayer } from '../../client/leaflet/coverage-layer.js'
import { offlineWords as texts } from '../words.js'
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

  /** @param {string} [chosen] id of the one that stands out */
  show (areas, chosen) {
    this.clear()
    for (const area of areas) {
      const outlines = outlinesOf(area.spec)
      for (const shift of WORLDS) {
        const there = outlines.map(rings => rings.map(ring => ring.map(([lat, lon]) => L.latLng(lat, lon + shift))))
        const name = L.polygon(there, {
          ...this.#style, className: `area-outline${area.id === chosen ? ' chosen' : ''}`
        })
        // an element, since a text would be taken for markup
        name.bindTooltip(
          element('span', null, area.name),
          { permanent: true, direction: 'center', className: 'area-name', pane: 'areas' }
        )
        this.#shapes.push(
          L.polygon(there, { ...this.#style, className: 'area-casing' }).addTo(this.#map), name.addTo(this.#map)
        )
      }
    }
  }

  clear () {
    for (const shape of this.#shapes.splice(0)) shape.remove()
  }
}

const KINDS = /** @type {const} */ (['whole', 'part'])

export class Coverage {
  #offline
  #map
  #stage
  /** @type {any} */
  #layer = null
  #input = element('input', { type: 'checkbox', on: { change: () => this.update() } })
  #legend = element('ul', { class: 'legend', hidden: true }, ...KINDS.map(kind =>
    element(
      'li',
      null,
      element('span', { class: `tilecouch-coverage tilecouch-coverage-${kind}`, 'aria-hidden': 'true' }),
      texts.coverage[kind]
    )))

  element = element(
    'div', { class: 'coverage' }, element('label', null, this.#input, texts.coverage.show), this.#legend
  )

  constructor (offline, map, stage) {
    this.#offline = offline
    this.#map = map
    this.#stage = stage
  }

  /** Follows the switch, and the layer that is shown. */
  update () {
    const layer = this.#input.checked ? this.#stage.doc?.layer : undefined
    this.#legend.hidden = !this.#input.checked
    if (this.#layer?.options.layer === layer) return
    this.clear()
    if (layer) this.#layer = new CoverageLayer(this.#offline, { layer }).addTo(this.#map)
  }

  /** Off the map; the switch stays as it is. */
  clear () {
    this.#layer?.remove()
    this.#layer = null
  }
}
