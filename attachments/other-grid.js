// Layers in other grids than Web Mercator, which the page's map cannot draw: a card over the map says so, and gives the
// address for programs that can.
import L from 'leaflet'
import { element } from '../client/timeline/dom.js'
import { address } from './layer-details.js'
import { words } from './words.js'

/** Whether the map of this page cannot draw a layer because of its grid. */
export const isInOtherGrid = ({ grid }) => grid !== undefined && grid !== 'WebMercatorQuad'

/** @param {import('./stage.js').Stage} stage @param {HTMLElement} container of the map */
export function explainOtherGrids (stage, container) {
  /** @type {HTMLElement | undefined} */
  let card
  stage.on('show', () => {
    const { doc } = stage
    card?.remove()
    card = undefined
    const isOther = Boolean(doc && isInOtherGrid(doc))
    document.body.classList.toggle('other-grid', isOther)
    if (!doc || !isOther) return
    const { grid, title = grid?.title ?? grid?.id ?? grid, name = doc.layer } = /** @type {any} */ (doc)
    const copying = address(doc)
    copying.setTime(stage.time)
    const { head, why, programs } = words.otherGrid
    card = element('section', { class: 'elsewhere notice', role: 'note' },
      element('h2', null, head(name)), element('p', null, why(title)), element('p', null, programs), copying.element)
    L.DomEvent.disableClickPropagation(card).disableScrollPropagation(card)
    container.append(card)
  })
}
