// What lies on the map: the base map, and the layers over each other with their order and opacity.
import { percent } from './format.js'
import { html, useKeptFocus } from './html.js'
import { isInOtherGrid } from './other-grid.js'
import { IconButton, Select } from './parts.js'
import { CHOSEN } from './stack.js'
import { words } from './words.js'

/**
 * @param {{stack: import('./stack.js').LayerStack, layers: import('./store.js').Layer[], chosen: string}} props layers
 *   in the order of the list
 */
export function LayerStack ({ stack, layers, chosen }) {
  useKeptFocus()
  const { templateName, base, entries } = stack
  if (layers.length < 2 && !templateName) return null
  const bases = layers.filter(layer => layer.format !== 'pbf' && !isInOtherGrid(layer))
  const options = [
    ['', words.stack.noBase], ...templateName ? [[CHOSEN, templateName]] : [],
    ...bases.map(({ layer, name = layer }) => [layer, name])
  ]
  const items = entries.filter(({ name }) => name !== chosen).reverse()
  const isChosenAlone = items.length === 1 && items[0].opacity === 1
  const titleOf = name => {
    const id = name === CHOSEN ? chosen : name
    return layers.find(({ layer }) => layer === id)?.name ?? id
  }
  return html`<section class="on-map" aria-label=${words.stack.onMap}>
    <label><span>${words.stack.base}</span>
      <${Select} options=${options} value=${base} onChange=${name => stack.setBase(name)} />
    </label>
    ${!isChosenAlone && html`<ul class="stack" aria-label=${words.stack.order}>
      ${items.map(({ name, opacity }, index) => html`<${Item} key=${name} stack=${stack} name=${name}
        title=${titleOf(name)} opacity=${opacity} isFirst=${index === 0} isLast=${index === items.length - 1} />`)}
    </ul>`}
  </section>`
}

function Item ({ stack, name, title, opacity, isFirst, isLast }) {
  const label = words.stack.opacity(title)
  const move = (icon, by, isEnd) => html`<${IconButton} name=${icon} label=${words.stack[icon](title)} busy=${isEnd}
    onClick=${() => stack.move(name, by)} />`
  return html`<li data-name=${name}>
    <span class="name">${title}</span>
    <input type="range" min="0" max="100" step="5" value=${Math.round(100 * opacity)} aria-label=${label} title=${label}
      aria-valuetext=${percent(opacity)} onInput=${({ target }) => stack.fade(name, target.value / 100)} />
    ${move('up', 1, isFirst)}
    ${move('down', -1, isLast)}
    ${name !== CHOSEN && html`<${IconButton} name="close" label=${words.stack.off(title)}
      onClick=${() => stack.toggle(name)} />`}
  </li>`
}
