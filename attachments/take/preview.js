// What will be taken, small; while it is made, what is drawn.
import { element } from '../../client/timeline/dom.js'
import { writeCaption } from './caption.js'
import { problem } from './errors.js'
import { previewSize } from './size.js'
import { Snapshot, newContext } from './snapshot.js'

export class Preview {
  node = element('div', { class: 'preview' })
  #page
  #looking = new AbortController()

  /** @param {import('./index.js').Page} page */
  constructor (page) {
    this.#page = page
  }

  /**
   * Draws the map as it is now. What does not load is left out: it is told of when the picture is made.
   * @param {import('./parts.js').Size} size of the picture
   * @returns {Promise<{canvas: HTMLCanvasElement, changes: {time: string, tiles: number}[], tiles: number} | null>}
   *   null: another one was asked for meanwhile, or there is nothing to draw, which it says
   */
  async draw (size) {
    this.stop()
    const { signal } = this.#looking = new AbortController()
    const { stage, written } = this.#page
    let snapshot
    try {
      const { time } = stage
      snapshot = new Snapshot(this.#page, previewSize(size))
      await snapshot.read({ signal, lenient: true })
      const context = newContext(snapshot.size)
      snapshot.paint(context, await snapshot.load(time, { signal, lenient: true }))
      writeCaption(context, snapshot.caption(time), { scale: snapshot.size.scale, written })
      this.show(context.canvas)
      return { canvas: context.canvas, changes: snapshot.changes(), tiles: snapshot.tiles }
    } catch (error) {
      if (!signal.aborted) this.node.replaceChildren(element('p', { class: 'hint' }, problem(error, this.#page)))
      return null
    } finally {
      snapshot?.close()
    }
  }

  /** @param {HTMLCanvasElement} canvas that is drawn on */
  show (canvas) {
    canvas.setAttribute('role', 'img')
    canvas.setAttribute('aria-label', this.#page.words.preview)
    this.node.replaceChildren(canvas)
  }

  stop () {
    this.#looking.abort()
  }
}
