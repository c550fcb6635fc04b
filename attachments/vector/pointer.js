// A tooltip beside the pointer: the uppermost feature under it, with its attributes.
import L from 'leaflet'
import { element } from '../../client/timeline/dom.js'

const NAMES = ['name', 'name:latin', 'name:en', 'title', 'ref'] // attributes that can hold the name of a feature
const MOST = 6 // attributes: the card has all of them
const LONGEST = 60 // characters of a value

export class Pointer {
  #layer
  #tip = L.tooltip({ className: 'feature-tip', direction: 'right', offset: [14, 0], opacity: 1 })
  #frame = 0
  #shown = ''

  /** @param {import('./vector-layer.js').VectorLayer} layer */
  constructor (layer) {
    this.#layer = layer
  }

  /** @param {AbortSignal} signal stops it */
  follow (map, signal) {
    const look = ({ latlng, originalEvent }) => {
      cancelAnimationFrame(this.#frame)
      // a finger would cover the tooltip: the card has the same attributes
      if (originalEvent.pointerType === 'touch' || matchMedia('(hover: none)').matches) return
      this.#frame = requestAnimationFrame(() => this.#show(map, latlng))
    }
    const end = () => {
      cancelAnimationFrame(this.#frame)
      this.#shown = ''
      this.#tip.remove()
      map.getContainer().style.cursor = ''
    }
    map.on('mousemove', look)
    map.on('mouseout movestart zoomstart', end)
    signal.addEventListener('abort', () => {
      end()
      map.off('mousemove', look)
      map.off('mouseout movestart zoomstart', end)
    }, { once: true })
  }

  #show (map, place) {
    const [feature] = map.dragging?.moving?.() ? [] : this.#layer.featuresAt(place)
    const shown = feature ? JSON.stringify(feature) : ''
    map.getContainer().style.cursor = feature ? 'pointer' : ''
    if (!feature) this.#tip.remove()
    else {
      if (shown !== this.#shown) this.#tip.setContent(contentOf(feature))
      this.#tip.setLatLng(place)
      if (!map.hasLayer(this.#tip)) this.#tip.addTo(map)
    }
    this.#shown = shown
  }
}

function contentOf (feature) {
  const entries = Object.entries(feature.properties)
  const name = nameOf(feature)
  return element('div', null,
    element('strong', null, name ?? feature.sourceLayer), name ? element('span', null, feature.sourceLayer) : null,
    element('dl', null, entries.slice(0, MOST).flatMap(([key, value]) =>
      [element('dt', null, key), element('dd', null, String(value).slice(0, LONGEST))])),
    entries.length > MOST && element('small', null, `+ ${entries.length - MOST}`))
}

/** @returns {string | undefined} */
export function nameOf ({ properties }) {
  const key = NAMES.find(name => typeof properties[name] === 'string' && properties[name])
  return key && properties[key]
}
