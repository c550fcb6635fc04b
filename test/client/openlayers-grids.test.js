/* global window -- of the page, in functions that run there */
// Layers in other grids than Web Mercator, on OpenLayers.
import assert from 'node:assert/strict'
import { gridOf } from '../../core/index.js'
import { T, layers as gallery, stepAt } from '../support/client/gallery.js'
import { READING, openlayers } from '../support/client/openlayers-page.js'
import { call, expected, frames, onStage } from '../support/client/suite.js'

const layers = ['swiss', 'degrees', 'europe', 'arctic']
const views = { swiss: ['LV95', [8.2, 46.8], 17], degrees: [
  'WorldCRS84Quad', [10, 20], 3
], europe: ['EuropeanETRS89_LAEAQuad', [10, 50], 3], arctic: ['UPSArcticWGS84Quad', [20, 88], 3] }
const resolutionOf = (layer, z) => gridOf(gallery[layer].fields).matrix(z).cellSize

for (const webgl of [false, true]) {
  onStage(`a layer in another grid in OpenLayers (${webgl ? 'WebGL' : 'canvas'})`, {
    layers, library: openlayers
  }, stage => {
    beforeEach(() => stage.allow(READING))

    const shows = (seen, layer, step) => {
      assert.ok(Object.keys(seen).length >= 4, JSON.stringify(seen))
      assert.deepEqual(seen, expected(seen, (...tile) => stepAt(layer, step, ...tile)))
    }

    for (const [layer, [projection, place, z]] of Object.entries(views)) {
      it(`has every tile in its place, and changes those of a step in one frame (${layer})`, async () => {
        const page = await stage.show(layer,
          { webgl, time: T(1), wait: false, map: { projection, place, resolution: resolutionOf(layer, z) } })
        shows(await stage.rest(page), layer, 1)
        stage.front.forget()
        const seen = await frames(page, () => stage.at(page, T(2)))
        assert.equal(seen.length, 2)
        shows(seen[1], layer, 2)
        const asked = stage.front.tiles().map(key => key.split('/').map(Number))
        assert.ok(asked.length && asked.every(([, x, y]) => (x + y) % 2 === 0))
        const known = await page.evaluate(
          () => { const view = /** @type {any} */ (window); return view.layer.tileAt(view.map.getView().getCenter()) }
        )
        assert.deepEqual([known.z, known.x, known.y], Object.values(gridOf(gallery[layer].fields).tileAt(...place, z)))
      })
    }

    it('is drawn on a map in another projection, also after a step', async () => {
      const page = await stage.show('swiss', { webgl, time: T(1), map: { place: [8.2, 46.8], zoom: 9 } })
      await page.waitForFunction(() => /** @type {any} */ (window).colours().length > 20)
      const colours =
        () => page.evaluate(() => [...new Set(/** @type {any} */ (window).colours().map(red => red >> 3))])
      assert.deepEqual(await colours(), [1])
      await stage.at(page, T(2))
      await page.waitForFunction(() => /** @type {any} */ (window).colours().some(red => red >> 3 === 2))
    })
  })
}

onStage('a layer in another grid, on a page of OpenLayers', { layers: ['swiss'], library: openlayers }, stage => {
  beforeEach(() => stage.allow(READING))
  const show = register => stage.page().then(async page => {
    await page.evaluate(what => {
      const view = /** @type {any} */ (window)
      const definition = '+proj=somerc +lat_0=46.9524055555556 +lon_0=7.43958333333333 +k_0=1 +x_0=2600000 ' +
        '+y_0=1200000 +ellps=bessel +towgs84=674.374,15.056,405.346,0,0,0,0 +units=m +no_defs'
      const { proj4 } = view
      delete view.proj4
      if (!what) return
      proj4.defs('EPSG:2056', definition)
      view.register(proj4)
    }, register)
    await openlayers.draw(page, 'swiss', { time: T(1), map: { place: [8.2, 46.8], zoom: 9 } })
    return page
  })

  it('is not drawn without proj4js, and reports NO_PROJ4', async () => {
    const page = await show(false)
    await page.waitForFunction(() => /** @type {any} */ (window).events.some(({ type }) => type === 'storeerror'))
    assert.equal((await call(page, 'events.slice')).find(({ type }) => type === 'storeerror').code, 'NO_PROJ4')
    assert.deepEqual(stage.front.tiles(), [])
  })

  it('is drawn with a projection that the page registered with OpenLayers', async () => {
    const page = await show(true)
    await page.waitForFunction(() => /** @type {any} */ (window).colours().length > 20)
    assert.ok(stage.front.tiles().length)
  })
})
