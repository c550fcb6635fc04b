/* global CSSStyleSheet, document, location -- of the page, in functions that run there */
// What a suite of the viewer stands on, on every kind of store: a store with layers, a server before it that can be
// made slow or dead, and pages on which nothing may go wrong that was not expected.
import assert from 'node:assert/strict'
import { setTimeout } from 'node:timers/promises'
import { Store } from '../../loader/index.js'
import { startFront } from './client/front.js'
import { hang, history } from './client/gallery.js'
import { Pages } from './client/pages.js'
import { drawnTiles, openBrowser, screens } from '../viewer/browser.js'
import { kinds } from '../viewer/stores.js'

const REWRITE = '/_design/tiles/_rewrite/'

/**
 * @param {{layers?: string[], demo?: boolean, webgl?: boolean}} options layers of the client library's gallery, beside
 *   the demo; webgl: the suite looks at vector layers
 * @param {(stage: Stage, kind: string) => void} body
 */
export function onViewer (title, { layers = [], demo = true, webgl = false }, body) {
  for (const { name, open } of kinds) {
    describe(`the viewer on ${name}: ${title}`, function () {
      this.timeout(60000)
      const stage = new Stage()

      before(async function () {
        stage.browser = await openBrowser(this, { webgl })
        stage.pages = new Pages(stage.browser.browser)
        stage.backend = await open({ demo })
        stage.store = await Store.open(stage.backend.database)
        await hang(stage.store, layers)
        stage.front = await startFront(stage.backend.url)
      })
      afterEach(function () { return stage.clear(this.currentTest?.isPassed()) })
      after(async () => {
        await stage.browser?.close()
        await stage.front?.close()
        await stage.backend?.close()
      })
      body(stage, name)
    })
  }
}

export class Stage {
  /** @type {any} */
  browser
  pages = /** @type {Pages} */ (/** @type {unknown} */ (undefined))
  /** @type {any} */
  backend
  /** @type {any} */
  front
  /** @type {import('../../loader/index.js').Store} */
  store = /** @type {any} */ (null)
  /** @type {RegExp[]} */
  #allowed = []

  get address () {
    return this.front.url + REWRITE
  }

  /** @param {import('playwright-core').BrowserContextOptions} [options] */
  async visit (hash = '', options = screens.desk) {
    const page = await this.pages.open(options, withoutBlur)
    await page.goto(this.address + hash)
    return page
  }

  /** A page on which all in view is drawn. @param {import('playwright-core').BrowserContextOptions} [options] */
  async open (hash, options = screens.desk) {
    const page = await this.visit(hash, options)
    await drawnTiles(page)
    return page
  }

  /** A test that provokes errors says which. @param {RegExp[]} patterns */
  allow (...patterns) {
    this.#allowed.push(...patterns)
  }

  /** Writes more versions of a gallery's layer: step -> tiles. */
  async write (layer, steps) {
    await this.store.write(await history(layer, steps))
  }

  /** Images that were asked for as versions, once for each request. */
  images () {
    return this.front.requests('tile').filter(({ path }) => path.includes('rev='))
  }

  async clear (passed) {
    if (passed === false) for (const page of this.pages.used) console.log(await stateOf(page))
    const errors = (await this.pages.leave(passed)).filter(text => !this.#allowed.some(pattern => pattern.test(text)))
    this.#allowed = []
    this.front.reset()
    if (passed) assert.deepEqual(errors, [], 'nothing on the console')
  }
}

/** Runs in the page. Without a graphics card, to blur what is behind the panels costs more than to draw the rest. */
function withoutBlur () {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('* { backdrop-filter: none !important }')
  document.adoptedStyleSheets = [sheet]
}

/** How a page stands on which a test failed. */
async function stateOf (page) {
  const state = page.evaluate(() => ({
    address: location.hash,
    timeline: document.querySelector('.tilecouch-timeline')?.className,
    detail: document.querySelector('.tilecouch-timeline-detail')?.textContent,
    notices: [...document.querySelectorAll('[role=status], [role=alert]')].map(({ textContent }) => textContent)
      .filter(Boolean),
    layers: [...document.querySelectorAll('#map .leaflet-tile-pane > *')].map(
      ({ className, childElementCount }) => `${className}: ${childElementCount}`
    )
  }))
  return Promise.race([state, setTimeout(5000, 'the page does not answer')]).catch(String)
}

/**
 * What Chromium says of a server that is not there, or of an answer that is cut off; the second when it looks for a new
 * service worker.
 */
export const AWAY = /net::ERR_|error occurred when fetching the script/
