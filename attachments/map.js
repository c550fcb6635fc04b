// The map: one layer at a time, as it is or as it was.
import { template } from './api.js'
import { attributionHtml } from './dom.js'

const CLOSER = 3 // zooms beyond the layer's last one, enlarged
const WORLD = 300 // degrees: a layer wider than this is the whole world

export class MapView {
  #shown
  #earlier = new Set() // layers that stay until the next one is drawn, so that nothing flashes

  /**
   * @param {HTMLElement} container
   * @param {{onMove: () => void, onTileError: () => void}} listeners
   */
  constructor (container, { onMove, onTileError }) {
    const calm = matchMedia('(prefers-reduced-motion: reduce)').matches
    this.map = L.map(container, {
      zoomControl: false,
      worldCopyJump: true,
      maxBounds: [[-85.06, -1e6], [85.06, 1e6]],
      maxBoundsViscosity: 1,
      zoomAnimation: !calm,
      fadeAnimation: !calm
    })
    this.map.attributionControl.setPrefix('<a href="https://leafletjs.com" target="_blank" rel="noopener">Leaflet</a>')
    L.control.zoom({ position: 'topright' }).addTo(this.map)
    L.control.scale({ position: 'bottomright', imperial: false }).addTo(this.map)
    this.map.on('moveend', onMove)
    this.onTileError = onTileError
    new ResizeObserver(() => this.map.invalidateSize({ pan: false })).observe(container)
  }

  /** Where the map is, once it is anywhere. */
  get view () {
    if (!this.#placed) return null
    const z = this.map.getZoom()
    const center = this.map.getCenter()
    // Leaflet stands on whole pixels, and a permalink must not wander off
    const asked = this.#asked
    if (asked?.z === z && this.map.project([asked.lat, asked.lon], z).distanceTo(this.map.project(center, z)) < 1) return asked
    return { z, lat: center.lat, lon: this.map.wrapLatLng(center).lng }
  }

  #placed = false
  /** @type {{z: number, lat: number, lon: number} | undefined} */
  #asked

  /** @param {{z: number, lat: number, lon: number}} view */
  go ({ z, lat, lon }) {
    this.map.invalidateSize({ pan: false })
    this.map.setView([lat, lon], z, { animate: false })
    this.#placed = true
    this.#asked = { z, lat, lon }
  }

  /**
   * @param {import('./api.js').Layer} layer
   * @param {string} [time]
   * @param {number} [covered] pixels on the left that the panel hides
   */
  show (layer, time, covered = 0) {
    this.map.invalidateSize({ pan: false })
    if (!this.#placed || !this.#sees(layer)) this.#fit(layer, covered)
    if (this.#shown) this.#earlier.add(this.#shown)
    const shown = this.#shown = this.#tiles(layer, time)
    shown.on('tileerror', this.onTileError).on('load', () => { if (shown === this.#shown) this.#dropEarlier() }).addTo(this.map)
    if (!shown.isLoading()) this.#dropEarlier() // nothing of it is in view
  }

  clear () {
    this.#shown?.remove()
    this.#shown = undefined
    this.#dropEarlier()
  }

  /** Asks again for the tiles that did not come. */
  retry () {
    this.#shown?.redraw()
  }

  #dropEarlier () {
    for (const layer of this.#earlier) layer.remove()
    this.#earlier.clear()
  }

  #tiles (layer, time) {
    const { minzoom = 0, maxzoom = 18, bounds, tileSize = 256, attribution } = layer
    const shift = Math.log2(tileSize / 256) // a tile of 512 pixels stands where Leaflet expects four of the next zoom
    return L.tileLayer(template(layer, time), {
      minZoom: minzoom + shift,
      maxNativeZoom: maxzoom + shift,
      maxZoom: maxzoom + shift + CLOSER,
      zoomOffset: -shift,
      tileSize,
      ...(bounds && { bounds: box(bounds) }),
      attribution: attribution && attributionHtml(attribution)
    })
  }

  #sees ({ minzoom = 0, maxzoom = 18, bounds }) {
    const zoom = this.map.getZoom()
    return zoom >= minzoom && zoom <= maxzoom + CLOSER && (!bounds || isWorld(bounds) || this.map.getBounds().intersects(box(bounds)))
  }

  #fit ({ minzoom = 0, maxzoom = 18, bounds = [-180, -85, 180, 85], center }, covered) {
    this.#placed = true
    if (!isWorld(bounds)) {
      this.map.fitBounds(box(bounds), { paddingTopLeft: [covered, 0], maxZoom: maxzoom, animate: false })
      return
    }
    // the whole world: as large as fills the free part of the window
    const { x: width, y: height } = this.map.getSize()
    const z = Math.ceil(Math.log2(Math.max(width - covered, height) * 0.9 / 256))
    const [lon, lat] = center ?? [10, 25]
    const zoom = Math.min(Math.max(z, minzoom), maxzoom)
    const middle = this.map.project([lat, lon], zoom).subtract([covered / 2, 0])
    this.map.setView(this.map.unproject(middle, zoom), zoom, { animate: false })
  }
}

const isWorld = ([west, , east]) => east - west > WORLD

const box = ([west, south, east, north]) => L.latLngBounds([south, west], [north, east < west ? east + 360 : east])
