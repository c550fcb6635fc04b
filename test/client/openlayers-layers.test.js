/* global document, window -- of the page, in functions that run there */
// History in OpenLayers, besides what map-contract.js promises of every library.
import assert from 'node:assert/strict'
import { seconds } from '../support/client/front.js'
import { T, stepAt } from '../support/client/gallery.js'
import { countImages } from '../support/client/map-contract.js'
import { READING, move, openlayers } from '../support/client/openlayers-page.js'
import { call, expected, frames, onStage } from '../support/client/suite.js'

const STEPS = [1, 2, 3, 4, 5]
const shows =
  (seen, layer, step) => assert.deepEqual(seen, expected(seen, (...tile) => stepAt(layer, step, ...tile)))

for (const webgl of [false, true]) {
  const renderer = webgl ? 'WebGL' : 'canvas'

  onStage(`a tile in OpenLayers (${renderer})`, { layers: ['steps', 'large'], library: openlayers }, stage => {
    beforeEach(() => stage.allow(READING))

    it('is in its place when it has 512 pixels', async () => {
      const page = await stage.show('large', { webgl, time: T(1) })
      shows(await stage.rest(page), 'large', 1)
      shows(await stage.at(page, T(2)), 'large', 2)
      assert.ok(stage.front.tiles().every(tile => tile.startsWith('2/')))
    })

    it('is hidden below its first zoom and enlarged beyond its last, without requests', async () => {
      const page = await stage.show('steps', { webgl, time: T(5) })
      stage.front.forget()
      await move(page, [0, 0], 1)
      await page.waitForFunction(() => Object.values(/** @type {any} */ (window).see.picture())
        .every(text => text === '-'))
      await move(page, [10, 10], 5)
      assert.deepEqual(new Set(Object.values(await stage.rest(page))), new Set(['5']))
      assert.deepEqual(stage.front.tiles(), [])
    })

    it('is not requested while its layer is hidden, and shows the time of the clock afterwards', async () => {
      const page = await stage.show('steps', { webgl, time: T(1) })
      await page.evaluate(() => { /** @type {any} */ (window).olLayer.setVisible(false) })
      stage.front.forget()
      await page.waitForFunction(() => Object.values(/** @type {any} */ (window).see.picture())
        .every(text => text === '-'))
      await call(page, 'layer.setTime', T(3))
      assert.deepEqual(stage.front.requests(), [])
      await page.evaluate(
        () => { /** @type {any} */ (window).expectFrame(); /** @type {any} */ (window).olLayer.setVisible(true) }
      )
      shows(await stage.rest(page), 'steps', 3)
    })

    it('is returned by tileAt with its versions and the version that is shown', async () => {
      const page = await stage.show('steps', { webgl, time: T(3) })
      const { z, x, y, versions, shown } = await call(page, 'layer.tileAt', [100000, -100000])
      assert.deepEqual([z, x, y, versions.map(({ time }) => time), shown.time], [3, 4, 4, [T(1), T(2), T(5)], T(2)])
    })

    it('is drawn on a map in another projection, also after a step', async () => {
      const page =
        await stage.show('steps', { webgl, time: T(1), wait: false, map: { projection: 'EPSG:4326', zoom: 2 } })
      const steps =
        async () => new Set((await page.evaluate(() => /** @type {any} */ (window).colours())).map(red => red >> 3))
      await page.waitForFunction(() => /** @type {any} */ (window).layer.isShown() &&
        /** @type {any} */ (window).colours().length > 300)
      assert.deepEqual(await steps(), new Set([1]))
      stage.front.forget()
      await call(page, 'layer.setTime', T(5))
      await page.waitForFunction(() => /** @type {any} */ (window).colours().every(red => red >> 3 === 5))
      const asked = stage.front.tiles()
      assert.equal(new Set(asked).size, asked.length)
    })
  })
}

onStage('two layers with one HistorySource', { layers: ['steps'], library: openlayers }, stage => {
  it('request each image once and show the same time on two maps', async () => {
    stage.allow(READING, /willReadFrequently/)
    const page = await stage.show('steps', { time: T(1) })
    await page.evaluate(() => {
      const view = /** @type {any} */ (window)
      const { Map, View, TileLayer } = view.ol
      const small = document.body.appendChild(Object.assign(document.createElement('div'),
        { style: 'position:absolute;left:0;top:0;width:260px;height:260px' }))
      const layer = new TileLayer({ source: view.layer })
      view.layer.follow(layer)
      const second = new Map(
        { target: small, pixelRatio: 1, controls: [], layers: [layer], view: new View({ center: [0, 0], zoom: 3 }) }
      )
      view.secondStep = () => second.getViewport()
        .querySelector('canvas')?.getContext('2d', { willReadFrequently: true }).getImageData(20, 20, 1, 1).data[0] >> 3
    })
    await page.waitForFunction(() => /** @type {any} */ (window).secondStep() === 1)
    stage.front.forget()
    await stage.at(page, T(5))
    await page.waitForFunction(() => /** @type {any} */ (window).secondStep() === 5)
    const asked = stage.front.tiles()
    assert.equal(new Set(asked).size, asked.length)
  })
})

onStage('the tile source of OpenLayers itself', { layers: ['steps'], library: openlayers }, stage => {
  for (const webgl of [false, true]) {
    it(`requests every tile at every step, and mixes times (${webgl ? 'WebGL' : 'canvas'})`, async () => {
      stage.allow(READING)
      const url = step => `${stage.front.url}/_design/tiles/_rewrite/steps@${T(step)}/{z}/{x}/{y}.png`
      const page = await stage.show('steps', { webgl, own: url(1), minZoom: 3, maxZoom: 3 })
      const asked = () => stage.front.requests().filter(({ path }) => path.endsWith('.png')).length
      stage.front.rule(({ path }) => path.endsWith('.png')
        ? seconds(0.06 * (+(/(\d+)\/\d+\.png/.exec(path)?.[1] ?? 0))) : undefined)
      const figures = { requests: 0, mixed: 0 }
      for (const step of STEPS.slice(1)) {
        stage.front.forget()
        const seen = await frames(page, async () => {
          await page.evaluate(address => {
            const view = /** @type {any} */ (window)
            view.expectFrame()
            view.layer.setUrl(address)
          }, url(step))
          await stage.rest(page)
        })
        shows(seen.at(-1), 'steps', step)
        figures.requests += asked()
        figures.mixed += seen.length - 2
      }
      assert.equal(figures.requests, 4 * Object.keys(await stage.rest(page)).length)
      assert.ok(figures.mixed >= 1)
    })
  }
})

onStage('the memory of OpenLayers', { layers: ['steps'], library: openlayers }, stage => {
  for (const webgl of [false, true]) {
    it(`holds one image for each tile in view after many steps (${webgl ? 'WebGL' : 'canvas'})`, async () => {
      stage.allow(READING)
      const page = await stage.page()
      await page.evaluate(countImages)
      await openlayers.draw(page, 'steps', { webgl, time: T(1) })
      const tiles = Object.keys(await stage.rest(page)).length
      const read = async () => {
        const { bitmaps, textures } = await page.evaluate(() => /** @type {any} */ (window).counts)
        return { bitmaps, textures }
      }
      const { textures } = await read()
      for (const step of [2, 3, 4, 5, 4, 3, 2, 1]) await stage.at(page, T(step))
      assert.deepEqual(await read(), { bitmaps: tiles, textures })
      await page.evaluate(() => { /** @type {any} */ (window).map.removeLayer(/** @type {any} */ (window).olLayer) })
      assert.equal((await read()).bitmaps, 0)
    })
  }
})
