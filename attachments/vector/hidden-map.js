// A hidden second map. Pictures are drawn from it, so that the map of the page and its clock do not change.
import L from 'leaflet'
import { element } from '../../client/timeline/dom.js'

const HIDDEN = 'position: fixed; top: 0; left: 0; z-index: -1; visibility: hidden; contain: strict'

/**
 * @param {L.Map} map whose place it shows @param {{width: number, height: number, center?: L.LatLng}} view pixels
 * @returns {L.Map}
 */
export function openHiddenMap (map, { width, height, center = map.getCenter() }) {
  const node = element('div', { class: 'hidden-map', inert: true, 'aria-hidden': 'true' })
  node.style.cssText = `${HIDDEN}; width: ${width}px; height: ${height}px`
  document.body.append(node)
  return L.map(node, {
    crs: map.options.crs,
    zoomSnap: 0,
    zoomControl: false,
    attributionControl: false,
    keyboard: false,
    trackResize: false,
    zoomAnimation: false,
    fadeAnimation: false
  }).setView(center, map.getZoom())
}

/** @param {L.Map} map */
export function closeHiddenMap (map) {
  map.getContainer().remove()
  map.remove()
}
