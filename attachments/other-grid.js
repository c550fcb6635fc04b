// Layers in other grids than Web Mercator, which the page's map cannot draw: a card over the map explains that, and
// shows the address for other programs.
import L from 'leaflet'
import { isInWebMercator } from '../core/grid.js'
import { html, render } from './html.js'
import { Address } from './layer-details.js'
import { words } from './words.js'

/** Whether the map of this page cannot draw a layer because of its grid. */
export const isInOtherGrid = layer => !isInWebMercator(layer)

/** @param {import('./stage.js').Stage} stage @param {HTMLElement} container of the map */
export function explainOtherGrids (stage, container) {
  const place = document.createElement('div')
  L.DomEvent.disableClickPropagation(place).disableScrollPropagation(place)
  container.append(place)
  stage.on('show', () => {
    const { doc } = stage
    const isOther = Boolean(doc && isInOtherGrid(doc))
    document.body.classList.toggle('other-grid', isOther)
    render(isOther ? html`<${Explanation} layer=${doc} stage=${stage} />` : null, place)
  })
}

function Explanation ({ layer, stage }) {
  const { grid, title = grid?.title ?? grid?.id ?? grid, name = layer.layer } = layer
  const { head, why, programs } = words.otherGrid
  return html`<section class="elsewhere notice" role="note">
    <h2>${head(name)}</h2>
    <p>${why(title)}</p>
    <p>${programs}</p>
    <${Address} layer=${layer} stage=${stage} />
  </section>`
}
