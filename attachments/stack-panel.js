// The part of the panel that says what lies on the map: the base map, and the layers over each other with their order
// and opacity.
import { element, write } from '../client/timeline/dom.js'
import { fillSelect, iconButton } from './dom.js'
import { percent } from './format.js'
import { isInOtherGrid } from './other-grid.js'
import { CHOSEN } from './stack.js'
import { words } from './words.js'

export class StackPanel {
  #stack
  /** @type {Map<string, ReturnType<StackPanel['makeItem']>>} */
  #items = new Map()
  #base = element('select', { on: { change: ({ target }) => this.#stack.setBase(target.value) } })
  #list = element('ul', { class: 'stack', 'aria-label': words.stack.order })

  element = element('section', { class: 'on-map', 'aria-label': words.stack.onMap, hidden: true },
    element('label', null, element('span', null, words.stack.base), this.#base), this.#list)

  /** @param {import('./stack.js').LayerStack} stack */
  constructor (stack) {
    this.#stack = stack
  }

  has (name) {
    return this.#stack.has(name)
  }

  toggle (name) {
    this.#stack.toggle(name)
  }

  /** @param {import('./store.js').Layer[]} layers in the order of the list @param {string} chosen */
  render (layers, chosen) {
    const bases = layers.filter(layer => layer.format !== 'pbf' && !isInOtherGrid(layer))
    const { templateName, base, entries } = this.#stack
    this.element.hidden = layers.length < 2 && !templateName
    fillSelect(this.#base, [
      ['', words.stack.noBase], ...templateName ? [[CHOSEN, templateName]] : [],
      ...bases.map(({ layer, name }) => [layer, name ?? layer])
    ], base)
    const shown = [...entries].reverse().filter(({ name }) => name !== chosen) // the highest first
    const isPlain = shown.length === 1 && shown[0].opacity === 1
    this.#list.hidden = isPlain
    for (const [name, { node }] of this.#items) {
      if (isPlain || !shown.some(entry => entry.name === name)) {
        node.remove()
        this.#items.delete(name)
      }
    }
    if (isPlain) return
    const focused = /** @type {HTMLElement | null} */ (document.activeElement)
    for (const [at, { name, opacity }] of shown.entries()) {
      const item = this.#items.get(name) ?? this.makeItem(name)
      this.#items.set(name, item)
      const doc = layers.find(({ layer }) => layer === (name === CHOSEN ? chosen : name))
      item.update(doc?.name ?? doc?.layer ?? name, opacity, at === 0, at === shown.length - 1)
      if (this.#list.children[at] !== item.node) this.#list.insertBefore(item.node, this.#list.children[at] ?? null)
    }
    // a button that went up or down with its layer keeps the focus
    if (this.#list.contains(focused) && document.activeElement !== focused) focused?.focus({ preventScroll: true })
  }

  makeItem (name) {
    const title = element('span', { class: 'name' })
    const share = element('input', {
      type: 'range',
      min: '0',
      max: '100',
      step: '5',
      on: { input: ({ target }) => this.#stack.fade(name, target.value / 100) }
    })
    const up = iconButton('up', '', () => this.#stack.move(name, 1))
    const down = iconButton('down', '', () => this.#stack.move(name, -1))
    const off = name === CHOSEN ? null : iconButton('close', '', () => this.#stack.toggle(name))
    const label = (button, text) => write(button, { 'aria-label': text, title: text })
    return {
      node: element('li', { 'data-name': name }, title, share, up, down, off),
      update (text, opacity, isFirst, isLast) {
        write(title, { text })
        if (Number(share.value) !== Math.round(100 * opacity)) share.value = String(Math.round(100 * opacity))
        write(share, {
          'aria-label': words.stack.opacity(text), 'aria-valuetext': percent(opacity), title: words.stack.opacity(text)
        })
        label(up, words.stack.up(text))
        label(down, words.stack.down(text))
        if (off) label(off, words.stack.off(text))
        // a button that is disabled loses the focus
        write(up, { 'aria-disabled': String(isFirst) })
        write(down, { 'aria-disabled': String(isLast) })
      }
    }
  }
}
