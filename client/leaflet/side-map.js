// A second map over one half of the main map. It shows the same place, and each map follows the other.
import L from './version.js'
import { MAX_ZOOM } from '../../core/index.js'


/** It lies over the left half, or over the upper half if the main map is higher than wide. */
export class SideMap {
  #main
  /** @type {any} the map that is being followed at the moment */
  #leader = null
  #stop = new AbortController()
  #padding

  /**
   * @param {any} main @param {HTMLElement} box over the half, in the container of the main map
   * @param {() => {left: number, right: number, bottom: number}} padding pixels at the edges of the main map that
   *   something covers
   */
  constructor (main, box, padding) {
    this.#main = main
    this.#padding = padding
    L.DomEvent.disableClickPropagation(box).disableScrollPropagation(box)
    const { crs, zoomAnimation, fadeAnimation, keyboard, zoomSnap, zoomDelta } = main.options
    /** the map in the box @type {any} */
    this.map = L.map(box, {
      crs, zoomControl: false, trackResize: false, zoomAnimation, fadeAnimation, keyboard, zoomSnap, zoomDelta,
      minZoom: 0, maxZoom: MAX_ZOOM
    })
    // the zooms of the main map limit it, not those of its own layers
    Object.assign(this.map, { getMinZoom: () => main.getMinZoom(), getMaxZoom: () => main.getMaxZoom() })
    this.map.attributionControl.setPrefix(false)
    this.align()
    this.#follow(main, this.map, 1)
    this.#follow(this.map, main, -1)
    main.on('resize', this.align, this)
    // a click on either map is a click of the main map
    this.map.on('click', ({ latlng, originalEvent }) => main.fire('click', {
      latlng, originalEvent, layerPoint: main.latLngToLayerPoint(latlng),
      containerPoint: main.latLngToContainerPoint(latlng)
    }))
  }

  /** Whether it lies over the upper half. */
  get isStacked () {
    const { x, y } = this.#main.getSize()
    return y > x
  }

  /** Makes the second map show the place of the other half of the main map. */
  align () {
    const main = this.#main
    this.#lead(main, () => {
      this.map.invalidateSize({ animate: false, pan: false })
      this.map.setView(this.#opposite(main, 1), main.getZoom(), { animate: false })
    })
    return this
  }

  remove () {
    this.#stop.abort()
    this.#main.off('resize', this.align, this)
    this.map.remove()
  }

  /** Pixels from the middle of the main map to its pixel that shows what the middle of the other map shows. */
  get shift () {
    const { x, y } = this.#main.getSize()
    const { left, right, bottom } = this.#padding()
    if (this.isStacked) return L.point(0, 3 * (y - bottom) / 4 - y / 2)
    return L.point((3 * (x - right) - left) / 4 - x / 2, 0)
  }

  /** @param {1 | -1} sign 1: from the main map to the other */
  #opposite (map, sign, center = map.getCenter(), zoom = map.getZoom()) {
    return map.unproject(map.project(center, zoom).add(this.shift.multiplyBy(sign)), zoom)
  }

  /** Runs a move of a map. The moves of its follower are not followed back. */
  #lead (map, move) {
    if (this.#leader) return
    this.#leader = map
    try {
      move()
    } finally {
      this.#leader = null
    }
  }

  #follow (leader, follower, sign) {
    const on = (events, listener) => {
      leader.on(events, listener)
      this.#stop.signal.addEventListener('abort', () => leader.off(events, listener), { once: true })
    }
    const moveFollower = animate => this.#lead(
      leader, () => follower.setView(this.#opposite(leader, sign), leader.getZoom(), { animate })
    )
    // during a pinch the follower waits for the end: it would drop its tiles at each step
    on('move', () => { if (leader.getZoom() === follower.getZoom()) moveFollower(false) })
    on('moveend', () => moveFollower(false))
    on('zoomanim', ({ center, zoom }) => {
      if (follower._animatingZoom) return // it follows already, or leads
      this.#lead(leader, () => follower.setView(this.#opposite(leader, sign, center, zoom), zoom, { animate: true }))
    })
  }
}
