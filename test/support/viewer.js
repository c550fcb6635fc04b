/* global CSSStyleSheet, document, location -- of the page, in functions that run there */
// Helpers for suites of the viewer on every kind of store: a store with layers, a server in front of it that can be
// slow or dead, and pages whose unexpected console messages fail the test.
import { setTimeout } from 'node:timers/promises'
import { TIME_FACTOR } from '../../bench/wait.js'
import { Store } from '../../loader/index.js'
import { startFront } from './client/front.js'
import { history, writeGallery } from './client/gallery.js'
import { Pages } from './client/pages.js'
import { drawnTiles, openBrowser, screens } from '../viewer/browser.js'
import { kinds } from '../viewer/stores.js'

const REWRITE = '/_design/tiles/_rewrite/'

/**
 * @param {{layers?: string[], demo?: boolean, webgl?: boolean}} options layers: of the gallery of the client library,
 *   besides the demo; webgl: the suite looks at vector layers
 * @param {(stage: Stage, kind: string) => void} body
 */
export function onViewer (title, { layers = [], demo = true, webgl = false }, body) {
  for (const { name, open } of kinds) {
    describe(`the viewer on ${name}: ${title}`, function () {
      this.timeout(60000 * TIME_FACTOR)
      const stage = new Stage()

      before(async function () {
        stage.browser = await openBrowser(this, { webgl })
        stage.pages = new Pages(stage.browser.browser)
        stage.backend = await open({ demo })
        stage.store = await Store.open(stage.backend.database)
        await writeGallery(stage.store, layers)
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

  get address () {
    return this.front.url + REWRITE
  }

  /** @param {import('playwright-core').BrowserContextOptions} [options] */
  async visit (hash = '', options = screens.desk) {
    const page = await this.pages.open(options, withoutBlur)
    await page.goto(this.address + hash)
    return page
  }

  /** Opens a page and waits until it is drawn. @param {import('playwright-core').BrowserContextOptions} [options] */
  async open (hash, options = screens.desk) {
    const page = await this.visit(hash, options)
    await drawnTiles(page)
    return page
  }

  /** Allows errors that a test provokes. @param {RegExp[]} patterns */
  allow (...patterns) {
    this.pages.allow(...patterns)
  }

  /** Writes more versions of a layer of the gallery: step -> tiles. */
  async write (layer, steps) {
    await this.store.write(await history(layer, steps))
  }

  /** The requests for images of versions. */
  images () {
    return this.front.requests('tile').filter(({ path }) => path.includes('rev='))
  }

  async clear (isPassed) {
    if (isPassed === false) for (const page of this.pages.used) console.log(await stateOf(page))
    await this.pages.leave(isPassed)
    this.front.reset()
  }
}

/** Runs in the page. Without a graphics card, the blur behind the panels takes longer than all other drawing. */
function withoutBlur () {
  const sheet = new CSSStyleSheet()
  sheet.replaceSync('* { backdrop-filter: none !important }')
  document.adoptedStyleSheets = [sheet]
}

/** The state of a page on which a test failed. */
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
 * Messages of Chromium when a server does not answer, or when an answer is cut off; the second one when it looks for a
 * new service worker.
 */
export const AWAY = /net::ERR_|error occurred when fetching the script/
