/* global document, window, L -- of the page, in functions that run there */
// Tests the map as an image, as a link, on paper and in QGIS: the files are decoded and their content is checked.
import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { load } from '../../loader/load/index.js'
import { T, tilesOf } from '../support/client/gallery.js'
import { memorySource } from '../support/memory-source.js'
import { drawnTiles, screens, shownAt } from './browser.js'
import { AWAY, onViewer } from '../support/viewer.js'
import { GROUND, assertMiddle, choose, colourAsOf, colourOf, decode, make, openTake,
  ownSize, save, texts, watch } from './take-support.js'

/** Mixes two colours, each with half of its opacity. */
const mix = (first, second) => first.map((value, index) => (value + second[index]) / 2)

onViewer('an image of the map', { layers: ['steps'], demo: false }, stage => {
  it('has the size that was chosen, every tile in its place, the date and the sources', async () => {
    const page = await stage.visit(`#steps@${T(4)}/3/0/0`)
    await shownAt(page, '4 Jan 2024')
    await watch(page)
    const card = await openTake(page)
    await ownSize(card, 512, 512)
    await texts(page)
    const { name, bytes } = await make(card, 'Make the image')
    assert.equal(name, 'steps-2024-01-04.png')
    const { width, height, at } = await decode(bytes)
    assert.deepEqual([width, height], [512, 512])
    assertMiddle(at, colourAsOf(4))
    assert.deepEqual(await texts(page), ['4 Jan 2024', 'Steps'],
      'without an attribution, the layer is named as the source')
    assert.ok(at(14, 14).every(value => value > 200), 'a plate at the top, at the left')
    assert.ok(at(498, 498).every(value => value > 200), 'and another one at the bottom, at the right')
    await page.waitForURL(/#steps@2024-01-04T00:00:00Z\/3\/0\.00\/0\.00$/)
  })

  it('has the pixels of the screen, and the background colour where there are no tiles', async () => {
    const page =
      await stage.visit(`#steps@${T(1)}/3/0/0`, { viewport: { width: 900, height: 600 }, deviceScaleFactor: 2 })
    await shownAt(page, '1 Jan 2024')
    const card = await openTake(page)
    const { width, height, at } = await decode((await make(card, 'Make the image')).bytes)
    assert.deepEqual([width, height], [1800, 1200])
    // the corner of the four tiles in the middle is in the middle, and everything is twice as large
    assert.deepEqual(at(900 + 2 * 192, 600 + 2 * 192), colourOf([4, 4], 1))
    await card.getByRole('button', { name: /^Close/ }).click()
    await page.goto(`${stage.address}#steps@2023-01-01T00:00:00Z/3/0/0`)
    await page.getByText('This place has no tiles before').waitFor()
    await page.locator('#take').click()
    const empty = await decode((await make(page.locator('.card.take'), 'Make the image')).bytes)
    assert.deepEqual(empty.at(900, 700), GROUND)
  })

  it('mixes layers by their order and opacity, and shows both sides of a comparison', async () => {
    const page = await stage.visit(`#steps@${T(4)}/3/0/0`)
    await shownAt(page, '4 Jan 2024')
    await watch(page)
    const card = await openTake(page)
    await ownSize(card, 512, 512)
    await page.evaluate(base => {
      const { map } = /** @type {any} */ (window)
      map.eachLayer(layer => { if (layer.clock) layer.setOpacity(0.5) })
      L.tileLayer(base, { zIndex: 0 }).addTo(map)
      map.fire('moveend') // the page notices only changes of its own layers
      document.querySelector('.hidden-map')?.setAttribute('data-is-old', '')
    }, `${stage.address}steps@${T(1)}/{z}/{x}/{y}.png`)
    await page.locator('.hidden-map:not([data-is-old])').waitFor({ state: 'attached' })
    const mixed = await decode((await make(card, 'Make the image')).bytes)
    assertMiddle(mixed.at, tile => mix(colourAsOf(4)(tile), colourOf(tile, 1)), 1)
    const compared = await stage.visit(`#steps@${T(2)}..${T(4)}/3/0/0`)
    await compared.getByRole('slider', { name: 'Compare: left and right' }).waitFor()
    await drawnTiles(compared)
    await watch(compared)
    const other = await openTake(compared)
    await ownSize(other, 512, 512)
    await texts(compared)
    const { at } = await decode((await make(other, 'Make the image')).bytes)
    assertMiddle(at, tile => colourAsOf(tile[0] === 3 ? 2 : 4)(tile))
    const written = await texts(compared)
    for (const date of ['2 Jan 2024', '4 Jan 2024']) assert.ok(written.includes(date), date)
  })

  it('shows a comparison on two maps or a faded one, with both dates', async () => {
    const page = await stage.visit(`#steps@${T(1)}..${T(5)}/3/0/0&mode=side`)
    await page.getByRole('region', { name: 'Second map' }).waitFor()
    await drawnTiles(page)
    await watch(page)
    const card = await openTake(page)
    await ownSize(card, 1024, 512)
    await texts(page)
    const beside = await decode((await make(card, 'Make the image')).bytes)
    // the middle of both halves shows the middle of the second map
    await page.waitForFunction(() => /** @type {any} */ (window).sideMap)
    const middle = await page.evaluate(() => {
      const { sideMap } = /** @type {any} */ (window)
      return sideMap.project(sideMap.getCenter(), 3).x
    })
    const column = Math.floor(middle / 256)
    for (const [left, step] of [[0, 1], [512, 5]]) {
      const x = Math.round(left + 256 + column * 256 + 192 - middle)
      assert.deepEqual(beside.at(x, 448), colourAsOf(step)([column, 4]), `step ${step}`)
    }
    assert.deepEqual(beside.at(512, 300), [255, 255, 255], 'a divider')
    const written = await texts(page)
    for (const date of ['1 Jan 2024', '5 Jan 2024']) assert.ok(written.includes(date), date)
    await card.getByRole('button', { name: /^Close/ }).click()
    await page.getByRole('button', { name: 'Fade', exact: true }).click()
    await page.getByRole('slider', { name: 'Compare: left and right' }).waitFor()
    const faded = await openTake(page)
    await ownSize(faded, 512, 512)
    await texts(page)
    const { at } = await decode((await make(faded, 'Make the image')).bytes)
    assertMiddle(at, tile => mix(colourAsOf(1)(tile), colourAsOf(5)(tile)), 1)
    const dates = await texts(page)
    for (const date of ['1 Jan 2024', '5 Jan 2024']) assert.ok(dates.includes(date), date)
  })

  it('refuses a size that is too small or too large, and says the limits', async () => {
    const page = await stage.visit('#steps/3/0/0')
    const card = await openTake(page)
    await ownSize(card, 100, 512)
    await card.getByText('Width and height are whole numbers from 160 to 8192.').waitFor()
    const edges = [card.getByLabel('Width in pixels'), card.getByLabel('Height in pixels')]
    const [left, right] = await Promise.all(edges.map(edge => edge.boundingBox()))
    assert.equal(left?.y, right?.y, 'both edges are in one line')
    await card.getByRole('button', { name: 'Make the image' }).press('Enter')
    assert.equal(await card.locator('progress').isVisible(), false)
    await ownSize(card, 8000, 8000)
    await card.getByText('at most 33 million pixels').waitFor()
    await ownSize(card, 512, 512)
    await make(card, 'Make the image')
  })

  it('is not made when a tile does not load, unless the user leaves the tile out', async () => {
    // tiles at the edge of the world: this map does not show them, a wider picture needs them
    const heal = stage.front.rule(({ kind, tile }) => kind === 'tile' && /^3\/[07]\//.test(tile)
      ? { status: 500, body: '{"reason":"broken"}' } : undefined)
    const page = await stage.visit(`#steps@${T(5)}/3/0/0`, { viewport: { width: 700, height: 500 } })
    await shownAt(page, '5 Jan 2024')
    const card = await openTake(page)
    await ownSize(card, 2048, 512)
    await card.getByRole('button', { name: 'Make the image' }).click()
    await card.getByRole('alert').getByText(/^Not every tile of 5 Jan 2024 could be loaded/).waitFor()
    assert.equal(await card.locator('a.save').count(), 0)
    await card.getByRole('button', { name: 'Leave out what does not load' }).click()
    const { at } = await decode((await save(card)).bytes)
    assert.deepEqual([at(192, 192), at(768 + 192, 192)], [GROUND, colourOf([3, 3], 5)])
    await card.getByText(/4 tiles did not load and are missing\.$/).waitFor()
    heal()
    const whole = await decode((await make(card, 'Make the image')).bytes)
    assert.deepEqual(whole.at(192, 192), colourOf([0, 3], 5))
    stage.allow(/500/)
  })

  it('is printed alone, and the browser prints the map with its title, without controls', async () => {
    for (const [step, title] of [[2, 'First survey'], [3, 'Second survey'], [4, 'Third survey']]) {
      const tiles = Object.fromEntries(tilesOf(3).map(tile => [tile.join('/'), Number(step)]))
      await load(stage.store, memorySource(tiles), { layer: 'town', time: T(step), title: String(title) })
    }
    const page = await stage.visit(`#town@${T(3)}/3/0/0`)
    await shownAt(page, '3 Jan 2024')
    await page.getByText('3 editions').waitFor()
    await page.emulateMedia({ media: 'print' })
    await page.evaluate(() => window.dispatchEvent(new Event('beforeprint')))
    const visibleNames = selector => page.locator(selector)
      .evaluateAll(nodes => nodes.filter(node => node.checkVisibility()).map(node => node.id || node.className))
    assert.deepEqual(await visibleNames('body > *'), ['map'])
    assert.deepEqual((await visibleNames('#map .leaflet-control')).map(names => /attribution|scale/.test(names)),
      [true, true])
    assert.deepEqual(await visibleNames('#map :is(button, [role=button])'), [])
    assert.equal(await page.locator('.print-title').innerText(), 'town · Second survey · 3 Jan 2024')
    assert.ok(await page.locator('#map .tilecouch-tile img').count() > 0)
    await page.emulateMedia({ media: 'screen' })
    assert.equal(await page.locator('.print-title').isVisible(), false)
    const card = await openTake(page)
    await page.evaluate(() => { window.print = () => { /** @type {any} */ (window).printed = true } })
    await card.getByRole('button', { name: 'Print' }).click()
    await page.waitForFunction(() => /** @type {any} */ (window).printed)
    await page.emulateMedia({ media: 'print' })
    const visibleClasses = () => page.evaluate(() => [
      ...document.body.children
    ].filter(node => window.getComputedStyle(node).display !== 'none').map(node => node.className))
    assert.deepEqual(await visibleClasses(), ['take-print'])
    await page.evaluate(() => window.dispatchEvent(new Event('afterprint')))
    assert.equal(await page.locator('.take-print').count(), 0)
    assert.equal(await page.locator('#map').isVisible(), true)
  })

  it('is made on a phone in a card that Escape closes', async () => {
    const page = await stage.visit('#steps/3/0/0', screens.phone)
    const card = await openTake(page)
    assert.ok(/** @type {any} */ (await page.locator('#map').boundingBox()).height >= 844 / 2 - 1,
      'the map keeps half of the screen')
    await choose(card, 'Size', 'square')
    const { width, height } = await decode((await make(card, 'Make the image')).bytes)
    assert.deepEqual([width, height], [1080, 1080])
    await page.keyboard.press('Escape')
    await card.waitFor({ state: 'detached' })
    assert.equal(await page.locator('#take').getAttribute('aria-expanded'), 'false')
  })

  it('is replaced by a message when the script of its dialog does not load', async () => {
    stage.front.rule(({ path }) => path.includes('/take.js') ? { status: 503, body: '' } : undefined)
    const page = await stage.open('#steps/3/0/0')
    await page.locator('#take').click()
    await page.getByText(/This part of the page did not load \(.*\)\. Reload the page/).waitFor()
    stage.allow(/503/, AWAY)
  })
})

onViewer('the link to the map', { layers: ['steps'], demo: false }, stage => {
  it('restores the layer, the time, the range and the place, and follows the map', async () => {
    const hash = `#steps@${T(3)}/4/10.00/-20.00/${T(2)}..${T(4)}`
    const page = await stage.visit(`?lang=en${hash}`)
    await shownAt(page, '3 Jan 2024')
    const card = await openTake(page, 'Link')
    const link = () => card.getByLabel('Link to this map').inputValue()
    assert.equal(await link(), stage.address + hash, 'the language is not that of who follows it')
    await page.getByRole('button', { name: 'Zoom out', exact: true }).click()
    await page.waitForFunction(() => /** @type {any} */ (document.querySelector('.card.take input'))
      .value.includes('/3/'))
    const other = await stage.visit((await link()).slice(stage.address.length))
    await shownAt(other, '3 Jan 2024')
    await other.waitForURL(url => url.href === page.url().replace('?lang=en', ''))
    assert.equal(await other.getByRole('slider', { name: 'End of the range' }).count(), 1)
  })

  it('can be copied, shared and shown as a QR code', async () => {
    const page = await stage.visit('#steps/3/0/0')
    await page.context().grantPermissions(['clipboard-read', 'clipboard-write'])
    await page.evaluate(() => { window.navigator.share = async data => { /** @type {any} */ (window).shared = data } })
    const card = await openTake(page, 'Link')
    await card.getByRole('button', { name: 'Copy' }).first().click()
    await card.getByRole('button', { name: 'Copied' }).waitFor()
    const link = await page.evaluate(() => window.navigator.clipboard.readText())
    assert.equal(link, `${stage.address}#steps/3/0.00/0.00`)
    await card.getByRole('button', { name: 'Share …' }).click()
    assert.deepEqual(await page.evaluate(() => /** @type {any} */ (window).shared), { title: 'Steps', url: link })
    const code = card.getByRole('img', { name: 'QR code of the link' })
    const modules = Number((await code.getAttribute('viewBox')).split(' ')[2]) - 8
    assert.ok(modules >= 21 && (modules - 21) % 4 === 0, `a QR code has no ${modules} modules`)
    assert.match(await code.locator('path').getAttribute('d'), /^M0 0h1v1h-1zM1 0h1v1h-1z/, 'its corner is dark')
  })

  it('has a layer file for QGIS, with the address of the tiles at the time shown', async () => {
    const page = await stage.visit(`#steps@${T(2)}/3/0/0`)
    await shownAt(page, '2 Jan 2024')
    const card = await openTake(page, 'Link')
    await card.getByText('Open in QGIS').click()
    const tiles = await card.getByLabel('Address of the tiles').inputValue()
    assert.equal(tiles, `${stage.address}steps@${T(2)}/{z}/{x}/{y}.png`)
    const [download] = await Promise.all(
      [page.waitForEvent('download'), card.getByRole('button', { name: 'Layer file (.qlr)' }).click()]
    )
    assert.equal(download.suggestedFilename(), 'steps.qlr')
    const xml = await readFile(await download.path(), 'utf8')
    const parsed = await page.evaluate(text => {
      const doc = new window.DOMParser().parseFromString(text, 'application/xml')
      return ['parsererror', 'datasource', 'layername', 'provider',
        'authid'].map(name => doc.querySelector(name)?.textContent)
    }, xml)
    const encoded = tiles.replaceAll('{', '%7B').replaceAll('}', '%7D')
    assert.deepEqual(parsed,
      [undefined, `type=xyz&url=${encoded}&zmax=3&zmin=3&tilePixelRatio=1`, 'Steps, 2024-01-02', 'wms', 'EPSG:3857'])
  })
})
