// Small pictures of a vector layer at other times, drawn by a copy of it on a hidden map.
import { Clock } from '../../client/engine/clock.js'
import { wait } from '../../client/source/wait.js'
import { closeHiddenMap, openHiddenMap } from './hidden-map.js'

const POLL = 20 // milliseconds between two checks of the copy while it is being drawn

export class VectorPictures {
  #size
  #map
  #copy

  /** @param {import('../stage.js').Stage} stage with the layer on its map @param {AbortSignal} signal closes it */
  constructor (stage, signal) {
    const { layer, doc } = stage
    const { x: width, y: height } = layer._map.getSize()
    this.#size = { width, height }
    this.#map = openHiddenMap(layer._map, { width, height })
    signal.addEventListener('abort', () => this.#close(), { once: true })
    const options = { clock: new Clock(), live: false, fade: 0, preload: 0, padding: 0 }
    this.#copy = stage.open(doc, options).addTo(this.#map)
  }

  /** Draws the view so large that it fills the canvas. @param {HTMLCanvasElement} canvas @param {string} time */
  async draw (canvas, time, signal) {
    this.#copy.clock.setTime(time)
    while (!this.#copy.isDrawn()) await wait(POLL, signal)
    const { width, height } = this.#size
    const scale = Math.max(canvas.width / width, canvas.height / height)
    const [left, top] = [(canvas.width - width * scale) / 2, (canvas.height - height * scale) / 2]
    const context = canvas.getContext('2d')
    context?.clearRect(0, 0, canvas.width, canvas.height)
    this.#copy.paint(context, { left, top, scale })
  }

  #close () {
    this.#copy?.remove()
    closeHiddenMap(this.#map)
  }
}
