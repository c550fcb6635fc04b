// Small pictures of the view at other times, drawn from images that are here; what lacks is fetched one picture after
// the other.

/** @typedef {{canvas: HTMLCanvasElement, time: string}} Wish */

export class Thumbnails {
  #stage
  /** @type {Wish[]} */
  #wishes = []
  #stop = new AbortController()
  #isBusy = false

  /** @param {import('./stage.js').Stage} stage */
  constructor (stage) {
    this.#stage = stage
  }

  /** @param {HTMLCanvasElement} canvas @param {string} time */
  draw (canvas, time) {
    this.#wishes.push({ canvas, time })
    this.#work()
  }

  /** The view is another one: what is not drawn yet is not wanted any more. */
  drop () {
    this.#wishes = []
    this.#stop.abort()
    this.#stop = new AbortController()
  }

  async #work () {
    if (this.#isBusy) return
    this.#isBusy = true
    for (let wish; (wish = this.#wishes.shift());) {
      if (wish.canvas.isConnected) await this.#drawOne(wish).catch(() => {}) // a picture less
    }
    this.#isBusy = false
  }

  async #drawOne ({ canvas, time }) {
    const { signal } = this.#stop
    const { layer } = this.#stage
    if (!layer) return
    await paint(canvas, layer, time)
    if (layer.pictures(time).every(({ image }) => image) || signal.aborted) return
    await layer.preload([time], signal)
    if (!signal.aborted) await paint(canvas, layer, time)
  }
}

/** Draws what a layer shows at a time, as large as fills the canvas. */
async function paint (canvas, layer, time) {
  const { x, y } = layer._map?.getSize() ?? { x: 0, y: 0 }
  const context = canvas.getContext('2d')
  if (!x || !context) return
  const scale = Math.max(canvas.width / x, canvas.height / y)
  const [left, top] = [(canvas.width - x * scale) / 2, (canvas.height - y * scale) / 2]
  const pictures = layer.pictures(time).filter(({ image }) => image)
  const images = await Promise.all(pictures.map(({ image }) => createImageBitmap(image).catch(() => null)))
  context.clearRect(0, 0, canvas.width, canvas.height)
  for (const [at, { up, dx, dy, size, ...box }] of pictures.entries()) {
    const image = images[at]
    if (!image) continue
    const [width, height] = [image.width / 2 ** up, image.height / 2 ** up]
    context.drawImage(
      image, dx * width, dy * height, width, height,
      left + box.left * scale, top + box.top * scale, size * scale, size * scale
    )
    image.close()
  }
}
