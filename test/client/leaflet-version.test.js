/* global L -- of the page, in functions that run there */
// Tests tilecouch on pages with Leaflet 1.9 and with Leaflet 2, as a script and as modules.
import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { buildModules, entries } from '../../client/build.js'
import { bundle, clientBundles } from '../../loader/couchapp/bundle.js'
import { openBrowser, openPage } from '../viewer/browser.js'
import { servePages } from '../support/server.js'

const root = fileURLToPath(new URL('../..', import.meta.url))
const packageScript =
  (name, file) => ['text/javascript', readFileSync(path.join(root, 'node_modules', name, 'dist', file), 'utf8')]
const REFUSAL = 'tilecouch needs Leaflet 1.9, and this is Leaflet 2.0.0-alpha.1'

/** Entries of the package that need Leaflet, with one export of each. */
const WITH_LEAFLET = { index: 'TimelineControl', history: 'HistoryLayer', timeline: 'CompareControl' }

describe('tilecouch on a page with Leaflet', function () {
  this.timeout(60000)
  let browser
  let server

  before(async function () {
    browser = await openBrowser(this, { webgl: false })
    const folder = mkdtempSync(path.join(tmpdir(), 'tilecouch-test-'))
    await buildModules(folder)
    const modules = readdirSync(folder)
      .map(name => [name, ['text/javascript', readFileSync(path.join(folder, name), 'utf8')]])
    rmSync(folder, { recursive: true })
    const names = ['tilecouch.js', 'tilecouch.esm.js']
    const bundles = await bundle(Object.fromEntries(names.map(name => [name, clientBundles[name]])))
    const page = (...body) => ['text/html',
      ['<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,"><div id="map"></div>', ...body].join('\n')]
    const script = leaflet => page(`<script src="${leaflet}"></script>`, '<script src="tilecouch.js"></script>')
    const map = (leaflet, before = '') => page(before,
      `<script type="importmap">{ "imports": { "leaflet": ${JSON.stringify(leaflet)} } }</script>`)
    server = await servePages({
      ...Object.fromEntries(modules),
      ...Object.fromEntries(names.map(name => [name, ['text/javascript', bundles[name].bytes.toString()]])),
      'leaflet-1.js': packageScript('leaflet', 'leaflet.js'),
      'leaflet-2-script.js': packageScript('leaflet2', 'leaflet-global.js'),
      'leaflet-2.js': packageScript('leaflet2', 'leaflet.js'),
      'script-1': script('leaflet-1.js'),
      'script-2': script('leaflet-2-script.js'),
      'module-1': map('data:text/javascript,export default L', '<script src="leaflet-1.js"></script>'),
      'module-2': map('./leaflet-2.js')
    })
  })

  after(async () => {
    await browser?.close()
    await server?.close()
  })

  async function visit (name) {
    const view = await openPage(browser)
    await view.page.goto(server.url + name)
    return view
  }

  it('refuses Leaflet 2 as a script with an error, and leaves it unchanged', async () => {
    const { page, errors, close } = await visit('script-2')
    assert.deepEqual(errors, [`TilecouchError: ${REFUSAL}`])
    assert.deepEqual(await page.evaluate(
      () => [L.version, Object.keys(L).filter(name => /couch/i.test(name)), new L.Map('map').getZoom()]
    ), ['2.0.0-alpha.1', [], undefined])
    await close()
  })

  it('refuses Leaflet 2 in every module that needs Leaflet, with a code and advice', async () => {
    const { page, errors, close } = await visit('module-2')
    for (const name of [...Object.keys(WITH_LEAFLET), 'tilecouch.esm']) {
      const error = await page.evaluate(file => import(`./${file}.js`)
        .then(() => null, reason => ({ code: reason.code, message: reason.message, advice: reason.advice })), name)
      assert.deepEqual([error?.code, error?.message], ['LEAFLET_VERSION', REFUSAL], name)
      assert.match(error.advice, /npm install leaflet@1\.9/)
    }
    const otherMaps = /^(maplibre|openlayers)/ // these need their own map library
    for (const name of Object.keys(entries).filter(entry => !(entry in WITH_LEAFLET) && !otherMaps.test(entry))) {
      assert.ok(await page.evaluate(file => import(`./${file}.js`).then(Object.keys), name),
        `${name} runs beside any map`)
    }
    assert.deepEqual(errors, [])
    await close()
  })

  it('works with Leaflet 1.9 as a script and as modules', async () => {
    const script = await visit('script-1')
    assert.equal(await script.page.evaluate(() => typeof L.control.timeline), 'function')
    const module = await visit('module-1')
    for (const [name, exportName] of Object.entries(WITH_LEAFLET)) {
      assert.equal(await module.page.evaluate(([file, key]) => import(`./${file}.js`).then(api => typeof api[key]),
        [name, exportName]), 'function', name)
    }
    assert.deepEqual([...script.errors, ...module.errors], [])
    await script.close()
    await module.close()
  })
})
