// A number between two others, with a button for less and one for more: fields are too small for gloves.
import { button, element } from '../dom.js'

export class Stepper {
  #input
  #onChange

  /** @param {string} label @param {() => void} onChange */
  constructor (label, onChange) {
    this.#onChange = onChange
    this.#input = element('input', { type: 'number', inputmode: 'numeric', 'aria-label': label, on: { change: () => this.#take(this.value) } })
    this.element = element('div', { class: 'stepper' }, element('span', { 'aria-hidden': 'true' }, label),
      element('div', null,
        button('−', () => this.#take(this.value - 1), { 'aria-label': `${label}: one less` }), this.#input,
        button('+', () => this.#take(this.value + 1), { 'aria-label': `${label}: one more` })))
  }

  get value () {
    const { value, min } = this.#input
    return Number.isInteger(Number(value)) && value !== '' ? Number(value) : Number(min)
  }

  /** @param {number} value @param {number} min @param {number} max */
  set (value, min, max) {
    Object.assign(this.#input, { min, max, value })
  }

  #take (value) {
    const { min, max } = this.#input
    this.#input.value = Math.min(Math.max(value, Number(min)), Number(max))
    this.#onChange()
  }
}
