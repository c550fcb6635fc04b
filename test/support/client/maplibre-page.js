/* global window -- of the page, in functions that run there */
// The files of a test page with MapLibre: MapLibre from npm, our library, which imports it, and code that reads frames.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const dist = `${root}node_modules/maplibre-gl/dist/`
const HTML = `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">
<link rel="stylesheet" href="maplibre-gl.css"><link rel="stylesheet" href="tilecouch.css">
<style>html,body,#map{height:100%;margin:0}</style><div id="map"></div>
<script type="importmap">{"imports": {"maplibre-gl": "./maplibre-gl.mjs"}}</script>
<script type="module">
import * as maplibregl from 'maplibre-gl'
import * as tilecouch from './tilecouch.js'
Object.assign(window, { maplibregl, tilecouch })
</script>`

let files

/** The files of the page by name: content type and text. @returns {Promise<Record<string, [string, string]>>} */
function maplibreFiles () {
  files ??= Promise.all([
    build({
      entryPoints: {
        tilecouch: `${root}client/maplibre/index.js`, offline: `${root}client/offline/index.js`,
        pouchdb: `${root}attachments/pouchdb.js`, style: `${root}client/tilecouch.css`
      },
      outdir: '/out',
      bundle: true,
      write: false,
      format: 'esm',
      define: { global: 'globalThis' },
      external: ['maplibre-gl']
    }),
    ...['maplibre-gl.mjs', 'maplibre-gl-shared.mjs', 'maplibre-gl-worker.mjs',
      'maplibre-gl.css'].map(async name => [name, await readFile(dist + name, 'utf8')])
  ]).then(([{ outputFiles }, ...library]) => ({
    'index.html': ['text/html', HTML],
    ...Object.fromEntries(
      library.map(([name, text]) => [name, [name.endsWith('css') ? 'text/css' : 'text/javascript', text]])
    ),
    ...Object.fromEntries(['tilecouch.js', 'offline.js',
      'pouchdb.js'].map(name => [name, ['text/javascript', outputFiles.find(({ path }) => path.endsWith(name)).text]])),
    'tilecouch.css': ['text/css', outputFiles.find(({ path }) => path.endsWith('.css')).text]
  }))
  return files
}

/**
 * Creates `map` and `layer` of the window. By default nothing is fetched in advance.
 * @param {import('playwright-core').Page} page
 * @param {string} layer
 * @param {Record<string, any>} [options] of the layer; `map`: of the map; `offline: true`: uses the OfflineStore of the
 *   window
 */
async function draw (page, layer, { map = {}, kind, offline, ...options } = {}) {
  await page.waitForFunction(() => 'maplibregl' in window)
  await page.evaluate(([name, mapOptions, layerOptions, isOffline]) => {
    const view = window
    view.map = new view.maplibregl.Map({
      container: 'map', center: [0, 0], zoom: 2, fadeDuration: 0, attributionControl: false,
      canvasContextAttributes: { preserveDrawingBuffer: true }, style: { version: 8, sources: {}, layers: [] },
      ...mapOptions
    })
    view.layer = view.tilecouch.historyLayer(view.map, view.db,
      { layer: name, preload: 0, ...(isOffline && { offline: view.offline }), ...layerOptions })
    view.see.listen('timeload changes tileerror storeerror storeback layerload extent')
  }, [layer, map, options, offline])
}

/** Downloads a layer with its history to the device, and sets `offline` of the window. */
export async function download (page, layer) {
  await page.addScriptTag({ url: new URL('pouchdb.js', page.url()).href, type: 'module' })
  await page.evaluate(async ([address, name]) => {
    const view = window
    const { OfflineStore } = await import(address)
    view.offline = new OfflineStore({ remote: view.db, PouchDB: view.PouchDB })
    await view.offline.ready
    const area = await view.offline.areas.add(
      { name: 'All', layer: name, bbox: [-180, -84, 180, 84], zooms: '3', history: true }
    )
    await area.download()
  }, [new URL('offline.js', page.url()).href, layer])
}

/**
 * Runs in the page before everything else: reads what the tiles of a map show, and records every frame.
 */
function installMapLibre () {
  const view = window

  /** Reads a tile from the pixels of the canvas: `step`, or `step<zoom.quarter` of an ancestor; see gallery.js. */
  function read ({ z, x, y }, left, top, canvas, pixels) {
    const ratio = canvas.width / canvas.clientWidth
    const toPixels = value => Math.round(value * ratio)
    const offset = 4 * (toPixels(left) + canvas.width * (canvas.height - 1 - toPixels(top)))
    const [r, g, b, a] = pixels.subarray(offset, offset + 4)
    if (!a) return '-'
    if ((r & 7) !== z) return `${r >> 3}<${r & 7}.${b & 7}`
    return g >> 3 === x && b >> 3 === y ? `${r >> 3}` : `${r >> 3} of ${g >> 3}/${b >> 3}`
  }

  view.tileSize = 256 // pixels of the page

  /** z/x/y -> the text of `read`, for the tiles whose first quarter is in the window. */
  function picture (map = view.map) {
    const canvas = map.getCanvas()
    const gl = canvas.getContext('webgl2')
    const pixels = new Uint8Array(4 * canvas.width * canvas.height)
    gl.readPixels(0, 0, canvas.width, canvas.height, gl.RGBA, gl.UNSIGNED_BYTE, pixels)
    const world = 512 * 2 ** map.getZoom()
    const z = Math.max(0, Math.round(Math.log2(world / view.tileSize)))
    const side = world / 2 ** z
    const [w, h] = [canvas.clientWidth, canvas.clientHeight]
    const { lng, lat } = map.getCenter()
    const { x, y } = view.maplibregl.MercatorCoordinate.fromLngLat({ lng, lat })
    const [west, north] = [x * world - w / 2, y * world - h / 2]
    const texts = {}
    for (let column = Math.floor(west / side); column * side < west + w; column++) {
      for (let row = Math.max(0, Math.floor(north / side)); row < 2 ** z && row * side < north + h; row++) {
        const [left, top] = [(column + 1 / 4) * side - west, (row + 1 / 4) * side - north]
        if (left < 1 || left > w - 1 || top < 1 || top > h - 1) continue
        const copy = Math.floor(column / 2 ** z)
        const tile = { z, x: column - copy * 2 ** z, y: row }
        texts[`${z}/${tile.x}/${row}${copy ? `#${copy}` : ''}`] = read(tile, left, top, canvas, pixels)
      }
    }
    return texts
  }

  /** Requests a frame, and returns whether one was drawn since the last call. */
  function isDrawn () {
    const { map } = view
    if (view.drawing) return view.drawing === 'done' && !(view.drawing = undefined)
    view.drawing = 'asked'
    map.once('render', () => { view.drawing = 'done' })
    map.triggerRepaint()
    return false
  }

  view.see = {
    picture,
    /** Whether everything is loaded and drawn. */
    isAtRest: (layer = view.layer) => layer.isShown() && layer.changes() !== null &&
      view.map.loaded() && !view.map.isMoving() && isDrawn(),
    /** Records the pictures of all frames, until `frames` of the window is called. */
    watch (map = view.map) {
      const frames = [JSON.stringify(picture(map))]
      const look = () => {
        const text = JSON.stringify(picture(map))
        if (frames.at(-1) !== text) frames.push(text)
      }
      map.on('render', look)
      view.frames = () => {
        map.off('render', look)
        return frames.map(text => JSON.parse(text))
      }
    },
    /** Records the events of a layer with their data, in order. */
    listen (types, layer = view.layer) {
      const events = view.events = []
      layer.on(types, ({ type, time, error, changes, tile }) => events.push({
        type, ...(time !== undefined && { time }), ...(error && { code: error.code }),
        ...(changes !== undefined && { changes }),
        ...(tile && { tile: `${tile.z}/${tile.x}/${tile.y}` })
      }))
    }
  }
}

/** For onStage of suite.js. */
export const maplibre = { files: maplibreFiles, install: installMapLibre, draw }
