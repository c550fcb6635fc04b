// The card of offline maps: the list of areas, or the form for a new one; beside it the outlines on the map, and the button
// that opens all this.
import { element } from '../dom.js'
import { plural } from '../format.js'
import * as permalink from '../permalink.js'
import { AreaForm } from './form.js'
import { AreaList } from './area-list.js'
import { AreaOutlines } from './outlines.js'
import { outlinesOf, boxOf } from './geometry.js'
import { problem, reasons } from './words.js'

const NAME = 'offline'
const TITLE = 'Offline maps'
const INSET = 0.12 // of the free part of the map: where the corners of a new area lie at first
const CLOSER = 2 // zooms beyond the last one of an area that a map may be enlarged to, to show it

export class OfflinePanel {
  isOpen = false
  #page
  #offline
  #outlines
  #list
  /** @type {AreaForm | null} */
  #form = null
  #mark = element('span', { class: 'mark', 'aria-hidden': 'true', hidden: true })

  /** @param {Parameters<typeof import('./index.js').mountOffline>[0]} page */
  constructor (page) {
    this.#page = page
    this.#offline = page.offline
    this.#outlines = new AreaOutlines(page.view.map)
    page.entry.append(this.#mark)
    page.entry.addEventListener('click', () => this.isOpen ? this.close() : this.open())
    addEventListener('keydown', event => this.#escape(event), { capture: true })
    this.#listen()
    this.#label()
  }

  open () {
    if (this.isOpen) return
    this.isOpen = true
    this.#page.notices.end(NAME)
    const { body, node } = this.#page.cards.open(NAME, TITLE, () => this.close())
    this.#page.entry.setAttribute('aria-expanded', 'true')
    if (!this.#offline) body.replaceChildren(element('p', { class: 'hint' }, reasons[this.#page.reason ?? 'failed'] ?? reasons.failed))
    else this.#showList()
    node.focus({ preventScroll: true })
  }

  close () {
    if (!this.isOpen) return
    this.isOpen = false
    this.#endForm()
    this.#list?.close()
    this.#list = undefined
    this.#outlines.clear()
    this.#page.cards.close(NAME)
    this.#page.entry.setAttribute('aria-expanded', 'false')
  }

  #listen () {
    this.#offline?.on('areas', () => {
      this.#list?.sync()
      this.#label()
    })
    this.#offline?.on('progress', ({ area }) => {
      this.#list?.item(area.id)?.update()
      this.#list?.weigh()
    })
    this.#offline?.on('online', ({ online }) => {
      this.#list?.setOnline(online)
      this.#label()
    })
    this.#offline?.on('failure', ({ area, error }) => {
      const item = this.#list?.item(area?.id)
      if (item) item.fail(error)
      else if (!this.isOpen) this.#page.notices.say(NAME, { text: `“${area?.name}” is not up to date. ${problem(error)}`, tone: 'warn', onClose: () => {} })
    })
  }

  /** The button in the header: that there are areas, and whether the store answers. */
  #label () {
    const areas = this.#offline?.areas.list() ?? []
    const away = this.#offline?.isOnline === false
    this.#mark.hidden = !areas.length
    this.#mark.textContent = String(areas.length)
    const label = [TITLE, areas.length && plural(areas.length, 'area'), away && 'no connection'].filter(Boolean).join(', ')
    this.#page.entry.classList.toggle('away', away)
    this.#page.entry.setAttribute('aria-label', label)
    this.#page.entry.title = label
  }

  #showList (focused) {
    this.#endForm()
    this.#list = new AreaList(this.#offline, {
      layerTitle: layer => this.#page.layers().find(other => other.layer === layer)?.name ?? layer,
      show: area => this.#show(area), onAdd: () => this.#showForm(), onChange: () => this.#outline(), coverage: this.#coverage(), reason: this.#page.reason
    })
    this.#page.cards.body(NAME)?.replaceChildren(this.#list.node)
    if (focused) this.#list.focus()
  }

  #showForm () {
    const { view, layers, stage } = this.#page
    this.#list?.close()
    this.#list = undefined
    this.#outline()
    this.#form = new AreaForm(this.#offline, {
      map: view.map, layers: layers(), layer: stage.doc?.layer ?? layers()[0]?.layer, box: this.#seen(),
      onCancel: () => this.#showList(true), onDone: area => this.#begin(area)
    })
    this.#page.cards.body(NAME)?.replaceChildren(this.#form.node)
    document.body.classList.add('sketching')
    this.#form.focus()
  }

  #endForm () {
    this.#form?.close()
    this.#form = null
    document.body.classList.remove('sketching')
  }

  #begin (area) {
    this.#showList()
    const item = this.#list?.item(area.id)
    this.#list?.open(area.id)
    item?.focus()
    item?.download().then(() => { if (!this.isOpen) this.#page.notices.say(NAME, { text: `“${area.name}”: ${area.isComplete ? 'it is on this device.' : 'not all of it came.'}`, onClose: () => {} }) })
  }

  // the form first, then the card
  #escape (event) {
    if (event.key !== 'Escape' || !this.#form) return
    event.stopPropagation()
    this.#showList(true)
  }

  #outline () {
    if (this.isOpen && this.#offline) this.#outlines.show(this.#offline.areas.list())
  }

  /** What is to be seen of the map, some way in from its edges. */
  #seen () {
    const { map } = this.#page.view
    const { x: width, y: height } = map.getSize()
    const { left = 0, right = 0, bottom = 0 } = this.#page.free?.() ?? {}
    const [across, down] = [width - left - right, height - bottom]
    const at = (x, y) => map.containerPointToLatLng([left + x * across, y * down])
    return boxOf([at(INSET, INSET), at(1 - INSET, 1 - INSET)])
  }

  /** Moves the map to an area, and to its layer. */
  #show (area) {
    const { view, stage } = this.#page
    const places = outlinesOf(area.spec).flat(2).map(([lat, lng]) => ({ lat, lng }))
    const { min = 0, max = 18 } = area.spec.zooms ?? {}
    view.fit({ layer: area.layer, minzoom: min, maxzoom: max + CLOSER, bounds: area.spec.bbox ?? boxOf(places) })
    if (stage.doc?.layer !== area.layer && view.view) location.hash = permalink.format({ layer: area.layer, time: stage.time, comparing: false, range: null, view: view.view })
  }

  #coverage () {
    return element('span', { hidden: true })
  }
}
