// The buttons on the map beside those of the zoom, and the coordinates under the pointer.
import L from 'leaflet'
import { element } from '../client/timeline/dom.js'
import { soon } from './dom.js'
import { html, render, useLayoutEffect, useState } from './html.js'
import { IconButton } from './parts.js'
import { isEmbedded } from './take/entry.js'
import { words } from './words.js'

const LOCATE = { enableHighAccuracy: true, timeout: 15000, maximumAge: 60000 } // milliseconds

/** Puts an element into a corner of the map. */
function put (map, position, node) {
  const control = new L.Control({ position })
  control.onAdd = () => node
  L.DomEvent.disableClickPropagation(node)
  control.addTo(map)
}

/**
 * Adds the buttons. A frame of another page has only the button for the full screen.
 * @param {import('./map.js').MapView} view @param {import('./notices.js').Notices} notices
 * @param {{onFind: () => void}} page
 */
export function addTools (view, notices, { onFind }) {
  const bar = element('div', { class: 'tools leaflet-bar', role: 'group', 'aria-label': words.map.tools })
  const pageTools = html`
    <${Tool} name="find" label=${words.map.find} onClick=${onFind} />
    <${Tool} name="locate" label=${words.map.locate} onClick=${() => locate(view, notices)} />`
  render([!isEmbedded && pageTools, document.fullscreenEnabled && html`<${FullScreen} notices=${notices} />`], bar)
  put(view.map, 'topright', bar)
  if (!isEmbedded) showPointer(view.map)
}

const Tool = props => html`<${IconButton} kind="icon tool" ...${props} />`

function FullScreen ({ notices }) {
  const [isFull, setFull] = useState(false)
  useLayoutEffect(() => {
    document.addEventListener('fullscreenchange', () => setFull(Boolean(document.fullscreenElement)))
  }, [])
  return html`<${Tool} name=${isFull ? 'unfull' : 'full'} label=${isFull ? words.map.leaveFull : words.map.full}
    onClick=${() => toggleFull(notices)} />`
}

async function toggleFull (notices) {
  try {
    if (document.fullscreenElement) await document.exitFullscreen()
    else await document.documentElement.requestFullscreen()
  } catch { // the browser refuses
    notices.show('full', { text: words.map.noFull, tone: 'warn', canClose: true })
  }
}

/** Goes to the position of the device. */
function locate (view, notices) {
  const fail = ({ code = 1 } = {}) => notices.show('locate', {
    text: words.map.notLocated[isSecureContext ? code : 0] ?? words.map.notLocated[2], tone: 'warn', canClose: true
  })
  if (!navigator.geolocation) return fail()
  notices.show('locate', { text: words.map.locating })
  navigator.geolocation.getCurrentPosition(({ coords: { latitude, longitude, accuracy } }) => {
    notices.end('locate')
    view.goTo({ lat: latitude, lon: longitude, accuracy })
  }, fail, LOCATE)
}

/** Shows the coordinates under the pointer, in a form that other programs read. */
function showPointer (map) {
  const node = element('div', { class: 'pointer', 'aria-hidden': 'true', hidden: true })
  let place
  const show = soon(() => {
    node.hidden = !place
    if (!place) return
    const { lat, lng } = map.wrapLatLng(place)
    const digits = Math.max(2, Math.ceil(map.getZoom() / 3))
    node.textContent = `${lat.toFixed(digits)}, ${lng.toFixed(digits)}`
  })
  map.on('mousemove', ({ latlng, originalEvent: { target } }) => {
    place = target.closest('.tilecouch-compare-other') ? undefined : latlng // the pointer is over another map
    show()
  })
  map.on('mouseout', () => {
    place = undefined
    show()
  })
  put(map, 'bottomright', node)
}
