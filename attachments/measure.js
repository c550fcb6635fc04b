// Measures on the map: a way from click to click, and what it encloses.
import L from 'leaflet'
import { area, distance } from './format.js'
import { words } from './words.js'

const TOPIC = 'measure'
const SLIP = 8 // pixels a finger may slip and still click
const NO_MAP = '.leaflet-control, .tilecouch-timeline, .tilecouch-compare-handle, .tilecouch-compare-other'
const EARTH = 6371008.8 // metres: mean radius

/** Square metres within a ring on a sphere. @param {{lat: number, lng: number}[]} ring */
export function areaOf (ring) {
  const radians = degrees => degrees * Math.PI / 180
  const sum = ring.reduce((total, { lat, lng }, at) => {
    const next = ring[(at + 1) % ring.length]
    return total + radians(next.lng - lng) * (2 + Math.sin(radians(lat)) + Math.sin(radians(next.lat)))
  }, 0)
  return Math.abs(sum) * EARTH ** 2 / 2
}

export class Measure {
  #map
  #notices
  /** @type {L.LatLng[]} */
  #places = []
  /** @type {L.Layer[]} */
  #marks = []
  /** @type {AbortController | null} while it is used */
  #using = null
  #pressed = { x: 0, y: 0 }

  constructor (map, notices) {
    this.#map = map
    this.#notices = notices
  }

  get isOn () {
    return this.#using !== null
  }

  toggle () {
    if (this.isOn) return this.stop()
    this.#using = new AbortController()
    this.#map.getContainer().classList.add('measuring')
    this.#listen(this.#map.getContainer(), this.#using.signal)
    this.#show()
  }

  stop () {
    this.#using?.abort()
    this.#using = null
    this.#places = []
    this.#map.getContainer().classList.remove('measuring')
    for (const mark of this.#marks.splice(0)) mark.remove()
    this.#notices.end(TOPIC)
  }

  /** @returns {boolean} whether there was anything to end */
  escape () {
    const was = this.isOn
    this.stop()
    return was
  }

  // before Leaflet hears of it: a click is a place, and no question about a tile
  #listen (container, signal) {
    const options = { capture: true, signal }
    const isMap = ({ target }) => !target.closest(NO_MAP)
    container.addEventListener('pointerdown', ({ clientX, clientY }) => { this.#pressed = { x: clientX, y: clientY } }, options)
    container.addEventListener('click', event => {
      if (!isMap(event)) return
      event.stopPropagation()
      const { x, y } = this.#pressed
      if (Math.hypot(event.clientX - x, event.clientY - y) < SLIP) this.#add(this.#map.mouseEventToLatLng(event))
    }, options)
    container.addEventListener('dblclick', event => { if (isMap(event)) event.stopPropagation() }, options)
    container.addEventListener('keydown', event => {
      if (event.target !== container || !['Enter', 'Backspace'].includes(event.key)) return
      event.stopPropagation()
      if (event.key === 'Enter') this.#add(this.#map.getCenter())
      else this.#undo()
    }, options)
  }

  #add (place) {
    this.#places.push(place)
    this.#show()
  }

  #undo () {
    this.#places.pop()
    this.#show()
  }

  #show () {
    for (const mark of this.#marks.splice(0)) mark.remove()
    const places = this.#places
    if (places.length) this.#draw(places)
    const length = places.slice(1).reduce((sum, place, at) => sum + this.#map.distance(places[at], place), 0)
    const text = places.length < 2 ? words.measure.hint
      : places.length === 2 ? distance(length)
        : words.measure.both({ length: distance(length), area: area(areaOf(places)) })
    this.#notices.show(TOPIC, {
      text,
      ...(places.length && { action: { label: words.measure.undo, run: () => this.#undo() } }),
      onClose: () => this.stop()
    })
  }

  #draw (places) {
    const style = className => ({ pane: 'outlines', interactive: false, className, fill: false })
    this.#marks = [
      L.polyline(places, style('measure-casing')), L.polyline(places, style('measure-line')),
      ...places.map(place => L.circleMarker(place, { ...style('measure-place'), radius: 5, fill: true }))
    ]
    for (const mark of this.#marks) mark.addTo(this.#map)
  }
}
