/* global document, window, getComputedStyle -- of the page, in functions that run there */
// Tests the viewer in an iframe of another page: only origins that the operator names may frame it, and only as a map.
// The last test makes files and addresses under the default policy of a gateway.
import assert from 'node:assert/strict'
import { embeddedStore } from './stores.js'
import { T, writeGallery } from '../support/client/gallery.js'
import { Store } from '../../loader/index.js'
import { VIEWER_CSP, viewerPolicy } from '../../loader/couchapp/policy.js'
import { serveExamples } from '../examples/server.js'
import { openGateway } from '../support/gateway/stand.js'
import { drawnTiles, openBrowser, openPage, shownAt } from './browser.js'
import { choose, decode, make, openTake, ownSize, watch } from './take-support.js'

const REFUSED = /frame-ancestors|Refused to frame|net::ERR_BLOCKED_BY_CSP/

describe('the viewer in the frame of another page', function () {
  this.timeout(60000)
  let browser, store, host
  const gateways = []
  const views = []

  before(async function () {
    browser = await openBrowser(this, { webgl: false })
    store = await embeddedStore({ demo: false })
    await writeGallery(await Store.open(store.database), ['steps'])
    host = await serveExamples()
  })
  afterEach(async () => {
    const errors = views.flatMap(view => view.errors).filter(text => !REFUSED.test(text))
    await Promise.all([...views, ...gateways].map(view => view.close()))
    views.length = gateways.length = 0
    assert.deepEqual(errors, [], 'nothing on the console')
  })
  after(async () => { for (const resource of [browser, host, store]) await resource?.close() })

  async function serve (options) {
    const gateway = await openGateway(store.database, { grace: 0, ...options })
    gateways.push(gateway)
    return `${gateway.url.replace(/\/$/, '')}/`
  }

  async function visit (address) {
    const view = await openPage(browser)
    views.push(view)
    await view.page.goto(address)
    return view.page
  }

  /** Opens a page of another origin. */
  function show (html) {
    host.pages.set('host.html', { html: `<!doctype html><meta charset="utf-8"><link rel="icon" href="data:,">${html}` })
    return visit(`${host.url}/host.html`)
  }

  /** Opens a page of another origin that frames these addresses. @param {string[]} addresses */
  const frame = (...addresses) =>
    show(addresses.map(address => `<iframe src="${address}" width="700" height="500" title="map"></iframe>`).join(''))

  const policyOf = async address => (await fetch(address)).headers.get('content-security-policy')

  it('is refused by default', async () => {
    const gateway = await serve({})
    assert.deepEqual([await policyOf(gateway), await policyOf(`${gateway}?embed`)], [VIEWER_CSP, VIEWER_CSP])
    const page = await frame(`${gateway}?embed#steps/3/0/0`)
    await page.waitForFunction(() => document.readyState === 'complete')
    assert.equal(await page.frameLocator('iframe').locator('#map').count(), 0)
  })

  it('is a map alone for origins that the operator names, and never the whole viewer', async () => {
    const gateway = await serve({ embed: host.url })
    assert.deepEqual([await policyOf(gateway), await policyOf(`${gateway}?embed`)],
      [VIEWER_CSP, viewerPolicy([host.url])])
    assert.equal(await policyOf(`${gateway}viewer.js?embed`), VIEWER_CSP)
    // the page must read its address in the same way as the gateway
    for (const [policy, searches] of /** @type {const} */ ([
      [VIEWER_CSP, ['?embed?x', '??embed', '?x?embed', '?embed%3Fx']],
      [viewerPolicy([host.url]), ['?x&embed', '?embed=1', '?%65mbed', '?x=?&embed']]
    ])) for (const search of searches) assert.equal(await policyOf(gateway + search), policy, search)
    const page = await frame(`${gateway}?embed#steps@${T(3)}/3/0/0`, `${gateway}#steps/3/0/0`, `${gateway}?embedded`)
    const map = page.frameLocator('iframe').first()
    await map.locator('#map .tilecouch-tile img').first().waitFor()
    for (const part of ['#content', '#summary', '#take', '#offline']) {
      assert.equal(await map.locator(part).isVisible(), false, part)
    }
    assert.equal(await map.locator('.tilecouch-timeline').isVisible(), true)
    assert.equal(await map.locator('.leaflet-control-attribution').isVisible(), true)
    for (const name of ['Find a place', 'Show where I am']) {
      assert.equal(await map.getByRole('button', { name }).count(), 0, name)
    }
    const link = map.getByRole('link', { name: 'Open the map' })
    await link.evaluate(node => node.dispatchEvent(new Event('focus')))
    assert.equal(await link.getAttribute('href'), `${gateway}#steps@${T(3)}/3/0.00/0.00`)
    assert.equal(await page.frameLocator('iframe').nth(1).locator('#map').count(), 0, 'the whole viewer')
    assert.equal(await page.frameLocator('iframe').nth(2).locator('#map').count(), 0, 'another word')
  })

  it('zooms with the wheel only after a click', async () => {
    const gateway = await serve({ embed: '*' })
    const page = await visit(`${gateway}?embed#steps/3/0/0`)
    await drawnTiles(page)
    await page.emulateMedia({ reducedMotion: 'reduce' }) // no animations
    await page.getByRole('button', { name: 'Select a range' }).click()
    await page.locator('#map .changed-rim').waitFor({ state: 'attached' })
    assert.equal(await page.locator('.leaflet-top.leaflet-right').evaluate(node => getComputedStyle(node).right),
      '0px', 'no room is kept for cards')
    await watch(page)
    await page.evaluate(() => { document.location.hash = '#steps/3/0/1' }) // the page then calls getZoom
    await page.waitForFunction(() => /** @type {any} */ (window).map)
    const zooms = () => page.evaluate(() => /** @type {any} */ (window).map.scrollWheelZoom.enabled())
    assert.equal(await zooms(), false)
    await page.mouse.click(640, 300)
    assert.equal(await zooms(), true)
  })

  it('opens from the HTML that the dialog offers, with the same place and time', async () => {
    const gateway = await serve({ embed: `${host.url}, https://www.example.org` })
    const viewerPage = await visit(`${gateway}#steps@${T(2)}/3/0/0`)
    await shownAt(viewerPage, '2 Jan 2024')
    const card = await openTake(viewerPage, 'Link')
    await card.getByText('Embed in a web page').click()
    await card.getByText(`Pages of these sites may show this map: ${host.url}, https://www.example.org.`).waitFor()
    const html = await card.getByLabel('HTML for your page').inputValue()
    const page = await show(html)
    const iframe = page.locator('iframe')
    assert.deepEqual([await iframe.getAttribute('title'), await iframe.getAttribute('width')],
      ['Steps, 2 Jan 2024', '800'])
    const map = page.frameLocator('iframe')
    await map.locator('#map .tilecouch-tile img').first().waitFor()
    // the thumb has no size: its children draw it
    await map.locator('[aria-label="Time"][aria-valuetext^="2 Jan 2024"]').waitFor({ state: 'attached' })
  })

  it('makes files and addresses under the default policy of a gateway, and says that it allows no frames', async () => {
    const gateway = await serve({})
    const page = await visit(`${gateway}#steps@${T(2)}/3/0/0`)
    await shownAt(page, '2 Jan 2024')
    const card = await openTake(page)
    await ownSize(card, 512, 512)
    assert.equal((await decode((await make(card, 'Make the image')).bytes)).width, 512)
    await card.getByRole('button', { name: 'Time-lapse', exact: true }).click()
    await choose(card, 'Size', 'small')
    await card.getByText(/^5 frames/).waitFor()
    assert.equal((await decode((await make(card, 'Make the time-lapse')).bytes)).pages, 5)
    await card.getByRole('button', { name: 'Link', exact: true }).click()
    await card.getByText('Open in QGIS').click()
    assert.equal(await card.getByLabel('Address of the tiles').inputValue(),
      `${gateway}steps@${T(2)}/{z}/{x}/{y}.png`, 'a gateway gives the past without a redirect')
    await card.getByText('Embed in a web page').click()
    await card.getByText('Other sites may not show this map yet.').waitFor()
  })
})
