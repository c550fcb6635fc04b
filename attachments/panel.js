// The panel at the left: what lies on the map, and the list of layers. The chosen layer is open and shows its editions.
//
//   const showPanel = mountPanel(node, page)
//   showPanel({ layers, chosen: 'town', stats })   // draws the panel once; fields that are not named stay
import { html, render, useEvents, useMemo, useState } from './html.js'
import { LayerCard } from './layer-card.js'
import { LayerDetails } from './layer-details.js'
import { MANY, groupLayers, sortLayers } from './layer-order.js'
import { LayerStack } from './stack-panel.js'
import { words } from './words.js'

/**
 * @typedef {object} Page what the panel reads and calls
 * @property {import('./stage.js').Stage} stage
 * @property {(layer: string) => void} onLayer a layer was chosen
 * @property {() => void} onCompare
 * @property {() => void} onOlder reads older editions
 * @property {() => void} onSearch reads all editions
 * @property {(time: string | null) => void} onFootprint outlines what an edition covers; null ends it
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
function Panel ({ page, layers, chosen, stats, ...ofChosen }) {
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
      ${isChosen && html`<${LayerDetails} ...${props} ...${ofChosen} />`}
    <//>`
  }
  return html`
    <h2 class="unseen">${words.panel.layers}</h2>
    ${isLong && html`<input type="search" class="find-layer" placeholder=${words.panel.find}
      aria-label=${words.panel.find} value=${query} onInput=${({ target }) => setQuery(target.value)} />`}
    <${LayerStack} stack=${stack} layers=${sorted} chosen=${chosen} />
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

/** Whether a layer has all words of a search. @param {string} query */
function layerFilter (query) {
  const parts = query.toLowerCase().split(/\s+/)
  return ({ layer, name = '', description = '', group = '' }) => {
    const text = `${layer} ${name} ${description} ${group}`.toLowerCase()
    return parts.every(part => text.includes(part))
  }
}
