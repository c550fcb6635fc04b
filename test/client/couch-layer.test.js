/* global window, document, L -- of the page, in functions that run there */
// Tests the Leaflet layer of the newest tiles in a browser.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { stepAt } from '../support/client/gallery.js'
import { call, expected, onStage, pictureOf, waitForEvent } from '../support/client/suite.js'

const PROVOKED = [/Failed to load resource/, /net::ERR/]
const newestSteps = { steps: 5, large: 2, bounded: 1, pacific: 2 }

onStage('a couch layer', { layers: ['steps', 'large', 'bounded', 'pacific'], writes: true }, stage => {
  /** Waits until every tile in view shows its expected image. Returns the keys of the tiles. */
  async function waitForTiles (page, layer = 'steps', step = newestSteps[layer]) {
    await page.waitForFunction(() => {
      const { see, layer: shownLayer } = window
      const texts = Object.values(see.picture())
      return texts.length && !shownLayer.isLoading() && texts.every(text => /^\d+$/.test(text))
    })
    const picture = await pictureOf(page)
    assert.deepEqual(picture, expected(picture, (...tile) => stepAt(layer, step, ...tile)))
    return Object.keys(picture).sort()
  }
  const show = (layer, options = {}) => stage.show(layer, { kind: 'couch', wait: false, ...options })

  it('draws the newest tiles with one request for its document and one for each tile', async () => {
    const page = await show('steps')
    const tiles = await waitForTiles(page)
    assert.deepEqual(stage.front.tiles(), tiles)
    assert.deepEqual(stage.front.requests().filter(({ kind }) => kind !== 'tile').map(({ kind }) => kind), ['layer'])
    assert.ok(stage.front.requests('tile').every(({ path }) => /^steps:3:\d:\d\/tile$/.test(path)))
    assert.equal(await call(page, 'layer.title'), 'Steps')
  })

  it('requests only tiles when its option tilejson is off', async () => {
    const page = await show('steps', { tilejson: false })
    await waitForTiles(page)
    assert.ok(stage.front.requests().every(({ kind }) => kind === 'tile'))
  })

  it('prefers its options to the fields of its document', async () => {
    const page = await show('bounded', { bounds: [[-80, -180], [80, 180]], maxZoom: 3, attribution: 'mine' })
    assert.ok((await waitForTiles(page, 'bounded')).length >= 8)
    assert.equal(await page.evaluate(() => window.map.getMaxZoom()), 3)
    assert.match(String(await page.locator('.leaflet-control-attribution').textContent()), /mine/)
  })

  it('respects the bounds, tile size and zooms of its document', async () => {
    assert.deepEqual(await waitForTiles(await show('bounded'), 'bounded'), ['3/4/3'])
    await waitForTiles(await show('large'), 'large')
    assert.deepEqual(await waitForTiles(await show('pacific', { map: { center: [0, 180] } }), 'pacific'),
      ['3/0/3#1', '3/0/4#1', '3/7/3', '3/7/4'])
    const page = await show('steps', { map: { zoom: 5 } })
    assert.ok((await waitForTiles(page)).every(key => key.startsWith('3/')))
  })

  it('draws the tiles that failed while the store was down when it is back', async () => {
    stage.allow(...PROVOKED)
    const page = await show('steps', { live: true })
    await waitForTiles(page)
    await until(() => stage.front.requests('changes').length > 1)
    await stage.front.stop()
    await waitForEvent(page, 'storeerror')
    await page.evaluate(() => { window.map.panBy([600, 0], { animate: false }) })
    await waitForEvent(page, 'tileerror')
    await stage.front.restart()
    await waitForTiles(page)
    const types = (await call(page, 'events.slice')).map(({ type }) => type).filter(type => /^store/.test(type))
    assert.deepEqual(types, ['storeerror', 'storeback'])
  })

  it('draws the tiles that failed while the store was down when it is back, also without live', async () => {
    stage.allow(...PROVOKED)
    const page = await show('steps')
    await waitForTiles(page)
    await stage.front.stop()
    await page.evaluate(() => { window.map.panBy([600, 0], { animate: false }) })
    await waitForEvent(page, 'storeerror')
    await stage.front.restart()
    await waitForTiles(page)
    await waitForEvent(page, 'storeback')
  })

  it('keeps its images on the map while refresh requests all of them again', async () => {
    const page = await show('steps')
    const tiles = await waitForTiles(page)
    stage.front.forget()
    await page.evaluate(() => {
      const { see, layer } = window
      see.watch()
      layer.refresh()
    })
    await until(() => stage.front.requests('tile').length >= tiles.length)
    await until(() => stage.front.requests().every(({ done }) => done))
    await waitForTiles(page)
    for (const picture of await call(page, 'frames')) {
      assert.ok(Object.values(picture).every(text => text === '5'), JSON.stringify(picture))
    }
  })

  it('ends its requests and timers when its map is removed during a load', async () => {
    const page = await show('steps', { live: true })
    await until(() => stage.front.requests('changes').length > 1)
    await page.evaluate(() => {
      window.map.remove()
      window.dispatchEvent(new Event('online'))
    })
    await until(() => stage.front.requests().every(({ done }) => done))
    await page.waitForFunction(() => window.see.timers() === 0)
  })

  it('shows only text and https links of an attribution, no other markup or script', async () => {
    const attribution = '<a href="https://example.org/?a=1&b=2" onclick="window.hurt=1">Some<b>one</b></a> <a ' +
      'href="javascript:window.hurt=1">else</a> <a href=" javascript:window.hurt=1">x</a>' +
      ('<img src=x onerror="window.hurt=1"><svg ' +
        'onload="window.hurt=1"><script>window.hurt=1</script></svg><style>body{display:none}</style><iframe ' +
        'srcdoc="<script>parent.hurt=1</script>"></iframe>&lt;img src=x onerror="window.hurt=1"&gt; <a ' +
        'href="//example.org">y</a>')
    await stage.store.defineLayer('steps', { attribution })
    const page = await show('steps')
    await waitForTiles(page)
    const control = page.locator('.leaflet-control-attribution')
    assert.deepEqual(await control.locator('a').evaluateAll(links => links.slice(1).map(link => link.outerHTML)),
      ['<a href="https://example.org/?a=1&amp;b=2" rel="noopener" target="_blank">Someone</a>'])
    assert.equal(await control.locator('img, script, style, iframe, b, svg:not(.leaflet-attribution-flag)').count(), 0)
    assert.match(String(await control.textContent()), /else x<img src=x onerror="window\.hurt=1"> y/)
    assert.equal(await page.evaluate(() => window.hurt), undefined)
    await stage.store.defineLayer('steps', { attribution: null })
  })

  it('has factories and extensible classes as other layers of Leaflet', async () => {
    const page = await stage.page()
    assert.deepEqual(await page.evaluate(() => {
      const { couch } = L.tileLayer
      const { Couch } = L.TileLayer
      const [present, past] = [couch('/db', { layer: 'a' }), couch.history('/db', { layer: 'a' })]
      return [present instanceof Couch, present instanceof L.TileLayer,
        past instanceof Couch.History, past instanceof L.GridLayer, present.options.live,
        new (Couch.extend({ options: { live: true } }))('/db', { layer: 'a' }).options.live,
        document.querySelectorAll('.leaflet-tile').length]
    }), [true, true, true, true, false, true, 0])
  })
})
