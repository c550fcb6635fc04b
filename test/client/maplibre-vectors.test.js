/* global window -- of the page, in functions that run there */
import assert from 'node:assert/strict'
import { seconds } from '../support/client/front.js'
import { T, stepAt, tilesOf } from '../support/client/gallery.js'
import { maplibre } from '../support/client/maplibre-page.js'
import { UNHURRIED, call, expected, onStage } from '../support/client/suite.js'

const layers = [
  { type: 'fill', 'source-layer': 'squares', paint: {
    'fill-color': ['to-color', ['get', 'colour']], 'fill-antialias': false
  } }
]
const inView = tilesOf(3, (x, y) => x >= 2 && x <= 5 && y >= 3 && y <= 4).map(tile => tile.join('/'))
const shows = (picture, step) => assert.deepEqual(picture,
  expected(picture, (...tile) => String(stepAt('squares', step, ...tile))), `the picture of step ${step}`)

onStage('vector tiles in MapLibre', { layers: ['squares'], library: maplibre }, stage => {
  it('are read as of a time through a `couch://` address in a style', async () => {
    const page = await stage.page()
    await page.waitForFunction(() => 'maplibregl' in window)
    await page.evaluate(async style => {
      const { maplibregl, tilecouch, db } = /** @type {any} */ (window)
      tilecouch.couchProtocol(db)
      const map = new maplibregl.Map({ container: 'map', center: [10, -10], zoom: 3, style })
      Object.assign(window, { map })
      await new Promise(resolve => { map.once('idle', resolve) })
    },
    /** @type {any} */ (
      { version: 8, sources: { squares: { type: 'vector', url: `couch://squares@${T(2)}` } }, layers: [
        { id: 'squares', source: 'squares', ...layers[0] }
      ] }
    ))
    const colours = await page.evaluate(
      () => /** @type {any} */ (window).map.queryRenderedFeatures([350, 250]).map(({ properties }) => properties.colour)
    )
    assert.deepEqual(colours, ['rgb(19, 32, 32)'])
  })

  it('are read from an offline area without a request', async () => {
    const page = await stage.page()
    await page.waitForFunction(() => 'maplibregl' in window)
    await page.addScriptTag({ url: new URL('pouchdb.js', stage.front.page).href, type: 'module' })
    await page.evaluate(async address => {
      const { tilecouch, db, PouchDB } = /** @type {any} */ (window)
      const { OfflineStore } = await import(address)
      const offline = new OfflineStore({ remote: db, PouchDB })
      await offline.ready
      const area = await offline.areas.add(
        { name: 'All', layer: 'squares', bbox: [-180, -84, 180, 84], zooms: '3', history: true }
      )
      await area.download()
      tilecouch.couchProtocol(db, { offline })
    }, new URL('offline.js', stage.front.page).href)
    stage.front.forget()
    for (const [time, step] of /** @type {[string, number][]} */ ([[`@${T(2)}`, 2], [`@${T(4)}`, 4]])) {
      const colours = await page.evaluate(async style => {
        const { maplibregl } = /** @type {any} */ (window)
        const map = new maplibregl.Map({ container: 'map', center: [10, -10], zoom: 3, style })
        await new Promise(resolve => { map.once('idle', resolve) })
        const found = map.queryRenderedFeatures([350, 250]).map(({ properties }) => properties.colour)
        map.remove()
        return found
      },
      /** @type {any} */ (
        { version: 8, sources: { squares: { type: 'vector', url: `couch://squares${time}` } }, layers: [
          { id: 'squares', source: 'squares', ...layers[0] }
        ] }
      ))
      assert.equal(colours.length, 1, `something is drawn of step ${step}`)
    }
    assert.deepEqual(
      stage.front.requests().filter(({ path }) => path.includes('squares') && !path.includes('_changes')), []
    )
  })

  /** A page with tiles of 512 pixels, of which six are seen. */
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
    assert.deepEqual(stage.front.tiles(), inView)
    stage.front.rule(({ tile }) => seconds({ '3/3/3': 0.2, '3/4/4': 0.1 }[tile] ?? 0))
    await page.evaluate(() => {
      const { DecompressionStream } = window
      Object.assign(window, { parsed: { count: 0 }, DecompressionStream: class extends DecompressionStream {
        constructor (format) { super(format); /** @type {any} */ (window).parsed.count++ }
      } })
    })
    for (const [before, step] of [[1, 2], [2, 3], [3, 4], [4, 5], [5, 1]]) {
      const differ = inView.filter(key => {
        const [z, x, y] = key.split('/').map(Number)
        return stepAt('squares', before, z, x, y) !== stepAt('squares', step, z, x, y)
      })
      stage.front.forget()
      await page.evaluate(() => {
        const view = /** @type {any} */ (window)
        view.parsed.count = 0
        view.see.watch()
      })
      shows(await stage.at(page, T(step)), step)
      const seen = await call(page, 'frames')
      if (step !== 1) assert.deepEqual(stage.front.tiles(), differ.filter(key => step !== 4 || key !== '3/3/3'))
      else assert.deepEqual(stage.front.requests(), [])
      assert.equal(await call(page, 'parsed.count'), differ.length - (step === 4 ? 1 : 0))
      assert.ok(seen.length <= 2, JSON.stringify(seen))
      for (const picture of seen) {
        assert.ok(
          [before, step].some(of => JSON.stringify(
            expected(picture, (...tile) => String(stepAt('squares', of, ...tile)))
          ) === JSON.stringify(picture))
        )
      }
    }
  })

  it('show the right picture after many fast steps', async () => {
    const page = await show()
    await page.evaluate(times => {
      const { layer } = /** @type {any} */ (window)
      for (let at = 0; at < 100; at++) layer.setTime(times[at * 7 % times.length])
    }, [1, 2, 3, 4, 5].map(T))
    shows(await stage.at(page, T(2)), 2)
  })

  it('are drawn in the style that the map sets during a step', async () => {
    const page = await show()
    stage.front.rule(({ tile }) => seconds({ '3/3/3': 0.3 }[tile] ?? 0))
    await call(page, 'layer.setTime', T(5))
    await page.evaluate(() => /** @type {any} */ (window).map.setFilter('squares', ['==', ['get', 'colour'], 'none']))
    assert.deepEqual([...new Set(Object.values(await stage.rest(page)))], ['-'])
    await page.evaluate(() => /** @type {any} */ (window).map.setFilter('squares', null))
    await page.waitForFunction(() => Object.values(/** @type {any} */ (window).see.picture())
      .every(text => text === '5'))
    shows(await stage.at(page, T(3)), 3)
  })

  it('are enlarged beyond the last zoom as of the time that is shown', async () => {
    const page = await show({ map: { zoom: 9, maxZoom: 16, center: [20, 20] } })
    for (const step of [1, 5, 2, 5]) {
      await stage.at(page, T(step))
      await page.waitForFunction(wanted => Object.values(/** @type {any} */ (window).see.picture())
        .every(text => text.startsWith(`${wanted}<3`)), stepAt('squares', step, 3, 4, 3))
    }
    assert.deepEqual([...new Set(stage.front.tiles())], ['3/4/3'])
  })

  it('are found under the pointer as of the time that is shown', async () => {
    const page = await show()
    const colour = () => page.evaluate(
      () => /** @type {any} */ (window).map.queryRenderedFeatures([710, 510]).map(({ properties }) => properties.colour)
    )
    assert.deepEqual(await colour(), ['rgb(11, 32, 32)'])
    await stage.at(page, T(5))
    assert.deepEqual(await colour(), ['rgb(43, 32, 32)'])
  })

  it('are drawn in the default style when the options give none', async () => {
    const page = await show({ layers: undefined })
    const drawn = await page.evaluate(
      () => /** @type {any} */ (window).map.queryRenderedFeatures([700, 500]).map(({ layer }) => layer.id)
    )
    assert.deepEqual(drawn, ['squares/squares/fill'])
  })
})
