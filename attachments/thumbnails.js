// Small pictures of the view at other times. Each is drawn from the images that are loaded; missing images are fetched
// for one picture after the other.
import { Semaphore } from '../core/promises.js'

export class Thumbnails {
  #stage
  #stop = new AbortController()
  #turns = new Semaphore(1)
  /** @type {import('./vector/pictures.js').VectorPictures | null} of this view */
  #vectors = null

  /** @param {import('./stage.js').Stage} stage */
  constructor (stage) {
    this.#stage = stage
  }

  /** @param {HTMLCanvasElement} canvas @param {string} time */
  draw (canvas, time) {
    const { signal } = this.#stop
    this.#turns.run(async () => {
      if (canvas.isConnected && !signal.aborted) await this.#drawOne(canvas, time, signal)
    }).catch(() => {}) // this picture stays empty
  }

  /** Forgets the pictures that are not drawn yet: the view has changed. */
  drop () {
    this.#vectors = null
    this.#stop.abort()
    this.#stop = new AbortController()
  }

  async #drawOne (canvas, time, signal) {
    const { layer } = this.#stage
    if (!layer) return
    if (layer.gl) {
      this.#vectors ??= this.#stage.openPictures(signal)
      return this.#vectors.draw(canvas, time, signal)
    }
    await paint(canvas, layer, time)
    if (layer.pictures(time).every(({ image }) => image) || signal.aborted) return
    await layer.preload([time], signal)
    if (!signal.aborted) await paint(canvas, layer, time)
  }
}

/** Draws the view of a layer at a time. It fills the canvas. */
async function paint (canvas, layer, time) {
  const { x, y } = layer._map?.getSize() ?? { x: 0, y: 0 }
  const context = canvas.getContext('2d')
  if (!x || !context) return
  const scale = Math.max(canvas.width / x, canvas.height / y)
  const [left, top] = [(canvas.width - x * scale) / 2, (canvas.height - y * scale) / 2]
  const pictures = layer.pictures(time).filter(({ image }) => image)
  const images = await Promise.all(pictures.map(({ image }) => createImageBitmap(image).catch(() => null)))
  context.clearRect(0, 0, canvas.width, canvas.height)
  for (const [index, { up, dx, dy, size, ...box }] of pictures.entries()) {
    const image = images[index]
    if (!image) continue
    const [width, height] = [image.width / 2 ** up, image.height / 2 ** up]
    context.drawImage(
      image, dx * width, dy * height, width, height,
      left + box.left * scale, top + box.top * scale, size * scale, size * scale
    )
    image.close()
  }
}
