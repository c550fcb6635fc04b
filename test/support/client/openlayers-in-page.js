/* global document, window -- of the page that this is bundled for */
// Runs in a test page with OpenLayers: a map with a layer, and what every frame of it shows, read from its pixels.
import Map from 'ol/Map.js'
import TileLayer from 'ol/layer/Tile.js'
import View from 'ol/View.js'
import WebGLTileLayer from 'ol/layer/WebGLTile.js'
import { fromLonLat } from 'ol/proj.js'
import { register } from 'ol/proj/proj4.js'
import proj4 from 'proj4'
import * as tilecouch from '../../../client/openlayers/index.js'

const page = window
const STEP = 24 // pixels between two samples
const EVENTS = ['timeload', 'changes', 'tileerror', 'storeerror', 'storeback', 'layerload', 'extent']
const canvas = document.createElement('canvas')
const context = canvas.getContext('2d', { willReadFrequently: true })

/**
 * z/x/y -> the step that is shown there, as gallery.js colours it; `step<zoom` for another zoom, `-` for nothing.
 * Several texts are joined with `+`. Copies of the world are marked with their number.
 */
function picture (map, grid, { viewState: { center, resolution }, size: [width, height] }) {
  Object.assign(canvas, { width, height })
  for (const element of map.getViewport().querySelectorAll('canvas')) context.drawImage(element, 0, 0, width, height)
  const { data } = context.getImageData(0, 0, width, height)
  const z = grid.getZForResolution(resolution)
  const texts = {}
  for (let top = STEP / 2; top < height; top += STEP) {
    for (let left = STEP / 2; left < width; left += STEP) {
      const point = [center[0] + (left - width / 2) * resolution, center[1] - (top - height / 2) * resolution]
      const [, x, y] = grid.getTileCoordForCoordAndZ(point, z)
      const range = map.getView().getProjection().isGlobal() ? undefined : grid.getFullTileRange(z)
      if (y < 0 || y >= 2 ** z || (range && !range.containsXY(x, y))) continue
      const copy = Math.floor(x / 2 ** z)
      const offset = 4 * (top * width + left)
      const imageZoom = data[offset] & 7
      const [column, row] = [data[offset + 1] >> 3, data[offset + 2] >> 3]
      const isRightPlace = column === (x - copy * 2 ** z) % 32 && row === y % 32
      const step = `${data[offset] >> 3}`
      let text = isRightPlace ? step : `${step}@${column}.${row}`
      if (imageZoom !== z % 8) text = `${step}<${imageZoom}`
      if (data[offset + 3] === 0) text = '-'
      const textsOfTile = texts[`${z}/${x - copy * 2 ** z}/${y}${copy ? `#${copy}` : ''}`] ??= new Set()
      textsOfTile.add(text)
    }
  }
  return Object.fromEntries(Object.keys(texts).sort().map(key => [key, [...texts[key]].sort().join('+')]))
}

/** Marks the frames that were drawn as outdated: only a later frame is complete. */
const expectFrame = () => { page.least = (page.last ?? -1) + 1 }

function draw (name, { map: view, ...options }) {
  const { projection: crs, place, ...extra } = view ?? {}
  const projection = crs && (crs.includes(':') ? crs : tilecouch.projection(crs)) // a code, or a grid
  const map = page.map = new Map(
    {
      target: 'map', pixelRatio: 1, controls: [],
      view: new View({ center: place ? fromLonLat(place, projection)
        : [0, 0], ...(!('resolution' in extra) && { zoom: 3 }), ...extra, ...(projection && { projection }) })
    }
  )
  page.events = []
  const olLayer = page.olLayer = tilecouch.historyLayer(null, page.db,
    { layer: name, interpolate: false, preload: 0, ...options })
  const layer = page.layer = olLayer.getSource()
  for (const type of EVENTS) {
    layer.on(type, ({ time, error, changes, tile, first, last }) => page.events.push({
      type, ...(time !== undefined && { time }), ...(error && { code: error.code }),
      ...(changes !== undefined && { changes }),
      ...(tile && { tile: `${tile.z}/${tile.x}/${tile.y}` }), ...(first && { first, last })
    }))
  }
  olLayer.on('change', expectFrame)
  map.on('rendercomplete', ({ frameState }) => { page.complete = frameState.index })
  map.on('postrender', ({ frameState }) => {
    if (frameState) page.last = frameState.index
    const grid = layer.getTileGrid()
    if (!frameState || !grid) return
    page.drawn = picture(map, grid, frameState)
    page.onFrame?.()
  })
  map.addLayer(olLayer)
}

Object.assign(page, {
  draw,
  proj4,
  register,
  expectFrame,
  ol: { Map, View, TileLayer, WebGLTileLayer },
  tilecouch,
  move (place, zoom = page.map.getView().getZoom()) {
    expectFrame()
    page.map.getView().setCenter(fromLonLat(place))
    page.map.getView().setZoom(zoom)
    page.map.render()
  },
  /** The red values of some pixels of the last frame that are not empty. */
  colours () {
    const { data } = context.getImageData(0, 0, canvas.width, canvas.height)
    return Array.from({ length: data.length / 400 }, (_, index) => data.subarray(index * 400, index * 400 + 4))
      .filter(pixel => pixel[3]).map(([red]) => red)
  },
  see: {
    picture: () => page.drawn,
    /** Whether everything is loaded and drawn. */
    isAtRest: (layer = page.layer) => page.complete === page.last &&
      page.complete >= (page.least ?? 0) && layer.isShown() && layer.changes() !== null,
    /** Records the pictures of all frames, until `frames` of the window is called. */
    watch () {
      const frames = [JSON.stringify(page.drawn)]
      page.onFrame = () => {
        const text = JSON.stringify(page.drawn)
        if (frames.at(-1) !== text) frames.push(text)
      }
      page.frames = () => {
        page.onFrame = undefined
        return frames.map(text => JSON.parse(text))
      }
    }
  }
})
