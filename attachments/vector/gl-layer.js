// A map of MapLibre as a layer of Leaflet: it lies in the pane of tiles, shows the same place, and takes no input.
import L from 'leaflet'
import { Map as GlMap } from 'maplibre-gl'

const PADDING = 0.15 // share of the size of the map that is drawn around it, for drags
const MAX_EDGE = 8192 // pixels: for large screens, and for pictures of the map
const GL_ZOOM = -1 // a world of 512 pixels is zoom 0

/** MapLibre accepts every place: Leaflet limits it. */
const unconstrained = (center, zoom) => ({ center, zoom })

export class GlLayer extends L.Renderer {
  constructor (options) {
    super({ padding: PADDING, pane: 'tilePane', opacity: 1, zIndex: 1, ...options })
    /** @type {any} while it is on a map */
    this.gl = null
  }

  onAdd () {
    this._outer = L.DomUtil.create('div', 'leaflet-layer tilecouch-vector', this.getPane())
    this._container = L.DomUtil.create('div', 'leaflet-zoom-animated', this._outer)
    this.setOpacity(this.options.opacity).setZIndex(this.options.zIndex)
    super._update()
    this._place()
    this.gl = new GlMap({
      container: this._container,
      style: { version: 8, sources: {}, layers: [], ...this._files() },
      interactive: false,
      attributionControl: false,
      trackResize: false,
      maxCanvasSize: [MAX_EDGE, MAX_EDGE],
      fadeDuration: 0, // labels of two times would be mixed
      maxPitch: 0,
      transformConstrain: unconstrained,
      ...this._position()
    })
    return this
  }

  /** Sprite and glyphs of its style. */
  _files () {
    return {}
  }

  onRemove () {
    this.gl.remove()
    this.gl = null
    this._outer.remove()
    return this
  }

  getEvents () {
    return { ...super.getEvents(), move: this._onDrag, resize: this._reset }
  }

  getContainer () {
    return this._outer
  }

  setOpacity (opacity) {
    this.options.opacity = opacity
    if (this._outer) this._outer.style.opacity = opacity
    return this
  }

  setZIndex (zIndex) {
    this.options.zIndex = zIndex
    if (this._outer) this._outer.style.zIndex = zIndex
    return this
  }

  _update () {
    if (!this.gl || this._map._animatingZoom) return
    super._update()
    this._place()
    this.gl.resize(undefined, false)
    this.gl.jumpTo(this._position())
    this.gl.redraw() // in the frame in which the element moves
  }

  // during a drag nothing is drawn, as long as the padding around the map is enough
  _onDrag () {
    if (this._zoom !== this._map.getZoom()) return
    const min = this._map.containerPointToLayerPoint([0, 0])
    const max = min.add(this._map.getSize())
    if (!this._bounds.contains(L.bounds(min, max))) this._update()
  }

  _place () {
    const { x, y } = this._bounds.getSize()
    L.DomUtil.setPosition(this._container, this._bounds.min)
    Object.assign(this._container.style, { width: `${x}px`, height: `${y}px` })
  }

  _position () {
    const { lat, lng } = this._map.layerPointToLatLng(this._bounds.getCenter())
    return { center: [lng, lat], zoom: this._map.getZoom() + GL_ZOOM }
  }
}
