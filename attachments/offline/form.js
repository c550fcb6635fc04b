// The form for a new area: the shape is drawn on the map, the form holds the rest and shows an estimate that follows
// every change.
import { element } from '../../client/timeline/dom.js'
import { parseBbox } from '../../core/index.js'
import { button } from '../dom.js'
import { offlineWords as texts, words } from '../words.js'
import { Estimator, estimateLine } from './estimate.js'
import { Sketch } from './sketch.js'
import { freeName, problem } from './words.js'

const own = texts.form

const EXTRA_ZOOMS = 2 // zooms beyond the one that is shown, to begin with
const MAX_ZOOM = 22 // zoom, of a layer that does not say where it ends

export class AreaForm {
  #offline
  #page
  #layers
  #sketch
  #estimator
  #parts
  #canDownload = false
  #isNamed = false // by the user

  /**
   * @param {{map: L.Map, layers: import('../store.js').Layer[], layer: string, box: number[], rate?: number, onDone:
   *   (area: any) => void, onCancel: () => void}} page
   *   layer: the one that is shown; box: what the map shows; rate: bytes a second of the last download
   */
  constructor (offline, page) {
    this.#offline = offline
    this.#page = page
    this.#layers = page.layers
    this.#parts = this.#make(page.layer)
    this.#estimator =
      new Estimator((spec, options) => this.#estimate(spec, options), answer => this.#showEstimate(answer))
    this.node = this.#build()
    this.#fill()
    this.#sketch = new Sketch(page.map, () => this.#drawn())
    this.#sketch.setBox(page.box)
  }

  /** Where the focus goes: not to a field, on devices whose keyboard would hide the map. */
  focus () {
    const { name, box } = this.#parts
    if (matchMedia('(pointer: coarse)').matches) box.focus({ preventScroll: true })
    else name.select()
  }

  close () {
    this.#estimator.stop()
    this.#sketch.remove()
  }

  #make (shown) {
    const changed = () => this.#ask()
    const field = (tag, attributes, ...children) => element(tag, { ...attributes, on: { input: changed } }, ...children)
    return {
      name: element('input', {
        type: 'text',
        maxlength: '100',
        required: true,
        autocomplete: 'off',
        on: { input: () => { this.#isNamed = true } }
      }),
      layer: element(
        'select',
        { on: { input: () => { this.#fill(); this.#ask() } } },
        ...this.#layers.map(({ layer, name }) => element(
          'option', { value: layer, selected: layer === shown }, name ?? layer
        ))
      ),
      box: button(own.box, () => this.#choose('box'), { 'aria-pressed': 'true' }),
      polygon: button(own.free, () => this.#choose('polygon'), { 'aria-pressed': 'false' }),
      hint: element('p', { class: 'hint' }),
      undo: button(own.undo, () => this.#sketch.dropCorner(), { class: 'secondary' }),
      numbers: element('input', {
        type: 'text', inputmode: 'text', autocomplete: 'off', spellcheck: 'false', on: { change: () => this.#typed() }
      }),
      first: new Stepper(own.firstZoom, changed),
      last: new Stepper(own.lastZoom, changed),
      past: field(
        'select',
        {},
        element('option', { value: 'none' }, own.pastNone),
        element('option', { value: 'since' }, own.pastSince),
        element('option', { value: 'all' }, own.pastAll)
      ),
      since: field('input', {
        type: 'date',
        'aria-label': own.since,
        hidden: true,
        value: new Date(Date.now() - 365 * 86400000).toISOString().slice(0, 10)
      }),
      answer: element('p', { class: 'estimate', role: 'status' }),
      submit: element('button', { type: 'submit', class: 'primary' }, texts.area.download)
    }
  }

  #build () {
    const { name, layer, box, polygon, hint, undo, numbers, first, last, past, since, answer, submit } = this.#parts
    const labelled = (text, ...fields) => element('label', null, element('span', null, text), ...fields)
    return element('form', {
      class: 'area-form', novalidate: true, on: { submit: event => { event.preventDefault(); this.#submit() } }
    },
      element('div', { class: 'choice', role: 'group', 'aria-label': own.shape }, box, polygon),
      hint, undo,
      labelled(own.name, name),
      this.#layers.length > 1 && labelled(own.layer, layer),
      element('div', { class: 'zooms', role: 'group', 'aria-label': own.zooms }, first.element, last.element),
      labelled(own.past, past), since,
      element('details', null, element('summary', null, own.asNumbers), labelled(own.edges, numbers)),
      element(
        'div',
        { class: 'foot' },
        answer,
        element('div', { class: 'acts' }, submit, button(words.cancel, this.#page.onCancel, { class: 'secondary' }))
      ))
  }

  /** What follows from the layer: its zooms, and a name that is free. */
  #fill () {
    const { name, first, last, layer } = this.#parts
    const { minzoom = 0, maxzoom = MAX_ZOOM, name: title } = this.#chosen
    const seen = Math.round(this.#page.map.getZoom()) + EXTRA_ZOOMS
    const deepest = Math.min(Math.max(seen, minzoom), maxzoom)
    first.set(minzoom, minzoom, maxzoom)
    last.set(deepest, minzoom, maxzoom)
    if (!this.#isNamed) {
      name.value = freeName((title ?? layer.value).slice(0, 90), this.#offline.areas.list().map(area => area.name))
    }
  }

  get #chosen () {
    return this.#layers.find(({ layer }) => layer === this.#parts.layer.value) ?? { layer: this.#page.layer }
  }

  /** @param {'box' | 'polygon'} kind */
  #choose (kind) {
    if (this.#sketch.kind === kind) return
    if (kind === 'box') this.#sketch.setBox(this.#page.box)
    else this.#sketch.startPolygon()
  }

  #typed () {
    try {
      this.#sketch.setBox(parseBbox(this.#parts.numbers.value))
      this.#page.map.fitBounds(this.#sketch.bounds, { padding: [40, 40], animate: false })
    } catch (error) {
      this.#showEstimate({ error })
    }
  }

  #drawn () {
    const { box, polygon, hint, undo, numbers } = this.#parts
    const { kind, corners, geometry } = this.#sketch
    box.setAttribute('aria-pressed', String(kind === 'box'))
    polygon.setAttribute('aria-pressed', String(kind === 'polygon'))
    const text = kind === 'box' ? own.dragCorners : !corners ? own.tapCorners : own.corners(corners)
    if (hint.textContent !== text) hint.textContent = text
    undo.hidden = kind === 'box' || !corners
    if (geometry && 'bbox' in geometry && document.activeElement !== numbers) numbers.value = geometry.bbox.join(', ')
    this.#ask()
  }

  get #spec () {
    const { first, last, past, since } = this.#parts
    const geometry = this.#sketch.geometry
    return geometry && {
      layer: this.#chosen.layer, ...geometry, zooms: { min: first.value, max: last.value },
      history: past.value === 'all' || (past.value === 'since' && { since: since.value })
    }
  }

  #ask () {
    const { past, since, answer } = this.#parts
    since.hidden = past.value !== 'since'
    this.#allow(false)
    const spec = this.#spec
    if (!spec) {
      this.#estimator.stop()
      answer.className = 'estimate'
      answer.replaceChildren(own.threeCorners)
      return
    }
    answer.classList.add('waiting')
    this.#estimator.follow(spec)
  }

  async #estimate (spec, options) {
    const [figures, room] =
      await Promise.all([this.#offline.areas.estimate(spec, options), this.#offline.storage().catch(() => ({}))])
    return { figures, room }
  }

  #showEstimate (answer) {
    const { tone, parts, isPossible } = estimateLine(answer, this.#page.rate)
    this.#parts.answer.className = `estimate ${tone}`
    this.#parts.answer.replaceChildren(...parts)
    this.#allow(isPossible)
  }

  #allow (can) {
    this.#canDownload = can
    this.#parts.submit.setAttribute('aria-disabled', String(!can)) // a button that is disabled loses the focus
  }

  async #submit () {
    const { name } = this.#parts
    const spec = this.#spec
    if (!spec || !this.#canDownload) return
    if (!name.value.trim()) {
      this.#parts.answer.className = 'estimate warn'
      this.#parts.answer.textContent = own.giveName
      return name.focus()
    }
    this.#allow(false)
    this.#offline.persist().catch(() => false) // browsers ask or decide after a click; the room shows the answer
    try {
      this.#page.onDone(await this.#offline.areas.add({ name: name.value.trim(), ...spec }))
    } catch (error) {
      this.#parts.answer.className = 'estimate warn'
      this.#parts.answer.textContent = problem(error)
      this.#allow(true)
    }
  }
}

export class Stepper {
  #input
  #onChange

  constructor (label, onChange) {
    this.#onChange = onChange
    this.#input = element('input', {
      type: 'number', inputmode: 'numeric', 'aria-label': label, on: { change: () => this.#take(this.value) }
    })
    this.element = element('div', { class: 'stepper' }, element('span', { 'aria-hidden': 'true' }, label),
      element('div', null,
        button('−', () => this.#take(this.value - 1), { 'aria-label': own.less(label) }), this.#input,
        button('+', () => this.#take(this.value + 1), { 'aria-label': own.more(label) })))
  }

  get value () {
    const { value, min } = this.#input
    return Number.isInteger(Number(value)) && value !== '' ? Number(value) : Number(min)
  }

  set (value, min, max) {
    Object.assign(this.#input, { min, max, value })
  }

  #take (value) {
    const { min, max } = this.#input
    this.#input.value = Math.min(Math.max(value, Number(min)), Number(max))
    this.#onChange()
  }
}
