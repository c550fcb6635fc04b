/* global HTMLCanvasElement, L, window -- of the page, in functions that run there */
// Tests images and time-lapses of vector layers, and of layers that cannot be drawn. The files are decoded and compared
// with the past of the layer.
import assert from 'node:assert/strict'
import { T, stepAt } from '../support/client/gallery.js'
import { onViewer } from '../support/viewer.js'
import { screens } from './browser.js'
import { GROUND, PACKED, STEPS, assertMiddle, choose, decode, distance, make, ownSize, texts,
  watch } from './take-support.js'


/** Draws each tile in the colour that its only feature names. */
const style = {
  version: 8,
  sources: { squares: { type: 'vector', url: 'squares.json' } },
  layers: [{
    id: 'squares', type: 'fill', source: 'squares', 'source-layer': 'squares',
    paint: { 'fill-color': ['to-color', ['get', 'colour']], 'fill-antialias': false }
  }]
}

/** The colour of a tile as of a step. */
function colourAt (step, [x, y]) {
  const shownStep = stepAt('squares', step, 3, x, y)
  return shownStep === '-' ? GROUND : [Number(shownStep) * 8 + 3, x * 8, y * 8]
}

onViewer('pictures of a vector layer', { layers: ['squares', 'steps'], demo: false, webgl: true }, stage => {
  beforeEach(() => {
    stage.front.rule(({ path }) => path.includes('squares/style.json')
      ? { status: 200, body: JSON.stringify(style), headers: { 'content-type': 'application/json' } } : undefined)
  })

  async function open (hash, tab, options = screens.small) {
    const page = await stage.visit(hash, options)
    await page.locator('#map .tilecouch-vector canvas').first().waitFor()
    await page.locator('#take').click()
    const card = page.locator('.card.take')
    await card.locator(`[data-value="${tab}"]`).click()
    return { page, card }
  }

  it('an image has every tile in its place, as of the time of the map, with the date and the source', async () => {
    const { page, card } = await open(`#squares@${T(4)}/4/0/0`, 'image')
    await watch(page)
    await ownSize(card, 512, 512)
    await texts(page)
    const { name, bytes } = await make(card, 'Make the image')
    assert.equal(name, 'squares-2024-01-04.png')
    const { width, height, at } = await decode(bytes)
    assert.deepEqual([width, height], [512, 512])
    assertMiddle(at, tile => colourAt(4, tile), 1)
    assert.deepEqual(await texts(page), ['4 Jan 2024', 'Squares'])
  })

  it('a time-lapse shows every change', async () => {
    const { page, card } = await open('#squares/4/0/0', 'timelapse')
    await ownSize(card, 512, 512)
    await card.getByText(/^5 frames/).waitFor()
    const { pages, at } = await decode((await make(card, 'Make the time-lapse')).bytes)
    assert.equal(pages, 5)
    for (const [frame, step] of STEPS.entries()) {
      assertMiddle((x, y) => at(x, y, frame), tile => colourAt(step, tile), PACKED)
    }
    assert.equal(await page.locator('.hidden-map').count(), 1, 'one hidden map')
    await page.keyboard.press('Escape')
    await card.waitFor({ state: 'detached' })
    // Preact cleans up after the next frame
    await page.locator('.hidden-map').waitFor({ state: 'detached' })
  })

  it('an image shows both times of a comparison in the pixels of a dense screen', async () => {
    const { page, card } =
      await open(`#squares@${T(1)}..${T(5)}/4/0/0`, 'image', { ...screens.small, deviceScaleFactor: 2 })
    await page.getByRole('slider', { name: 'Compare: left and right' }).waitFor()
    await choose(card, 'Size', 'screen')
    const { width, at } = await decode((await make(card, 'Make the image')).bytes)
    assert.equal(width, 1600)
    for (const [x, tile, step] of [[400, [3, 4], 1], [1200, [4, 4], 5]]) {
      assert.ok(distance(at(x, 900), colourAt(step, tile)) <= 1, `${at(x, 900)} at ${x}`)
    }
  })

  it('the dialog says that it leaves out a layer that the browser cannot draw', async () => {
    const page = await stage.visit('', screens.small)
    await page.addInitScript(() => {
      const { getContext } = HTMLCanvasElement.prototype
      HTMLCanvasElement.prototype.getContext = /** @type {any} */ (function (type, ...options) {
        return type === 'webgl2' ? null : getContext.call(this, type, ...options)
      })
    })
    await page.goto(`${stage.address}#squares/4/0/0`)
    await page.reload()
    await page.getByText('this browser cannot draw them').waitFor()
    await page.locator('#take').click()
    const card = page.locator('.card.take')
    await card.getByText('“Squares” is left out: this browser cannot draw vector tiles.').waitFor()
    assert.equal(await card.getByRole('button', { name: 'Make the image' }).getAttribute('aria-disabled'), 'true')
    await page.goto(`${stage.address}#steps/3/0/0&layers=*,squares`)
    await page.locator('#map .tilecouch-tile img').first().waitFor()
    await make(card, 'Make the image')
  })

  it('the dialog says that it leaves out a base map whose images cannot be copied', async () => {
    const page = await stage.visit('#steps/3/0/0', { ...screens.small, bypassCSP: true })
    await page.locator('#map .tilecouch-tile img').first().waitFor()
    await page.route('https://base.example/**',
      route => route.fulfill({ status: 200, contentType: 'image/png', body: '' }))
    await watch(page)
    await page.evaluate(() => { window.location.hash = '#steps/3/0/1' })
    await page.waitForFunction(() => /** @type {any} */ (window).map)
    await page.evaluate(() => {
      L.tileLayer('https://base.example/{z}/{x}/{y}.png', { zIndex: 0 }).addTo(/** @type {any} */ (window).map)
    })
    await page.locator('#take').click()
    const card = page.locator('.card.take')
    await card.getByText('The base map is left out: its server does not let other pages copy its images.').waitFor()
    await make(card, 'Make the image')
    stage.allow(/CORS policy/, /net::ERR_/)
  })
})
