// The panel as a box over the map on a desk, and as a sheet below it on a phone; either can be folded up.

const MARGIN = 16 // pixels around the box

export class Sheet {
  /** @param {HTMLElement} panel @param {HTMLElement} toggle */
  constructor (panel, toggle) {
    this.panel = panel
    this.toggle = toggle
    this.narrow = matchMedia('(max-width: 640px)')
    toggle.hidden = false
    toggle.addEventListener('click', () => this.#fold(!panel.classList.contains('folded')))
  }

  expand () {
    this.#fold(false)
  }

  /** Pixels at the left of the map that the panel hides. */
  get covered () {
    return this.narrow.matches || this.panel.classList.contains('folded') ? 0 : this.panel.offsetWidth + 2 * MARGIN
  }

  #fold (folded) {
    this.panel.classList.toggle('folded', folded)
    this.toggle.setAttribute('aria-expanded', String(!folded))
    this.toggle.setAttribute('aria-label', folded ? 'Show the list of layers' : 'Hide the list of layers')
  }
}
