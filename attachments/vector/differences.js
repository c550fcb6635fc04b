// The features in view that differ between two times: found in the tiles that differ, and marked on the map.
import { FeatureDiff, unzipTile } from '../../core/features.js'

const SOURCE = 'tilecouch-differences'
const byZoom = (far, near) => ['interpolate', ['linear'], ['zoom'], 12, far, 16, near]
const WIDTHS = { lines: byZoom(1, 3), casings: byZoom(2.5, 6) } // pixels
const MOST = 20000 // maximum features to compare: more are not distinguishable on a screen

/** @typedef {{features: any[], counts: Map<string, Record<'added' | 'removed' | 'changed', number>>}} Differing
 *   counts: by source layer */

/** Gives layers of a map other colours. @param {any} gl @param {{id: string, paint?: object}[]} layers */
export function repaint (gl, layers) {
  for (const { id, paint = {} } of layers.filter(layer => gl.getLayer(layer.id))) {
    for (const [property, value] of Object.entries(paint)) gl.setPaintProperty(id, property, value)
  }
}

export class Differences {
  #layer

  /** @param {import('./vector-layer.js').VectorLayer} layer */
  constructor (layer) {
    this.#layer = layer
  }

  /** @param {string | null} from @param {string | null} to @param {AbortSignal} signal @returns {Promise<Differing>} */
  async between (from, to, signal) {
    const { history } = this.#layer
    const diff = new FeatureDiff()
    for (const { z, x, y, before, after } of history.changedTiles(from, to)) {
      const [old, now] = await Promise.all([before, after].map(version => this.#read(version)))
      signal.throwIfAborted()
      diff.add({ z, x, y }, old, now)
      if (diff.size > MOST) break
    }
    const features = [...diff.features()]
    const counts = new Map()
    for (const { properties: { source_layer: name, change } } of features) {
      if (!counts.has(name)) counts.set(name, { added: 0, removed: 0, changed: 0 })
      counts.get(name)[change]++
    }
    return { features, counts }
  }

  /** Marks features on the map instead of the present ones. @param {any[]} features */
  show (features) {
    const { gl } = this.#layer
    if (!gl) return
    const data = { type: 'FeatureCollection', features }
    const source = gl.getSource(SOURCE)
    if (source) return source.setData(data)
    if (!features.length) return
    gl.addSource(SOURCE, { type: 'geojson', data })
    for (const layer of this.#layers()) gl.addLayer(layer)
  }

  restyle () {
    if (this.#layer.gl) repaint(this.#layer.gl, this.#layers())
  }

  async #read (version) {
    if (!version || version.gone) return undefined
    const image = await this.#layer.history.images.load(version, { urgent: false })
    return unzipTile(new Uint8Array(await image.arrayBuffer()))
  }

  #layers () {
    const style = getComputedStyle(document.documentElement)
    const [added, changed, removed] = ['added', 'changed', 'removed']
      .map(name => style.getPropertyValue(`--${name}`).trim())
    const colour = ['match', ['get', 'change'], 'added', added, 'removed', removed, changed]
    const casing = this.#layer.isDark ? '#0b1013' : '#ffffff'
    const isRemoved = ['==', ['get', 'change'], 'removed']
    const shape = (...types) => ['in', ['geometry-type'], ['literal', types]]
    const [points, areas] = [shape('Point', 'MultiPoint'), shape('Polygon', 'MultiPolygon')]
    const line = { 'line-color': colour, 'line-width': WIDTHS.lines }
    const layer = (name, type, filter, paint) => ({ id: `${SOURCE}-${name}`, source: SOURCE, type, filter, paint })
    return [
      layer('areas', 'fill', areas, { 'fill-color': colour, 'fill-opacity': 0.3 }),
      layer('casings', 'line', ['!', points], {
        'line-color': casing, 'line-width': WIDTHS.casings, 'line-opacity': 0.8
      }),
      layer('lines', 'line', ['all', ['!', points], ['!', isRemoved]], line),
      layer('gone', 'line', ['all', ['!', points], isRemoved], { ...line, 'line-dasharray': [2, 1.2] }),
      layer('points', 'circle', points, {
        'circle-color': colour, 'circle-radius': 5, 'circle-stroke-color': casing, 'circle-stroke-width': 2
      })
    ]
  }
}
