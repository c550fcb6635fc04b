// The card of offline maps: the list of areas, or the form for a new one; beside it the outlines on the map, and the
// button that opens all this.
import { element } from '../../client/timeline/dom.js'
import * as permalink from '../permalink.js'
import { offlineWords as texts, words } from '../words.js'
import { AreaList } from './area-list.js'
import { Coverage, AreaOutlines } from './area-marks.js'
import { AreaForm } from './form.js'
import { isInOtherGrid } from '../other-grid.js'
import { boxOf, outlinesOf } from './geometry.js'
import { problem, reasons } from './words.js'

const NAME = 'offline'
const TITLE = words.offlineMaps
// pixels from the edges of the free part of the map: where the corners of a new area lie at first, beside the buttons
const INSET = { x: 104, y: 84 }
const MOST_INSET = 0.25 // of that part, where it is small
const RATE = 'tilecouch-offline-rate' // what the last rate is kept under: the next estimate knows how long it takes
const CLOSER = 2 // zooms beyond the last one of an area that a map may be enlarged to, to show it

export class OfflinePanel {
  isOpen = false
  #page
  #offline
  #outlines
  #coverage
  /** @type {import('../cards.js').Card | undefined} */
  #card
  #list
  /** @type {AreaForm | null} */
  #form = null
  #mark = element('span', { class: 'mark', 'aria-hidden': 'true', hidden: true })

  /** @param {Parameters<typeof import('./index.js').mountOffline>[0]} page */
  constructor (page) {
    this.#page = page
    this.#offline = page.offline
    this.#outlines = new AreaOutlines(page.view.map)
    this.#coverage = page.offline && new Coverage(page.offline, page.view.map, page.stage)
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
    this.#card = this.#page.cards.open(NAME, TITLE, () => this.close())
    this.#page.entry.setAttribute('aria-expanded', 'true')
    if (this.#offline) this.#showList()
    else this.#fill(TITLE, element('p', { class: 'hint sole' }, reasons[this.#page.reason ?? 'failed']))
    this.#coverage?.update()
    this.#card.node.focus({ preventScroll: true })
  }

  close () {
    if (!this.isOpen) return
    this.isOpen = false
    this.#endForm()
    this.#list?.close()
    this.#list = undefined
    this.#outlines.clear()
    this.#coverage?.clear()
    this.#page.cards.close(NAME)
    this.#page.entry.setAttribute('aria-expanded', 'false')
  }

  get #rate () {
    return Number(localStorage.getItem(RATE)) || undefined
  }

  set #rate (rate) {
    localStorage.setItem(RATE, String(Math.round(rate ?? 0)))
  }

  #fill (title, node) {
    this.#card?.title.replaceChildren(title)
    this.#card?.body.replaceChildren(node)
    this.#card?.body.scrollTo(0, 0)
  }

  #listen () {
    this.#page.stage.on('layerload changes', () => { if (this.isOpen) this.#coverage?.update() })
    this.#offline?.on('areas', () => {
      this.#list?.sync()
      this.#label()
    })
    this.#offline?.on('progress', ({ area, status }) => {
      if (status.rate) this.#rate = status.rate
      this.#list?.item(area.id)?.update()
      this.#list?.measure()
    })
    this.#offline?.on('online', ({ online }) => {
      this.#list?.setOnline(online)
      this.#label()
    })
    this.#offline?.on('failure', ({ area, error }) => {
      const item = this.#list?.item(area?.id)
      if (item) item.fail(error)
      else if (!this.isOpen) this.#page.notices.show(NAME, {
        text: texts.outdated({ name: area?.name, why: problem(error) }), tone: 'warn', onClose: () => {}
      })
    })
  }

  /** The button in the header: that there are areas, and whether the store answers. */
  #label () {
    const areas = this.#offline?.areas.list() ?? []
    const away = this.#offline?.isOnline === false
    this.#mark.hidden = !areas.length
    this.#mark.textContent = String(areas.length)
    const label = [TITLE, areas.length && texts.count(areas.length), away && texts.away].filter(Boolean).join(', ')
    this.#page.entry.classList.toggle('away', away)
    this.#page.entry.setAttribute('aria-label', label)
    this.#page.entry.title = label
  }

  #showList (focused) {
    this.#endForm()
    this.#list = new AreaList(this.#offline, {
      layerTitle: layer => this.#page.layers().find(other => other.layer === layer)?.name ?? layer,
      show: area => this.#show(area), onAdd: () => this.#showForm(), onChange: () => this.#outline(),
      coverage: this.#coverage.element, reason: this.#page.reason
    })
    this.#fill(TITLE, this.#list.node)
    if (focused) this.#list.focus()
  }

  #showForm () {
    const { view, stage } = this.#page
    const layers = this.#page.layers().filter(layer => !isInOtherGrid(layer)) // an area is drawn on the map of the page
    const chosen = layers.find(({ layer }) => layer === stage.doc?.layer) ?? layers[0]
    this.#list?.close()
    this.#list = undefined
    this.#outline()
    document.body.classList.add('sketching') // before it is measured how much of the map is free
    this.#form = new AreaForm(this.#offline, {
      map: view.map, layers, layer: chosen?.layer, box: this.#seen(),
      rate: this.#rate,
      onCancel: () => this.#showList(true), onDone: area => this.#begin(area)
    })
    this.#fill(texts.add, this.#form.node)
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
    item?.download().then(() => {
      const text = (area.isComplete ? texts.area.done : texts.partly)(area.name)
      if (!this.isOpen) this.#page.notices.show(NAME, { text, onClose: () => {} })
    })
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
    // a timeline that is not to be seen seems to cover all, and covers nothing
    const below = height - bottom > INSET.y ? bottom : 0
    const [across, down] = [width - left - right, height - below]
    const [x, y] = [Math.min(INSET.x, MOST_INSET * across), Math.min(INSET.y, MOST_INSET * down)]
    return boxOf([map.containerPointToLatLng([left + x, y]), map.containerPointToLatLng([left + across - x, down - y])])
  }

  /** Moves the map to an area, and to its layer. */
  #show (area) {
    const { view, stage } = this.#page
    const places = outlinesOf(area.spec).flat(2).map(([lat, lng]) => ({ lat, lng }))
    const { min = 0, max = 18 } = area.spec.zooms ?? {}
    view.fit({ layer: area.layer, minzoom: min, maxzoom: max + CLOSER, bounds: area.spec.bbox ?? boxOf(places) })
    if (stage.doc?.layer !== area.layer && view.view) {
      location.hash =
        permalink.format({ layer: area.layer, time: stage.time, comparing: false, range: null, view: view.view })
    }
  }
}
