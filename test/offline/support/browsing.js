/* global indexedDB -- of the page, in functions that run there */
// Pages with a browse cache, in Chromium, since only browsers have an IndexedDB.
import assert from 'node:assert/strict'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { servePages } from '../../client/support/listening.js'
import { openBrowser } from '../../viewer/browser.js'

const HTML = '<!doctype html><html lang="en"><meta charset="utf-8"><title>Browse</title><link rel="icon" href="data:,"><script src="/page.js"></script></html>'
const PAGE = "import { BrowseCache } from './client/offline/browse-cache.js'\nObject.assign(globalThis, { BrowseCache })"

/** What tests find in a page besides BrowseCache. */
function install () {
  const T = year => `${year}-01-01T00:00:00Z`
  Object.assign(globalThis, {
    T,
    version: (x, more = {}) => ({ layer: 'osm', z: 9, x, y: 7, time: T(2024), rev: '1-a', gone: false, current: true, expires: null, ...more }),
    blob: (text, type = 'image/png') => new Blob([text], { type }),
    text: async found => found && (found.blob ?? found).text(),
    /** Sets the clock: of what was used when. */
    at: time => { Date.now = () => time },
    /** A database as somebody else opens it. */
    raw: (name, work, number) => new Promise((resolve, reject) => {
      const request = indexedDB.open(name, number)
      request.onupgradeneeded = () => request.result.createObjectStore('others')
      request.onerror = () => reject(request.error)
      request.onsuccess = () => resolve(work(request.result))
    })
  })
}

/**
 * Hooks of a suite: a page for each test, and more tabs of the same browser.
 * @returns {{page: import('playwright-core').Page, visit: () => Promise<import('playwright-core').Page>, reload: () =>
 *   Promise<void>}}
 */
export function onBrowsing () {
  let browser
  let served
  let context
  const errors = /** @type {string[]} */ ([])
  const stage = /** @type {any} */ ({
    page: undefined,
    async visit () {
      const tab = await context.newPage()
      tab.on('console', message => { if (['error', 'warning'].includes(message.type())) errors.push(message.text()) })
      tab.on('pageerror', error => errors.push(String(error)))
      await tab.goto(served.url)
      await tab.evaluate(install)
      return tab
    },
    async reload () {
      await stage.page.reload()
      await stage.page.evaluate(install)
    }
  })

  before(async function () {
    browser = await openBrowser(this)
    const { outputFiles: [{ text }] } = await build({
      stdin: { contents: PAGE, resolveDir: fileURLToPath(new URL('../../..', import.meta.url)) }, bundle: true, write: false, format: 'iife'
    })
    served = await servePages({ '': ['text/html', HTML], 'page.js': ['text/javascript', text] })
  })
  after(async () => {
    await browser?.close()
    await served?.close()
  })
  beforeEach(async () => {
    context = await browser.newContext()
    stage.page = await stage.visit()
  })
  afterEach(async function () {
    await context.close()
    if (this.currentTest?.isPassed()) assert.deepEqual(errors, [], 'nothing on the console')
    errors.length = 0
  })
  return stage
}
