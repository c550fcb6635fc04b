// The panel at the left: the layers on the map, and the list of all layers. The chosen one is open and shows editions.
//
//   const showPanel = mountPanel(node, page)
//   showPanel({ layers, chosen: 'town', stats })   // draws the panel once; other fields stay
import { fromSeconds } from '../core/index.js'
import { date, percent } from './format.js'
import { html, render, useEvents, useKeptFocus, useMemo, useState } from './html.js'
import { LayerDetails } from './layer-details.js'
import { MANY, groupLayers, layerFilter, sortLayers } from './layer-order.js'
import { isInOtherGrid } from './other-grid.js'
import { Field, Icon, IconButton, LazyImage } from './parts.js'
import { CHOSEN } from './stack.js'
import { words } from './words.js'

/**
 * @typedef {object} Page data and functions for the panel
 * @property {import('./stage.js').Stage} stage
 * @property {(layer: string) => void} onLayer a layer was chosen
 * @property {() => void} onCompare
 * @property {() => void} onOlder reads older editions
 * @property {() => void} onSearch reads all editions
 * @property {(time: string | null) => void} onFootprint outlines the area of an edition; null ends it
 * @property {(on: boolean) => void} onHeat shows how often places changed
 * @property {(canvas: HTMLCanvasElement, time: string) => void} drawView draws a small picture of the view
 * @property {(layer: string) => Promise<string | undefined>} thumbnailUrl
 *
 * @typedef {object} PanelState
 * @property {import('./store.js').Layer[]} layers
 * @property {string} chosen
 * @property {Map<string, import('./store.js').Stats> | null} stats null while they are unknown
 * @property {import('./store.js').Edition[]} editions of the chosen layer, newest first
 * @property {boolean} hasOlder whether the store has older editions
 * @property {number | null} searched number of editions that were read, while all are read
 * @property {{time: string, tiles: number}[] | null} changes of the view, oldest first; null while they are unknown
 * @property {number} tilesInView tiles of the view that ever had an image
 */

/**
 * @param {HTMLElement} node @param {Page} page
 * @returns {(changes: Partial<PanelState>) => void}
 */
export function mountPanel (node, page) {
  /** @type {PanelState} */
  let state = {
    layers: [], chosen: '', stats: null, editions: [], hasOlder: false, searched: null, changes: null, tilesInView: 0
  }
  return changes => {
    state = { ...state, ...changes }
    render(html`<${Panel} page=${page} ...${state} />`, node)
  }
}

/** @param {PanelState & {page: Page}} props */
function Panel ({ page, layers, chosen, stats, ...chosenState }) {
  const [query, setQuery] = useState('')
  useEvents(page.stage, 'stack zone')
  const sorted = useMemo(() => sortLayers(layers), [layers])
  const isLong = layers.length >= MANY
  const matching = isLong ? sorted.filter(layerFilter(query)) : sorted
  const { stack } = page.stage
  const card = layer => {
    const isChosen = layer.layer === chosen
    const props = { key: layer.layer, page, layer, stats: stats?.get(layer.layer) }
    return html`<${LayerCard} ...${props} isChosen=${isChosen} isOver=${stack.has(layer.layer)}>
      ${isChosen && html`<${LayerDetails} ...${props} ...${chosenState} />`}
    <//>`
  }
  return html`
    <h2 class="unseen">${words.panel.layers}</h2>
    ${isLong && html`<input type="search" class="find-layer" placeholder=${words.panel.find}
      aria-label=${words.panel.find} value=${query} onInput=${({ target }) => setQuery(target.value)} />`}
    <${MapStack} stack=${stack} layers=${sorted} chosen=${chosen} />
    <p class="hint" role="status" hidden=${matching.length > 0}>
      ${matching.length ? '' : words.panel.noMatch(query.trim())}
    </p>
    <div class="layers">
      ${groupLayers(matching, sorted).map(([heading, members]) => html`<div key=${heading}>
        ${heading && html`<h3 class="group">${heading}</h3>`}
        <ul>${members.map(card)}</ul>
      </div>`)}
    </div>`
}

/**
 * The layers on the map: the base map, and the layers over each other with their order and opacity.
 * @param {{stack: import('./stack.js').LayerStack, layers: import('./store.js').Layer[], chosen: string}} props layers
 *   in the order of the list
 */
function MapStack ({ stack, layers, chosen }) {
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
    <${Field} label=${words.stack.base} options=${options} value=${base} onChange=${name => stack.setBase(name)} />
    ${!isChosenAlone && html`<ul class="stack" aria-label=${words.stack.order}>
      ${items.map(({ name, opacity }, index) => html`<${StackItem} key=${name} stack=${stack} name=${name}
        title=${titleOf(name)} opacity=${opacity} isFirst=${index === 0} isLast=${index === items.length - 1} />`)}
    </ul>`}
  </section>`
}

function StackItem ({ stack, name, title, opacity, isFirst, isLast }) {
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

/** A layer of the list: its picture, title and times. The chosen layer is open: its details are the children. */
function LayerCard ({ page, layer, stats, isChosen, isOver, children }) {
  const { layer: id, name = id } = layer
  const label = words.stack.over(name)
  const isOverlay = !isChosen && !isInOtherGrid(layer)
  return html`<li class=${isChosen ? 'selected' : ''}>
    <div class="row">
      <button type="button" class="layer" data-layer=${id} aria-pressed=${String(isChosen)}
        onClick=${() => page.onLayer(id)}>
        <${Thumbnail} page=${page} layer=${layer} last=${stats?.last} />
        <span class="title">${name}</span>
        <span class="brief">${times(stats)}</span>
      </button>
      ${isOverlay && html`<${IconButton} kind="icon over" name="over" label=${label} aria-pressed=${String(isOver)}
        onClick=${() => page.stage.stack.toggle(id)} />`}
    </div>
    ${children}
  </li>`
}

/** A picture of the layer. last: time of the newest version; it needs an index. */
function Thumbnail ({ page, layer: { layer, format }, last }) {
  const isVector = format === 'pbf' // a map of its own would have to draw it
  const find = async () => last === undefined || isVector ? undefined : page.thumbnailUrl(layer)
  return html`<${LazyImage} class="thumbnail" find=${find} inputs=${[last]}>
    ${isVector && html`<${Icon} name="vector" />`}
  <//>`
}

/** `2019 – 2023` as dates. @param {import('./store.js').Stats} [stats] */
function times (stats) {
  if (!stats?.versions) return ''
  const [first, last] = [stats.first, stats.last].map(seconds => date(fromSeconds(seconds)))
  return first === last ? last : `${first} – ${last}`
}
