// The list of layers. The chosen one opens and shows its facts, its editions and its address.
import { template } from './api.js'
import { attributionNodes, element } from './dom.js'
import { bytes, count, plural, time as written, zooms } from './format.js'

/**
 * @param {import('./api.js').Layer[]} layers
 * @param {{selected: string, onSelect: (layer: string) => void, details: HTMLElement}} options
 */
export function layerList (layers, { selected, onSelect, details }) {
  return element('ul', { class: 'layers' }, ...layers.map(layer => {
    const isSelected = layer.layer === selected
    return element('li', { class: isSelected ? 'selected' : null },
      element('button', { type: 'button', class: 'layer', 'data-layer': layer.layer, 'aria-pressed': String(isSelected), on: { click: () => onSelect(layer.layer) } },
        thumbnail(layer),
        element('span', { class: 'title' }, layer.name ?? layer.layer),
        element('span', { class: 'brief' }, brief(layer))),
      isSelected && details)
  }))
}

/** @param {import('./api.js').Layer} layer */
const brief = ({ stats, minzoom, maxzoom }) => [
  stats.known && plural(stats.tiles, 'tile'), minzoom !== undefined && `zoom ${zooms(minzoom, maxzoom)}`, stats.known && bytes(stats.bytes)
].filter(Boolean).join(' · ')

/** A small picture: a tile of the first zoom, when it is certain that there is one in the middle. */
function thumbnail (layer) {
  const [first] = [...layer.stats.zooms].sort((a, b) => a.z - b.z)
  const whole = first && first.tiles === (first.x1 - first.x0 + 1) * (first.y1 - first.y0 + 1)
  if (!whole || layer.format === 'pbf') return element('span', { class: 'thumbnail' })
  const place = { z: first.z, x: (first.x0 + first.x1) >> 1, y: (first.y0 + first.y1) >> 1 }
  const src = template(layer).replace(/\{([zxy])\}/g, (_, axis) => place[axis])
  return element('img', { class: 'thumbnail', src, alt: '', width: 44, height: 44 })
}

/**
 * @param {import('./api.js').Layer} layer
 * @param {string} [time]
 */
export function facts (layer, time) {
  const { stats } = layer
  const fromSeconds = seconds => written(new Date(seconds * 1000).toISOString())
  const rows = [
    ['Layer', element('code', null, layer.layer)],
    ['Tiles', stats.known && count(stats.tiles)],
    ['Versions', stats.known && count(stats.versions)],
    ['Size', stats.known && bytes(stats.bytes)],
    ['Zooms', zooms(layer.minzoom, layer.maxzoom)],
    ['First', stats.known && fromSeconds(stats.first)],
    ['Last', stats.known && fromSeconds(stats.last)],
    ['Source', layer.attribution && element('span', null, ...attributionNodes(layer.attribution))]
  ].filter(([, value]) => value)
  return element('div', { class: 'facts' },
    layer.description && element('p', null, layer.description),
    layer.format === 'pbf' && element('p', { class: 'hint' }, 'These are vector tiles: this page lists them and cannot draw them.'),
    element('dl', null, ...rows.flatMap(([name, value]) => [element('dt', null, name), element('dd', null, value)])),
    address(new URL('.', document.baseURI).href + template(layer, time)))
}

function address (text) {
  const code = element('code', { tabindex: '0' }, text)
  const button = element('button', { type: 'button', on: { click: copy } }, 'Copy')
  async function copy () {
    try {
      await navigator.clipboard.writeText(text)
      button.textContent = 'Copied'
    } catch { // not allowed outside https and localhost: leave it selected instead
      getSelection()?.selectAllChildren(code)
      button.textContent = 'Selected'
    }
  }
  return element('div', { class: 'address' },
    element('h3', null, 'Address for map clients'),
    element('div', null, code, button))
}
