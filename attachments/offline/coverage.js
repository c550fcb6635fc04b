// The switch that paints over the map which tiles are on the device, and what the marks mean.
import { CoverageLayer } from '../../client/coverage-layer.js'
import { element } from '../dom.js'

const KINDS = [
  ['whole', 'on this device, with all zooms below that were taken along'],
  ['part', 'on this device in part'],
  ['browsed', 'looked at lately']
]

export class Coverage {
  #offline
  #map
  #stage
  /** @type {any} */
  #layer = null
  #input = element('input', { type: 'checkbox', on: { change: () => this.update() } })
  #legend = element('ul', { class: 'legend', hidden: true }, ...KINDS.map(([kind, words]) =>
    element('li', null, element('span', { class: `tilecouch-coverage tilecouch-coverage-${kind}`, 'aria-hidden': 'true' }), words)))

  element = element('div', { class: 'coverage' }, element('label', null, this.#input, 'Show which tiles are on this device'), this.#legend)

  /** @param {any} offline @param {L.Map} map @param {import('../stage.js').Stage} stage */
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
