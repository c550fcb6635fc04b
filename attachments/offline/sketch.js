// A shape that the user draws on the map: a box with a handle at each corner, or a polygon, corner by corner. Handles
// are moved with a finger, a mouse or the arrow keys.
import { Emitter } from '../../client/engine/emitter.js'
import { element } from '../../client/timeline/dom.js'
import L from 'leaflet'
import { offlineWords as texts } from '../words.js'
import { boxOf, cornersOf, polygonOf } from './geometry.js'

const HANDLE_SIZE = 44 // pixels of a handle, for fingers; its mark is smaller
const STEP = 8 // pixels that an arrow key moves a handle
const LARGE_STEP = 40 // pixels with Shift
const TAP_DISTANCE = 8 // pixels that a finger may slip during a tap

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }

/**
 * @event change {} the shape changed, also while it is dragged
 * @event shape {} it became a box or a polygon, or has another number of corners
 * @extends {Emitter<{change: {}, shape: {}}>}
 */
export class Sketch extends Emitter {
  /** @type {'box' | 'polygon'} */
  kind = 'box'
  #map
  /** @type {L.LatLng[]} in the order of a walk around the shape */
  #places = []
  /** @type {L.Marker[]} */
  #handles = []
  /** @type {L.Marker | undefined} moves a box as a whole */
  #grip
  #lines
  #listening = new AbortController()
  #pressed = { x: 0, y: 0 }

  /** @param {L.Map} map @param {number[]} bbox */
  constructor (map, bbox) {
    super()
    this.#map = map
    if (!map.getPane('sketch')) map.createPane('sketch').style.cssText = 'z-index: 460; pointer-events: none'
    const renderer = L.svg({ pane: 'sketch', padding: 0.5 })
    this.#lines = ['sketch-casing', 'sketch'].map(className => L.polygon([], {
      className, pane: 'sketch', renderer, interactive: false, smoothFactor: 0
    }).addTo(map))
    map.on('moveend', this.#follow, this)
    this.#listen(map.getContainer())
    this.setBox(bbox)
  }

  remove () {
    this.#listening.abort()
    this.#map.off('moveend', this.#follow, this)
    this.#removeHandles()
    for (const line of this.#lines) line.remove()
  }

  /**
   * The shape as an area takes it; undefined while it has no inside.
   * @returns {{bbox?: number[], polygon?: object} | undefined}
   */
  get geometry () {
    if (this.kind === 'box') return { bbox: boxOf(this.#places) }
    return this.#places.length > 2 ? { polygon: polygonOf(this.#places) } : undefined
  }

  get corners () {
    return this.#places.length
  }

  get bounds () {
    return L.latLngBounds(this.#places)
  }

  setBox (bbox) {
    this.kind = 'box'
    this.#places = cornersOf(bbox).map(({ lat, lng }) => L.latLng(lat, lng))
    this.#follow()
    this.#rebuild()
  }

  /** A polygon without corners: each tap on the map adds one. */
  startPolygon () {
    this.kind = 'polygon'
    this.#places = []
    this.#rebuild()
  }

  /** Removes the last corner of a polygon, or another one. */
  dropCorner (index = this.#places.length - 1) {
    if (this.kind !== 'polygon' || !this.#places.length) return
    const hadFocus = this.#handles[index]?.getElement() === document.activeElement
    this.#places.splice(index, 1)
    this.#rebuild()
    if (!hadFocus) return
    const next = this.#handles[Math.min(index, this.#handles.length - 1)]?.getElement()
    ;(next ?? this.#map.getContainer()).focus({ preventScroll: true })
  }

  /** Keeps the shape in the copy of the world that is in the middle of the map. */
  #follow () {
    if (!this.#places.length) return
    const middle = this.bounds.getCenter().lng
    const shift = 360 * Math.round((this.#map.getCenter().lng - middle) / 360)
    if (!shift) return
    this.#places = this.#places.map(({ lat, lng }) => L.latLng(lat, lng + shift))
    this.#draw()
  }

  /** Makes the handles again. */
  #rebuild () {
    this.#removeHandles()
    const isBox = this.kind === 'box'
    const { corner, corners, whole } = texts.sketch
    this.#handles = this.#places.map((place, index) => {
      const label = isBox ? corners[index] : corner(index + 1)
      return this.#addHandle(place, label, isBox ? 'box' : 'point', (to, isEnd) => this.#moveCorner(index, to, isEnd))
    })
    for (const [index, handle] of this.#handles.entries()) {
      handle.getElement()?.addEventListener('keydown', ({ key }) => {
        if (key === 'Delete' || key === 'Backspace') this.dropCorner(index)
      })
    }
    if (isBox) this.#grip = this.#addHandle(this.#middle(), whole, 'grip', to => this.#moveAll(to))
    this.#draw()
    this.fire('shape')
    this.fire('change')
  }

  #removeHandles () {
    for (const handle of [...this.#handles, this.#grip]) handle?.remove()
    this.#handles = []
    this.#grip = undefined
  }

  /** @param {L.LatLng} place @param {(to: L.LatLng, isEnd: boolean) => void} onMove isEnd: the handle was released */
  #addHandle (place, label, kind, onMove) {
    const icon = L.divIcon({
      className: `sketch-handle ${kind}`, iconSize: [HANDLE_SIZE, HANDLE_SIZE], html: element('span')
    })
    const zIndexOffset = kind === 'grip' ? 0 : 1000
    const handle = L.marker(place, { icon, draggable: true, autoPan: true, keyboard: true, zIndexOffset })
    handle.addTo(this.#map)
    handle.on('drag', () => onMove(handle.getLatLng(), false))
    handle.on('dragend', () => onMove(handle.getLatLng(), true))
    const node = /** @type {HTMLElement} */ (handle.getElement())
    node.setAttribute('aria-label', texts.sketch.moves(label))
    node.addEventListener('keydown', event => {
      const direction = ARROWS[event.key]
      if (!direction) return
      event.preventDefault()
      event.stopPropagation() // the map would move too
      const by = L.point(direction).multiplyBy(event.shiftKey ? LARGE_STEP : STEP)
      const from = this.#map.latLngToContainerPoint(handle.getLatLng())
      onMove(this.#map.containerPointToLatLng(from.add(by)), true)
    })
    return handle
  }

  /** @param {L.LatLng} to */
  #moveCorner (index, to, isEnd) {
    this.#places[index] = to
    if (this.kind === 'box') {
      const opposite = this.#places[(index + 2) % 4]
      const [level, upright] = index % 2 ? [index + 3, index + 1] : [index + 1, index + 3] // neighbours of this corner
      this.#places[level % 4] = L.latLng(to.lat, opposite.lng)
      this.#places[upright % 4] = L.latLng(opposite.lat, to.lng)
      if (isEnd) this.#sortCorners(index)
    }
    this.#draw()
    this.fire('change')
  }

  /** A corner that was dragged over another one takes its name. The focus stays at its place. */
  #sortCorners (index) {
    const hadFocus = this.#handles[index].getElement() === document.activeElement
    const moved = this.#places[index]
    const { bounds } = this
    this.#places = [bounds.getNorthWest(), bounds.getNorthEast(), bounds.getSouthEast(), bounds.getSouthWest()]
    const sorted = this.#places.findIndex(place => place.equals(moved, 1e-9))
    if (hadFocus) this.#handles[sorted]?.getElement()?.focus({ preventScroll: true })
  }

  /** @param {L.LatLng} to new middle; the box keeps its size on the screen */
  #moveAll (to) {
    const by = this.#map.project(to).subtract(this.#map.project(this.#middle()))
    this.#places = this.#places.map(place => this.#map.unproject(this.#map.project(place).add(by)))
    this.#draw()
    this.fire('change')
  }

  #middle () {
    const { bounds } = this
    const northWest = this.#map.project(bounds.getNorthWest())
    return this.#map.unproject(northWest.add(this.#map.project(bounds.getSouthEast())).divideBy(2))
  }

  #draw () {
    for (const line of this.#lines) line.setLatLngs(this.#places)
    for (const [index, handle] of this.#handles.entries()) {
      if (!handle.getLatLng().equals(this.#places[index])) handle.setLatLng(this.#places[index])
    }
    this.#grip?.setLatLng(this.#middle())
  }

  /** Listens before Leaflet does: a tap adds a corner, and does not open the versions of a tile. */
  #listen (container) {
    const options = { capture: true, signal: this.#listening.signal }
    container.addEventListener('pointerdown', ({ clientX, clientY }) => {
      this.#pressed = { x: clientX, y: clientY }
    }, options)
    container.addEventListener('click', event => this.#onClick(event), options)
    container.addEventListener('dblclick', event => { if (this.#isOnMap(event)) event.stopPropagation() }, options)
    container.addEventListener('keydown', event => {
      if (event.key !== 'Enter' || event.target !== container) return
      event.stopPropagation()
      if (this.kind === 'polygon') this.#addCorner(this.#map.getCenter())
    }, options)
  }

  #onClick (event) {
    if (event.target.closest('.leaflet-control')) return
    event.stopPropagation()
    const distance = Math.hypot(event.clientX - this.#pressed.x, event.clientY - this.#pressed.y)
    if (this.#isOnMap(event) && distance < TAP_DISTANCE) this.#addCorner(this.#map.mouseEventToLatLng(event))
  }

  /** Whether an event adds to a polygon: it is not on a handle or a button of the map. */
  #isOnMap ({ target }) {
    return this.kind === 'polygon' && !target.closest('.leaflet-marker-icon, .leaflet-control')
  }

  #addCorner (place) {
    this.#places.push(place)
    this.#rebuild()
  }
}
