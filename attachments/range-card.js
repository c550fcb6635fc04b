// What changed between two times in the part of the map that is in view: how much, where, and both side by side.
import { element } from '../client/timeline/dom.js'
import { button } from './dom.js'
import { plural, size, time as written } from './format.js'

const NAME = 'range'
const TITLE = 'What changed here'

export class RangeCard {
  #stage
  #cards
  #outlines
  #outlined = true
  #compared = false

  constructor (stage, cards, outlines) {
    this.#stage = stage
    this.#cards = cards
    this.#outlines = outlines
  }

  /** Opens, closes or rewrites the card. */
  update () {
    const { range, layer } = this.#stage
    if (!range || !layer) {
      this.#cards.close(NAME)
      this.#outlines.changed([])
      return
    }
    const { body, node } = this.#cards.open(NAME, TITLE, () => { this.#stage.range = null })
    const changes = layer.changes()
    const tiles = changes && layer.changedTiles(range.from, range.to)
    node.classList.toggle('waiting', !tiles)
    if (this.#compared !== this.#stage.comparing) { // outlines would lie over what is being compared
      this.#compared = this.#stage.comparing
      this.#outlined = !this.#compared
    }
    this.#outlines.changed(tiles && this.#outlined ? tiles : [])
    if (!body.childElementCount) body.append(...this.#parts())
    body.querySelector('input').checked = this.#outlined
    const [from, to] = body.querySelectorAll('.between button')
    from.textContent = written(range.from)
    to.textContent = written(range.to)
    for (const [end, at] of [[from, range.from], [to, range.to]]) end.setAttribute('aria-pressed', String(this.#stage.time === at))
    this.#showAnswer(body, tiles, changes, range)
    body.querySelector('[data-does="side"]').setAttribute('aria-pressed', String(this.#stage.comparing))
    body.querySelector('[data-does="side"]').textContent = this.#stage.comparing ? 'Stop comparing' : 'Compare side by side'
  }

  #parts () {
    const go = end => button('', () => this.#stage.clock.setTime(this.#stage.range?.[end]), { 'data-end': end, title: 'Show this time' })
    return [
      element('p', { class: 'between' }, element('span', null, 'Between '), go('from'), element('span', null, ' and '), go('to')),
      element('p', { class: 'answer', role: 'status' }),
      button('Compare side by side', () => this.#stage.compare(!this.#stage.comparing), { class: 'primary', 'data-does': 'side', hidden: this.#stage.doc?.format === 'pbf' }),
      element('label', null,
        element('input', { type: 'checkbox', on: { change: ({ target }) => this.outline(target.checked) } }),
        'Outline the tiles that changed')
    ]
  }

  #showAnswer (body, tiles, changes, { from, to }) {
    const answer = body.querySelector('.answer')
    const steps = changes?.filter(({ time }) => time > from && time <= to).length
    const parts = !tiles ? ['Looking …']
      : !tiles.length ? [steps ? 'Nothing looks different here.' : 'Nothing changed here.']
          : [element('strong', null, plural(tiles.length, 'tile')), ' changed, ', element('strong', null, size(tiles.reduce((sum, { bytes }) => sum + bytes, 0))),
              element('small', null, `in ${plural(steps, 'step')}, in the part of the map that you see`)]
    const text = parts.map(part => part.textContent ?? part).join('')
    if (answer.textContent !== text) answer.replaceChildren(...parts) // the same is not read aloud again
  }

  outline (on) {
    this.#outlined = on
    this.update()
  }
}
