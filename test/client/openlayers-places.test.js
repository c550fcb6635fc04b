/* global document, window -- of the page, in functions that run there */
// History in OpenLayers: where tiles are, which are missing, which fail; layers that come, go and share.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { gate } from '../support/client/front.js'
import { T, stepAt, tilesOf } from '../support/client/gallery.js'
import { READING, move, openlayers } from '../support/client/openlayers-page.js'
import { UNHURRIED, call, expected, frames, onStage } from '../support/client/suite.js'

const PROVOKED = [/Failed to load resource/, /net::ERR/]
const picture = page => page.evaluate(() => /** @type {any} */ (window).see.picture())
const events = async (page, type) => (await call(page, 'events.slice')).filter(event => event.type === type)
const layers = ['steps', 'holes', 'deep', 'large', 'bounded', 'pacific']

for (const webgl of [false, true]) {
  onStage(`a tile in OpenLayers (${webgl ? 'WebGL' : 'canvas'})`, { layers, library: openlayers }, stage => {
    beforeEach(() => stage.allow(READING))

    const shows =
      (seen, layer, step) => assert.deepEqual(seen, expected(seen, (...tile) => stepAt(layer, step, ...tile)))

    it('is nothing where there was none at that time, and comes and goes with the others', async () => {
      const page = await stage.show('holes', { webgl, time: T(1) })
      shows(await stage.rest(page), 'holes', 1)
      for (const step of [2, 3, 2, 1]) {
        const seen = await frames(page, () => stage.at(page, T(step)))
        assert.equal(seen.length, 2)
        shows(seen[1], 'holes', step)
      }
    })

    it('is the right part of an ancestor, as of the time, where it has none of its own', async () => {
      const page = await stage.show('deep', { webgl, time: T(1), map: { zoom: 3 } })
      assert.deepEqual(await stage.rest(page), {
        '3/2/3': '1<2', '3/2/4': '1<2', '3/3/3': '1<2', '3/3/4': '1<2',
        '3/4/3': '1<1', '3/4/4': '1<1', '3/5/3': '1<1', '3/5/4': '1<1'
      })
      const seen = await stage.at(page, T(3))
      assert.equal(seen['3/3/3'], '2')
      assert.equal(seen['3/4/4'], '3<1')
    })

    it('is in its place with tiles of 512 pixels', async () => {
      const page = await stage.show('large', { webgl, time: T(1) })
      shows(await stage.rest(page), 'large', 1)
      shows(await stage.at(page, T(2)), 'large', 2)
      assert.ok(stage.front.tiles().every(tile => tile.startsWith('2/')))
    })

    it('keeps to the bounds of its layer, also over the antimeridian, in every copy of the world', async () => {
      const bounded = await stage.show('bounded', { webgl })
      assert.deepEqual(Object.entries(await stage.rest(bounded)).filter(([, text]) => text !== '-').map(([key]) => key),
        ['3/4/3'])
      stage.front.forget()
      const page = await stage.show('pacific', { webgl, time: T(1), map: { center: [20037508, 0] } })
      assert.deepEqual(Object.entries(await stage.rest(page)).filter(([, text]) => text !== '-'),
        ['3/0/3#1', '3/0/4#1', '3/7/3', '3/7/4'].map(key => [key, '1']))
      assert.deepEqual(stage.front.tiles(), ['3/0/3', '3/0/4', '3/7/3', '3/7/4'])
      assert.equal((await stage.at(page, T(2)))['3/0/3#1'], '2')
    })

    it('is hidden at zooms above its first, without thousands of requests, and enlarged beyond its last', async () => {
      const page = await stage.show('steps', { webgl, time: T(5) })
      stage.front.forget()
      await move(page, [0, 0], 1)
      await page.waitForFunction(() => Object.values(/** @type {any} */ (window).see.picture())
        .every(text => text === '-'))
      await move(page, [10, 10], 5)
      assert.deepEqual(new Set(Object.values(await stage.rest(page))), new Set(['5']))
      assert.deepEqual(stage.front.tiles(), [])
    })

    it('that failed first is said so, and is shown when it is tried again', async () => {
      stage.allow(...PROVOKED)
      const whole =
        stage.front.rule(({ kind, tile }) => kind === 'tile' && tile === '3/3/3' ? { status: 503 } : undefined)
      const page = await stage.show('steps', { webgl, attempts: 1, wait: false })
      await page.waitForFunction(() => /** @type {any} */ (window).see.isAtRest())
      assert.equal((await picture(page))['3/3/3'], '-')
      assert.deepEqual((await events(page, 'tileerror')).slice(0, 1),
        [{ type: 'tileerror', code: 'COUCHDB_ERROR', tile: '3/3/3' }])
      whole()
      await call(page, 'layer.retry')
      await page.waitForFunction(() => /** @type {any} */ (window).see.picture()['3/3/3'] === '5')
    })

    it('that left the view while it was on its way is asked for again when it is back', async () => {
      const slow = gate()
      const page = await stage.show('steps', { webgl, time: T(1) })
      stage.front.rule(({ kind }) => kind === 'tile' ? slow.opened : undefined)
      await move(page, [130, 0])
      await until(() => stage.front.requests('tile').some(({ tile, done }) => !done && tile === '3/7/4'))
      await move(page, [0, 0])
      slow.open()
      shows(await stage.rest(page), 'steps', 1)
      await move(page, [130, 0])
      shows(await stage.rest(page), 'steps', 1)
    })

    it('moves with all others on one clock, and with the map in the middle of a step', async () => {
      const page = await stage.show('steps', { webgl, time: T(1), together: UNHURRIED })
      const late = gate()
      stage.front.rule(({ tile }) => tile === '3/3/3' ? late.opened : undefined)
      const seen = await frames(page, async () => {
        await call(page, 'layer.setTime', T(5))
        await move(page, [60, 20])
        await until(() => stage.front.tiles().includes('3/6/3'))
        late.open()
        await stage.rest(page)
      })
      for (const each of seen) {
        assert.equal(new Set(Object.values(each).flatMap(text => text.split('+')).filter(text => text !== '-')).size,
          1, JSON.stringify(seen))
      }
      shows(seen.at(-1), 'steps', 5)
    })

    it('is gone with its layer, which asks for nothing off the map, and is back with it', async () => {
      const page = await stage.show('steps', { webgl, time: T(1) })
      await page.evaluate(() => { /** @type {any} */ (window).map.removeLayer(/** @type {any} */ (window).olLayer) })
      stage.front.forget()
      await call(page, 'layer.setTime', T(5))
      assert.equal(await page.evaluate(() => /** @type {any} */ (window).layer.history.isOnMap), false)
      assert.deepEqual(stage.front.requests(), [])
      await page.evaluate(() => {
        const view = /** @type {any} */ (window)
        view.expectFrame()
        view.map.addLayer(view.olLayer)
      })
      shows(await stage.rest(page), 'steps', 5)
      await page.evaluate(() => { /** @type {any} */ (window).olLayer.setVisible(false) })
      stage.front.forget()
      await page.waitForFunction(() => Object.values(/** @type {any} */ (window).see.picture())
        .every(text => text === '-'))
      await call(page, 'layer.setTime', T(3))
      await page.evaluate(
        () => { /** @type {any} */ (window).expectFrame(); /** @type {any} */ (window).olLayer.setVisible(true) }
      )
      shows(await stage.rest(page), 'steps', 3)
    })

    it('is told of with its versions', async () => {
      const page = await stage.show('steps', { webgl, time: T(3) })
      const { z, x, y, versions, shown } = await call(page, 'layer.tileAt', [100000, -100000])
      assert.deepEqual([z, x, y, versions.map(({ time }) => time), shown.time], [3, 4, 4, [T(1), T(2), T(5)], T(2)])
    })

    it('becomes another by itself when the store has a new version', async () => {
      const layer = `live-${webgl}`
      await stage.store.defineLayer(layer, { minzoom: 3, maxzoom: 3 })
      await stage.write(layer, { 1: tilesOf(3) })
      const page = await stage.show(layer, { webgl, live: true })
      await until(() => stage.front.requests('changes').length > 1, { what: 'the feed' })
      await stage.write(layer, { 2: [[3, 3, 3], [3, 4, 4]] })
      await page.waitForFunction(() => {
        const { '3/3/3': one, '3/4/4': other, '3/3/4': third } = /** @type {any} */ (window).see.picture()
        return one === '2' && other === '2' && third === '1'
      })
    })

    it('is drawn in a map of another projection, at each time', async () => {
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
  it('on two maps ask for each image once and show the same time', async () => {
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
