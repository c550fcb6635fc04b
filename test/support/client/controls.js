/* global clock, control, document, requestAnimationFrame -- of the page, in functions that run there */
// Serves a page with the controls on a free port, built from the sources by esbuild, and opens it in a browser.
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { openBrowser } from '../../viewer/browser.js'
import { servePages } from '../server.js'
import { clientFiles, globalLeaflet } from './client-page.js'
import { Pages } from './pages.js'

const HTML = `<!doctype html><html lang="en"><meta charset="utf-8"><title>Controls</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="icon" href="data:,">
<link rel="stylesheet" href="/leaflet.css"><link rel="stylesheet" href="/tilecouch.css">
<style>html, body { height: 100%; margin: 0; background: #b8cbd2 } #map { height: 100%; background: #b8cbd2 }</style>
<div id="map"></div><script src="/leaflet.js"></script><script src="/page.js"></script></html>`

async function serveControls () {
  const { outputFiles: [{ text }] } = await build({
    entryPoints: [fileURLToPath(new URL('page.js', import.meta.url))],
    bundle: true,
    write: false,
    format: 'iife',
    plugins: [globalLeaflet],
    logLevel: 'silent'
  })
  return servePages({ ...await clientFiles(), '': ['text/html', HTML], 'page.js': ['text/javascript', text] })
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

  afterEach(function () { return pages.leave(this.currentTest?.isPassed()) })

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
export const clockTime = page => page.evaluate(() => clock.getTime())
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
