// What changed between two times in the part of the map that is in view: how much and where. While two times or layers
// are compared it chooses them, and how they are shown.
import { element } from '../client/timeline/dom.js'
import { button, toggle } from './dom.js'
import { size, time as written } from './format.js'
import { Sides } from './sides.js'
import { words } from './words.js'

const NAME = 'range'

/** Two times, the earlier one first; null is the newest. */
function ordered (one, other) {
  const isLater = one === null || (other !== null && one > other)
  return isLater ? { from: other, to: one } : { from: one, to: other }
}

export class RangeCard {
  #stage
  #cards
  #outlines
  #outlined = true
  #compared = false
  #sides
  /** @type {any} of a vector layer: which features differ */
  #features = null
  #slot = element('div')
  #parts
  /** @type {HTMLElement | null} body of the card that is open */
  #body = null

  /**
   * @param {import('./stage.js').Stage} stage @param {import('./cards.js').Cards} cards
   * @param {import('./outlines.js').Outlines} outlines
   * @param {{layers: () => import('./store.js').Layer[], editions: (layer: string) =>
   *   Promise<import('./store.js').Edition[]>, onLayer: (layer: string) => void}} page
   */
  constructor (stage, cards, outlines, page) {
    this.#stage = stage
    this.#cards = cards
    this.#outlines = outlines
    this.#sides = new Sides(stage, page)
    this.#parts = this.#make()
  }

  /** Opens, closes or rewrites the card. */
  update () {
    const { range, layer, comparing, comparison } = this.#stage
    if ((!range && !comparing) || !layer) {
      this.#cards.close(NAME)
      this.#outlines.changed([])
      this.#show(null)
      this.#body = null
      return
    }
    const isOfOne = !comparing || comparison.isOfOne
    const shown = comparing ? ordered(comparison.left?.time ?? null, this.#stage.time) : range
    const changes = layer.changes()
    const tiles = isOfOne && shown ? changes && layer.changedTiles(shown.from, shown.to) : []
    this.#open(!tiles)
    if (this.#compared !== comparing) { // outlines would lie over what is being compared
      this.#compared = comparing
      this.#outlined = !comparing
    }
    const hasFeatures = Boolean(layer.featureChanges) && isOfOne
    this.#outlines.changed(tiles && this.#outlined && !hasFeatures ? tiles : [])
    this.#show(hasFeatures ? layer.featureChanges : null)
    this.#features?.update(shown, tiles, this.#outlined)
    const { between, answer, compare, outline } = this.#parts
    between.hidden = comparing
    outline.element.hidden = answer.hidden = !isOfOne
    outline.input.checked = this.#outlined
    const label = /** @type {Text} */ (outline.element.lastChild)
    label.data = hasFeatures ? words.features.mark : words.changed.outline
    compare.textContent = comparing ? words.compare.stop : words.compare.start
    compare.setAttribute('aria-pressed', String(comparing))
    compare.hidden = !this.#stage.doc || !this.#stage.draws(this.#stage.doc)
    this.#sides.element.hidden = !comparing
    if (comparing) this.#sides.update()
    else this.#sides.forget()
    if (!comparing) this.#writeBetween(range)
    if (isOfOne && shown) this.#showAnswer(tiles, changes, shown)
  }

  outline (on) {
    this.#outlined = on
    this.update()
  }

  #open (isWaiting) {
    const { body, node } = this.#cards.open(NAME, words.changed.title, () => {
      this.#stage.compare(null)
      this.#stage.range = null
      this.update()
    })
    node.classList.toggle('waiting', isWaiting)
    if (body === this.#body) return
    this.#body = body
    const { between, answer, compare, outline } = this.#parts
    body.append(between, this.#sides.element, answer, this.#slot, compare, outline.element)
  }

  #make () {
    const go = end => button(
      '', () => this.#stage.clock.setTime(this.#stage.range?.[end]), { 'data-end': end, title: words.changed.showTime }
    )
    const [before, middle, after] = words.changed.between
    return {
      between: element(
        'p',
        { class: 'between' },
        element('span', null, before),
        go('from'),
        element('span', null, middle),
        go('to'),
        element('span', null, after)
      ),
      answer: element('p', { class: 'answer', role: 'status' }),
      compare: button('', () => this.#toggle(), { class: 'primary', 'data-does': 'side' }),
      outline: toggle(words.changed.outline, on => this.outline(on))
    }
  }

  #show (features) {
    if (features === this.#features) return
    this.#features?.close()
    this.#features = features
    this.#slot.replaceChildren(...features ? [features.element] : [])
  }

  #toggle () {
    const { range, comparing } = this.#stage
    if (comparing || !range) return this.#stage.compare(null)
    this.#stage.clock.setTime(range.to)
    this.#stage.compare({ time: range.from })
  }

  #writeBetween (range) {
    for (const end of this.#parts.between.querySelectorAll('button')) {
      const at = range[end.dataset.end]
      end.textContent = written(at)
      end.setAttribute('aria-pressed', String(this.#stage.time === at))
    }
  }

  #showAnswer (tiles, changes, { from, to }) {
    const { answer } = this.#parts
    const steps = changes?.filter(({ time }) => time > from && (to === null || time <= to)).length
    const parts = !tiles ? [words.changed.looking]
      : !tiles.length ? [steps ? words.changed.alike : words.changed.nothing]
          : [
              words.changed.tiles(tiles.length),
              ', ',
              element('strong', null, size(tiles.reduce((sum, { bytes }) => sum + bytes, 0))),
              element('small', null, words.changed.steps(steps))
            ]
    const text = parts.map(part => part.textContent ?? part).join('')
    if (answer.textContent !== text) answer.replaceChildren(...parts) // the same is not read aloud again
  }
}
