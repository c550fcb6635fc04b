/* global window -- of the page, in functions that run there */
// What a page of a test with MapLibre consists of: the library of the map as npm has it, and ours, which imports it.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { installMapLibre } from './maplibre-in-page.js'

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

/** By name: content type and text. @returns {Promise<Record<string, [string, string]>>} */
export function maplibreFiles () {
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
 * Makes `map` and `layer` of the window. Nothing is fetched in advance, unless told otherwise.
 * @param {import('playwright-core').Page} page
 * @param {string} layer
 * @param {Record<string, any>} [options] of the layer; and `map`: of the map, `offline: true`: the OfflineStore of the
 *   window
 */
async function draw (page, layer, { map = {}, kind, offline, ...options } = {}) {
  await page.waitForFunction(() => 'maplibregl' in window)
  await page.evaluate(([name, mapOptions, layerOptions, isOffline]) => {
    const view = /** @type {any} */ (window)
    view.map = new view.maplibregl.Map({
      container: 'map', center: [0, 0], zoom: 2, fadeDuration: 0, attributionControl: false,
      canvasContextAttributes: { preserveDrawingBuffer: true }, style: { version: 8, sources: {}, layers: [] },
      ...mapOptions
    })
    view.layer = view.tilecouch.historyLayer(view.map, view.db,
      { layer: name, preload: 0, ...(isOffline && { offline: view.offline }), ...layerOptions })
    view.see.listen('timeload changes tileerror storeerror storeback layerload extent')
  }, /** @type {any} */ ([layer, map, options, offline]))
}

/** Takes a layer with its history onto the device: `offline` of the window. */
export async function download (page, layer) {
  await page.addScriptTag({ url: new URL('pouchdb.js', page.url()).href, type: 'module' })
  await page.evaluate(async ([address, name]) => {
    const view = /** @type {any} */ (window)
    const { OfflineStore } = await import(address)
    view.offline = new OfflineStore({ remote: view.db, PouchDB: view.PouchDB })
    await view.offline.ready
    const area = await view.offline.areas.add(
      { name: 'All', layer: name, bbox: [-180, -84, 180, 84], zooms: '3', history: true }
    )
    await area.download()
  }, [new URL('offline.js', page.url()).href, layer])
}

/** For onStage of suite.js. */
export const maplibre = { files: maplibreFiles, install: installMapLibre, draw }
