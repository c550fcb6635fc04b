/* global clock, control, document, requestAnimationFrame -- of the page, in functions that run there */
// Serves a page with the controls on a free port, built from the sources by esbuild, and opens it in a browser.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { openBrowser } from '../../viewer/browser.js'
import { startServer } from '../server.js'
import { Pages } from './pages.js'

const here = path.dirname(fileURLToPath(import.meta.url))
const styles = path.join(here, '../../../client/tilecouch.css')
const leaflet = path.join(path.dirname(createRequire(import.meta.url).resolve('leaflet/package.json')), 'dist')

const HTML = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Controls</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<link rel="stylesheet" href="/leaflet.css"><link rel="stylesheet" href="/tilecouch.css">
<style>html, body { height: 100%; margin: 0; background: #b8cbd2 } #map { height: 100%; background: #b8cbd2 }</style>
<div id="map"></div><script src="/leaflet.js"></script><script src="/page.js"></script></html>`

/** Replaces the import of Leaflet with the Leaflet that the page has loaded. */
const onGlobalLeaflet = {
  name: 'global-leaflet',
  setup (bundler) {
    bundler.onResolve({ filter: /^leaflet$/ }, () => ({ path: 'leaflet', namespace: 'global' }))
    bundler.onLoad({ filter: /.*/, namespace: 'global' }, () => ({ contents: 'module.exports = window.L' }))
  }
}

/** @returns {Promise<{url: string, close: () => Promise<void>}>} */
export async function serveControls () {
  const { outputFiles } = await build(
    {
      entryPoints: [path.join(here, 'page.js')], bundle: true, write: false,
      format: 'iife', plugins: [onGlobalLeaflet], logLevel: 'silent'
    }
  )
  /** @type {Record<string, [string, () => any]>} */
  const files = {
    '/': ['text/html', () => HTML],
    '/page.js': ['text/javascript', () => outputFiles[0].text],
    '/leaflet.js': ['text/javascript', () => readFile(path.join(leaflet, 'leaflet.js'))],
    '/leaflet.css': ['text/css', () => readFile(path.join(leaflet, 'leaflet.css'))],
    '/tilecouch.css': ['text/css', () => readFile(styles)]
  }
  return startServer(async ({ url = '' }, response) => {
    const [type, read] = files[url] ?? []
    if (!read) return response.writeHead(404).end()
    response.writeHead(200, { 'content-type': `${type}; charset=utf-8` }).end(await read())
  })
}

/**
 * Hooks of a suite: `visit()` opens a new page; any message on its console fails the test.
 * @returns {{visit: (scene?: object | null, options?: object) => Promise<import('playwright-core').Page>}}
 */
export function onControls () {
  /** @type {Pages} */
  let pages
  let server

  before(async function () {
    pages = new Pages((await openBrowser(this, { webgl: false })).browser)
    server = await serveControls()
  })

  after(() => server?.close())

  afterEach(async function () {
    const hasPassed = this.currentTest?.isPassed()
    const errors = await pages.leave(hasPassed)
    if (hasPassed) assert.deepEqual(errors, [], 'nothing on the console')
  })

  return {
    async visit (scene = null, options = undefined) {
      const page = await pages.open(options)
      await page.goto(server.url)
      if (scene) await page.evaluate(value => /** @type {any} */ (globalThis).tilecouch.scene(value), scene)
      return page
    }
  }
}

/** The time of the clock. */
export const at = page => page.evaluate(() => clock.getTime())
/** Waits for two frames, after which everything is drawn. */
export const settled =
  page => page.evaluate(() => new Promise(resolve => { requestAnimationFrame(() => requestAnimationFrame(resolve)) }))
/** Drags with the mouse from a point to another, in several moves. @param {number[]} from @param {number[]} to */
export async function drag (page, from, to) {
  await page.mouse.move(...from)
  await page.mouse.down()
  await page.mouse.move(...to, { steps: 4 })
  await page.mouse.up()
}

/** The position of a time on the page, in pixels. */
export const spot = (page, time) => page.evaluate(value => {
  const { axis } = control.state
  const box = document.querySelector('.tilecouch-timeline-axis').getBoundingClientRect()
  return {
    x: box.left + axis.x(Date.parse(value)), y: box.top + 25, strip: box.top + 58, left: box.left, right: box.right
  }
}, time)
