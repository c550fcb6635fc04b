// Runs Leaflet and the library's bundle for script tags in Node. The window has enough parts to load them, but not to
// draw.
import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import vm from 'node:vm'
import { bundle, clientBundles } from '../../loader/couchapp/bundle.js'

const style = new Proxy({}, { has: () => true, get: () => '' })
const element = () => ({ style, childNodes: [], appendChild () {}, setAttribute () {}, getContext: () => ({}) })

/**
 * @returns {Promise<{L: any, added: string[]}>} added: paths on L that the library added
 */
export async function loadGlobal () {
  const window = {
    navigator: { userAgent: 'node', platform: '' },
    screen: {},
    document: { documentElement: element(), createElement: element, createElementNS: element, addEventListener () {} },
    matchMedia: () => ({ matches: false }),
    addEventListener () {}, removeEventListener () {}, setTimeout,
    clearTimeout, performance, AbortController, AbortSignal, URL, TextEncoder, TextDecoder
  }
  window.window = window
  vm.createContext(window)
  vm.runInContext(readFileSync(fileURLToPath(import.meta.resolve('leaflet/dist/leaflet-src.js')), 'utf8'), window)
  const { L } = window
  const places =
    { '': L, 'TileLayer.': L.TileLayer, 'tileLayer.': L.tileLayer, 'Control.': L.Control, 'control.': L.control }
  const before = Object.values(places).map(place => new Set(Object.keys(place)))
  const { 'tilecouch.js': { bytes } } = await bundle({ 'tilecouch.js': clientBundles['tilecouch.js'] })
  vm.runInContext(bytes.toString(), window)
  const added = Object.entries(places)
    .flatMap(([prefix, place], index) => Object.keys(place).filter(name => !before[index].has(name))
    .flatMap(name => paths(prefix + name, place[name])))
  return { L, added: added.sort() }
}

// an object is a namespace, and a class or a function may have further members
function paths (path, value) {
  if (typeof value === 'object') return Object.keys(value).flatMap(name => paths(`${path}.${name}`, value[name]))
  const memberNames = Object.keys(value).filter(name => /^(History|history|Coverage|coverage)$/.test(name))
  return [path, ...memberNames.map(name => `${path}.${name}`)]
}
