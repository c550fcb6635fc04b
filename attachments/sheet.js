// The box of the panel, which a button folds away. On a phone it is a sheet below the map, and folded at first.
import { words } from './words.js'

const MARGIN = 16 // pixels around the box

export class FoldablePanel {
  #narrow = matchMedia('(max-width: 760px)')

  constructor (panel, toggle) {
    this.panel = panel
    this.toggle = toggle
    toggle.hidden = false
    toggle.addEventListener('click', () => this.fold(!this.isFolded))
    this.#narrow.addEventListener('change', ({ matches }) => this.fold(matches))
    this.fold(this.#narrow.matches)
  }

  get isFolded () {
    return this.panel.classList.contains('folded')
  }

  /** Pixels at the left of the map that the panel hides. */
  get covered () {
    return this.#narrow.matches || this.isFolded ? 0 : this.panel.offsetWidth + 2 * MARGIN
  }

  /** @param {boolean} folded */
  fold (folded) {
    this.panel.classList.toggle('folded', folded)
    this.toggle.setAttribute('aria-expanded', String(!folded))
    this.toggle.setAttribute('aria-label', folded ? words.panel.show : words.panel.hide)
  }
}
