// A page of a test with the client library on it, beside a store: the store's own origin answers for it, without being
// asked.
import { readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { besides, bundle } from '../../../loader/couchapp/bundle.js'
import { openPage, screens } from '../../viewer/browser.js'

const root = fileURLToPath(new URL('../../..', import.meta.url))
const HTML = '<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><link rel="stylesheet" ' +
  'href="leaflet.css"><link rel="stylesheet" href="tilecouch.css">' +
  ('<style>html,body,#map{height:100%;margin:0}#map{background:#ddd}</style><div id="map"></div><script ' +
    'src="leaflet.js"></script><script src="tilecouch.js"></script>')

/** What a page has besides for other grids: proj4js and Proj4Leaflet, before tilecouch. */
const PROJECTIONS = { 'proj4.js': 'proj4/dist/proj4.js', 'proj4leaflet.js': 'proj4leaflet/src/proj4leaflet.js' }

/** The same with what draws other grids. @returns {Promise<Record<string, [string, string]>>} */
export async function gridFiles () {
  const scripts = ['pouchdb.js', ...Object.keys(PROJECTIONS)].map(name => `<script src="${name}"></script>`).join('')
  const read = ([name, file]) => readFile(`${root}node_modules/${file}`, 'utf8')
    .then(text => [name, ['text/javascript', text]])
  return {
    ...await clientFiles(),
    'index.html': ['text/html', HTML.replace('<script src="tilecouch.js">', `${scripts}$&`)],
    'plain.html': ['text/html', HTML.replace('<script src="tilecouch.js">', '<script src="pouchdb.js"></script>$&')],
    'pouchdb.js': ['text/javascript', (await bundle(besides))['pouchdb.js'].bytes.toString()],
    ...Object.fromEntries(await Promise.all(Object.entries(PROJECTIONS).map(read)))
  }
}

let files

/** What the page consists of, by name: content type and text. */
export function clientFiles () {
  files ??= Promise.all([
    build({
      entryPoints: [`${root}client/global.js`, `${root}client/tilecouch.css`],
      outdir: '/out',
      bundle: true,
      write: false,
      format: 'iife',
      plugins: [{ name: 'leaflet', setup ({ onResolve, onLoad }) {
        onResolve({ filter: /^leaflet$/ }, () => ({ path: 'leaflet', namespace: 'global' }))
        onLoad({ filter: /.*/, namespace: 'global' }, () => ({ contents: 'module.exports = window.L' }))
      } }]
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

/**
 * @param {import('playwright-core').Browser} browser
 * @param {string} db
 * @param {import('playwright-core').BrowserContextOptions} [options]
 */
export async function openClientPage (browser, db, options = screens.desk) {
  const served = await clientFiles()
  const view = await openPage(browser, options)
  const { origin } = new URL(db)
  await view.page.route(`${origin}/__page/*`, (route, request) => {
    const [contentType, body] = served[new URL(request.url()).pathname.slice('/__page/'.length)] ?? []
    return body === undefined ? route.fulfill({ status: 404 }) : route.fulfill({ contentType, body })
  })
  /** Requests to the store, in order. @type {import('playwright-core').Request[]} */
  const requests = []
  view.page.on('request', request => { if (request.url().startsWith(`${db}/`)) requests.push(request) })
  await view.page.goto(`${origin}/__page/index.html`)
  return { ...view, requests }
}
