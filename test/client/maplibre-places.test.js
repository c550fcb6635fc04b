/* global window, ImageBitmap, WebGL2RenderingContext -- of the page, in functions that run there */
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { T, stepAt } from '../support/client/gallery.js'
import { maplibre } from '../support/client/maplibre-page.js'
import { call, expected, onStage } from '../support/client/suite.js'

const shows = (picture, layer, step) => assert.deepEqual(picture,
  expected(picture, (...tile) => stepAt(layer, step, ...tile)), `${layer} at step ${step}`)

onStage('places in MapLibre', {
  layers: ['holes', 'deep', 'large', 'bounded', 'pacific'], library: maplibre
}, stage => {
  it('that have no tile at a time are empty, and those that get one or lose it change like others', async () => {
    const page = await stage.show('holes', { time: T(1) })
    for (const step of [1, 2, 3, 1]) shows(await stage.at(page, T(step)), 'holes', step)
  })

  it('without a tile show the part of the one above, of the same time', async () => {
    const page = await stage.show('deep', { time: T(1) })
    const parts = { 1: '1<1.3', 2: '1<1.3', 3: '3<1.3' }
    for (const step of [1, 2, 3]) {
      const picture = await stage.at(page, T(step))
      assert.equal(picture['3/3/3'], step === 1 ? '1<2.3' : '2')
      assert.equal(picture['3/4/4'], parts[step].replace(/3$/, '0'))
    }
  })

  it('are covered by tiles of 512 pixels where the layer has them', async () => {
    const page = await stage.page()
    await page.evaluate(() => { Object.assign(window, { tileSize: 512 }) })
    await maplibre.draw(page, 'large', { time: T(1) })
    for (const step of [1, 2]) shows(await stage.at(page, T(step)), 'large', step)
    assert.ok(stage.front.tiles().every(tile => tile.startsWith('2/')))
  })

  it('outside of the bounds are not asked for, also where these cross the antimeridian', async () => {
    const bounded = await stage.show('bounded', { map: { center: [20, 20] } })
    assert.deepEqual(stage.front.tiles(), ['3/4/2', '3/4/3'])
    assert.deepEqual([...new Set(Object.values(await stage.rest(bounded)))].sort(), ['-', '1'])
    stage.front.forget()
    const pacific = await stage.show('pacific', { time: T(2), map: { center: [179, 0] } })
    const picture = await stage.rest(pacific)
    assert.deepEqual(Object.keys(picture).filter(key => picture[key] !== '-').map(key => key.split('#')[0]).sort(),
      stage.front.tiles())
    assert.deepEqual([...new Set(stage.front.tiles().map(tile => tile.split('/')[1]))].sort(), ['0', '7'])
  })

  it('deeper than the layer goes show its last zoom, enlarged', async () => {
    const page = await stage.show('holes', { time: T(1), map: { zoom: 4, center: [20, 10] } })
    assert.deepEqual([...new Set(Object.values(await stage.rest(page)))], ['-'])
    await page.evaluate(() => /** @type {any} */ (window).map.jumpTo({ center: [-100, 40] }))
    const picture = await stage.rest(page)
    assert.ok(Object.values(picture).every(text => text.startsWith('1<3')), JSON.stringify(picture))
  })
})

onStage('a layer in another grid in MapLibre', { layers: ['swiss'], library: maplibre }, stage => {
  it('is not drawn, but says so', async () => {
    const page = await stage.show('swiss', { wait: false, map: { zoom: 7, center: [8.2, 46.8] } })
    await page.waitForFunction(() => /** @type {any} */ (window).events.some(({ type }) => type === 'storeerror'))
    assert.equal((await call(page, 'events.slice')).find(({ type }) => type === 'storeerror').code, 'MAP_GRID')
    assert.deepEqual([
      stage.front.tiles(), await page.evaluate(() => Object.keys(/** @type {any} */ (window).map.getStyle().sources))
    ], [[], []])
  })
})

onStage('a history layer in MapLibre', { layers: ['steps'], library: maplibre }, stage => {
  it('gives every image back, and keeps no more textures after many steps than before', async () => {
    const page = await stage.page()
    await page.evaluate(() => {
      const count = { open: 0, textures: 0 }
      const make = window.createImageBitmap
      const { close } = ImageBitmap.prototype
      Object.assign(window,
        { count, async createImageBitmap (...given) { count.open++; return make.apply(window, given) } })
      ImageBitmap.prototype.close = function () { if (this.width) count.open--; close.call(this) }
      const { createTexture, deleteTexture } = WebGL2RenderingContext.prototype
      WebGL2RenderingContext.prototype.createTexture = function () { count.textures++; return createTexture.call(this) }
      WebGL2RenderingContext.prototype.deleteTexture = function (texture) {
        count.textures--; deleteTexture.call(this, texture)
      }
    })
    await maplibre.draw(page, 'steps', { time: T(1) })
    shows(await stage.at(page, T(5)), 'steps', 5)
    const before = await call(page, 'count.textures')
    for (const step of [1, 2, 3, 4, 5, 1, 5, 2]) shows(await stage.at(page, T(step)), 'steps', step)
    assert.deepEqual(await page.evaluate(() => /** @type {any} */ (window).count), { open: 0, textures: before })
  })

  it('asks for nothing while it is hidden, and shows the time of the clock when it is seen again', async () => {
    const page = await stage.show('steps', { time: T(1) })
    const see = value => page.evaluate(
      visibility => /** @type {any} */ (window).map.setLayoutProperty('steps', 'visibility', visibility), value
    )
    await see('none')
    await page.waitForFunction(() => /** @type {any} */ (window).map.loaded())
    stage.front.forget()
    await call(page, 'layer.setTime', T(5))
    await page.waitForFunction(() => /** @type {any} */ (window).map.loaded())
    assert.deepEqual(stage.front.requests(), [])
    await see('visible')
    shows(await stage.rest(page), 'steps', 5)
  })

  it('asks for nothing after it was taken off in the task of a step', async () => {
    const page = await stage.show('steps', { time: T(1) })
    stage.front.forget()
    await page.evaluate(time => {
      const { layer, map } = /** @type {any} */ (window)
      map.jumpTo({ center: [60, 0] })
      layer.setTime(time)
      layer.remove()
      return new Promise(resolve => { map.once('idle', resolve).triggerRepaint() })
    }, T(5))
    assert.deepEqual(stage.front.requests('index'), [], 'images that were on their way are aborted')
  })

  it('comes when the map has a style, stays when it gets another, and goes with the map', async () => {
    const page = await stage.show('steps', { time: T(2), map: { style: undefined } })
    shows(await stage.rest(page), 'steps', 2)
    await page.evaluate(() => /** @type {any} */ (window)
      .map.setStyle({
        version: 8, sources: {}, layers: [{ id: 'ground', type: 'background', paint: { 'background-color': '#fff' } }]
      }, { diff: false }))
    shows(await stage.rest(page), 'steps', 2)
    assert.deepEqual(await page.evaluate(() => /** @type {any} */ (window).map.getStyle().layers.map(({ id }) => id)),
      ['ground', 'steps'])
    shows(await stage.at(page, T(3)), 'steps', 3)
    await page.evaluate(() => /** @type {any} */ (window).map.remove())
    assert.equal(await call(page, 'layer.history.isOnMap'), false)
  })

  it('goes from a map and comes back where it was put, at the time of its clock', async () => {
    const page = await stage.show('steps', { time: T(1) })
    const ids = () => page.evaluate(() => [
      /** @type {any} */ (window).map.getStyle()
    ].map(({ layers, sources }) => [layers.map(({ id }) => id), Object.keys(sources)])[0])
    await page.evaluate(() => {
      const { map } = /** @type {any} */ (window)
      map.addLayer({ id: 'above', type: 'background', paint: { 'background-opacity': 0 } })
    })
    await call(page, 'layer.remove')
    assert.deepEqual(await ids(), [['above'], []])
    await call(page, 'layer.setTime', T(5))
    await page.evaluate(() => {
      const { map, layer } = /** @type {any} */ (window)
      layer.options.before = 'above'
      layer.addTo(map)
    })
    // the layer's document is read first: until then the map has nothing to load, and is at rest
    await page.waitForFunction(() => /** @type {any} */ (window).map.getSource('steps'))
    shows(await stage.rest(page), 'steps', 5)
    assert.deepEqual(await ids(), [['steps', 'above'], ['steps']])
  })

  it('tells of tiles that fail, and shows them when they come', async () => {
    stage.allow(/500/)
    const stop = stage.front.rule(({ tile }) => tile === '3/3/3' ? { status: 500 } : undefined)
    const page = await stage.show('steps', { time: T(5), attempts: 1 })
    const picture = await stage.rest(page)
    assert.equal(picture['3/3/3'], '-')
    assert.ok((await call(page, 'events.slice')).some(({ type, tile }) => type === 'tileerror' && tile === '3/3/3'))
    stop()
    await page.waitForFunction(() => /** @type {any} */ (window).see.picture()['3/3/3'] === '5')
  })

  it('shows what is written while it is looked at, with `live`', async () => {
    const page = await stage.show('steps', { live: true })
    await until(() => stage.front.requests('changes').length)
    await stage.write('steps', { 6: [[3, 4, 4]] })
    await page.waitForFunction(() => /** @type {any} */ (window).see.picture()['3/4/4'] === '6')
  })

  it('steps through an area of the device without a request', async () => {
    const page = await stage.page()
    await page.addScriptTag({ url: new URL('pouchdb.js', stage.front.page).href, type: 'module' })
    await page.evaluate(async address => {
      const view = /** @type {any} */ (window)
      const { OfflineStore } = await import(address)
      view.offline = new OfflineStore({ remote: view.db, PouchDB: view.PouchDB })
      await view.offline.ready
      const area = await view.offline.areas.add(
        { name: 'All', layer: 'steps', bbox: [-180, -84, 180, 84], zooms: '3', history: true }
      )
      await area.download()
    }, new URL('offline.js', stage.front.page).href)
    stage.front.forget()
    await maplibre.draw(page, 'steps', { time: T(1), offline: true })
    for (const step of [1, 2, 3, 4, 5]) shows(await stage.at(page, T(step)), 'steps', step)
    assert.deepEqual(stage.front.requests('tile'), [])
    assert.deepEqual(stage.front.requests('index'), [])
  })
})
