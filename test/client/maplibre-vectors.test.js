/* global window -- of the page, in functions that run there */
// Tests history layers of vector tiles in MapLibre.
import assert from 'node:assert/strict'
import { seconds } from '../support/client/front.js'
import { T, stepAt, tilesOf } from '../support/client/gallery.js'
import { download, maplibre } from '../support/client/maplibre-page.js'
import { UNHURRIED, call, expected, onStage } from '../support/client/suite.js'

const layers = [
  { type: 'fill', 'source-layer': 'squares', paint: {
    'fill-color': ['to-color', ['get', 'colour']], 'fill-antialias': false
  } }
]
const keysInView = tilesOf(3, (x, y) => x >= 2 && x <= 5 && y >= 3 && y <= 4).map(tile => tile.join('/'))
const shows = (picture, step) => assert.deepEqual(picture,
  expected(picture, (...tile) => String(stepAt('squares', step, ...tile))), `the picture of step ${step}`)

/** Returns the colours in the middle of a map whose style shows the layer as of a time. */
const coloursOf = (page, time) => page.evaluate(async ([url, layer]) => {
  const map = new window.maplibregl.Map({ container: 'map', center: [10, -10], zoom: 3, style: {
    version: 8, sources: { squares: { type: 'vector', url } }, layers: [{ id: 'squares', source: 'squares', ...layer }]
  } })
  await new Promise(resolve => { map.once('idle', resolve) })
  const colours = map.queryRenderedFeatures([350, 250]).map(({ properties }) => properties.colour)
  map.remove()
  return colours
}, [`couch://squares@${time}`, layers[0]])

onStage('vector tiles in MapLibre', { layers: ['squares'], library: maplibre }, stage => {
  it('are read as of a time through a `couch://` address in a style', async () => {
    const page = await stage.page()
    await page.waitForFunction(() => 'maplibregl' in window)
    await page.evaluate(() => { window.tilecouch.couchProtocol(window.db) })
    assert.deepEqual(await coloursOf(page, T(2)), ['rgb(19, 32, 32)'])
  })

  it('are read from an offline area without a request', async () => {
    const page = await stage.page()
    await page.waitForFunction(() => 'maplibregl' in window)
    await download(page, 'squares')
    await page.evaluate(() => {
      const { tilecouch, db, offline } = window
      tilecouch.couchProtocol(db, { offline })
    })
    stage.front.forget()
    for (const step of [2, 4]) {
      assert.equal((await coloursOf(page, T(step))).length, 1, `something is drawn of step ${step}`)
    }
    const requests = stage.front.requests().filter(({ path }) => path.includes('squares') && !path.includes('_changes'))
    assert.deepEqual(requests, [])
  })

  /** Opens a page with tiles of 512 pixels. Six of them are in view. */
  async function show (options = {}) {
    const page = await stage.page({ viewport: { width: 1400, height: 1000 } })
    await page.evaluate(() => { Object.assign(window, { tileSize: 512 }) })
    await maplibre.draw(page, 'squares',
      { time: T(1), layers, together: UNHURRIED, ...options, map: { zoom: 3, ...options.map } })
    await stage.rest(page)
    return page
  }

  it('change in one frame, and only versions that differ are requested and parsed', async () => {
    const page = await show()
    assert.deepEqual(stage.front.tiles(), keysInView)
    stage.front.rule(({ tile }) => seconds({ '3/3/3': 0.2, '3/4/4': 0.1 }[tile] ?? 0))
    await page.evaluate(() => {
      const { DecompressionStream } = window
      Object.assign(window, { parsed: { count: 0 }, DecompressionStream: class extends DecompressionStream {
        constructor (format) { super(format); window.parsed.count++ }
      } })
    })
    for (const [before, step] of [[1, 2], [2, 3], [3, 4], [4, 5], [5, 1]]) {
      const differing = keysInView.filter(key => {
        const [z, x, y] = key.split('/').map(Number)
        return stepAt('squares', before, z, x, y) !== stepAt('squares', step, z, x, y)
      })
      stage.front.forget()
      await page.evaluate(() => {
        const view = window
        view.parsed.count = 0
        view.see.watch()
      })
      shows(await stage.at(page, T(step)), step)
      const pictures = await call(page, 'frames')
      if (step !== 1) assert.deepEqual(stage.front.tiles(), differing.filter(key => step !== 4 || key !== '3/3/3'))
      else assert.deepEqual(stage.front.requests(), [])
      assert.equal(await call(page, 'parsed.count'), differing.length - (step === 4 ? 1 : 0))
      assert.ok(pictures.length <= 2, JSON.stringify(pictures))
      for (const picture of pictures) {
        assert.ok(
          [before, step].some(shownStep => JSON.stringify(
            expected(picture, (...tile) => String(stepAt('squares', shownStep, ...tile)))
          ) === JSON.stringify(picture))
        )
      }
    }
  })

  it('show the right picture after many fast steps', async () => {
    const page = await show()
    await page.evaluate(times => {
      const { layer } = window
      for (let index = 0; index < 100; index++) layer.setTime(times[index * 7 % times.length])
    }, [1, 2, 3, 4, 5].map(T))
    shows(await stage.at(page, T(2)), 2)
  })

  it('are drawn in the style that the map sets during a step', async () => {
    const page = await show()
    stage.front.rule(({ tile }) => seconds({ '3/3/3': 0.3 }[tile] ?? 0))
    await call(page, 'layer.setTime', T(5))
    await page.evaluate(() => window.map.setFilter('squares', ['==', ['get', 'colour'], 'none']))
    assert.deepEqual([...new Set(Object.values(await stage.rest(page)))], ['-'])
    await page.evaluate(() => window.map.setFilter('squares', null))
    await page.waitForFunction(() => Object.values(window.see.picture()).every(text => text === '5'))
    shows(await stage.at(page, T(3)), 3)
  })

  it('are enlarged beyond the last zoom as of the time that is shown', async () => {
    const page = await show({ map: { zoom: 9, maxZoom: 16, center: [20, 20] } })
    for (const step of [1, 5, 2, 5]) {
      await stage.at(page, T(step))
      await page.waitForFunction(expectedStep => Object.values(window.see.picture())
        .every(text => text.startsWith(`${expectedStep}<3`)), stepAt('squares', step, 3, 4, 3))
    }
    assert.deepEqual([...new Set(stage.front.tiles())], ['3/4/3'])
  })

  it('are found under the pointer as of the time that is shown', async () => {
    const page = await show()
    const colour = () => page.evaluate(() =>
      window.map.queryRenderedFeatures([710, 510]).map(({ properties }) => properties.colour))
    assert.deepEqual(await colour(), ['rgb(11, 32, 32)'])
    await stage.at(page, T(5))
    assert.deepEqual(await colour(), ['rgb(43, 32, 32)'])
  })

  it('are drawn in the default style when the options give none', async () => {
    const page = await show({ layers: undefined })
    const ids = await page.evaluate(() => window.map.queryRenderedFeatures([700, 500]).map(({ layer }) => layer.id))
    assert.deepEqual(ids, ['squares/squares/fill'])
  })
})
