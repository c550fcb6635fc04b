// What the panel shows of the chosen layer: its editions, its facts and its address.
import { element, write } from '../client/timeline/dom.js'
import { attributionNodes } from '../client/source/attribution.js'
import { fromSeconds } from '../core/index.js'
import { copyable } from './copy.js'
import { button } from './dom.js'
import { Editions } from './editions.js'
import { count, size, time as written, zooms } from './format.js'
import { databaseUrl, template } from './store.js'
import { words } from './words.js'

export class LayerDetails {
  editions
  element
  #facts = element('div')
  #address

  /** @param {{editions: import('./editions.js').Listeners, onCompare: () => void}} listeners */
  constructor (layer, { editions, onCompare }) {
    this.editions = new Editions(editions)
    this.#address = address(layer)
    this.element = element('div', { class: 'details' },
      this.editions.element,
      button(words.panel.compare, onCompare, { class: 'secondary', 'data-does': 'compare' }),
      this.#facts,
      this.#address.element)
  }

  /** @param {import('./store.js').Stats} [stats] once they are known */
  update (layer, stats) {
    const next = facts(layer, stats)
    if (this.#facts.isEqualNode(next)) return
    this.#facts.replaceWith(next)
    this.#facts = next
  }

  setTime (time) {
    this.editions.setTime(time)
    this.#address.setTime(time)
  }
}

/** @param {import('./store.js').Stats} [stats] once they are known */
export function facts (layer, stats) {
  const { terms } = words.facts
  const rows = [
    [terms.layer, element('code', null, layer.layer)],
    [terms.tiles, stats?.tiles !== undefined && count(stats.tiles)],
    [terms.versions, stats && count(stats.versions)],
    [terms.size, stats && size(stats.bytes)],
    [terms.zooms, zooms(layer.minzoom, layer.maxzoom)],
    [terms.first, stats?.versions && written(fromSeconds(stats.first))],
    [terms.last, stats?.versions && written(fromSeconds(stats.last))],
    [terms.conflicts, stats?.conflicts && count(stats.conflicts)],
    [terms.source, layer.attribution && element('span', null, ...attributionNodes(layer.attribution))]
  ].filter(([, value]) => value)
  return element('div', { class: 'facts' },
    layer.description && element('p', null, layer.description),
    element('dl', null, ...rows.flatMap(([name, value]) => [element('dt', null, name), element('dd', null, value)])),
    stats?.conflicts && element(
      'p',
      { class: 'conflicts' },
      words.facts.disagree(stats.conflicts),
      ' ',
      element('code', null, 'tilecouch check --fix'),
      ' ',
      words.facts.repairs
    ))
}

/**
 * The address of a layer's tiles, to copy.
 * @returns {{element: HTMLElement, setTime: (time: string | null) => void}}
 */
export function address (layer) {
  const { nodes, set } = copyable()
  // CouchDB has no page of the layers
  const more = databaseUrl() === null && element('a', null, words.address.more)
  return {
    element: element(
      'div', { class: 'address' }, element('h3', null, words.address.head), element('div', null, ...nodes), more
    ),
    setTime (time) {
      set(new URL('.', document.baseURI).href + template(layer, time))
      if (more) write(more, { href: `layers${time ? `?time=${time}` : ''}#${layer.layer}` })
    }
  }
}
