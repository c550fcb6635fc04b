// The search for a place: coordinates, names on the map, places of the store, layers, and the gazetteer of the
// operator, which is asked when the user presses Enter.
import { focusAfterAnswer } from '../dom.js'
import { html, render, useLayoutEffect, useRef, useState } from '../html.js'
import { Hint, IconButton } from '../parts.js'
import { ask } from '../requests.js'
import { language, words } from '../words.js'
import { MOST, parsePlace, placesIn } from './coordinates.js'

const CLOSE = 14 // zoom at which a place without a zoom is shown

/**
 * @typedef {{title: string, note?: string, place?: import('./coordinates.js').Place,
 *   layer?: import('../store.js').Layer}} Result one of place and layer
 * @typedef {object} Page
 * @property {import('../map.js').MapView} view
 * @property {() => import('../store.js').Layer[]} layers
 * @property {() => import('../../core/settings.js').Settings} settings
 * @property {(layer: string) => void} onLayer
 */

export class Finder {
  #container
  #page
  #opened = 0 // number of openings: each one moves the focus into the field

  /** @param {HTMLElement} container @param {Page} page */
  constructor (container, page) {
    this.#container = container
    this.#page = page
  }

  open () {
    this.#container.hidden = false
    this.#opened++
    render(html`<${Search} page=${this.#page} opened=${this.#opened} close=${() => this.#close()} />`, this.#container)
  }

  #close () {
    const hadFocus = this.#container.contains(document.activeElement)
    this.#container.hidden = true
    if (hadFocus) this.#page.view.map.getContainer().focus({ preventScroll: true })
  }
}

/** The state without an answer of the gazetteer. */
const NO_ANSWER = { note: '', places: /** @type {any[] | null} */ (null) }

function Search ({ page, opened, close }) {
  const [text, setText] = useState('')
  const [answer, setAnswer] = useState(NO_ANSWER)
  const request = useRef(new AbortController())
  const form = useRef(/** @type {any} */ (null))
  const { gazetteer } = page.settings()
  useLayoutEffect(() => {
    form.current.elements.place.focus()
    form.current.elements.place.select()
    return () => request.current.abort()
  }, [opened])
  useLayoutEffect(() => {
    if (answer.places) focusAfterAnswer(form.current, form.current.parentElement.querySelector('li button'))
  }, [answer.places])

  const results = answer.places
    ? [...answer.places.map(place => ({ title: place.title, place })), ...layersNamed(page, text)]
    : resultsOf(page, text)

  function show ({ place, layer }) {
    close()
    if (place) return page.view.goTo({ ...place, z: place.z ?? CLOSE })
    page.onLayer(layer.layer)
    page.view.fit(layer)
  }

  function write (value) {
    request.current.abort()
    setAnswer(NO_ANSWER)
    setText(value.trim())
  }

  async function submit (event) {
    event.preventDefault()
    if (!text) return
    if (parsePlace(text, language) || !gazetteer) return results[0] && show(results[0])
    request.current.abort()
    const { signal } = request.current = new AbortController()
    setAnswer({ ...NO_ANSWER, note: words.find.asking(hostOf(gazetteer)) })
    const next = await askGazetteer(gazetteer, text, signal)
    if (!signal.aborted) setAnswer(next)
  }

  return html`<div onKeyDown=${event => move(event, close)}>
    <form ref=${form} onSubmit=${submit}>
      <input type="search" name="place" placeholder=${words.find.placeholder} aria-label=${words.find.label}
        autocomplete="off" spellcheck="false" enterkeyhint="search" onInput=${({ target }) => write(target.value)} />
      <${IconButton} name="close" label=${words.find.close} onClick=${close} />
    </form>
    <${Hint}>${words.find.hint}<//>
    <p class="hint" role="status">${answer.note || noteOf(text, results, gazetteer)}</p>
    ${results.length > 0 && html`<ul aria-label=${words.find.results}>
      ${results.map(result => html`<li>
        <button type="button" onClick=${() => show(result)}>
          <span class="name">${result.title}</span>
          ${result.note && html`<span class="note">${result.note}</span>`}
        </button>
      </li>`)}
    </ul>`}
  </div>`
}

function noteOf (text, results, gazetteer) {
  if (!text || parsePlace(text, language)) return ''
  if (gazetteer) return words.find.pressEnter(hostOf(gazetteer))
  return results.length ? '' : words.find.nothing
}

/** The host of the gazetteer, to show. */
const hostOf = address => new URL(address, document.baseURI).host

/** Sends a text to the gazetteer, without the session of this browser. */
async function askGazetteer (gazetteer, text, signal) {
  const host = hostOf(gazetteer)
  const query = { q: text, format: 'jsonv2', limit: MOST, 'accept-language': language }
  try {
    const places = placesIn(await ask(gazetteer, { query, signal, credentials: 'omit', referrerPolicy: 'origin' }))
    const note = places.length ? words.find.found({ count: places.length, host }) : words.find.nothing
    return { note, places }
  } catch {
    return { ...NO_ANSWER, note: words.find.failed(host) }
  }
}

/** The results without a request. */
function resultsOf (page, text) {
  if (!text) return []
  const place = parsePlace(text, language)
  const title = place && `${place.lat.toFixed(5)}, ${place.lon.toFixed(5)}`
  const coordinates = place ? [{ title, note: words.find.coordinates, place }] : []
  const { places = [] } = page.settings()
  const storePlaces = places.map(([name, lon, lat, z]) => ({ title: name, place: { lat, lon, z } }))
  return [...coordinates, ...matching([...namesOnMap(page.view), ...storePlaces], text), ...layersNamed(page, text)]
}

/** Names of vector features in view; they are shown at the zoom of the map. */
function namesOnMap ({ map }) {
  const names = []
  map.eachLayer(layer => names.push(...layer.namesInView?.() ?? []))
  return names.map(({ name, sourceLayer, lat, lon }) => (
    { title: name, note: sourceLayer, place: { lat, lon, z: map.getZoom() } }
  ))
}

const layersNamed = (page, text) => page.layers()
  .filter(({ layer, name = layer }) => `${name} ${layer}`.toLowerCase().includes(text.toLowerCase()))
  .slice(0, MOST)
  .map(layer => ({ title: layer.name ?? layer.layer, note: words.find.layer, layer }))

/** The results whose title contains the text: titles that begin with it first, short ones before long ones. */
function matching (results, text) {
  const rankOf = ({ title }) => title.toLowerCase().indexOf(text.toLowerCase())
  return results.filter(result => rankOf(result) >= 0)
    .sort((a, b) => rankOf(a) - rankOf(b) || a.title.length - b.title.length).slice(0, MOST)
}

/** Arrow keys move through the field and the results; Escape closes the search. */
function move (event, close) {
  if (event.key === 'Escape') {
    event.stopPropagation()
    return close()
  }
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key]
  const stops = [...event.currentTarget.querySelectorAll('input, li button')]
  const index = stops.indexOf(document.activeElement)
  if (!step || index < 0) return
  event.preventDefault()
  stops[Math.min(Math.max(index + step, 0), stops.length - 1)].focus()
}
