// The panel: a list of layers. The chosen one opens and shows its editions, its facts and its address.
import { element } from '../client/timeline/dom.js'
import { attributionNodes } from '../client/source/layer-options.js'
import { fromSeconds } from '../core/index.js'
import { button, picture } from './dom.js'
import { Editions } from './editions.js'
import { count, plural, size, time as written, zooms } from './format.js'
import { template } from './store.js'

/** @typedef {import('./store.js').Layer} Layer */

export class Panel {
  #content
  #options
  #chosen = ''
  /** @type {string | null} */
  #time = null
  /** @type {ReturnType<typeof address> | null} */
  #address = null
  /** @type {Editions} */
  editions

  /**
   * @param {{onLayer: (layer: string) => void, onTime: (time: string | null) => void, onOlder: () => void,
   *   onFootprint: (time: string | null) => void, onCompare: () => void, newestUrl: (layer: string, tile:
   *   {z: number, x: number, y: number}) => Promise<string | undefined>}} options
   */
  constructor (content, options) {
    this.#content = content
    this.#options = options
    this.editions = this.#newEditions()
  }

  #newEditions () {
    return new Editions({
      onSelect: this.#options.onTime, onMore: this.#options.onOlder, onFootprint: this.#options.onFootprint
    })
  }

  /** @param {Layer[]} layers @param {Map<string, import('./store.js').Stats> | null} stats null while unknown */
  render (layers, chosen, stats) {
    if (chosen !== this.#chosen) this.editions = this.#newEditions()
    this.#chosen = chosen
    const focused =
      /** @type {HTMLElement | null} */ (this.#content.contains(document.activeElement) ? document.activeElement : null)
    const list = this.editions.element.querySelector('ul')
    const [scrolled, scrolledList] = [this.#content.scrollTop, list?.scrollTop ?? 0]
    this.#content.replaceChildren(element('ul', { class: 'layers' }, ...layers.map(layer => this.#item(layer, stats?.get(layer.layer)))))
    this.#content.scrollTop = scrolled
    if (list) list.scrollTop = scrolledList
    this.#refocus(focused)
    this.setTime(this.#time)
  }

  #refocus (before) {
    if (!before || before.isConnected) return before?.focus({ preventScroll: true })
    const { layer, does } = before.dataset
    const after = layer ? `[data-layer="${layer}"]` : does ? `[data-does="${does}"]` : null
    if (after) this.#content.querySelector(after)?.focus({ preventScroll: true })
  }

  /** @param {import('./store.js').Edition[]} editions */
  setEditions (editions, more) {
    const focused = /** @type {HTMLElement} */ (document.activeElement)
    const time = this.editions.element.contains(focused) ? focused.dataset.time : undefined
    this.editions.fill(editions, more)
    this.editions.setTime(this.#time)
    if (time !== undefined) this.editions.element.querySelector(`[data-time="${time}"]`)?.focus({ preventScroll: true })
  }

  setTime (time) {
    this.#time = time
    this.editions.setTime(time)
    this.#address?.setTime(time)
  }

  #item (layer, stats) {
    const isChosen = layer.layer === this.#chosen
    return element('li', { class: isChosen ? 'selected' : null },
      element('button', { type: 'button', class: 'layer', 'data-layer': layer.layer, 'aria-pressed': String(isChosen), on: { click: () => this.#options.onLayer(layer.layer) } },
        this.#thumbnail(layer, stats),
        element('span', { class: 'title' }, layer.name ?? layer.layer),
        element('span', { class: 'brief' }, brief(layer, stats))),
      isChosen && this.#details(layer, stats))
  }

  #details (layer, stats) {
    this.#address = address(layer)
    return element('div', { class: 'details' },
      layer.format === 'pbf' && element('p', { class: 'hint' }, 'These are vector tiles: this page knows their past, and cannot draw them.'),
      this.editions.element,
      layer.format !== 'pbf' && button('Compare two times', this.#options.onCompare, { class: 'secondary', 'data-does': 'compare' }),
      facts(layer, stats),
      this.#address.element)
  }

  /** A small picture: a tile of the first zoom, when it is certain that there is one in the middle. */
  #thumbnail (layer, stats) {
    const [first] = [...stats?.zooms ?? []].sort((a, b) => a.z - b.z)
    const whole = first && first.tiles === (first.x1 - first.x0 + 1) * (first.y1 - first.y0 + 1)
    if (!whole || layer.format === 'pbf') return element('span', { class: 'thumbnail' })
    const place = { z: first.z, x: (first.x0 + first.x1) >> 1, y: (first.y0 + first.y1) >> 1 }
    return picture(this.#options.newestUrl(layer.layer, place), { class: 'thumbnail', width: 44, height: 44 })
  }
}

const brief = ({ minzoom, maxzoom }, stats) => [
  stats && plural(stats.tiles, 'tile'), minzoom !== undefined && `zoom ${zooms(minzoom, maxzoom)}`, stats && size(stats.bytes)
].filter(Boolean).join(' · ')

/** @param {import('./store.js').Stats} [stats] once they are known */
export function facts (layer, stats) {
  const rows = [
    ['Layer', element('code', null, layer.layer)],
    ['Tiles', stats && count(stats.tiles)],
    ['Versions', stats && count(stats.versions)],
    ['Size', stats && size(stats.bytes)],
    ['Zooms', zooms(layer.minzoom, layer.maxzoom)],
    ['First', stats?.versions && written(fromSeconds(stats.first))],
    ['Last', stats?.versions && written(fromSeconds(stats.last))],
    ['Conflicts', stats?.conflicts && count(stats.conflicts)],
    ['Source', layer.attribution && element('span', null, ...attributionNodes(layer.attribution))]
  ].filter(([, value]) => value)
  return element('div', { class: 'facts' },
    layer.description && element('p', null, layer.description),
    element('dl', null, ...rows.flatMap(([name, value]) => [element('dt', null, name), element('dd', null, value)])),
    stats?.conflicts && element('p', { class: 'conflicts' }, conflictsWords(stats.conflicts), ' ', element('code', null, 'tilecouch check --fix'), ' repairs that: the newest version stays, and nothing is lost.'))
}

/** @param {number} conflicts documents */
const conflictsWords = conflicts => `Stores that were loaded independently disagree about ${plural(conflicts, 'document')}.`

/**
 * The address of a layer's tiles, to copy.
 * @returns {{element: HTMLElement, setTime: (time: string | null) => void}}
 */
export function address (layer) {
  const code = element('code', { tabindex: '0' })
  const copying = button('Copy', copy)
  async function copy () {
    try {
      await navigator.clipboard.writeText(code.textContent)
      copying.textContent = 'Copied'
    } catch { // not allowed outside https and localhost: leave it selected instead
      getSelection()?.selectAllChildren(code)
      copying.textContent = 'Selected'
    }
  }
  return {
    element: element('div', { class: 'address' }, element('h3', null, 'Address for map clients'), element('div', null, code, copying)),
    setTime (time) {
      code.textContent = new URL('.', document.baseURI).href + template(layer, time)
      copying.textContent = 'Copy'
    }
  }
}

const SHEET_MARGIN = 16 // pixels around the box

export class FoldablePanel {
  #narrow = matchMedia('(max-width: 760px)')

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
    return this.#narrow.matches || this.panel.classList.contains('folded') ? 0 : this.panel.offsetWidth + 2 * SHEET_MARGIN
  }

  #fold (folded) {
    this.panel.classList.toggle('folded', folded)
    this.toggle.setAttribute('aria-expanded', String(!folded))
    this.toggle.setAttribute('aria-label', folded ? 'Show the list of layers' : 'Hide the list of layers')
  }
}
