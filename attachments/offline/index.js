// Areas of the map on this device: the card with their list or with the form for a new one, and the OfflineStore. The
// page loads this bundle, offline.js, when the device has an area, or when the user presses the button.
import PouchDB from 'pouchdb-browser'
import { OfflineStore } from '../../client/offline/index.js'
import { sharePromise } from '../../core/promises.js'
import { html, render } from '../html.js'
import { keepText, keptText } from '../kept-text.js'
import { isInOtherGrid } from '../other-grid.js'
import { offlineWords as texts, words } from '../words.js'
import { AreaList } from './area-list.js'
import { AreaOutlines, Coverage } from './area-marks.js'
import { AreaForm } from './form.js'
import { boxOf, outlinesOf } from './geometry.js'
import { problem } from './words.js'

const NAME = 'offline'
const TITLE = words.offlineMaps
const INSET = { x: 104, y: 84 } // pixels between the edges of the free part of the map and the corners of a new area
const MOST_INSET = 0.25 // maximum share of the free part
const RATE = 'tilecouch-offline-rate' // key of the rate of the last download, for the next estimate
const ENLARGEMENT = 2 // zooms beyond the last one of an area that the map may be enlarged to

/**
 * @typedef {object} Page
 * @property {any} offline the OfflineStore, open and ready
 * @property {string} [reason] why the page does not open without a network: `insecure` or `blocked`
 * @property {HTMLElement} entry the button in the header of the panel; the card answers its clicks
 * @property {import('../stage.js').Stage} stage
 * @property {import('../map.js').MapView} view
 * @property {import('../notices.js').Notices} notices
 * @property {import('../cards.js').Cards} cards
 * @property {() => import('../store.js').Layer[]} layers of the viewer
 * @property {(layer: string) => void} onLayer chooses a layer
 * @property {() => {left: number, right: number, bottom: number}} free covered pixels of the map
 */

/** @param {Page} page */
export const mountOffline = page => new OfflinePanel(page)

/** @type {Map<string, Promise<any>>} by name: two OfflineStores of one name would do everything twice */
const stores = new Map()

/** @param {string} remote address of the database @param {string} name of the databases on the device */
export const openOffline = (remote, name) => sharePromise(stores, name, () => openStore(remote, name))

async function openStore (remote, name) {
  const offline = new OfflineStore({ remote, name, PouchDB })
  await offline.ready
  return offline
}

/** Opens and closes the card, and draws the outlines on the map and the label of its button. */
class OfflinePanel {
  isOpen = false
  #page
  #offline
  #outlines
  #coverage
  /** @type {import('../cards.js').Card | undefined} */
  #card
  /** @type {{area: any, text: string} | undefined} of the notice, even if the user has closed it */
  #failure

  /** @param {Page} page */
  constructor (page) {
    const { entry, offline, stage, view } = page
    this.#page = page
    this.#offline = offline
    this.#outlines = new AreaOutlines(view.map)
    this.#coverage = new Coverage(offline, view.map, stage)
    entry.addEventListener('click', () => this.isOpen ? this.close() : this.open())
    stage.on('layerload changes', () => { if (this.isOpen) this.#coverage.show() })
    offline.on('areas online', ({ type }) => {
      this.#endFailure(type)
      this.#update()
    })
    offline.on('progress', ({ status: { rate } }) => { if (rate) keepText(RATE, `${Math.round(rate)}`) })
    offline.on('failure', event => this.#showFailure(event))
    this.#update()
  }

  open () {
    if (this.isOpen) return
    const { cards, entry, notices } = this.#page
    this.isOpen = true
    this.#failure = undefined
    notices.end(NAME)
    this.#card = cards.open(NAME, TITLE, () => this.close())
    entry.setAttribute('aria-expanded', 'true')
    this.#showList()
    this.#update()
    this.#card.node.focus({ preventScroll: true })
  }

  close () {
    if (!this.isOpen || !this.#card) return
    const { cards, entry } = this.#page
    this.isOpen = false
    cards.close(NAME)
    this.#outlines.clear()
    this.#coverage.hide()
    entry.setAttribute('aria-expanded', 'false')
  }

  #fill (title, content) {
    if (!this.#card) return
    this.#card.title.textContent = title
    render(content, this.#card.body)
    this.#card.body.scrollTo(0, 0)
  }

  /** @param {{newArea?: any, isFocused?: boolean}} [options] newArea: its download starts, and it has the focus */
  #showList ({ newArea, isFocused } = {}) {
    const titleOf = name => this.#page.layers().find(({ layer }) => layer === name)?.name ?? name
    this.#fill(TITLE, html`<${AreaList}
      offline=${this.#offline} coverage=${this.#coverage} reason=${this.#page.reason}
      newArea=${newArea} isFocused=${isFocused} layerTitle=${titleOf} onAdd=${() => this.#showForm()}
      onShow=${area => this.#showOnMap(area)} onEnd=${area => this.#tellEnd(area)} />`)
  }

  #showForm () {
    const { view, stage, notices } = this.#page
    const layers = this.#page.layers().filter(layer => !isInOtherGrid(layer)) // an area is drawn on the map of the page
    const shown = layers.find(({ layer }) => layer === stage.doc?.layer) ?? layers[0]
    if (!shown) return notices.show(NAME, { text: texts.noLayer, canClose: true })
    this.#fill(texts.add, html`<${AreaForm}
      offline=${this.#offline} map=${view.map} layers=${layers} shown=${shown.layer}
      boxInSight=${() => this.#boxInSight()} rate=${Number(keptText(RATE))}
      onCancel=${() => this.#showList({ isFocused: true })}
      onDone=${area => this.#showList({ newArea: area })} />`)
  }

  /** Draws the outlines, and the button in the header with the number of areas and whether the store answers. */
  #update () {
    const { entry } = this.#page
    const areas = this.#offline.areas.list()
    const isAway = this.#offline.isOnline === false
    const label = [TITLE, areas.length && texts.count(areas.length), isAway && texts.away].filter(Boolean).join(', ')
    if (areas.length) entry.dataset.areas = String(areas.length)
    else delete entry.dataset.areas
    entry.classList.toggle('away', isAway)
    entry.setAttribute('aria-label', label)
    entry.title = label
    if (!this.isOpen) return
    this.#outlines.show(areas)
    this.#coverage.show()
  }

  /** The open card shows the failures of its areas. Without an area, the store refuses the changes of all of them. */
  #showFailure ({ area, error }) {
    if (area && this.isOpen) return
    const why = problem(error)
    const text = area ? texts.outdated({ name: area.name, why }) : why
    if (area && text === this.#failure?.text) return // a transfer that fails is repeated again and again
    this.#failure = { area, text }
    this.#page.notices.show(NAME, { text, tone: 'warn', canClose: true })
  }

  /** Ends the notice when its area is up to date again or was removed; without an area, when any area changes. */
  #endFailure (type) {
    if (!this.#failure) return
    const { area } = this.#failure
    if (!area && type === 'online') return // a store that refuses answers, too
    if (area && !area.isRemoved) {
      const { state, error } = area.status()
      if (error || state !== 'complete') return
    }
    this.#failure = undefined
    this.#page.notices.end(NAME)
  }

  #tellEnd (area) {
    if (this.isOpen) return
    this.#failure = undefined
    const text = (area.isComplete ? texts.area.done : texts.partly)(area.name)
    this.#page.notices.show(NAME, { text, canClose: true })
  }

  /** The part of the map that nothing covers, without its margins. */
  #boxInSight () {
    const { map } = this.#page.view
    const { x: width, y: height } = map.getSize()
    const { left, right, bottom } = this.#page.free()
    const below = height - bottom > INSET.y ? bottom : 0 // a hidden timeline has no box: it seems to cover everything
    const free = { x: width - left - right, y: height - below }
    const x = Math.min(INSET.x, MOST_INSET * free.x)
    const y = Math.min(INSET.y, MOST_INSET * free.y)
    return boxOf([
      map.containerPointToLatLng([left + x, y]), map.containerPointToLatLng([left + free.x - x, free.y - y])
    ])
  }

  /** Moves the map to an area, and to its layer. */
  #showOnMap ({ layer, spec }) {
    const { view, stage, layers, onLayer } = this.#page
    const isOther = stage.doc?.layer !== layer
    if (isOther && layers().some(doc => doc.layer === layer)) onLayer(layer)
    const { min = 0, max = 18 } = spec.zooms ?? {}
    const corners = outlinesOf(spec).flat(2).map(([lat, lng]) => ({ lat, lng }))
    view.fit({ layer, minzoom: min, maxzoom: max + ENLARGEMENT, bounds: spec.bbox ?? boxOf(corners) })
  }
}
