// The panel: a list of layers, by name and in groups, with a search where there are many. The chosen one opens and
// shows its editions, its facts and its address.
import { element, write } from '../client/timeline/dom.js'
import { Watch, icon, iconButton } from './dom.js'
import { size, zooms } from './format.js'
import { LayerDetails } from './layer-details.js'
import { MANY, groupsOf, isGrouped, sortLayers } from './layer-order.js'
import { isInOtherGrid } from './other-grid.js'
import { StackPanel } from './stack-panel.js'
import { words } from './words.js'

/** @typedef {import('./store.js').Layer} Layer */

export class Panel {
  #on
  #chosen = ''
  /** @type {Map<string, Row>} */
  #rows = new Map()
  #search = element('input', {
    type: 'search',
    class: 'find-layer',
    placeholder: words.panel.find,
    'aria-label': words.panel.find,
    hidden: true,
    on: { input: () => this.#arrange() }
  })
  #none = element('p', { class: 'hint', role: 'status', hidden: true })
  #list = element('div', { class: 'layers' })
  #order = '' // of the rows in it, under their headings
  #watch
  /** @type {Layer[]} */
  #layers = []
  /** @type {LayerDetails | null} */
  #details = null
  /** @type {string | null} */
  #time = null
  #stack

  /**
   * @param {HTMLElement} content
   * @param {{onLayer: (layer: string) => void, onCompare: () => void, thumbnailUrl: (layer: string) =>
   *   Promise<string | undefined>, editions: import('./editions.js').Listeners}} listeners
   * @param {import('./stack.js').LayerStack} stack
   */
  constructor (content, listeners, stack) {
    this.#on = listeners
    this.#stack = new StackPanel(stack)
    this.#watch = new Watch(
      node => this.#rows.get(/** @type {HTMLElement} */ (node).dataset.of ?? '')?.load(),
      { root: content, rootMargin: '40px' }
    )
    /** what stands in the panel while there are layers */
    this.node = element(
      'div',
      { class: 'panel' },
      element('h2', { class: 'unseen' }, words.panel.layers),
      this.#search,
      this.#stack.element,
      this.#none,
      this.#list
    )
  }

  /** @returns {import('./editions.js').Editions | null} of the chosen layer */
  get editions () {
    return this.#details?.editions ?? null
  }

  /** @param {Layer[]} layers @param {Map<string, import('./store.js').Stats> | null} stats null while unknown */
  render (layers, chosen, stats) {
    const isOther = chosen !== this.#chosen
    this.#chosen = chosen
    this.#layers = sortLayers(layers)
    for (const [name, row] of this.#rows) {
      if (layers.some(({ layer }) => layer === name)) continue
      row.node.remove()
      this.#rows.delete(name)
    }
    for (const layer of this.#layers) {
      if (!this.#rows.has(layer.layer)) this.#rows.set(layer.layer, this.#newRow(layer))
      this.#rows.get(layer.layer)?.update(layer, stats?.get(layer.layer), layer.layer === chosen)
    }
    const doc = layers.find(({ layer }) => layer === chosen)
    if (isOther) this.#open(doc)
    const row = this.#rows.get(chosen)
    const isElsewhere = this.#details?.element.parentElement !== row?.node
    if (row && isElsewhere) row.node.append(this.#details?.element ?? '') // it was gone
    if (doc) this.#details?.update(doc, stats?.get(chosen))
    this.#stack.render(this.#layers, chosen)
    this.#search.hidden = layers.length < MANY
    this.#arrange()
  }

  setTime (time) {
    this.#time = time
    this.#details?.setTime(time)
  }

  /** The layers on the map are others, or lie differently. */
  onStack () {
    this.#stack.render(this.#layers, this.#chosen)
    for (const [name, row] of this.#rows) row.setOver(this.#stack.has(name))
  }

  /** Layers in the order of the list. */
  sorted (layers) {
    return sortLayers(layers)
  }

  #newRow (layer) {
    const row = new Row(layer, {
      onChoose: () => this.#on.onLayer(layer.layer), onOver: () => this.#stack.toggle(layer.layer),
      thumbnailUrl: () => this.#on.thumbnailUrl(layer.layer)
    })
    this.#watch.add(row.thumbnail)
    return row
  }

  #open (doc) {
    this.#details?.element.remove()
    this.#details = doc ? new LayerDetails(doc, { editions: this.#on.editions, onCompare: this.#on.onCompare }) : null
    this.#details?.setTime(this.#time)
  }

  /** Puts the rows that match the search into the list, under their headings; those that are there stay. */
  #arrange () {
    const wanted = this.#search.hidden ? [] : this.#search.value.toLowerCase().split(/\s+/).filter(Boolean)
    const found = this.#layers.filter(layer => wanted.every(word => textOf(layer).includes(word)))
    const groupOf = isGrouped(this.#layers) ? groupsOf(this.#layers) : () => ''
    /** @type {Map<string, string[]>} */
    const groups = new Map()
    for (const layer of found) groups.set(groupOf(layer), [...groups.get(groupOf(layer)) ?? [], layer.layer])
    const order = JSON.stringify([...groups])
    if (order !== this.#order) {
      this.#order = order
      const { activeElement } = document
      const nodeOf = name => /** @type {Row} */ (this.#rows.get(name)).node
      this.#list.replaceChildren(...[...groups].flatMap(([group, names]) => [
        ...group ? [element('h3', { class: 'group' }, group)] : [], element('ul', null, ...names.map(nodeOf))]))
      const focused = /** @type {HTMLElement | null} */ (this.#list.contains(activeElement) ? activeElement : null)
      focused?.focus({ preventScroll: true }) // what is put elsewhere loses it
    }
    this.#none.hidden = found.length > 0
    this.#none.textContent = found.length ? '' : words.panel.noMatch(this.#search.value.trim())
  }
}

const textOf = ({ layer, name = '', description = '', group = '' }) =>
  `${layer} ${name} ${description} ${group}`.toLowerCase()

/** One layer of the list. Made once and then only rewritten, so that its picture does not come again. */
class Row {
  #title = element('span', { class: 'title' })
  #brief = element('span', { class: 'brief' })
  #choice
  #over
  #thumbnailUrl
  #isSeen = false
  /** @type {number | undefined} the last time of the layer, when its picture was asked for */
  #asked
  /** @type {import('./store.js').Stats | undefined} */
  #stats
  #format
  #canLie

  constructor (doc, { onChoose, onOver, thumbnailUrl }) {
    this.#thumbnailUrl = thumbnailUrl
    const { layer, format } = doc
    this.#format = format
    this.#canLie = !isInOtherGrid(doc)
    this.thumbnail = element('span', { class: 'thumbnail', 'data-of': layer })
    this.#choice = element('button', { type: 'button', class: 'layer', 'data-layer': layer, on: { click: onChoose } },
      this.thumbnail, this.#title, this.#brief)
    if (this.#format === 'pbf') this.thumbnail.append(icon('vector')) // a map of its own would have to draw it
    this.#over = iconButton('over', '', onOver, { 'aria-pressed': 'false', class: 'icon over' })
    this.node = element('li', null, element('div', { class: 'row' }, this.#choice, this.#over))
  }

  update (layer, stats, isChosen) {
    const titled = layer.name ?? layer.layer
    this.#stats = stats ?? this.#stats
    write(this.#title, { text: titled })
    write(this.#brief, { text: brief(layer, stats) })
    write(this.#choice, { 'aria-pressed': String(isChosen) })
    write(this.#over, { 'aria-label': words.stack.over(titled), title: words.stack.over(titled) })
    this.node.classList.toggle('selected', isChosen)
    this.#over.hidden = isChosen || !this.#canLie
    if (this.#isSeen) this.load()
  }

  setOver (is) {
    write(this.#over, { 'aria-pressed': String(is) })
  }

  /** The row is in sight: shows a picture of the layer, once there are figures, and so an index that answers. */
  async load () {
    this.#isSeen = true
    const last = this.#stats?.last
    if (last === undefined || last === this.#asked || this.#format === 'pbf') return
    this.#asked = last
    const src = await this.#thumbnailUrl().catch(() => { this.#asked = undefined })
    if (last !== this.#asked) return
    const image = element('img', { src, alt: '', width: 44, height: 44, on: { error: () => image.remove() } })
    this.thumbnail.replaceChildren(...src ? [image] : [])
  }
}

const brief = ({ minzoom, maxzoom }, stats) =>
  [
    minzoom !== undefined && words.panel.zoom(zooms(minzoom, maxzoom)), stats && size(stats.bytes)
  ].filter(Boolean).join(' · ')
