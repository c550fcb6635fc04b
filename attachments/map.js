// The Leaflet map of the viewer: its place, how a layer fits into it, and the places that the user picks.
import L from 'leaflet'
import { corners } from '../client/leaflet/layer-options.js'
import { locale, words } from './words.js'

const isImperial = /^en-(US|LR)/.test(locale)
const OVERZOOM = 3 // zooms beyond the layer's last one, enlarged
const WORLD_WIDTH = 300 // degrees: a layer wider than this is the whole world
const CLOSEST = 17 // maximum zoom of a place with a box
const MARGIN = 48 // pixels that stay free around a place
const DOUBLE_CLICK = 250 // milliseconds in which a second click makes a double click, which zooms

export const reducesMotion = () => matchMedia('(prefers-reduced-motion: reduce)').matches

export class MapView {
  #placed = false
  /** @type {{z: number, lat: number, lon: number} | undefined} */
  #requested
  #free
  #offset = L.point(0, 0)
  /** @type {L.Layer[]} of the last place of goTo() */
  #marks = []

  /**
   * @param {HTMLElement} container
   * @param {{onMove: () => void, onPick: (place: L.LatLng, byKey: boolean) => void, free: () => {left: number, right:
   *   number, bottom: number}}} options
   *   free: covered pixels at the edges of the map
   */
  constructor (container, { onMove, onPick, free }) {
    this.#free = free
    this.map = L.map(container, {
      zoomControl: false,
      worldCopyJump: true,
      maxBounds: [[-85.06, -1e6], [85.06, 1e6]],
      maxBoundsViscosity: 1,
      zoomAnimation: !reducesMotion(),
      fadeAnimation: !reducesMotion()
    })
    this.map.attributionControl.setPrefix('<a href="https://leafletjs.com" target="_blank" rel="noopener">Leaflet</a>')
    L.control.zoom({
      position: 'topright', zoomInTitle: words.map.zoomIn, zoomOutTitle: words.map.zoomOut
    }).addTo(this.map)
    L.control.scale({
      position: 'bottomright', maxWidth: 140, imperial: isImperial, metric: !isImperial
    }).addTo(this.map)
    this.map.on('moveend', onMove)
    let clicked
    this.map.on('click', ({ latlng }) => {
      clearTimeout(clicked)
      clicked = setTimeout(() => onPick(latlng, false), DOUBLE_CLICK)
    })
    this.map.on('dblclick movestart', () => clearTimeout(clicked))
    container.addEventListener('keydown', event => {
      if (event.key === 'Enter' && event.target === container) onPick(this.map.getCenter(), true)
    })
    new ResizeObserver(() => this.map.invalidateSize({ animate: false })).observe(container)
  }

  /** The place of the map; null before it has one. */
  get view () {
    if (!this.#placed) return null
    const z = this.map.getZoom()
    const center = this.map.unproject(this.map.project(this.map.getCenter(), z).add(this.#offset), z)
    // Leaflet rounds to whole pixels, and a permalink must not drift
    const view = this.#requested
    if (view?.z === z && this.map.project([view.lat, view.lon], z).distanceTo(this.map.project(center, z)) < 1) {
      return view
    }
    return { z, lat: center.lat, lon: this.map.wrapLatLng(center).lng }
  }

  /** @param {{z: number, lat: number, lon: number}} view */
  go ({ z, lat, lon }) {
    this.map.invalidateSize({ animate: false })
    const middle = this.map.project([lat, lon], z).subtract(this.#offset)
    this.map.setView(this.map.unproject(middle, z), z, { animate: false })
    this.#placed = true
    this.#requested = { z, lat, lon }
  }

  /**
   * Shows the place of the view elsewhere than in the middle of the map: two maps beside each other show it in the
   * middle of each. @param {number} x pixels from the middle of the map @param {number} y
   */
  shift (x, y) {
    const { view } = this
    if (this.#offset.equals([x, y])) return
    this.#offset = L.point(x, y)
    if (view) this.go(view)
  }

  /**
   * Goes to a place and marks it.
   * @param {{lat: number, lon: number, z?: number, box?: number[], accuracy?: number}} place box: west, south, east,
   *   north; accuracy: metres around it
   */
  goTo ({ lat, lon, z = this.map.getZoom(), box: around, accuracy }) {
    this.map.invalidateSize({ animate: false })
    this.#placed = true
    const accuracyBounds = accuracy ? L.latLng(lat, lon).toBounds(2 * accuracy) : null
    const bounds = around ? box(around) : accuracyBounds
    if (bounds) this.#fitBox(bounds, CLOSEST)
    else this.#center([lat, lon], Math.min(z, this.map.getMaxZoom()))
    this.#mark([lat, lon], accuracy)
  }

  /** Fits a box into the free part of the map. */
  #fitBox (bounds, maxZoom) {
    const { left, right, bottom } = this.#free()
    this.map.fitBounds(bounds, {
      paddingTopLeft: [left, 0], paddingBottomRight: [right, bottom], maxZoom, animate: false
    })
  }

  /** Shows a place in the middle of the free part of the map. */
  #center (place, zoom) {
    const { left, right, bottom } = this.#free()
    const middle = this.map.project(place, zoom).add([(right - left) / 2, bottom / 2])
    this.map.setView(this.map.unproject(middle, zoom), zoom, { animate: false })
  }

  #mark (place, accuracy) {
    for (const mark of this.#marks.splice(0)) mark.remove()
    const style = className => ({ pane: 'outlines', interactive: false, className })
    if (accuracy) this.#marks.push(L.circle(place, { ...style('here-around'), radius: accuracy }).addTo(this.map))
    this.#marks.push(L.circleMarker(place, { ...style('here'), radius: 8 }).addTo(this.map))
  }

  /** Goes to a layer, unless a part of it is in view. */
  see (layer) {
    this.map.invalidateSize({ animate: false })
    if (!this.#placed || !this.#sees(layer)) this.fit(layer)
  }

  /** Moves the map so that nothing covers a place. @param {L.LatLngExpression} place */
  reveal (place) {
    this.map.invalidateSize({ animate: false })
    const { left, right, bottom } = this.#free()
    this.map.panInside(place, {
      paddingTopLeft: [left + MARGIN, MARGIN],
      paddingBottomRight: [right + MARGIN, bottom + MARGIN],
      animate: !reducesMotion()
    })
  }

  #sees ({ minzoom = 0, maxzoom = 18, bounds }) {
    const zoom = this.map.getZoom()
    return zoom >= minzoom && zoom <= maxzoom + OVERZOOM &&
      (!bounds || isWorld(bounds) || this.map.getBounds().intersects(box(bounds)))
  }

  /**
   * Fits a layer into the map. The map has the zooms of the previous layer until the tiles of this one have loaded.
   * @param {import('./store.js').Layer} layer
   */
  fit (layer) {
    const { options } = this.map
    const { minZoom, maxZoom } = options
    Object.assign(options, { minZoom: 0, maxZoom: layer.maxzoom ?? 18 })
    this.#fit(layer)
    Object.assign(options, { minZoom, maxZoom })
  }

  #fit ({ minzoom = 0, maxzoom = 18, bounds = [-180, -85, 180, 85], center }) {
    this.#placed = true
    if (!isWorld(bounds)) return this.#fitBox(box(bounds), maxzoom)
    // the whole world fills the free part of the window
    const { left, right, bottom } = this.#free()
    const { x: width, y: height } = this.map.getSize()
    const z = Math.ceil(Math.log2(Math.max(width - left - right, height - bottom) * 0.9 / 256))
    const [lon, lat] = center ?? [10, 25]
    this.#center([lat, lon], Math.min(Math.max(z, minzoom), maxzoom))
  }
}

const isWorld = ([west, , east]) => east - west > WORLD_WIDTH

const box = bounds => L.latLngBounds(/** @type {any} */ (corners(bounds)))
