/* global window -- of the page, in functions that run there */
// Tests history layers in MapLibre. map-contract.js tests what all map libraries have in common.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { T } from '../support/client/gallery.js'
import { download, maplibre } from '../support/client/maplibre-page.js'
import { UNHURRIED, call, eventsOf, frames, onStage, shows, waitForEvent } from '../support/client/suite.js'
import { holdRequests } from './requests.js'

onStage('the picture of a history layer in MapLibre', { layers: ['holes', 'large'], library: maplibre }, stage => {
  it('consists of tiles of 512 pixels when the layer has them', async () => {
    const page = await stage.page()
    await page.evaluate(() => { Object.assign(window, { tileSize: 512 }) })
    await maplibre.draw(page, 'large', { time: T(1) })
    for (const step of [1, 2]) shows(await stage.at(page, T(step)), 'large', step)
    assert.ok(stage.front.tiles().every(tile => tile.startsWith('2/')))
  })

  it('is enlarged from the last zoom of the layer at deeper zooms', async () => {
    const page = await stage.show('holes', { time: T(1), map: { zoom: 4, center: [20, 10] } })
    assert.deepEqual([...new Set(Object.values(await stage.rest(page)))], ['-'])
    await page.evaluate(() => window.map.jumpTo({ center: [-100, 40] }))
    const picture = await stage.rest(page)
    assert.ok(Object.values(picture).every(text => text.startsWith('1<3')), JSON.stringify(picture))
  })
})

onStage('a layer in another grid in MapLibre', { layers: ['swiss'], library: maplibre }, stage => {
  it('is not drawn, and reports MAP_GRID', async () => {
    const page = await stage.show('swiss', { wait: false, map: { zoom: 7, center: [8.2, 46.8] } })
    await waitForEvent(page, 'storeerror')
    assert.equal((await eventsOf(page, 'storeerror'))[0].code, 'MAP_GRID')
    assert.deepEqual([
      stage.front.tiles(), await page.evaluate(() => Object.keys(window.map.getStyle().sources))
    ], [[], []])
  })
})

onStage('a history layer in MapLibre', { layers: ['steps'], library: maplibre }, stage => {
  it('sends no request while it is hidden, and shows the time of its clock when it is visible again', async () => {
    const page = await stage.show('steps', { time: T(1) })
    const setVisibility = value =>
      page.evaluate(visibility => window.map.setLayoutProperty('steps', 'visibility', visibility), value)
    await setVisibility('none')
    await page.waitForFunction(() => window.map.loaded())
    stage.front.forget()
    await call(page, 'layer.setTime', T(5))
    await page.waitForFunction(() => window.map.loaded())
    assert.deepEqual(stage.front.requests(), [])
    await setVisibility('visible')
    shows(await stage.rest(page), 'steps', 5)
  })

  it('sends no index request after its removal in the same task as a step', async () => {
    const page = await stage.show('steps', { time: T(1) })
    stage.front.forget()
    await page.evaluate(time => {
      const { layer, map } = window
      map.jumpTo({ center: [60, 0] })
      layer.setTime(time)
      layer.remove()
      return new Promise(resolve => { map.once('idle', resolve).triggerRepaint() })
    }, T(5))
    assert.deepEqual(stage.front.requests('index'), [], 'images that were on their way are aborted')
  })

  it('appears with the first style of the map, survives a new style, and ends with the map', async () => {
    const page = await stage.show('steps', { time: T(2), map: { style: undefined } })
    shows(await stage.rest(page), 'steps', 2)
    await page.evaluate(() => window.map.setStyle({
        version: 8, sources: {}, layers: [{ id: 'ground', type: 'background', paint: { 'background-color': '#fff' } }]
      }, { diff: false }))
    shows(await stage.rest(page), 'steps', 2)
    assert.deepEqual(await page.evaluate(() => window.map.getStyle().layers.map(({ id }) => id)), ['ground', 'steps'])
    shows(await stage.at(page, T(3)), 'steps', 3)
    await page.evaluate(() => window.map.remove())
    assert.equal(await call(page, 'layer.history.isOnMap'), false)
  })

  it('returns to a map below the layer of its option before, at the time of its clock', async () => {
    const page = await stage.show('steps', { time: T(1) })
    const ids = () => page.evaluate(() => [
      window.map.getStyle()
    ].map(({ layers, sources }) => [layers.map(({ id }) => id), Object.keys(sources)])[0])
    await page.evaluate(() => {
      const { map } = window
      map.addLayer({ id: 'above', type: 'background', paint: { 'background-opacity': 0 } })
    })
    await call(page, 'layer.remove')
    assert.deepEqual(await ids(), [['above'], []])
    await call(page, 'layer.setTime', T(5))
    await page.evaluate(() => {
      const { map, layer } = window
      layer.options.before = 'above'
      layer.addTo(map)
    })
    shows(await stage.rest(page), 'steps', 5)
    assert.deepEqual(await ids(), [['steps', 'above'], ['steps']])
  })

  it('steps through an offline area without a request', async () => {
    const page = await stage.page()
    await download(page, 'steps')
    stage.front.forget()
    await maplibre.draw(page, 'steps', { time: T(1), offline: true })
    for (const step of [1, 2, 3, 4, 5]) shows(await stage.at(page, T(step)), 'steps', step)
    assert.deepEqual(stage.front.requests('tile'), [])
    assert.deepEqual(stage.front.requests('index'), [])
  })

  it('shows a step although another source of the map blocks all image requests', async () => {
    const page = await stage.show('steps', { time: T(5), together: UNHURRIED })
    shows(await stage.at(page, T(1)), 'steps', 1)
    const barrier = holdRequests(stage.front, ({ path }) => /other/.test(path))
    await page.evaluate(async () => {
      const { map, db } = window
      map.addSource('other', { type: 'raster', tileSize: 64, tiles: [`${db}/other/{z}/{x}/{y}`] })
      map.addLayer({ id: 'other', type: 'raster', source: 'other' }, 'steps')
    })
    await until(() => stage.front.requests().filter(({ path }) => /other/.test(path)).length >= 6)
    const pictures = await frames(page, async () => {
      await call(page, 'layer.setTime', T(5))
      await page.waitForFunction(() => Object.values(window.see.picture()).every(text => text === '5'))
    })
    assert.equal(pictures.length, 2)
    await page.evaluate(() => {
      const { map } = window
      map.removeLayer('other')
      map.removeSource('other')
    })
    barrier.open()
  })
})
