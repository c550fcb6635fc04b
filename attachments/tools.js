// The buttons on the map beside those of the zoom, and the coordinates under the pointer.
import L from 'leaflet'
import { element, write } from '../client/timeline/dom.js'
import { icon, iconButton, soon } from './dom.js'
import { isEmbedded } from './take/entry.js'
import { words } from './words.js'

const LOCATE = { enableHighAccuracy: true, timeout: 15000, maximumAge: 60000 } // milliseconds

/** A corner of the map takes what is no control of Leaflet's. */
function put (map, position, node) {
  const control = new L.Control({ position })
  control.onAdd = () => node
  L.DomEvent.disableClickPropagation(node)
  control.addTo(map)
}

/**
 * In a frame of another page only the one that fills the screen.
 * @param {import('./map.js').MapView} view @param {import('./notices.js').Notices} notices
 * @param {{onFind: () => void}} page
 */
export function addTools (view, notices, { onFind }) {
  const tool = (name, label, act, attributes) => iconButton(name, label, act, { class: 'icon tool', ...attributes })
  const full = tool('full', words.map.full, () => toggleFull(notices))
  document.addEventListener('fullscreenchange', () => {
    const label = document.fullscreenElement ? words.map.leaveFull : words.map.full
    write(full, { 'aria-label': label, title: label })
    full.replaceChildren(icon(document.fullscreenElement ? 'unfull' : 'full'))
  })
  const ofPage = [
    tool('find', words.map.find, onFind),
    tool('locate', words.map.locate, () => locate(view, notices))
  ]
  put(view.map, 'topright', element('div', { class: 'tools leaflet-bar', role: 'group', 'aria-label': words.map.tools },
    !isEmbedded && ofPage,
    document.fullscreenEnabled && full))
  if (!isEmbedded) showPointer(view.map)
}

async function toggleFull (notices) {
  try {
    if (document.fullscreenElement) await document.exitFullscreen()
    else await document.documentElement.requestFullscreen()
  } catch { // the browser does not want to
    notices.show('full', { text: words.map.noFull, tone: 'warn', onClose: () => {} })
  }
}

/** Goes to where the device is. */
function locate (view, notices) {
  const fail = ({ code = 1 } = {}) => notices.show('locate', {
    text: words.map.notLocated[isSecureContext ? code : 0] ?? words.map.notLocated[2], tone: 'warn', onClose: () => {}
  })
  if (!navigator.geolocation) return fail()
  notices.show('locate', { text: words.map.locating })
  navigator.geolocation.getCurrentPosition(({ coords: { latitude, longitude, accuracy } }) => {
    notices.end('locate')
    view.goTo({ lat: latitude, lon: longitude, accuracy })
  }, fail, LOCATE)
}

/** The coordinates under the pointer, as they can be copied into another program; for the eyes of those who point. */
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
    place = target.closest('.tilecouch-compare-other') ? undefined : latlng // there it is another map's
    show()
  })
  map.on('mouseout', () => {
    place = undefined
    show()
  })
  put(map, 'bottomright', node)
}
