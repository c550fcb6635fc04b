/* global document, innerWidth, location, window -- of the page, in functions that run there */
import assert from 'node:assert/strict'
import { Store } from '../../loader/index.js'
import { up } from '../../server/index.js'
import { drawnTiles, openBrowser, openPage, screens } from './browser.js'
import { embeddedStore, kinds } from './stores.js'

for (const { name, open } of kinds) {
  describe(`the viewer on ${name}`, function () {
    this.timeout(60000)
    let browser
    let store
    let view

    before(async function () {
      browser = await openBrowser(this)
      store = await open()
    })

    after(async () => {
      await browser?.close()
      await store?.close()
    })

    const visit = async (hash = '', options) => {
      view = await openPage(browser, options)
      await view.page.goto(store.viewer + hash)
      return view.page
    }

    afterEach(async function () {
      await view?.close()
      if (this.currentTest?.isPassed()) assert.deepEqual(view?.errors ?? [], [], 'nothing on the console')
      view = undefined
    })

    it('draws the tiles of the first layer and lists all', async () => {
      const page = await visit()
      assert.ok(await drawnTiles(page) >= 4)
      await page.locator('.editions').waitFor()
      assert.deepEqual(await page.locator('.layer .title').allTextContents(), ['Daylight', 'Land and borders'])
      assert.equal(await page.locator('[data-layer="daylight"]').getAttribute('aria-pressed'), 'true')
      assert.equal(await page.title(), 'Daylight · tilecouch')
      assert.match(String(await page.locator('#summary').textContent()), /^2 layers · \d/)
      assert.match(String(await page.locator('.leaflet-control-attribution').textContent()), /Natural Earth/)
    })

    it('says what a layer holds', async () => {
      const page = await visit('#land')
      await page.locator('.facts dt').first().waitFor()
      const terms = await page.locator('.facts dt').allTextContents()
      const values = await page.locator('.facts dd').allTextContents()
      const facts = Object.fromEntries(terms.map((term, index) => [term, values[index]]))
      assert.equal(facts.Layer, 'land')
      assert.equal(facts.Tiles, '21')
      assert.equal(facts.Versions, '21')
      assert.equal(facts.Zooms, '0–2')
      assert.match(facts.Size, /^\d+(\.\d)? kB$/)
      assert.equal(facts.Last, '21 May 2018')
      assert.equal(facts.Source, 'Natural Earth, public domain')
      assert.equal(await page.locator('.address code').textContent(), `${store.viewer}land/{z}/{x}/{y}.png`)
    })

    it('lists the editions by title, and shows the map as of one', async () => {
      const page = await visit('#daylight/2/10/20')
      await drawnTiles(page)
      await page.locator('.editions li').first().waitFor()
      assert.deepEqual(await page.locator('.editions li button > span:first-child').allTextContents(), ['Newest', '02:00 UTC', '01:00 UTC', '00:00 UTC'])
      await page.getByRole('button', { name: '01:00 UTC' }).click()
      await page.waitForFunction(() => [...document.querySelectorAll('#map img.leaflet-tile')].every(tile => /daylight@2024-06-20T01:00:00Z/.test(/** @type {any} */ (tile).src)))
      assert.ok(await drawnTiles(page) > 0)
      assert.match(page.url(), /#daylight@2024-06-20T01:00:00Z\/2\/10\.00\/20\.00$/)
      assert.equal(await page.evaluate(() => /** @type {any} */ (document.activeElement).dataset.time), '2024-06-20T01:00:00Z', 'the focus stays')
    })

    it('changes the layer and keeps the place, by keyboard too', async () => {
      const page = await visit('#daylight/2/30/40')
      await drawnTiles(page)
      await page.locator('[data-layer="land"]').focus()
      await page.keyboard.press('Enter')
      await page.waitForFunction(() => [...document.querySelectorAll('#map img.leaflet-tile')].every(tile => /\/land\//.test(/** @type {any} */ (tile).src)))
      assert.match(page.url(), /#land\/2\/30\.00\/40\.00$/)
      assert.equal(await page.title(), 'Land and borders · tilecouch')
      assert.equal(await page.evaluate(() => /** @type {any} */ (document.activeElement).dataset.layer), 'land')
    })

    it('opens at the address of a permalink, and follows it', async () => {
      const page = await visit('#land/2/-25.50/134.20')
      await drawnTiles(page)
      assert.equal(await page.locator('[data-layer="land"]').getAttribute('aria-pressed'), 'true')
      assert.match(page.url(), /#land\/2\/-25\.50\/134\.20$/)
      await page.evaluate(() => { location.hash = '#daylight@2024-06-20T00:00:00Z/1/0/0' })
      await page.locator('[data-time="2024-06-20T00:00:00Z"][aria-pressed="true"]').waitFor()
      await page.getByRole('button', { name: 'Zoom in' }).click()
      await page.waitForFunction(() => /#daylight@2024-06-20T00:00:00Z\/2\//.test(location.href))
    })

    it('says so when a permalink names a layer that is not there', async () => {
      const page = await visit('#nosuch/1/0/0')
      await page.locator('.banner').waitFor()
      assert.match(String(await page.locator('.banner').textContent()), /no layer “nosuch”/)
      assert.ok(await drawnTiles(page) > 0)
    })

    it('is a sheet below the map on a phone, and folds', async () => {
      const page = await visit('', screens.phone)
      assert.ok(await drawnTiles(page) > 0)
      const box = async selector => /** @type {any} */ (await page.locator(selector).boundingBox())
      const [map, panel] = [await box('#map'), await box('#panel')]
      assert.equal(Math.round(panel.width), 390)
      assert.ok(map.height > 844 * 0.45 && panel.y > 844 * 0.45, 'half of the screen is map')
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= innerWidth), 'nothing sticks out')
      await page.getByRole('button', { name: 'Hide the list' }).click()
      assert.equal(await page.locator('.layers').isVisible(), false)
      assert.ok((await box('#map')).height > 844 * 0.8)
      await page.getByRole('button', { name: 'Show the list' }).click()
      assert.equal(await page.locator('.layers').isVisible(), true)
    })

    it('says how to go on when the store does not answer, and goes on', async () => {
      const page = await visit()
      await drawnTiles(page)
      await page.route('**/db/**', route => route.abort())
      await page.reload()
      await page.getByRole('heading', { name: 'The store does not answer' }).waitFor()
      await page.unroute('**/db/**')
      await page.getByRole('button', { name: 'Try again' }).click()
      assert.ok(await drawnTiles(page) > 0)
      view.errors.length = 0 // the requests cut off above
    })

    // the embedded store has no such policy
    if (name === 'CouchDB') it('tells what to run where a stock CouchDB forbids its scripts', async () => {
      await store.forbidScripts()
      try {
        const page = await visit()
        await page.getByRole('heading', { name: 'The viewer may not run here' }).waitFor()
        assert.equal(await page.locator('noscript code').first().textContent(), 'tilecouch setup --fix')
        assert.equal((await up({ db: store.database, demo: false })).blocked, true)
      } finally {
        await store.allowScripts()
      }
      assert.equal((await up({ db: store.database, demo: false })).blocked, false)
      view.errors.length = 0 // the scripts that were not let
    })
  })
}

describe('the viewer of a store that changes', function () {
  this.timeout(60000)
  let browser

  before(async function () { browser = await openBrowser(this) })
  after(() => browser?.close())

  it('explains how to fill an empty store, and looks again', async () => {
    const store = await embeddedStore({ demo: false })
    const { page, errors, close } = await openPage(browser)
    try {
      await page.goto(store.viewer)
      await page.getByRole('heading', { name: 'No layers yet' }).waitFor()
      assert.match(String(await page.locator('.notice code').textContent()), new RegExp(`tilecouch load[^]*--db ${store.url}`))
      await (await Store.open(store.url)).defineLayer('empty', { name: 'Nothing in it yet', minzoom: 0, maxzoom: 3, bounds: [5, 45, 11, 48] })
      await page.getByRole('button', { name: 'Look again' }).click()
      await page.locator('.layer .title', { hasText: 'Nothing in it yet' }).waitFor()
    } finally {
      await close()
      await store.close()
    }
    assert.deepEqual(errors.filter(text => !/404/.test(text)), [], 'only the tiles that are not there')
  })

  it('notices that the server went away, and that it came back', async () => {
    const store = await embeddedStore()
    const { page, close } = await openPage(browser)
    try {
      await page.goto(`${store.viewer}#land/1/0/0`)
      await drawnTiles(page)
      await store.stop()
      await page.locator('[data-layer="daylight"]').click()
      await page.getByText('The server does not answer.').waitFor()
      await store.restart()
      await page.getByRole('button', { name: 'Try again' }).click()
      await page.locator('.editions [data-time]').first().waitFor()
      assert.ok(await drawnTiles(page) > 0)
      assert.equal(await page.locator('.banner').count(), 0)
    } finally {
      await close()
      await store.close()
    }
  })

  it('shows text from the store as text, and its links as links', async () => {
    const store = await embeddedStore({ demo: false })
    const { page, close } = await openPage(browser)
    try {
      await (await Store.open(store.url)).defineLayer('rude', {
        name: '<img src=x onerror="window.hurt=1">', minzoom: 30, maxzoom: 30,
        attribution: '<a href="https://example.org/" onclick="window.hurt=1">Someone</a> <a href="javascript:window.hurt=1">else</a><script>window.hurt=1</script>'
      })
      await page.goto(store.viewer)
      await page.locator('.facts dd a').waitFor()
      assert.equal(await page.locator('.layer .title').textContent(), '<img src=x onerror="window.hurt=1">')
      const links = page.locator('.facts dd a')
      assert.deepEqual(await links.evaluateAll(nodes => nodes.map(node => node.outerHTML)), ['<a href="https://example.org/" rel="noopener" target="_blank">Someone</a>'])
      assert.equal(await page.evaluate(() => /** @type {any} */ (window).hurt), undefined)
    } finally {
      await close()
      await store.close()
    }
  })
})
