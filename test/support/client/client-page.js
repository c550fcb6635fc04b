// The files of test pages with the client library, by name: content type and text.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { besides, bundle } from '../../../loader/couchapp/bundle.js'
import { servePages } from '../server.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const HTML = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><link rel="stylesheet" ' +
  'href="leaflet.css"><link rel="stylesheet" href="tilecouch.css">' +
  ('<style>html,body,#map{height:100%;margin:0}#map{background:#ddd}</style><div id="map"></div><script ' +
    'src="leaflet.js"></script><script src="tilecouch.js"></script>')

const HTML_WITH_POUCH = HTML.replace('<script src="tilecouch.js">', '<script src="pouchdb.js"></script>$&')
const HTML_OF_MIRRORS = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Mirrors</title><link rel="icon" ' +
  'href="data:,"><script src="/page.js"></script></html>'

/** A service worker that serves the files of the page without a network. */
const WORKER = `const FILES = ['./', 'leaflet.js', 'leaflet.css', 'pouchdb.js', 'tilecouch.js', 'tilecouch.css']
const own = new Set(FILES.map(file => new URL(file, location.href).href))
const store = () => caches.open('page').then(cache => cache.addAll(FILES))
addEventListener('install', event => event.waitUntil(store().then(() => skipWaiting())))
addEventListener('activate', event => event.waitUntil(clients.claim()))
addEventListener('fetch', event => { if (own.has(event.request.url)) event.respondWith(caches.match(event.request)) })`

/** Scripts that a page for other grids loads before tilecouch: proj4js and Proj4Leaflet. */
const PROJECTIONS = { 'proj4.js': 'proj4/dist/proj4.js', 'proj4leaflet.js': 'proj4leaflet/src/proj4leaflet.js' }

/** The files of a page that can draw other grids. @returns {Promise<Record<string, [string, string]>>} */
export async function gridFiles () {
  const scripts = ['pouchdb.js', ...Object.keys(PROJECTIONS)].map(name => `<script src="${name}"></script>`).join('')
  const read = ([name, file]) => readFile(`${root}node_modules/${file}`, 'utf8')
    .then(text => [name, ['text/javascript', text]])
  return {
    ...await clientFiles(),
    'index.html': ['text/html', HTML.replace('<script src="tilecouch.js">', `${scripts}$&`)],
    'plain.html': ['text/html', HTML_WITH_POUCH],
    'pouchdb.js': ['text/javascript', (await bundle(besides))['pouchdb.js'].bytes.toString()],
    ...Object.fromEntries(await Promise.all(Object.entries(PROJECTIONS).map(read)))
  }
}

/** Replaces the import of Leaflet with the Leaflet that the page has loaded. @type {import('esbuild').Plugin} */
export const globalLeaflet = {
  name: 'global-leaflet',
  setup (bundler) {
    bundler.onResolve({ filter: /^leaflet$/ }, () => ({ path: 'leaflet', namespace: 'global' }))
    bundler.onLoad({ filter: /.*/, namespace: 'global' }, () => ({ contents: 'module.exports = window.L' }))
  }
}

let files

/** The files of a page with one map. */
export function clientFiles () {
  files ??= Promise.all([
    build({
      entryPoints: [`${root}client/global.js`, `${root}client/tilecouch.css`],
      outdir: '/out',
      bundle: true,
      write: false,
      format: 'iife',
      plugins: [globalLeaflet]
    }),
    readFile(`${root}node_modules/leaflet/dist/leaflet.js`, 'utf8'),
    readFile(`${root}node_modules/leaflet/dist/leaflet.css`, 'utf8')
  ]).then(([{ outputFiles }, leaflet, css]) => ({
    'index.html': ['text/html', HTML],
    'leaflet.js': ['text/javascript', leaflet],
    'leaflet.css': ['text/css', css],
    'tilecouch.js': ['text/javascript', outputFiles.find(({ path }) => path.endsWith('.js')).text],
    'tilecouch.css': ['text/css', outputFiles.find(({ path }) => path.endsWith('.css')).text]
  }))
  return files
}

let mirrorBundle

/** PouchDB, and the mirror of the client library, as globals of a page. */
async function mirrorScript () {
  mirrorBundle ??= build({
    stdin: {
      contents: `import PouchDB from 'pouchdb-browser'
        import { Mirror } from './client/mirror/index.js'
        Object.assign(globalThis, { PouchDB, Mirror })`,
      resolveDir: root
    },
    bundle: true,
    write: false,
    format: 'iife',
    logLevel: 'silent',
    define: { global: 'globalThis' }
  })
  return (await mirrorBundle).outputFiles[0].text
}

/** Serves a page with mirrors on its own origin, since most pages use a store of another origin. */
export const serveMirrorPage =
  async () => servePages({ '': ['text/html', HTML_OF_MIRRORS], 'page.js': ['text/javascript', await mirrorScript()] })

/**
 * The files of an application that works offline: with PouchDB, and a service worker that keeps the files.
 * @returns {Promise<Record<string, [string, string]>>}
 */
export const fieldFiles = async () => ({
  ...await clientFiles(),
  '': ['text/html', HTML_WITH_POUCH],
  'pouchdb.js': ['text/javascript', await mirrorScript()],
  'sw.js': ['text/javascript', WORKER]
})
