// A second map over a half of another one. It shows the same place, and each follows the other.
import L from './version.js'

const HIGHEST = 30 // zoom

/** Over the left half; over the upper one where the map is higher than wide. */
export class SideMap {
  #main
  /** @type {any} the map that is being followed at the moment */
  #leader = null
  #stop = new AbortController()
  #padding

  /**
   * @param {any} main @param {HTMLElement} box over the half, in the container of the main map
   * @param {() => {left: number, right: number, bottom: number}} padding pixels of the main map under something
   */
  constructor (main, box, padding) {
    this.#main = main
    this.#padding = padding
    L.DomEvent.disableClickPropagation(box).disableScrollPropagation(box)
    const { crs, zoomAnimation, fadeAnimation, keyboard, zoomSnap, zoomDelta } = main.options
    /** the map in the box @type {any} */
    this.map = L.map(box, {
      crs, zoomControl: false, trackResize: false, zoomAnimation, fadeAnimation, keyboard, zoomSnap, zoomDelta,
      minZoom: 0, maxZoom: HIGHEST
    })
    // not its layers limit it: where they end they are not seen, as beside others on one map
    Object.assign(this.map, { getMinZoom: () => main.getMinZoom(), getMaxZoom: () => main.getMaxZoom() })
    this.map.attributionControl.setPrefix(false)
    this.align()
    this.#follow(main, this.map, 1)
    this.#follow(this.map, main, -1)
    main.on('resize', this.align, this)
    // a place is a place, whichever map shows it
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

  /** The second map shows what the other half of the main one does. */
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

  /** What the follower does meanwhile is not followed back. */
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
    const set = animate => this.#lead(
      leader, () => follower.setView(this.#opposite(leader, sign), leader.getZoom(), { animate })
    )
    // while fingers zoom, the other one waits for the end: it would drop its tiles at each step
    on('move', () => { if (leader.getZoom() === follower.getZoom()) set(false) })
    on('moveend', () => set(false))
    on('zoomanim', ({ center, zoom }) => {
      if (follower._animatingZoom) return // it follows already, or leads
      this.#lead(leader, () => follower.setView(this.#opposite(leader, sign, center, zoom), zoom, { animate: true }))
    })
  }
}
