// Shows how often each place in view changed, as translucent squares over the map. The squares are tiles of the deepest
// zoom whose versions fit into one answer of the store. All squares of a level are one shape: the map moves faster.
import L from 'leaflet'
import { viewColumns } from '../client/engine/resolve.js'
import { count } from './format.js'
import { copiesOf, ring } from './outlines.js'

const LEVELS = 5
const LABEL = 40 // pixels: the minimum width of a square with a number
const MOST_VERSIONS = 20000 // maximum versions of an answer
const SMALLEST = 16 // minimum pixels of a square
const TILE = 256 // pixels

/** @typedef {{z: number, x: number, y: number, changes: number}} Square */

/** The level of a number, 1 to 5. The square root makes small numbers distinguishable beside large ones. */
export const levelOf = (changes, most) => Math.min(LEVELS, Math.max(1, Math.ceil(Math.sqrt(changes / most) * LEVELS)))

export class HeatMap {
  #map
  #renderer
  #request = new AbortController()
  /** @type {L.Layer[]} */
  #marks = []

  constructor (map) {
    this.#map = map
    map.createPane('heat').style.cssText = 'z-index: 445; pointer-events: none'
    this.#renderer = L.svg({ pane: 'heat', padding: 0.5 })
  }

  /** @param {any} layer history layer; null: shows nothing */
  async show (layer) {
    this.#request.abort()
    const { signal } = this.#request = new AbortController()
    const tiles = layer?.changesByTile() ?? []
    const zoom = this.#deepestZoom(layer, tiles)
    if (!tiles.length || zoom === tiles[0].z) return this.#draw(tiles)
    const squares = await this.#read(layer, zoom, signal).catch(() => tiles)
    if (!signal.aborted) this.#draw(squares)
  }

  /** Each zoom has four times as many versions, and squares of half the size. @param {Square[]} tiles of the view */
  #deepestZoom (layer, tiles) {
    if (!tiles.length) return 0
    const [{ z }] = tiles
    const versions = tiles.reduce((sum, { changes }) => sum + changes + 1, 0)
    const size = TILE * 2 ** (this.#map.getZoom() - z)
    const steps = Math.floor(Math.min(Math.log2(MOST_VERSIONS / versions) / 2, Math.log2(size / SMALLEST)))
    return Math.max(z, Math.min(z + steps, layer.history.doc?.maxzoom ?? z))
  }

  /** @returns {Promise<Square[]>} */
  async #read (layer, zoom, signal) {
    const { source, options } = layer.history
    const { min, max } = this.#map.getPixelBounds()
    const size = TILE * 2 ** (this.#map.getZoom() - zoom)
    const range = { min: min.divideBy(size).floor(), max: max.divideBy(size).floor() }
    const answers = await source.versions(options.layer, viewColumns(range, zoom), signal)
    /** @type {Map<string, Square>} */
    const squares = new Map()
    for (const { z, x, y } of answers.flat()) {
      const square = squares.get(`${x}/${y}`)
      if (square) square.changes++
      else squares.set(`${x}/${y}`, { z, x, y, changes: 0 })
    }
    return [...squares.values()]
  }

  /** @param {Square[]} tiles */
  #draw (tiles) {
    for (const mark of this.#marks.splice(0)) mark.remove()
    const changed = tiles.filter(({ changes }) => changes > 0)
    const maxChanges = changed.reduce((max, { changes }) => Math.max(max, changes), 1)
    for (let level = 1; level <= LEVELS; level++) {
      const rings = changed.filter(({ changes }) => levelOf(changes, maxChanges) === level)
        .flatMap(tile => copiesOf(this.#map, tile).map(copy => [ring(copy)]))
      if (rings.length) this.#add(L.polygon(rings, this.#style(level)))
    }
    for (const tile of changed) for (const copy of copiesOf(this.#map, tile)) this.#label(copy, tile.changes)
  }

  #style (level) {
    const className = `heat-square heat-${level}`
    return { pane: 'heat', renderer: this.#renderer, interactive: false, className, smoothFactor: 0, noClip: true }
  }

  /** Writes the number into a square that has room for it. */
  #label ({ s: south, w: west, n: north, e: east }, changes) {
    const [low, high] = [[south, west], [north, east]].map(corner => this.#map.latLngToLayerPoint(corner))
    if (high.x - low.x < LABEL) return
    const html = Object.assign(document.createElement('span'), { textContent: count(changes) })
    const icon = L.divIcon({ className: 'heat-number', iconSize: [LABEL, 20], html })
    const middle = this.#map.layerPointToLatLng(low.add(high).divideBy(2))
    // Leaflet stacks markers by their pixels, which may be negative: the offset puts them over the squares
    this.#add(L.marker(middle, { pane: 'heat', icon, interactive: false, keyboard: false, zIndexOffset: 1e6 }))
  }

  #add (mark) {
    this.#marks.push(mark.addTo(this.#map))
  }
}
