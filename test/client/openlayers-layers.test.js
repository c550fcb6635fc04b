/* global document, window -- of the page, in functions that run there */
// Tests history layers in OpenLayers, also in other grids than Web Mercator. map-contract.js tests what all map
// libraries have in common.
import assert from 'node:assert/strict'
import { gridOf } from '../../core/index.js'
import { T, layers as gallery } from '../support/client/gallery.js'
import { countImages } from '../support/client/map-contract.js'
import { READING, move, openlayers } from '../support/client/openlayers-page.js'
import { call, eventsOf, frames, onStage, shows, waitForEvent } from '../support/client/suite.js'

/** Layers in other grids: the grid of a map, a place and a zoom. */
const grids = {
  swiss: ['LV95', [8.2, 46.8], 17],
  degrees: ['WorldCRS84Quad', [10, 20], 3],
  europe: ['EuropeanETRS89_LAEAQuad', [10, 50], 3],
  arctic: ['UPSArcticWGS84Quad', [20, 88], 3]
}

for (const webgl of [false, true]) {
  onStage(`a layer in OpenLayers (${webgl ? 'WebGL' : 'canvas'})`, {
    layers: ['steps', 'large', ...Object.keys(grids)], library: openlayers
  }, stage => {
    beforeEach(() => stage.allow(READING))

    it('has its tiles in their places when they have 512 pixels', async () => {
      const page = await stage.show('large', { webgl, time: T(1) })
      shows(await stage.rest(page), 'large', 1)
      shows(await stage.at(page, T(2)), 'large', 2)
      assert.ok(stage.front.tiles().every(tile => tile.startsWith('2/')))
    })

    it('is hidden below its first zoom and enlarged beyond its last, without requests', async () => {
      const page = await stage.show('steps', { webgl, time: T(5) })
      stage.front.forget()
      await move(page, [0, 0], 1)
      await page.waitForFunction(() => Object.values(window.see.picture()).every(text => text === '-'))
      await move(page, [10, 10], 5)
      assert.deepEqual(new Set(Object.values(await stage.rest(page))), new Set(['5']))
      assert.deepEqual(stage.front.tiles(), [])
    })

    it('requests no tile while it is hidden, and shows the time of the clock afterwards', async () => {
      const page = await stage.show('steps', { webgl, time: T(1) })
      await page.evaluate(() => { window.olLayer.setVisible(false) })
      stage.front.forget()
      await page.waitForFunction(() => Object.values(window.see.picture()).every(text => text === '-'))
      await call(page, 'layer.setTime', T(3))
      assert.deepEqual(stage.front.requests(), [])
      await page.evaluate(() => { window.expectFrame(); window.olLayer.setVisible(true) })
      shows(await stage.rest(page), 'steps', 3)
    })

    it('returns the tile at a place with its versions and the version that is shown', async () => {
      const page = await stage.show('steps', { webgl, time: T(3) })
      const { z, x, y, versions, shown } = await call(page, 'layer.tileAt', [100000, -100000])
      assert.deepEqual([z, x, y, versions.map(({ time }) => time), shown.time], [3, 4, 4, [T(1), T(2), T(5)], T(2)])
    })

    it('is drawn on a map in another projection, also after a step', async () => {
      const page =
        await stage.show('steps', { webgl, time: T(1), wait: false, map: { projection: 'EPSG:4326', zoom: 2 } })
      const steps = async () => new Set((await page.evaluate(() => window.colours())).map(red => red >> 3))
      await page.waitForFunction(() => window.layer.isShown() && window.colours().length > 300)
      assert.deepEqual(await steps(), new Set([1]))
      stage.front.forget()
      await call(page, 'layer.setTime', T(5))
      await page.waitForFunction(() => window.colours().every(red => red >> 3 === 5))
      const requestedTiles = stage.front.tiles()
      assert.equal(new Set(requestedTiles).size, requestedTiles.length)
    })

    it('holds one image for each tile in view after many steps', async () => {
      const page = await stage.page()
      await page.evaluate(countImages)
      await openlayers.draw(page, 'steps', { webgl, time: T(1) })
      const tiles = Object.keys(await stage.rest(page)).length
      const read = () => page.evaluate(() => ({ ...window.counts, urls: undefined }))
      const { textures } = await read()
      for (const step of [2, 3, 4, 5, 4, 3, 2, 1]) await stage.at(page, T(step))
      assert.deepEqual(await read(), { bitmaps: tiles, textures, urls: undefined })
      await page.evaluate(() => { window.map.removeLayer(window.olLayer) })
      assert.equal((await read()).bitmaps, 0)
    })

    for (const [layer, [projection, place, z]] of Object.entries(grids)) {
      const grid = gridOf(gallery[layer].fields)

      it(`in another grid has every tile in its place, and changes a step in one frame (${layer})`, async () => {
        const page = await stage.show(layer,
          { webgl, time: T(1), wait: false, map: { projection, place, resolution: grid.matrix(z).cellSize } })
        const firstPicture = await stage.rest(page)
        assert.ok(Object.keys(firstPicture).length >= 4, JSON.stringify(firstPicture))
        shows(firstPicture, layer, 1)
        stage.front.forget()
        const pictures = await frames(page, () => stage.at(page, T(2)))
        assert.equal(pictures.length, 2)
        assert.ok(Object.keys(pictures[1]).length >= 4, JSON.stringify(pictures[1]))
        shows(pictures[1], layer, 2)
        const requestedTiles = stage.front.tiles().map(key => key.split('/').map(Number))
        assert.ok(requestedTiles.length && requestedTiles.every(([, x, y]) => (x + y) % 2 === 0))
        const tile = await page.evaluate(() => window.layer.tileAt(window.map.getView().getCenter()))
        assert.deepEqual([tile.z, tile.x, tile.y], Object.values(grid.tileAt(...place, z)))
      })
    }

    it('in another grid is drawn on a map in Web Mercator, also after a step', async () => {
      const page = await stage.show('swiss', { webgl, time: T(1), map: { place: [8.2, 46.8], zoom: 9 } })
      await page.waitForFunction(() => window.colours().length > 20)
      assert.deepEqual(await page.evaluate(() => [...new Set(window.colours().map(red => red >> 3))]), [1])
      await stage.at(page, T(2))
      await page.waitForFunction(() => window.colours().some(red => red >> 3 === 2))
    })
  })
}

onStage('two layers with one HistorySource', { layers: ['steps'], library: openlayers }, stage => {
  it('request each image once and show the same time on two maps', async () => {
    stage.allow(READING, /willReadFrequently/)
    const page = await stage.show('steps', { time: T(1) })
    await page.evaluate(() => {
      const view = window
      const { Map, View, TileLayer } = view.ol
      const container = document.body.appendChild(Object.assign(document.createElement('div'),
        { style: 'position:absolute;left:0;top:0;width:260px;height:260px' }))
      const layer = new TileLayer({ source: view.layer })
      view.layer.follow(layer)
      const second = new Map(
        { target: container, pixelRatio: 1, controls: [], layers: [layer], view: new View({ center: [0, 0], zoom: 3 }) }
      )
      view.secondStep = () => second.getViewport()
        .querySelector('canvas')?.getContext('2d', { willReadFrequently: true }).getImageData(20, 20, 1, 1).data[0] >> 3
    })
    await page.waitForFunction(() => window.secondStep() === 1)
    stage.front.forget()
    await stage.at(page, T(5))
    await page.waitForFunction(() => window.secondStep() === 5)
    const requestedTiles = stage.front.tiles()
    assert.equal(new Set(requestedTiles).size, requestedTiles.length)
  })
})

onStage('a layer in another grid, on a page of OpenLayers', { layers: ['swiss'], library: openlayers }, stage => {
  beforeEach(() => stage.allow(READING))
  const show = register => stage.page().then(async page => {
    await page.evaluate(isRegistered => {
      const view = window
      const definition = '+proj=somerc +lat_0=46.9524055555556 +lon_0=7.43958333333333 +k_0=1 +x_0=2600000 ' +
        '+y_0=1200000 +ellps=bessel +towgs84=674.374,15.056,405.346,0,0,0,0 +units=m +no_defs'
      const { proj4 } = view
      delete view.proj4
      if (!isRegistered) return
      proj4.defs('EPSG:2056', definition)
      view.register(proj4)
    }, register)
    await openlayers.draw(page, 'swiss', { time: T(1), map: { place: [8.2, 46.8], zoom: 9 } })
    return page
  })

  it('is not drawn without proj4js, and reports NO_PROJ4', async () => {
    const page = await show(false)
    await waitForEvent(page, 'storeerror')
    assert.equal((await eventsOf(page, 'storeerror'))[0].code, 'NO_PROJ4')
    assert.deepEqual(stage.front.tiles(), [])
  })

  it('is drawn with a projection that the page registered with OpenLayers', async () => {
    const page = await show(true)
    await page.waitForFunction(() => window.colours().length > 20)
    assert.ok(stage.front.tiles().length)
  })
})
