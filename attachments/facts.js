// What there is to know about a layer, and the address that other map clients take.
import { attributionNodes } from '../client/source/layer-options.js'
import { fromSeconds } from '../core/index.js'
import { button, element } from './dom.js'
import { count, plural, size, time as written, zooms } from './format.js'
import { template } from './store.js'

/**
 * @param {import('./store.js').Layer} layer
 * @param {import('./store.js').Stats} [stats] once they are known
 */
export function facts (layer, stats) {
  const rows = [
    ['Layer', element('code', null, layer.layer)],
    ['Tiles', stats && count(stats.tiles)],
    ['Versions', stats && count(stats.versions)],
    ['Size', stats && size(stats.bytes)],
    ['Zooms', zooms(layer.minzoom, layer.maxzoom)],
    ['First', stats?.versions && written(fromSeconds(stats.first))],
    ['Last', stats?.versions && written(fromSeconds(stats.last))],
    ['Conflicts', stats?.conflicts && count(stats.conflicts)],
    ['Source', layer.attribution && element('span', null, ...attributionNodes(layer.attribution))]
  ].filter(([, value]) => value)
  return element('div', { class: 'facts' },
    layer.description && element('p', null, layer.description),
    element('dl', null, ...rows.flatMap(([name, value]) => [element('dt', null, name), element('dd', null, value)])),
    stats?.conflicts && element('p', { class: 'conflicts' }, conflictsWords(stats.conflicts), ' ', element('code', null, 'tilecouch check --fix'), ' puts that right: the newest stays, and nothing is lost.'))
}

/** @param {number} conflicts documents */
const conflictsWords = conflicts => `Stores that were loaded apart disagree about ${plural(conflicts, 'document')}.`

/**
 * The address of a layer's tiles, to copy.
 * @param {import('./store.js').Layer} layer
 * @returns {{element: HTMLElement, setTime: (time: string | null) => void}}
 */
export function address (layer) {
  const code = element('code', { tabindex: '0' })
  const copying = button('Copy', copy)
  async function copy () {
    try {
      await navigator.clipboard.writeText(code.textContent)
      copying.textContent = 'Copied'
    } catch { // not allowed outside https and localhost: leave it selected instead
      getSelection()?.selectAllChildren(code)
      copying.textContent = 'Selected'
    }
  }
  return {
    element: element('div', { class: 'address' }, element('h3', null, 'Address for map clients'), element('div', null, code, copying)),
    setTime (time) {
      code.textContent = new URL('.', document.baseURI).href + template(layer, time)
      copying.textContent = 'Copy'
    }
  }
}
