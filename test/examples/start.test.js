/* global document -- of the page, in functions that run there */
// The pages in docs/client.md, unchanged, at another origin than the store's.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { openBrowser, openPage } from '../viewer/browser.js'
import { embeddedStore } from '../viewer/stores.js'
import { drawn } from './drawn.js'
import { serveExamples, serveLibraries } from './server.js'

const text = await readFile(new URL('../../docs/client.md', import.meta.url), 'utf8')
const snippets = [...text.matchAll(/```html\n([^]*?)```/g)].map(([, html]) => html)
  .filter(html => html.includes('<div id="map"'))

describe('the pages of docs/client.md', function () {
  this.timeout(60000)
  let browser, server, store

  before(async function () {
    browser = await openBrowser(this)
    server = await serveExamples()
    store = await embeddedStore({ demoSize: { zooms: { min: 0, max: 3 }, hours: 1, surveys: 0 } })
  })

  after(async () => { for (const resource of [browser, server, store]) await resource?.close() })

  const open = async (snippet, headers = {}) => {
    const html = snippet.replaceAll('http://127.0.0.1:5984/tiles', store.url)
    server.pages.set('start.html', { headers, html: `<!doctype html><link rel="icon" href="data:,">${html}` })
    const view = await openPage(browser)
    await serveLibraries(view.page)
    await view.page.goto(`${server.url}/start.html`)
    return view
  }

  it('are three: with scripts, with a module, and with OpenLayers', () => {
    assert.deepEqual(snippets.map(html => [/importmap/, /ol\.js/].findIndex(pattern => pattern.test(html))), [-1, 0, 1])
  })

  for (const [index, html] of snippets.entries()) {
    it(`draw their map without errors as they are written (page ${index + 1})`, async () => {
      const { page, errors, close } = await open(html)
      try {
        await drawn(page)
        assert.equal(await page.locator('.tilecouch-timeline').count(), index === 1 ? 0 : 1)
      } finally {
        await close()
      }
      assert.deepEqual(errors, [])
    })
  }

  it('draw their map under the content security policy that docs/client.md names', async () => {
    const { origin } = new URL(store.url)
    assert.ok(['`connect-src STORE`', '`img-src STORE blob: data:`',
      '`script-src STORE`', '`style-src STORE`'].every(part => text.includes(part)))
    // 'unsafe-inline' for the script in the page, and therefore no inline styles
    const policy =
      `default-src 'none'; script-src ${origin} 'unsafe-inline'; style-src ${origin}; img-src ${origin} blob: data:; ` +
        `connect-src ${origin}`
    const { page, errors, close } = await open(
      `<link rel="stylesheet" href="${store.viewer}viewer.css">${snippets[0].replace(' style="height: 100vh"', '')}`,
      { 'Content-Security-Policy': policy }
    )
    try {
      await page.evaluate(() => { /** @type {any} */ (document.getElementById('map')).style.height = '100vh' })
      await drawn(page)
    } finally {
      await close()
    }
    assert.deepEqual(errors, [])
  })
})
