// The search for a place: coordinates in any usual form, layers, places that the store names, and a gazetteer that the
// operator names.
import { element } from '../../client/timeline/dom.js'
import { iconButton } from '../dom.js'
import { language, words } from '../words.js'
import { parsePlace } from './coordinates.js'
import { askGazetteer, hostOf } from './gazetteer.js'

const MOST = 6 // results of a kind
const CLOSE = 14 // zoom at which a place without one is shown

/** @typedef {{title: string, note?: string, run: () => void}} Result */

export class Finder {
  #page
  #container
  #input = element('input', {
    type: 'search',
    placeholder: words.find.placeholder,
    'aria-label': words.find.label,
    autocomplete: 'off',
    spellcheck: 'false',
    enterkeyhint: 'search',
    on: { input: () => this.#look() }
  })
  #list = element('ul', { 'aria-label': words.find.results })
  #note = element('p', { class: 'hint', role: 'status' })
  #asking = new AbortController()
  /** @type {Result[]} */
  #results = []

  /**
   * @param {HTMLElement} container
   * @param {{view: import('../map.js').MapView, layers: () => import('../store.js').Layer[], settings: () =>
   *   import('../../core/settings.js').Settings, onLayer: (layer: string) => void}} page
   */
  constructor (container, page) {
    this.#container = container
    this.#page = page
    const form = element('form', { on: { submit: event => { event.preventDefault(); this.#submit() } } },
      this.#input, iconButton('close', words.find.close, () => this.close()))
    container.append(form, this.#note, this.#list)
    container.addEventListener('keydown', event => this.#onKey(event))
  }

  get isOpen () {
    return !this.#container.hidden
  }

  open () {
    this.#container.hidden = false
    this.#look()
    this.#input.select()
    this.#input.focus()
  }

  close () {
    if (!this.isOpen) return
    const hadFocus = this.#container.contains(document.activeElement)
    this.#asking.abort()
    this.#container.hidden = true
    if (hadFocus) this.#page.view.map.getContainer().focus({ preventScroll: true })
  }

  /** What is known without asking anybody. */
  #look () {
    this.#asking.abort()
    const text = this.#input.value.trim()
    this.#show(text ? [...this.#coordinates(text), ...this.#places(text), ...this.#layers(text)] : [])
    const { gazetteer } = this.#page.settings()
    this.#say(!text ? words.find.hint
      : this.#results.length ? '' : gazetteer ? words.find.pressEnter(hostOf(gazetteer)) : words.find.nothing)
  }

  #coordinates (text) {
    const place = parsePlace(text, language)
    return place
      ? [{
        title: `${place.lat.toFixed(5)}, ${place.lon.toFixed(5)}`,
        note: words.find.coordinates,
        run: () => this.#go(place)
      }]
      : []
  }

  #places (text) {
    const wanted = text.toLowerCase()
    const { places = [] } = this.#page.settings()
    return places.filter(([name]) => name.toLowerCase().includes(wanted))
      .sort(([a], [b]) => a.toLowerCase().indexOf(wanted) - b.toLowerCase().indexOf(wanted)).slice(0, MOST)
      .map(([name, lon, lat, z]) => ({ title: name, run: () => this.#go({ lat, lon, z }) }))
  }

  #layers (text) {
    const wanted = text.toLowerCase()
    return this.#page.layers().filter(
      ({ layer, name = layer }) => `${name} ${layer}`.toLowerCase().includes(wanted)
    ).slice(0, MOST)
      .map(doc => ({ title: doc.name ?? doc.layer, note: words.find.layer, run: () => this.#showLayer(doc) }))
  }

  #showLayer (doc) {
    this.close()
    this.#page.onLayer(doc.layer)
    this.#page.view.fit(doc)
  }

  /** @param {{lat: number, lon: number, z?: number, box?: number[]}} place */
  #go (place) {
    this.close()
    this.#page.view.goTo({ ...place, z: place.z ?? CLOSE })
  }

  async #submit () {
    const text = this.#input.value.trim()
    const { gazetteer } = this.#page.settings()
    const isCoordinates = Boolean(parsePlace(text, language))
    if (!text) return
    if (isCoordinates || !gazetteer) return this.#results[0]?.run()
    this.#asking.abort()
    const { signal } = this.#asking = new AbortController()
    this.#say(words.find.asking(hostOf(gazetteer)))
    try {
      const found = await askGazetteer(gazetteer, text, { language, signal })
      if (signal.aborted) return
      this.#show([...found.map(place => ({ title: place.title, run: () => this.#go(place) })), ...this.#layers(text)])
      this.#say(found.length ? words.find.found({ count: found.length, host: hostOf(gazetteer) }) : words.find.nothing)
      this.#list.querySelector('button')?.focus()
    } catch {
      if (!signal.aborted) this.#say(words.find.failed(hostOf(gazetteer)))
    }
  }

  /** @param {Result[]} results */
  #show (results) {
    this.#results = results
    this.#list.replaceChildren(...results.map(({ title, note, run }) => element('li', null,
      element(
        'button',
        { type: 'button', on: { click: run } },
        element('span', { class: 'name' }, title),
        note && element('span', { class: 'note' }, note)
      ))))
    this.#list.hidden = !results.length
  }

  #say (text) {
    this.#note.textContent = text
    this.#note.hidden = !text
  }

  #onKey (event) {
    if (event.key === 'Escape') {
      event.stopPropagation()
      return this.close()
    }
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
    if (!step) return
    const stops = [this.#input, ...this.#list.querySelectorAll('button')]
    const at = stops.indexOf(/** @type {any} */ (document.activeElement))
    if (at < 0) return
    event.preventDefault()
    stops[Math.min(Math.max(at + step, 0), stops.length - 1)].focus()
  }
}
