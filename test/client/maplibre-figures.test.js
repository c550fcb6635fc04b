/* global window -- of the page, in functions that run there */
// The history layer beside MapLibre's own way, `setTiles` with the addresses of another time. TILECOUCH_FIGURES=1
// prints the figures of both.
import assert from 'node:assert/strict'
import { figuresOf } from '../support/client/figures.js'
import { seconds } from '../support/client/front.js'
import { T } from '../support/client/gallery.js'
import { maplibre } from '../support/client/maplibre-page.js'
import { UNHURRIED, onStage } from '../support/client/suite.js'

const FORTH = [2, 3, 4, 5]
const BACK = [4, 3, 2, 1]

onStage('figures of steps in MapLibre', { layers: ['steps'], library: maplibre }, stage => {
  const print = (name, forth, back) => {
    if (process.env.TILECOUCH_FIGURES) console.log(name, JSON.stringify({ forth, back }))
  }

  /** As far as a server on the internet is, and not every answer as fast. */
  const far = () => stage.front.rule(({ tile }) => seconds(0.03 + 0.02 * (Number(tile.split('/')[1]) % 4 || 0)))

  it('the history layer requests each changed tile once, and shows no frame of two times', async () => {
    const page = await stage.show('steps', { time: T(1), together: UNHURRIED })
    far()
    const go = time => stage.at(page, time)
    const forth = await figuresOf(stage, page, { layer: 'steps', from: 1, steps: FORTH, go })
    const back = await figuresOf(stage, page, { layer: 'steps', from: 5, steps: BACK, go })
    print('history layer', forth, back)
    assert.deepEqual([forth.mixed, forth.holes, back], [0, 0, { requests: 0, mixed: 0, holes: 0 }])
    assert.equal(forth.requests, 4 + 4 + 1 + 8)
  })

  it('setTiles requests every tile in view at each step', async () => {
    const page = await stage.page()
    await page.waitForFunction(() => 'maplibregl' in window)
    await page.evaluate(async time => {
      const view = /** @type {any} */ (window)
      view.tiles = at => [`${view.db}/_design/tiles/_rewrite/steps@${at}/{z}/{x}/{y}.png`]
      view.map = new view.maplibregl.Map({
        container: 'map', center: [0, 0], zoom: 2, canvasContextAttributes: { preserveDrawingBuffer: true },
        style: { version: 8, sources: {
          own: { type: 'raster', tileSize: 256, minzoom: 3, maxzoom: 3, tiles: view.tiles(time) }
        }, layers: [{ id: 'own', type: 'raster', source: 'own', paint: { 'raster-fade-duration': 0 } }] }
      })
      await new Promise(resolve => { view.map.once('idle', resolve) })
    }, T(1))
    far()
    const go = time => page.evaluate(async at => {
      const view = /** @type {any} */ (window)
      view.map.getSource('own').setTiles(view.tiles(at))
      await new Promise(resolve => { view.map.once('idle', resolve) })
    }, time)
    const forth = await figuresOf(stage, page, { layer: 'steps', from: 1, steps: FORTH, go })
    const back = await figuresOf(stage, page, { layer: 'steps', from: 5, steps: BACK, go })
    print('setTiles', forth, back)
    assert.ok(forth.requests >= 8 * FORTH.length && back.requests >= 8 * BACK.length)
  })
})
