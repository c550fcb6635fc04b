// The box of the panel, which a button folds away, and the settings of the user at its foot: the time zone of all
// times, which the device keeps. On a phone the box is a sheet below the map, and folded at first.
import { timelineWords, zoneId } from './format.js'
import { html, render, useEvents } from './html.js'
import { keepText, keptText } from './kept-text.js'
import { Choices } from './parts.js'
import { words } from './words.js'

const MARGIN = 16 // pixels around the box
const KEY = 'tilecouch-zone'
const ZONES = ['utc', 'local']

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

/** @param {import('./stage.js').Stage} stage */
export function mountSettings (container, stage) {
  const zone = keptText(KEY) ?? ''
  if (ZONES.includes(zone)) stage.setZone(zone)
  render(html`<${Settings} stage=${stage} />`, container)
}

function Settings ({ stage }) {
  useEvents(stage, 'zone')
  const choose = zone => {
    stage.setZone(zone)
    keepText(KEY, zone)
  }
  return html`<span aria-hidden="true">${timelineWords.zone}</span>
    <${Choices} label=${timelineWords.zone} value=${zoneId()} onChoose=${choose}
      options=${[['utc', 'UTC'], ['local', timelineWords.local]]} />`
}
