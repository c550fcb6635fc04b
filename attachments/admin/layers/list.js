// The layers as the viewer lists them: in groups, by order and name, each with a picture.
import { element, write } from '../../../client/timeline/dom.js'
import { button, iconButton, soon } from '../../dom.js'
import { zooms } from '../../format.js'
import { MANY, groupsOf, isGrouped, sortLayers } from '../../layer-order.js'
import { hostOf } from '../../../core/upstream.js'
import { texts } from '../words.js'
import { Pictures } from '../overview/pictures.js'
import { newLayer } from './new-layer.js'
import { ordersAfter, writeOrders } from './order.js'

const words = texts.layers
const ROWS = 100 // layers at once; a button shows as many more

export class LayerList {
  #app
  #stop = new AbortController()
  #pictures
  #search = element('input', { type: 'search', placeholder: words.find, 'aria-label': words.find, hidden: true, on: { input: () => this.#drawSoon() } })
  #isOrdering = false
  #moving = Promise.resolve()
  #shown = ROWS
  #drawn = ''
  /** @type {Map<string, number> | null} */
  #tiles = null
  #drawSoon = soon(() => this.#draw())
  #isUnsaved

  /** @param {import('../index.js').App} app @param {(layer: string) => boolean} isUnsaved */
  constructor (app, isUnsaved) {
    this.#app = app
    this.#isUnsaved = isUnsaved
    this.#pictures = new Pictures(app.couch, this.#stop.signal)
    const make = newLayer(app)
    this.ordering = button(words.order.button, () => this.#setOrdering(!this.#isOrdering), { class: 'secondary', 'aria-pressed': 'false' })
    this.none = element('p', { class: 'hint', role: 'status', hidden: true })
    this.more = button(texts.more, () => { this.#shown += ROWS; this.#draw() }, { class: 'secondary', hidden: true })
    this.hint = element('p', { class: 'hint', hidden: true }, words.order.hint)
    this.list = element('div', { class: 'layer-list' })
    this.element = element('div', { class: 'layers' },
      element('div', { class: 'head' }, element('h2', null, texts.sections.layers), this.#search, this.ordering,
        button(words.make.button, make.open, { class: 'primary' })),
      make.element, this.hint, this.none, this.list, this.more)
    this.#draw()
    this.#count()
  }

  update () {
    this.#drawSoon()
  }

  close () {
    this.#stop.abort()
  }

  /** How many tiles each layer has now, if the index knows it already. */
  async #count () {
    const query = { group_level: 1, update: false }
    const { signal } = this.#stop
    const { rows } = await this.#app.couch.ask('_design/versions/_view/by_area', { query, signal }).catch(() => ({ rows: [] }))
    this.#tiles = new Map(rows.map(({ key: [layer], value }) => [layer, value.count]))
    this.#drawSoon()
  }

  #setOrdering (isOn) {
    this.#isOrdering = isOn
    write(this.ordering, { 'aria-pressed': String(isOn), text: isOn ? words.order.end : words.order.button })
    this.#draw()
  }

  #draw () {
    if (this.#stop.signal.aborted) return
    const { docs } = this.#app
    const isKnown = docs.known.has('layer')
    const { all, groupOf } = this.#sorted()
    const wanted = this.#search.value.trim().toLowerCase()
    const found = all.filter(doc => !wanted || textOf(doc).includes(wanted))
    const part = found.slice(0, this.#shown)
    write(this.element, { 'aria-busy': isKnown ? null : 'true' })
    this.#search.hidden = all.length <= MANY
    this.ordering.hidden = all.length < 2
    this.hint.hidden = !this.#isOrdering
    this.more.hidden = part.length === found.length
    this.none.hidden = found.length > 0
    write(this.none, { text: !isKnown ? words.reading : wanted ? words.noneFound : words.noLayers })
    const rows = part.map(doc => ({
      ...doc,
      heading: groupOf(doc),
      tiles: this.#tiles && (this.#tiles.get(doc.layer) ?? 0),
      isUnsaved: this.#isUnsaved(doc.layer)
    }))
    const state = JSON.stringify([rows, this.#isOrdering])
    if (state === this.#drawn) return
    this.#drawn = state
    const focused = document.activeElement?.getAttribute('data-move')
    this.list.replaceChildren(...groupsIn(rows).flatMap(([heading, group]) => {
      const whole = all.filter(doc => groupOf(doc) === heading)
      return [
        ...heading ? [element('h3', null, heading)] : [],
        element('ul', { class: 'card' }, group.map(row => this.#row(row, whole)))
      ]
    }))
    if (focused) /** @type {HTMLElement | null} */ (this.list.querySelector(`[data-move="${focused}"]`))?.focus()
  }

  #row (row, group) {
    const { layer, name, tiles, isUnsaved } = row
    const title = name || layer
    const facts = [
      name && layer,
      row.zooms && words.zooms(row.zooms),
      tiles !== null && words.tiles(tiles),
      row.host && words.from(row.host)
    ].filter(Boolean).join(' · ')
    const at = group.findIndex(doc => doc.layer === layer)
    const move = (by, icon, label) => iconButton(icon, label(title), () => this.#move(layer, by), {
      'data-move': `${layer} ${by}`, 'aria-disabled': at + by < 0 || at + by >= group.length ? 'true' : null
    })
    return element('li', { 'data-layer': layer },
      this.#pictures.of(row),
      element('div', { class: 'grow' }, element('a', { href: `#layers/${layer}` }, title), ' ', isUnsaved && element('span', { class: 'state warn' }, words.hasUnsaved), element('small', null, facts)),
      this.#isOrdering && element('div', { class: 'row moves' }, move(-1, 'up', words.order.up), move(1, 'down', words.order.down)))
  }

  /** One move after the other, each from the order that the one before has made. */
  #move (layer, by) {
    this.#moving = this.#moving.then(async () => {
      const { group, at } = this.#placeOf(layer)
      if (at < 0 || at + by < 0 || at + by >= group.length) return
      await writeOrders(this.#app, ordersAfter(group, at, at + by))
    }).catch(error => this.#app.say(error.fields ? words.order.clash : texts.failed(error.message), true))
  }

  /** All layers as they are listed, and the heading of each. */
  #sorted () {
    const all = sortLayers(this.#app.docs.all('layer').filter(({ layer }) => typeof layer === 'string').map(sound))
    return { all, groupOf: isGrouped(all) ? groupsOf(all) : () => '' }
  }

  #placeOf (layer) {
    const { all, groupOf } = this.#sorted()
    const own = all.find(doc => doc.layer === layer)
    const group = own ? all.filter(doc => groupOf(doc) === groupOf(own)) : []
    return { group, at: group.findIndex(doc => doc.layer === layer) }
  }
}

/** What a row shows, of documents that may hold anything. */
function sound ({ layer, name, description, group, order, format, minzoom, maxzoom, upstream }) {
  const text = value => typeof value === 'string' && value !== '' ? value : undefined
  return {
    layer,
    name: text(name),
    description: text(description),
    group: text(group),
    order: Number.isInteger(order) ? order : undefined,
    format,
    zooms: minzoom === undefined && maxzoom === undefined ? '' : zooms(minzoom ?? 0, maxzoom ?? 30),
    host: typeof upstream?.url === 'string' ? hostOf(upstream.url).replace(/^.*@/, '') : undefined
  }
}

const textOf = ({ layer, name = '', description = '', group = '' }) => `${layer} ${name} ${description} ${group}`.toLowerCase()

/** @returns {[string, any[]][]} heading and rows */
function groupsIn (rows) {
  const groups = new Map()
  for (const row of rows) groups.set(row.heading, [...groups.get(row.heading) ?? [], row])
  return [...groups]
}
