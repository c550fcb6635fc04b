// A shape that the user draws on the map: a box with a handle at each corner, or a polygon, corner by corner. Handles
// are moved with a finger, a mouse or the arrow keys.
import { element } from '../../client/timeline/dom.js'
import L from 'leaflet'
import { offlineWords as texts } from '../words.js'
import { boxOf, cornersOf, polygonOf } from './geometry.js'

const HANDLE_SIZE = 44 // pixels of a handle that a finger hits; what is drawn of it is smaller
const STEP = 8 // pixels that an arrow key moves a handle
const LARGE_STEP = 40 // pixels with Shift
const TAP_DISTANCE = 8 // pixels a finger may slip and still tap

const ARROWS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] }
const own = texts.sketch

export class Sketch {
  /** @type {'box' | 'polygon'} */
  kind = 'box'
  #map
  #onChange
  /** @type {L.LatLng[]} in the order of a walk around it */
  #places = []
  /** @type {L.Marker[]} */
  #handles = []
  /** @type {L.Marker | undefined} moves a box as a whole */
  #grip
  #shape
  #listening = new AbortController()
  #pressed = { x: 0, y: 0 }

  constructor (map, onChange) {
    this.#map = map
    this.#onChange = onChange
    if (!map.getPane('sketch')) map.createPane('sketch').style.cssText = 'z-index: 460; pointer-events: none'
    const style = {
      pane: 'sketch', renderer: L.svg({ pane: 'sketch', padding: 0.5 }), interactive: false, smoothFactor: 0
    }
    this.#shape = [
      L.polygon([], { ...style, className: 'sketch-casing' }), L.polygon([], { ...style, className: 'sketch' })
    ]
    for (const shape of this.#shape) shape.addTo(map)
    map.on('moveend', this.#follow, this)
    this.#listen(map.getContainer())
  }

  remove () {
    this.#listening.abort()
    this.#map.off('moveend', this.#follow, this)
    this.#clearHandles()
    for (const shape of this.#shape) shape.remove()
  }

  /**
   * What is drawn, as an area takes it; nothing while it has no inside.
   * @returns {{bbox: number[]} | {polygon: object} | undefined}
   */
  get geometry () {
    if (this.kind === 'box') return this.#places.length ? { bbox: boxOf(this.#places) } : undefined
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
    this.#make()
  }

  /** Nothing yet: from now on each tap on the map is a corner. */
  startPolygon () {
    this.kind = 'polygon'
    this.#places = []
    this.#make()
  }

  /** Takes back the corner that came last, or another one. */
  dropCorner (index = this.#places.length - 1) {
    if (this.kind !== 'polygon' || !this.#places.length) return
    const hadFocus = this.#handles[index]?.getElement() === document.activeElement
    this.#places.splice(index, 1)
    this.#make()
    if (hadFocus) {
      (this.#handles[Math.min(index, this.#handles.length - 1)]?.getElement() ?? this.#map.getContainer())
        .focus({ preventScroll: true })
    }
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

  #make () {
    this.#clearHandles()
    const isBox = this.kind === 'box'
    this.#handles = this.#places.map((place, index) => this.#handle(
      place,
      isBox ? own.corners[index] : own.corner(index + 1),
      isBox ? 'box' : 'point',
      (to, isOver) => this.#drag(index, to, isOver)
    ))
    this.#handles.forEach((handle, index) => handle.getElement()?.addEventListener('keydown', event => {
      if (event.key === 'Delete' || event.key === 'Backspace') this.dropCorner(index)
    }))
    if (isBox && this.#places.length) this.#grip = this.#handle(
      this.#middle(), own.whole, 'grip', to => this.#moveAll(to)
    )
    this.#draw()
    this.#onChange()
  }

  #clearHandles () {
    for (const handle of [...this.#handles, this.#grip]) handle?.remove()
    this.#handles = []
    this.#grip = undefined
  }

  /** @param {L.LatLng} place @param {(to: L.LatLng, isOver: boolean) => void} onMove */
  #handle (place, label, kind, onMove) {
    const icon = L.divIcon({
      className: `sketch-handle ${kind}`, iconSize: [HANDLE_SIZE, HANDLE_SIZE], html: element('span')
    })
    const handle = L.marker(place, {
      icon, draggable: true, autoPan: true, keyboard: true, zIndexOffset: kind === 'grip' ? 0 : 1000
    }).addTo(this.#map)
    const node = /** @type {HTMLElement} */ (handle.getElement())
    node.setAttribute('aria-label', own.moves(label))
    handle.on('drag', () => onMove(handle.getLatLng(), false))
    handle.on('dragend', () => onMove(handle.getLatLng(), true))
    node.addEventListener('keydown', event => {
      const direction = ARROWS[event.key]
      if (!direction) return
      event.preventDefault()
      event.stopPropagation() // the map would move, too
      const by = L.point(direction).multiplyBy(event.shiftKey ? LARGE_STEP : STEP)
      onMove(this.#map.containerPointToLatLng(this.#map.latLngToContainerPoint(handle.getLatLng()).add(by)), true)
    })
    return handle
  }

  /** @param {L.LatLng} to */
  #drag (index, to, isOver) {
    if (this.kind === 'box') {
      const opposite = this.#places[(index + 2) % 4]
      // the neighbour that comes next is at the latitude of this corner, or else at its longitude
      const isLevel = index % 2 === 0
      this.#places[index] = to
      this.#places[(index + 1) % 4] = isLevel ? L.latLng(to.lat, opposite.lng) : L.latLng(opposite.lat, to.lng)
      this.#places[(index + 3) % 4] = isLevel ? L.latLng(opposite.lat, to.lng) : L.latLng(to.lat, opposite.lng)
      if (isOver) this.#straighten(index)
    } else this.#places[index] = to
    this.#draw()
    this.#onChange()
  }

  /** A corner that was dragged over another is that other one from now on. */
  #straighten (index) {
    const hadFocus = this.#handles[index].getElement() === document.activeElement
    const to = this.#places[index]
    const { bounds } = this
    this.#places = [bounds.getNorthWest(), bounds.getNorthEast(), bounds.getSouthEast(), bounds.getSouthWest()]
    const now = this.#places.findIndex(place => place.equals(to, 1e-9))
    if (hadFocus && now >= 0) this.#handles[now].getElement()?.focus({ preventScroll: true })
  }

  /** @param {L.LatLng} to where its middle goes; it keeps its size on the screen */
  #moveAll (to) {
    const by = this.#map.project(to).subtract(this.#map.project(this.#middle()))
    this.#places = this.#places.map(place => this.#map.unproject(this.#map.project(place).add(by)))
    this.#draw()
    this.#onChange()
  }

  #middle () {
    const { bounds } = this
    return this.#map.unproject(
      this.#map.project(bounds.getNorthWest()).add(this.#map.project(bounds.getSouthEast())).divideBy(2)
    )
  }

  #draw () {
    for (const shape of this.#shape) shape.setLatLngs(this.#places)
    this.#handles.forEach(
      (handle, index) => { if (!handle.getLatLng().equals(this.#places[index])) handle.setLatLng(this.#places[index]) }
    )
    if (this.#grip && this.#places.length) this.#grip.setLatLng(this.#middle())
  }

  // before Leaflet hears of it: a tap is a corner, and not a question about a tile
  #listen (container) {
    const options = { capture: true, signal: this.#listening.signal }
    const isFree = ({ target }) => this.kind === 'polygon' && !target.closest('.leaflet-marker-icon, .leaflet-control')
    container.addEventListener(
      'pointerdown', ({ clientX, clientY }) => { this.#pressed = { x: clientX, y: clientY } }, options
    )
    container.addEventListener('click', event => {
      if (event.target.closest('.leaflet-control')) return
      event.stopPropagation()
      if (
        isFree(event) && Math.hypot(event.clientX - this.#pressed.x, event.clientY - this.#pressed.y) < TAP_DISTANCE
      ) this.#add(this.#map.mouseEventToLatLng(event))
    }, options)
    container.addEventListener('dblclick', event => { if (isFree(event)) event.stopPropagation() }, options)
    container.addEventListener('keydown', event => {
      if (event.key !== 'Enter' || event.target !== container) return
      event.stopPropagation()
      if (this.kind === 'polygon') this.#add(this.#map.getCenter())
    }, options)
  }

  #add (place) {
    this.#places.push(place)
    this.#make()
  }
}
