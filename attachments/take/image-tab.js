// An image of the map, to save, share or print.
import { element } from '../../client/timeline/dom.js'
import { button } from '../dom.js'
import { writeCaption } from './caption.js'
import { Making } from './making.js'
import { fileName } from './numbers.js'
import { MOST_PIXELS } from './plan.js'
import { Preview } from './preview.js'
import { printImage } from './print.js'
import { SizePicker } from './size.js'
import { Snapshot, newContext, toPng } from './snapshot.js'

export class ImageTab {
  #page
  #preview
  #sizes
  #making

  /** @param {import('./index.js').Page} page */
  constructor (page) {
    const { words, view: { map } } = page
    this.#page = page
    this.#preview = new Preview(page)
    this.#sizes = new SizePicker({ words, map, mostPixels: MOST_PIXELS, onChange: () => this.update() })
    const print = button(
      words.print,
      () => this.#making.run({ done: ({ blob }) => printImage(blob, words.preview) }),
      { class: 'secondary' }
    )
    this.#making = new Making(page, { label: words.makeImage, make: options => this.#make(options), others: [print] })
    this.node = element('div', { class: 'tab' }, this.#preview.node, this.#sizes.node, this.#making.node)
    this.update()
  }

  /** The map shows something else. */
  update () {
    this.#sizes.refresh()
    this.#making.refuse(this.#sizes.problem)
    if (this.#sizes.problem) this.#preview.stop()
    else this.#preview.draw(this.#sizes.value)
  }

  /** @returns {boolean} whether something was under way */
  close () {
    this.#preview.stop()
    return this.#making.close()
  }

  /** @type {import('./making.js').Make} */
  async #make ({ signal, lenient }) {
    const { stage, written } = this.#page
    const { time, doc } = stage
    const snapshot = new Snapshot(this.#page, this.#sizes.value)
    try {
      await snapshot.read({ signal, lenient })
      const context = newContext(snapshot.size)
      const picture = await snapshot.load(time, { signal, lenient })
      snapshot.paint(context, picture)
      const caption = snapshot.caption(time)
      writeCaption(context, caption, { scale: snapshot.size.scale, written })
      const blob = await toPng(context.canvas)
      return {
        blob, name: fileName(doc?.layer ?? 'map', [caption.dates[0]?.time ?? null], 'png'), missing: picture.missing
      }
    } finally {
      snapshot.close()
    }
  }
}
