/* global caches, document, location -- of the page, in functions that run there */
// Tests the viewer without a network: it shows downloaded areas with their past, and reconnects by itself.
import assert from 'node:assert/strict'
import http from 'node:http'
import { TIME_FACTOR } from '../../bench/wait.js'
import { openGateway, openStore } from '../support/gateway/stand.js'
import { T, writeGallery } from '../support/client/gallery.js'
import { onEachStore } from '../support/backends.js'
import { drawnTiles, openBrowser, openPage, screens, shownAt } from './browser.js'
import { AWAY, onViewer } from '../support/viewer.js'
import { startServer } from '../support/server.js'

/** Waits until the page can open without a network. */
const waitForWorker = page => page.waitForFunction(() => navigator.serviceWorker.controller)

/** Downloads an area with the OfflineStore of the page. */
async function take (page, spec) {
  await page.getByRole('button', { name: 'Offline maps' }).click()
  await page.getByRole('region', { name: 'Offline maps' }).waitFor()
  await page.evaluate(async areaSpec => {
    const script = /** @type {any} */ (document.querySelector('script[src*="viewer.js"]')).src
    const { openOffline } = await import(script.replace('viewer.js', 'offline.js'))
    const base = new URL('.', location.href).pathname.replace(/\/_design\/.*/, '/')
    const offline = await openOffline('', `tilecouch:${base.split('/').filter(Boolean).join(':')}`)
    await (await offline.areas.add(areaSpec)).download()
  }, spec)
  await page.waitForFunction(() => Object.keys(localStorage).some(key => /^tilecouch:/.test(key)))
  await page.keyboard.press('Escape')
}

const world = { name: 'World', layer: 'daylight', bbox: [-180, -85, 180, 85], zooms: '0-2', history: true }
const titles = page => page.locator('.layer .title').allTextContents()
const toast = page => page.locator('.toast[data-topic="store"]')

onViewer('without a network', {}, stage => {
  it('opens a downloaded area with its times, editions, figures and versions of a tile', async () => {
    const page = await stage.visit('#daylight/2/20/0')
    await drawnTiles(page)
    await waitForWorker(page)
    await take(page, world)
    await stage.front.stop()
    await page.context().setOffline(true)
    await page.reload()
    assert.ok(await drawnTiles(page) > 4)
    await toast(page)
      .getByText(/^You are offline\. This is what the device has of the map, as of \d+ \w+ 20\d\d, \d\d:\d\d UTC\.$/)
        .waitFor()
    assert.deepEqual(await titles(page), ['Daylight'], 'and no layer of which nothing is here')
    await page.locator('.facts dd', { hasText: /^77$/ }).waitFor({ state: 'attached' })
    await page.getByText(/^On this device · \d+ kB$/).waitFor()
    assert.equal(await page.locator('.editions li').count(), 6)
    await page.getByRole('button', { name: '01:00 UTC 20 Jun' }).click()
    await shownAt(page, '20 Jun 2024, 01:00 UTC')
    await page.getByRole('button', { name: 'Next change' }).click()
    await shownAt(page, '20 Jun 2024, 02:00 UTC')
    await page.mouse.click(700, 300)
    await page.getByRole('region', { name: 'This place' }).getByText('5 versions').waitFor()
    await page.waitForFunction(() => {
      const images = [...document.querySelectorAll('.versions img')]
      return images.length === 5 &&
        images.every(image => /^blob:/.test(/** @type {any} */ (image).src) &&
          /** @type {any} */ (image).naturalWidth > 0)
    })
    assert.match(String(await page.locator('.versions a').first().getAttribute('href')), /^blob:/)
    assert.equal(await page.locator('.tilecouch-timeline').getByText('cannot be reached').count(), 0)
    stage.allow(AWAY)

    await page.context().setOffline(false)
    await stage.front.restart()
    await toast(page).waitFor({ state: 'detached', timeout: 40000 * TIME_FACTOR })
    await page.getByText(/^2 layers · /).waitFor()
    await page.locator('[data-layer="land"]').waitFor()
  })

  it('goes on with a downloaded area when the server goes away, and says so once', async () => {
    const page = await stage.visit('#daylight/1/20/0')
    await drawnTiles(page)
    await take(page, world)
    await stage.front.stop()
    await toast(page).getByText(/^The server does not answer\. This is what the device has/).waitFor()
    await page.getByRole('button', { name: 'Zoom in', exact: true }).click()
    assert.ok(await drawnTiles(page) > 4)
    await toast(page).getByRole('button', { name: 'Close' }).click()
    await page.getByRole('button', { name: 'Last change' }).click()
    await shownAt(page, '20 Jun 2024, 04:00 UTC')
    assert.equal(await page.locator('.toast').count(), 0)
    await stage.front.restart()
    await page.getByText(/^2 layers · /).waitFor({ timeout: 40000 * TIME_FACTOR })
    stage.allow(AWAY)
  })

  it('shows the layers of the store when it answers, and loads no downloaded image again', async () => {
    const page = await stage.visit('#daylight/1/20/0')
    await drawnTiles(page)
    await waitForWorker(page)
    await take(page, world)
    stage.front.forget()
    await page.reload()
    await drawnTiles(page)
    await page.getByText(/^2 layers · /).waitFor()
    assert.deepEqual(stage.images().map(({ path }) => path), [])
    const inCaches = await page.evaluate(
      async () => (await Promise.all(
        (await caches.keys()).map(async name => (await (await caches.open(name)).keys()).map(({ url }) => url))
      )).flat()
    )
    assert.deepEqual(inCaches.filter(url => /\/tile\b|\/\d+\/\d+\/\d+|_all_docs|_bulk_get|_view/.test(url)), [])
  })

  it('says that the layer of a link, or its place, is not on the device', async () => {
    const page = await stage.visit('#daylight/2/20/0', screens.phone)
    await drawnTiles(page)
    await waitForWorker(page)
    // without lower zooms: their tiles, enlarged, would cover every place
    await take(page, { ...world, bbox: [0, 10, 80, 80], zooms: 2 })
    await page.context().setOffline(true)
    await page.goto('about:blank')
    await page.goto(`${stage.address}#land/1/0/0`)
    await page.getByText('There is no layer “land” on this device.').waitFor()
    await page.goto(`${stage.address}?again#daylight/2/-50/-120`)
    await page.getByText('Nothing of this place is on this device.').waitFor()
    stage.allow(AWAY)
  })
})

onEachStore('the viewer of a gateway below a path, without a network', backend => {
  let gateway
  let store
  let browser
  before(async function () {
    this.timeout(60000)
    browser = await openBrowser(this, { webgl: false })
    const url = await backend.database()
    store = await openStore(url, newStore => writeGallery(newStore, ['steps']))
    gateway = await openGateway(url)
  })
  after(async () => {
    await browser?.close()
    await gateway?.close()
    await store?.destroy()
  })

  it('opens with a downloaded area', async function () {
    this.timeout(60000)
    const proxy = await startServer((request, response) => {
      const { port } = new URL(gateway.url)
      const path = /^\/maps(\/.*)$/.exec(request.url ?? '')?.[1]
      if (!path) return response.writeHead(404).end()
      const upstreamRequest = http.request({ port, path, method: request.method, headers: request.headers }, answer => {
        response.writeHead(answer.statusCode ?? 502, answer.headers)
        answer.pipe(response)
      })
      upstreamRequest.on('error', () => response.destroy())
      response.once('close', () => upstreamRequest.destroy())
      request.pipe(upstreamRequest)
    })
    const { page, close } = await openPage(browser)
    try {
      await page.goto(`${proxy.url}/maps/#steps/3/0/0`)
      await drawnTiles(page)
      await waitForWorker(page)
      await take(page, { name: 'Steps', layer: 'steps', bbox: [-90, -60, 90, 60], zooms: 3, history: true })
      await proxy.close()
      await page.context().setOffline(true)
      await page.reload()
      assert.ok(await drawnTiles(page) > 4)
      await toast(page).getByText('You are offline.').waitFor()
      await page.goto(`${proxy.url}/maps/?then#steps@${T(2)}/3/0/0`)
      await shownAt(page, '2 Jan 2024')
      assert.ok(await drawnTiles(page) > 4)
      assert.deepEqual(await page.evaluate(
        async () => (await caches.keys()).map(name => name.split(' ')[2].replace(/^.*\/\/[^/]*/, ''))
      ), ['/maps/'])
      assert.deepEqual(await page.evaluate(() => Object.keys(localStorage).filter(key => /^tilecouch:/.test(key))),
        ['tilecouch:maps'])
    } finally {
      await close()
      await proxy.close()
    }
  })
})
