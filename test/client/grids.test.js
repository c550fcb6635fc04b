/* global window, L -- of the page, in functions that run there */
// Layers in other grids than Web Mercator, on Leaflet.
import assert from 'node:assert/strict'
import { gridOf, parseArea } from '../../core/index.js'
import { openGateway } from '../support/gateway/stand.js'
import { gridFiles } from '../support/client/client-page.js'
import { T, layers as gallery, stepAt } from '../support/client/gallery.js'
import { draw, install } from '../support/client/maps.js'
import { UNHURRIED, call, eventsOf, expected, onStage, pictureOf, waitForEvent } from '../support/client/suite.js'

const leaflet = { files: gridFiles, install, draw }
const swiss = gridOf(gallery.swiss.fields)
const resolutions = swiss.matrices.map(({ cellSize }) => cellSize)

/** A coordinate system as a page creates it with Proj4Leaflet. */
const proj = (options = {}) =>
  ({ code: 'EPSG:2056', definition: swiss.definition, origin: [2420000, 1350000], resolutions, ...options })
const ALPS = { crs: 'LV95', center: [46.8, 8.2], zoom: 17 }
const moves = [
  ['swiss', 'LV95', [46.8, 8.2], 17], ['swiss', 'LV95', [46.9, 7.4], 16], ['swiss', proj(), [46.8, 8.2], 17],
  // a map whose first zoom is zoom 10 of the grid
  ['swiss', proj({ resolutions: resolutions.slice(10) }), [46.8, 8.2], 7],
  ['degrees', 'WorldCRS84Quad', [20, 10], 3], ['degrees', 'EPSG4326', [20, 10], 2],
  ['degrees', 'WorldCRS84Quad', [-60, 179], 3],
  ['europe', 'EuropeanETRS89_LAEAQuad', [50, 10], 3], ['arctic', 'UPSArcticWGS84Quad', [88, 20], 3]
]

onStage('a layer in another grid, on a Leaflet map in its coordinate system', {
  layers: ['swiss', 'degrees', 'europe', 'arctic', 'steps'], everywhere: true, library: leaflet, writes: true
}, stage => {
  const shows = (picture, layer, step) => {
    assert.ok(Object.keys(picture).length >= 4, JSON.stringify(picture))
    assert.deepEqual(picture, expected(picture, (...tile) => stepAt(layer, step, ...tile)))
  }
  const fault = async page => (await eventsOf(page, 'storeerror'))[0]?.code

  for (const [layer, crs, center, zoom] of moves) {
    it(`has every tile in its place (${layer} at zoom ${zoom} of ${crs.code ? `${crs.code} by Proj4Leaflet` : crs})`,
      async () => {
      const page = await stage.show(layer, { time: T(1), map: { crs, center, zoom } })
      shows(await stage.rest(page), layer, 1)
      const places = Object.entries(await page.evaluate(() => window.see.places()))
      const grid = gridOf(gallery[layer].fields)
      for (const [key, [lon, lat]] of places) {
        const [z, x, y] = key.split('/').map(Number)
        const { columns } = grid.matrix(z)
        assert.deepEqual(grid.tileAt(((lon + 540) % 360) - 180, lat, z), { z, x: (x + columns) % columns, y }, key)
      }
      stage.front.forget()
      shows(await stage.at(page, T(2)), layer, 2)
      const requestedTiles = stage.front.tiles()
      const tile = key => key.split('/').map(Number)
      assert.ok(requestedTiles.length && requestedTiles.every(key => (tile(key)[1] + tile(key)[2]) % 2 === 0),
        String(requestedTiles))
    })
  }

  it('changes all tiles of a step in one frame', async () => {
    const page = await stage.show('swiss', { time: T(1), together: UNHURRIED, map: ALPS })
    await page.evaluate(() => window.see.watch())
    await stage.at(page, T(2))
    const frames = await page.evaluate(() => window.frames())
    assert.equal(frames.length, 2)
    shows(frames[1], 'swiss', 2)
  })

  it('draws only tiles within its bounds and its grid', async () => {
    const page = await stage.show('swiss', { time: T(1), map: { crs: 'LV95', center: [47.6, 5.9], zoom: 16 } })
    const grid = gridOf({ grid: 'LV95' })
    const [range] = grid.ranges([5.9, 45.8, 10.5, 47.9], 16)
    const picture = await stage.rest(page)
    shows(picture, 'swiss', 1)
    for (const key of Object.keys(picture)) {
      const [, x, y] = key.split('/').map(Number)
      assert.ok(x >= range.x0 && x <= range.x1 && y >= range.y0 && y <= range.y1, key)
    }
    await page.evaluate(() => { window.map.setView([30, 30], 16, { animate: false }) })
    await page.waitForFunction(() => !Object.keys(window.see.picture()).length)
    assert.deepEqual(await call(page, 'layer.changes'), [])
  })

  it('shows a part of an ancestor for a missing tile only when its zooms halve the resolution', async () => {
    const page = await stage.show('swiss', { time: T(1), map: ALPS })
    assert.equal((await stage.rest(page))['17/9/6'], '-')
    assert.ok(stage.front.requests('tile').every(({ tile }) => tile.startsWith('17/')))
    await stage.store.write([{ layer: 'degrees', z: 3, x: 4, y: 1, time: T(4), gone: true }])
    const otherPage = await stage.show('degrees', { map: { crs: 'WorldCRS84Quad', center: [20, 10], zoom: 3 } })
    assert.equal((await stage.rest(otherPage))['3/4/1'], '2<2.2')
  })

  it('is enlarged beyond its last zoom, as far as the map has resolutions', async () => {
    const page = await stage.show('swiss', { time: T(1), map: { crs: 'LV95', center: [46.9, 7.4], zoom: 19 } })
    const picture = await stage.rest(page)
    assert.ok(Object.entries(picture).every(([key, text]) => key.startsWith('17/') && text === '1'),
      JSON.stringify(picture))
    assert.equal(await call(page, 'map.getMaxZoom'), 20)
    const fewZoomsPage = await stage.show('swiss',
      { time: T(1), map: { crs: proj({ resolutions: resolutions.slice(0, 19) }), center: [46.9, 7.4], zoom: 17 } })
    assert.equal(await call(fewZoomsPage, 'map.getMaxZoom'), 18)
  })

  it('returns the tile at a place with its versions', async () => {
    const page = await stage.show('swiss', { map: ALPS })
    const { z, x, y, versions } = await call(page, 'layer.tileAt', [46.8, 8.6])
    assert.deepEqual({ z, x, y }, swiss.tileAt(8.6, 46.8, 17))
    assert.ok(versions.length >= 1)
  })

  it('is drawn by a couch layer too, with its newest tiles', async () => {
    const page = await stage.show('swiss', { kind: 'couch', wait: false, map: ALPS })
    await page.waitForFunction(() => { const view = window; return Object.keys(view.see.picture())
      .length >= 4 && !view.layer.isLoading() && !Object.values(view.see.picture()).some(text => /[~?]/.test(text)) })
    const picture = await pictureOf(page)
    delete picture['17/9/6']
    shows(picture, 'swiss', 3)
    stage.allow(/404/)
  })

  for (const kind of ['history', 'couch']) {
    it(`is not drawn on a map with another system or origin, and reports MAP_GRID (${kind})`, async () => {
      for (const [layer, map] of [
        ['swiss', { zoom: 17 }], ['steps', { crs: 'LV95', zoom: 3 }],
        ['swiss', { crs: proj({ origin: [2500000, 1350000] }), zoom: 17 }]
      ]) {
        stage.front.forget()
        const page = await stage.show(layer, { kind, wait: false, map: { center: [46.8, 8.2], ...map } })
        await waitForEvent(page, 'storeerror')
        assert.equal(await fault(page), 'MAP_GRID')
        assert.deepEqual([await page.evaluate(() => Object.keys(window.see.picture())), stage.front.tiles()], [[], []])
      }
    })
  }

  it('is drawn through a gateway, which also serves its tiles as of a time', async () => {
    const gateway = await openGateway(stage.store.url)
    try {
      const page = await stage.page()
      await page.evaluate(url => { Object.assign(window, { db: `${url}/db` }) }, gateway.url)
      await draw(page, 'swiss', { time: T(1), map: ALPS })
      for (const step of [1, 2]) shows(await stage.at(page, T(step)), 'swiss', step)
      const status = await page.evaluate(async ([url, time]) => {
        const statusOf = address => fetch(`${url}/${address}.png`).then(response => response.status)
        return [await statusOf(`swiss@${time}/17/10/6`), await statusOf(`swiss@${time}/17/9/6`),
          await statusOf(`swiss@${time}/17/19/6`)]
      }, [gateway.url, T(1)])
      assert.deepEqual(status.slice(0, 2), [200, 404])
      assert.ok(status[2] >= 400)
      stage.allow(/Failed to load resource/)
    } finally {
      await gateway.close()
    }
  })

  it('is drawn on another map only if that map has its coordinate system', async () => {
    const page = await stage.show('degrees', { time: T(1), map: { crs: 'WorldCRS84Quad', center: [20, 10], zoom: 3 } })
    const switchMap = crs => page.evaluate(name => {
      const view = window
      view.events.length = 0
      view.map.remove()
      view.map = L.map('map', { center: [20, 10], zoom: 3, crs: L.CRS[name] })
      view.layer.addTo(view.map)
    }, crs)
    await switchMap('EPSG3857')
    await waitForEvent(page, 'storeerror')
    assert.deepEqual(await page.evaluate(() => Object.keys(window.see.picture())), [])
    await switchMap('EPSG4326')
    await page.waitForFunction(() => Object.keys(window.see.picture()).length >= 4)
    shows(await stage.rest(page), 'degrees', 1)
  })

  it('is drawn at two times by the compare control in side mode', async () => {
    const page = await stage.show('swiss', { time: T(1), map: ALPS })
    await page.evaluate(([leftTime, rightTime]) => {
      const view = window
      view.right = L.tileLayer.couch.history(view.db, { layer: 'swiss', time: rightTime, preload: 0 }).addTo(view.map)
      L.control.compare(view.layer.setTime(leftTime), view.right, { mode: 'side' }).addTo(view.map)
    }, [T(1), T(2)])
    await page.waitForFunction(() => window.see.isAtRest() && window.see.isAtRest(window.right))
    for (const [name, step] of [['layer', 1], ['right', 2]]) {
      shows(await page.evaluate(layerName => window.see.picture(window[layerName]), name), 'swiss', step)
    }
  })
})

onStage('an area of a layer in another grid', { layers: ['swiss'], everywhere: true, library: leaflet }, stage => {
  const bbox = [7.3, 46.5, 8.4, 47.1]

  it('is estimated exactly, downloaded completely and drawn without a network', async () => {
    const page = await stage.page()
    const result = await page.evaluate(async box => {
      const view = window
      view.offline = L.couch.offline({ remote: view.db })
      const area = await view.offline.areas.add({ name: 'Bern', layer: 'swiss', bbox: box, history: true })
      const { tiles, bytes } = await area.estimate()
      const { state, ...status } = await area.download()
      return {
        estimate: [tiles, bytes], status: [status.tiles, status.bytes],
        state, zooms: area.spec.zooms, grid: area.spec.grid
      }
    }, bbox)
    const area = parseArea({ bbox: bbox, grid: swiss })
    const missing = area.has(17, 9, 6) ? 1 : 0
    const expectedTiles = area.count({ min: 16, max: 17 }) - missing
    assert.deepEqual({ ...result, status: result.status[0], estimate: result.estimate[0] },
      { estimate: expectedTiles, status: expectedTiles, state: 'complete', zooms: { min: 16, max: 17 }, grid: 'LV95' })
    assert.equal(result.estimate[1], result.status[1])

    await stage.front.stop()
    await draw(page, 'swiss',
      { offline: true, read: 'only', time: T(2), map: { crs: 'LV95', center: [46.8, 7.8], zoom: 17 } })
    const inside = picture => Object.fromEntries(Object.entries(picture)
      .filter(([key]) => area.has(...key.split('/').map(Number))))
    for (const step of [2, 1, 3]) {
      const picture = inside(await stage.at(page, T(step)))
      assert.ok(Object.keys(picture).length >= 4)
      assert.deepEqual(picture, expected(picture, (...tile) => stepAt('swiss', step, ...tile)))
    }
    const marks = await page.evaluate(async () => {
      const view = window
      const coverage = L.tileLayer.couch.coverage(view.offline, { layer: 'swiss' })
      const coverageEvent = new Promise(resolve => { coverage.once('coverage', () => resolve(undefined)) })
      coverage.addTo(view.map)
      await coverageEvent
      return [...view.document.querySelectorAll('.tilecouch-coverage-whole')].map(({ dataset: { tile } }) => tile)
    })
    const shownKeys = Object.keys(inside(await pictureOf(page)))
    assert.deepEqual([...new Set(marks)].filter(key => shownKeys.includes(key)).sort(),
      shownKeys.filter(key => key !== '17/9/6').sort())
    await stage.front.restart()
    stage.allow(/net::ERR/)
  })

  it('is listed in a page without proj4js, where its download fails with NO_PROJ4', async () => {
    const page = await stage.page()
    await page.evaluate(async box => {
      const view = window
      const offline = L.couch.offline({ remote: view.db })
      await offline.areas.add({ name: 'Bern', layer: 'swiss', bbox: box })
      await offline.close()
    }, bbox)
    await page.goto(stage.front.page.replace('index.html', 'plain.html'))
    const { names, code } = await page.evaluate(async db => {
      const offline = L.couch.offline({ remote: db })
      await offline.ready
      const [area] = offline.areas.list()
      return {
        names: offline.areas.list().map(({ name }) => name), code: await area.download().catch(error => error.code)
      }
    }, stage.front.url)
    assert.deepEqual([names, code], [['Bern'], 'NO_PROJ4'])
  })
})
