/* global window, document, L -- of the page, in functions that run there */
// Tests the picture of a history layer: ancestors, zooms, tile sizes, bounds and copies of the world.
import assert from 'node:assert/strict'
import { T } from '../support/client/gallery.js'
import { call, expected, onStage, shows } from '../support/client/suite.js'

const keysOf = picture => Object.keys(picture).sort()

onStage('the picture of a history layer', {
  layers: ['steps', 'holes', 'late', 'deep', 'large', 'bounded', 'pacific', 'vector']
}, stage => {
  it('is empty before the first time of the layer, and complete from then on', async () => {
    const page = await stage.show('late', { time: T(2) })
    shows(await stage.rest(page), 'late', 2)
    assert.deepEqual(stage.front.tiles(), [])
    assert.deepEqual(await call(page, 'layer.extent'), { first: T(4), last: T(5) })
    shows(await stage.at(page, T(4)), 'late', 4)
    shows(await stage.at(page, T(3)), 'late', 3)
    shows(await stage.at(page, null), 'late', 5)
  })

  it('shows the part of an ancestor as of the time for a tile without an image', async () => {
    const page = await stage.show('deep', { time: T(1) })
    // columns 0 to 3 have parents at zoom 2, the others grandparents at zoom 1
    const quarter = (x, y) => x % 2 + 2 * (y % 2)
    const expectedText = step => (z, x, y) => {
      if (step >= 2 && x === 3 && y === 3) return '2'
      return x < 4 ? `1<2.${quarter(x, y)}` : `${step === 3 ? 3 : 1}<1.${quarter(x >> 1, y >> 1)}`
    }
    for (const step of [1, 2, 3, 2]) {
      const picture = await stage.at(page, T(step))
      assert.deepEqual(picture, expected(picture, expectedText(step)), `step ${step}`)
    }
    const paths = stage.front.requests('tile').map(({ path }) => path)
    assert.equal(new Set(paths).size, paths.length, 'no image twice, though many tiles show parts of it')
    assert.equal(stage.front.requests('index').length, 2, 'all ancestors in one question')
  })

  it('has holes instead of enlarged ancestors when overzoom is 0', async () => {
    const picture = await stage.rest(await stage.show('deep', { time: T(2), overzoom: 0 }))
    assert.deepEqual(picture, expected(picture, (z, x, y) => x === 3 && y === 3 ? '2' : '-'))
  })

  it('is enlarged beyond the last zoom as far as overzoom allows, and never below the first', async () => {
    const page = await stage.show('holes', { map: { zoom: 5 }, overzoom: 2 })
    const picture = await stage.rest(page)
    assert.ok(keysOf(picture).every(key => key.startsWith('3/')))
    shows(picture, 'holes', 3)
    assert.equal(await page.evaluate(() => window.map.getMaxZoom()), 5)
    assert.equal(await page.evaluate(() => window.map.getMinZoom()), 3)
  })

  it('is empty at zooms that the layer does not have, and returns at the others', async () => {
    const page = await stage.show('holes', { map: { minZoom: 1, maxZoom: 9 } })
    for (const zoom of [1, 8]) {
      await page.evaluate(level => { window.map.setZoom(level, { animate: false }) }, zoom)
      await page.waitForFunction(() => !Object.keys(window.see.picture()).length)
      assert.deepEqual(await call(page, 'layer.changes'), [])
      assert.equal(await call(page, 'layer.isShown'), true)
    }
    await page.evaluate(() => { window.map.setZoom(3) })
    shows(await stage.rest(page), 'holes', 3)
  })

  it('is in its place with tiles of 512 pixels', async () => {
    const page = await stage.show('large', { time: T(1) })
    const picture = await stage.rest(page)
    shows(picture, 'large', 1)
    const box = await page.evaluate(() => {
      const { x, y, width, height } = document.querySelector('.tilecouch-tile').getBoundingClientRect()
      return [x, y, width, height]
    })
    assert.deepEqual(box.slice(2), [512, 512])
    assert.equal((await stage.at(page, T(2)))['2/1/1'], '2')
    assert.equal((await call(page, 'layer.tileAt', [10, -10])).versions.length, 2)
  })

  it('is limited to the bounds of the layer', async () => {
    const page = await stage.show('bounded')
    assert.deepEqual(keysOf(await stage.rest(page)), ['3/4/3'])
    assert.deepEqual(stage.front.tiles(), ['3/4/3'])
    assert.deepEqual((await call(page, 'layer.changes')).map(({ tiles }) => tiles), [1])
  })

  it('is limited to bounds across the antimeridian, seen from either side', async () => {
    const page = await stage.show('pacific', { map: { center: [0, 180] } })
    assert.deepEqual(keysOf(await stage.rest(page)), ['3/0/3#1', '3/0/4#1', '3/7/3', '3/7/4'])
    assert.deepEqual((await call(page, 'layer.changes')).map(({ tiles }) => tiles), [4, 2])
    await page.evaluate(() => { window.map.setView([0, -180], 3, { animate: false }) })
    assert.deepEqual(keysOf(await stage.rest(page)), ['3/0/3', '3/0/4', '3/7/3#-1', '3/7/4#-1'])
    assert.equal(stage.front.tiles().length, 4, 'each image once, wherever it is shown')
  })

  it('is the same in every copy of the world, with one request for each image', async () => {
    const page = await stage.show('deep',
      { time: T(1), map: { zoom: 1, center: [0, 180] }, page: { viewport: { width: 1300, height: 500 } } })
    const picture = await stage.rest(page)
    assert.ok(keysOf(picture).some(key => key.includes('#1')))
    shows(picture, 'deep', 1)
    assert.deepEqual(stage.front.tiles(), ['1/0/0', '1/0/1', '1/1/0', '1/1/1'])
    assert.deepEqual(await call(page, 'layer.changes').then(list => list.map(({ tiles }) => tiles)),
      [4, 4], 'copies are counted once')
    const before = stage.front.requests('tile').length
    shows(await stage.at(page, T(3)), 'deep', 3)
    assert.equal(stage.front.requests('tile').length - before, 4)
  })

  it('has an image in every tile after each zoom and move, and requests none twice', async () => {
    const page = await stage.show('deep', { time: T(3), map: { zoom: 1, center: [40, -60] } })
    for (
      const [lat, lng, zoom] of [[40, -60, 2], [30, -40, 3], [30, 60, 3], [-30, 60, 2], [40, -60, 1], [30, -40, 3]]
    ) {
      await page.evaluate(([place, level]) => { window.map.setView(place, level) }, [[lat, lng], zoom])
      await page.waitForFunction(level => !window.map._animatingZoom && window
        .map.getZoom() === level && !window.map._panAnim?._inProgress, zoom)
      const picture = await stage.rest(page)
      assert.ok(keysOf(picture).length && Object.values(picture).every(text => /^\d/.test(text)),
        JSON.stringify(picture))
    }
    const paths = stage.front.requests('tile').map(({ path }) => path)
    assert.equal(new Set(paths).size, paths.length)
  })

  it('is empty for vector tiles, whose changes are still listed', async () => {
    const page = await stage.show('vector')
    assert.ok(Object.values(await stage.rest(page)).every(text => text === '-'))
    assert.deepEqual((await call(page, 'layer.changes')).map(({ time, tiles }) => [time, tiles > 0]),
      [[T(1), true], [T(2), true]])
    assert.deepEqual(stage.front.tiles(), [])
  })

  it('shows the same time in all layers of a clock', async () => {
    const page = await stage.page()
    await page.evaluate(() => {
      const view = window
      view.clock = L.couch.clock({ time: '2024-01-02' })
      view.map = L.map('map', { center: [0, 0], zoom: 3 })
      view.all = [
        'steps', 'holes', 'late'
      ].map(layer => L.tileLayer.couch.history(view.db, { layer, clock: view.clock, preload: 0 }).addTo(view.map))
    })
    for (const step of [2, 4, 1, 5]) {
      await page.evaluate(time => { window.all[1].setTime(time) }, T(step))
      await page.waitForFunction(() => window.all.every(layer => window.see.isAtRest(layer)))
      const pictures = await page.evaluate(() => window.all.map(layer => window.see.picture(layer)))
      for (const [index, layer] of ['steps', 'holes', 'late'].entries()) shows(pictures[index], layer, step)
    }
  })
})
