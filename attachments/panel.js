// The panel: a list of layers, by name and in groups, with a search where there are many. The chosen one opens and
// shows its editions, its facts and its address.
import { element, write } from '../client/timeline/dom.js'
import { Watch, iconButton } from './dom.js'
import { Editions } from './editions.js'
import { byName, size, zooms } from './format.js'
import { LayerDetails } from './layer-details.js'
import { StackPanel } from './stack-panel.js'
import { words } from './words/index.js'

const MANY = 12 // layers from which on there are a search and groups
const THUMBNAIL = 12000 // bytes of a tile, on average, up to which one is shown as a small picture

/** @typedef {import('./store.js').Layer} Layer */

/**
 * The heading that a layer stands under: its own, or what its name begins with where others begin so, too.
 * @param {Layer[]} layers
 * @returns {(layer: Layer) => string} '' for none
 */
export function groupsOf (layers) {
  const prefix = ({ layer }) => /^([a-z0-9]+)[-_]/.exec(layer)?.[1] ?? ''
  const counts = new Map()
  for (const layer of layers) counts.set(prefix(layer), (counts.get(prefix(layer)) ?? 0) + 1)
  return layer => layer.group ?? (counts.get(prefix(layer)) > 1 ? prefix(layer) : '')
}

const isGrouped = layers => layers.length >= MANY || layers.some(({ group }) => group)

/** As people look for them: by name, those without a heading first. @param {Layer[]} layers */
export function sortLayers (layers) {
  const titled = ({ name, layer }) => name ?? layer
  const groupOf = isGrouped(layers) ? groupsOf(layers) : () => ''
  return [...layers].sort((a, b) => byName(groupOf(a), groupOf(b)) || byName(titled(a), titled(b)))
}

export class Panel {
  #on
  #chosen = ''
  /** @type {Map<string, Row>} */
  #rows = new Map()
  #search = element('input', { type: 'search', class: 'find-layer', placeholder: words.panel.find, 'aria-label': words.panel.find, hidden: true, on: { input: () => this.#arrange() } })
  #none = element('p', { class: 'hint', role: 'status', hidden: true })
  #list = element('div', { class: 'layers' })
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
   * @param {{onLayer: (layer: string) => void, onCompare: () => void, newestUrl: (layer: string, tile: {z: number, x:
   *   number, y: number}) => Promise<string | undefined>, editions: import('./editions.js').Listeners}} listeners
   * @param {import('./stack.js').LayerStack} stack
   */
  constructor (content, listeners, stack) {
    this.#on = listeners
    this.#stack = new StackPanel(stack)
    this.#watch = new Watch(node => this.#rows.get(/** @type {HTMLElement} */ (node).dataset.of ?? '')?.load(), { root: content, rootMargin: '40px' })
    /** what stands in the panel while there are layers */
    this.node = element('div', { class: 'panel' }, element('h2', { class: 'unseen' }, words.panel.layers), this.#search, this.#stack.element, this.#none, this.#list)
  }

  /** @returns {Editions | null} of the chosen layer */
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
    if (row && this.#details?.element.parentElement !== row.node) row.node.append(this.#details?.element ?? '') // it was gone
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
      newestUrl: tile => this.#on.newestUrl(layer.layer, tile)
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
    const { activeElement } = document
    /** @type {Map<string, HTMLElement[]>} */
    const groups = new Map()
    for (const layer of found) {
      const group = groupOf(layer)
      const nodes = groups.get(group) ?? []
      groups.set(group, nodes)
      nodes.push(/** @type {Row} */ (this.#rows.get(layer.layer)).node)
    }
    const before = JSON.stringify([...this.#list.querySelectorAll('.layer')].map(({ dataset }) => dataset.layer))
    const after = JSON.stringify(found.map(({ layer }) => layer))
    if (before !== after || this.#list.querySelectorAll('.group').length !== [...groups.keys()].filter(Boolean).length) {
      this.#list.replaceChildren(...[...groups].flatMap(([group, nodes]) => [
        ...group ? [element('h3', { class: 'group' }, group)] : [], element('ul', null, ...nodes)]))
      const focused = /** @type {HTMLElement | null} */ (this.#list.contains(activeElement) ? activeElement : null)
      focused?.focus({ preventScroll: true }) // what is put elsewhere loses it
    }
    this.#none.hidden = found.length > 0
    this.#none.textContent = found.length ? '' : words.panel.noMatch(this.#search.value.trim())
  }
}

const textOf = ({ layer, name = '', description = '', group = '' }) => `${layer} ${name} ${description} ${group}`.toLowerCase()

/** One layer of the list. Made once and then only rewritten, so that its picture does not come again. */
class Row {
  #title = element('span', { class: 'title' })
  #brief = element('span', { class: 'brief' })
  #choice
  #over
  #newestUrl
  #isSeen = false
  /** @type {import('./store.js').Stats | undefined} */
  #stats
  #format

  constructor ({ layer, format }, { onChoose, onOver, newestUrl }) {
    this.#newestUrl = newestUrl
    this.#format = format
    this.thumbnail = element('span', { class: 'thumbnail', 'data-of': layer })
    this.#choice = element('button', { type: 'button', class: 'layer', 'data-layer': layer, on: { click: onChoose } },
      this.thumbnail, this.#title, this.#brief)
    this.#over = iconButton('over', '', onOver, { 'aria-pressed': 'false', class: 'icon over' })
    this.node = element('li', null, element('div', { class: 'row' }, this.#choice, this.#over))
  }

  update (layer, stats, isChosen) {
    const titled = layer.name ?? layer.layer
    if (stats && this.#stats && stats.last !== this.#stats.last) this.thumbnail.replaceChildren() // there is a newer one
    this.#stats = stats ?? this.#stats
    write(this.#title, { text: titled })
    write(this.#brief, { text: brief(layer, stats) })
    write(this.#choice, { 'aria-pressed': String(isChosen) })
    write(this.#over, { 'aria-label': words.stack.over(titled), title: words.stack.over(titled) })
    this.node.classList.toggle('selected', isChosen)
    this.#over.hidden = isChosen || layer.format === 'pbf'
    if (this.#isSeen) this.load()
  }

  setOver (is) {
    write(this.#over, { 'aria-pressed': String(is) })
  }

  /** The row is in sight: shows a tile of the first zoom, if it is certain that there is a small one in the middle. */
  load () {
    this.#isSeen = true
    const [first] = [...this.#stats?.zooms ?? []].sort((a, b) => a.z - b.z)
    if (!first || this.#format === 'pbf' || this.thumbnail.childElementCount) return
    const isWhole = first.tiles === (first.x1 - first.x0 + 1) * (first.y1 - first.y0 + 1)
    if (!isWhole || (first.bytes ?? 0) / first.tiles > THUMBNAIL) return
    const image = element('img', { alt: '', width: 44, height: 44, on: { error: () => image.remove() } })
    this.thumbnail.append(image)
    this.#newestUrl({ z: first.z, x: (first.x0 + first.x1) >> 1, y: (first.y0 + first.y1) >> 1 })
      .then(url => url ? image.src = url : image.remove(), () => image.remove())
  }
}

const brief = ({ minzoom, maxzoom }, stats) => [
  stats && words.tiles(stats.tiles),
  minzoom !== undefined && words.panel.zoom(zooms(minzoom, maxzoom)),
  stats && size(stats.bytes)
].filter(Boolean).join(' · ')
