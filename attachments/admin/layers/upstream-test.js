// A test of an upstream: one tile in the middle of the layer, asked for by the browser itself as an image.
import { element } from '../../../client/timeline/dom.js'
import { gridOf } from '../../../core/grids/index.js'
import { formatOf, getMapAddress, tileAddress } from '../../../core/upstream-address.js'
import { checkUpstream } from '../../../core/upstream.js'
import { button } from '../../dom.js'
import { count } from '../../format.js'
import { texts } from '../../words/admin/index.js'

const words = texts.layers.upstream.test
const DEEPEST = 18 // zoom that is asked for at most, unless somebody types another one
const VIOLATION = 50 // milliseconds within which the browser says that a policy has blocked an image
const SIZE = 256 // pixels of a tile, unless the layer says otherwise

/** @typedef {{upstream: any, layer: Record<string, any>}} Given the settings, and the layer as the form has it */

/** The box in which both the layer and its upstream have tiles. @param {Given} given */
function boxOf ({ upstream, layer }) {
  const [one, other] = [layer.bounds, upstream.bounds]
  if (!one || !other) return one ?? other
  const [west, south, east, north] = [0, 1, 2, 3].map(side => (side < 2 ? Math.max : Math.min)(one[side], other[side]))
  return west < east && south < north ? [west, south, east, north] : other
}

/**
 * The zooms that both have, and the one to begin with: the deepest at which the layer is one tile.
 * @param {Given} given
 */
export function zoomsOf ({ upstream, layer }) {
  const grid = gridOf(layer)
  const least = Math.max(layer.minzoom ?? 0, upstream.minzoom ?? 0, grid.firstZoom)
  const most = Math.max(least, Math.min(layer.maxzoom ?? 30, upstream.maxzoom ?? 30, grid.lastZoom))
  const box = boxOf({ upstream, layer })
  let best = least
  if (box && grid.isWebMercator) {
    for (let z = least; z <= Math.min(most, DEEPEST); z++) {
      const [range, second] = grid.ranges(/** @type {any} */ (box), z)
      if (!range || second || range.x1 > range.x0 || range.y1 > range.y0) break
      best = z
    }
  }
  return { least, most, best }
}

/**
 * The tile in the middle at a zoom, and its address.
 * @param {Given} given @param {number} z
 */
export function addressOf ({ upstream, layer }, z) {
  const grid = gridOf(layer)
  const settings = checkUpstream(upstream, grid)
  const [west, south, east, north] = boxOf({ upstream, layer }) ?? [0, 0, 0, 0]
  const { columns, rows } = grid.matrix(z)
  let tile = { z, x: columns >> 1, y: rows >> 1 }
  try {
    const lon = west > east ? (west + east + 360) / 2 : (west + east) / 2
    tile = grid.tileAt(lon > 180 ? lon - 360 : lon, (south + north) / 2, z)
  } catch {
    // a system that this page cannot compute in: the middle of the grid
  }
  const size = layer.tileSize ?? SIZE
  const rectangle = { z, left: tile.x * size, top: tile.y * size, width: size, height: size }
  const format = settings.format ?? (layer.format === 'jpg' ? 'image/jpeg' : `image/${layer.format ?? 'png'}`)
  const url = settings.type === 'wms'
    ? getMapAddress({ ...settings, format }, rectangle, size, grid)
    : tileAddress(settings, tile, size, grid)
  return { url, tile, timeout: settings.timeout, hasHeaders: Boolean(settings.headers) }
}

/**
 * @param {() => Given} given throws what is wrong with it
 * @param {(error: any) => void} onBad
 * @returns {{element: HTMLElement}}
 */
export function upstreamTest (given, onBad) {
  const zoom = element('input', { type: 'number', min: '0', max: '30', class: 'zoom', 'aria-label': words.zoom, placeholder: words.zoom })
  const result = element('div', { class: 'result', role: 'status' })
  const run = () => {
    let found
    try {
      found = given()
      onBad({ message: '' })
      if (!found.upstream) return void result.replaceChildren(element('p', { class: 'hint' }, words.nothing))
      const { least, most, best } = zoomsOf(found)
      const z = zoom.value === '' ? best : Math.min(most, Math.max(least, Math.round(+zoom.value)))
      zoom.value = String(z)
      show(addressOf(found, z), formatOf(found.upstream) === 'pbf' || found.layer.format === 'pbf')
    } catch (error) {
      onBad(error)
    }
  }

  function show ({ url, tile: { z, x, y }, timeout, hasHeaders }, isVector) {
    const place = `${z}/${x}/${y}`
    const link = element('a', { href: url, target: '_blank', rel: 'noreferrer noopener' }, url)
    const say = (text, className) => element('p', { class: className }, text)
    const address = element('p', { class: 'address' }, link)
    if (isVector) return result.replaceChildren(say(words.vector, 'hint'), address)
    result.setAttribute('aria-busy', 'true')
    const waiting = say(words.asking(place), 'hint')
    const image = element('img', { alt: words.alt(place), referrerpolicy: 'no-referrer', class: 'tile' })
    let isBlocked = false // by the policy of the server, which may be stricter than that of the page
    const onBlocked = ({ effectiveDirective }) => { isBlocked ||= effectiveDirective === 'img-src' }
    document.addEventListener('securitypolicyviolation', onBlocked)
    const end = (...nodes) => {
      clearTimeout(timer)
      document.removeEventListener('securitypolicyviolation', onBlocked)
      image.onload = image.onerror = null
      if (!waiting.isConnected) return // another test has begun
      result.removeAttribute('aria-busy')
      result.replaceChildren(...nodes, address)
    }
    const fail = text => isBlocked
      ? end(say(words.blocked, 'problem'), say(words.open, 'hint'))
      : end(say(text, 'problem'), say(hasHeaders ? words.headers : words.gateway, 'hint'))
    const timer = setTimeout(() => fail(words.late(count(timeout))), timeout * 1000)
    image.onload = () => end(say(words.works(place, image.naturalWidth, image.naturalHeight), 'done'), image)
    image.onerror = () => setTimeout(() => fail(words.failed(place)), VIOLATION)
    result.replaceChildren(waiting)
    image.src = url
  }

  return {
    element: element('div', { class: 'test' },
      element('div', { class: 'row' }, button(words.button, run, { class: 'secondary' }), zoom, element('small', null, words.lead)), result)
  }
}
