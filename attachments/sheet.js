// The panel as a box over the map on a desk, and as a sheet below it on a phone, where the map comes first; either can
// be folded up.

const MARGIN = 16 // pixels around the box

export class Sheet {
  #narrow = matchMedia('(max-width: 760px)')

  /** @param {HTMLElement} panel @param {HTMLElement} toggle */
  constructor (panel, toggle) {
    this.panel = panel
    this.toggle = toggle
    toggle.hidden = false
    toggle.addEventListener('click', () => this.#fold(!panel.classList.contains('folded')))
    this.#narrow.addEventListener('change', ({ matches }) => this.#fold(matches))
    this.#fold(this.#narrow.matches)
  }

  expand () {
    this.#fold(false)
  }

  /** Pixels at the left of the map that the panel hides. */
  get covered () {
    return this.#narrow.matches || this.panel.classList.contains('folded') ? 0 : this.panel.offsetWidth + 2 * MARGIN
  }

  #fold (folded) {
    this.panel.classList.toggle('folded', folded)
    this.toggle.setAttribute('aria-expanded', String(!folded))
    this.toggle.setAttribute('aria-label', folded ? 'Show the list of layers' : 'Hide the list of layers')
  }
}
