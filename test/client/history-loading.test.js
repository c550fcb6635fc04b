/* global window -- of the page, in functions that run there */
// Tests what a history layer requests and preloads, and that nothing is left after its removal.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { seconds } from '../support/client/front.js'
import { LENGTH, T, stepAt } from '../support/client/gallery.js'
import { call, onStage, shows } from '../support/client/suite.js'
import { holdRequests } from './requests.js'

const moveTo = (page, place) => page.evaluate(center => { window.map.setView(center, 3, { animate: false }) }, place)
/** Makes every request of a kind wait until the gate is opened. */
const hold = ({ front }, kind) => holdRequests(front, entry => entry.kind === kind)

/** Removes the map or the layer, and asserts that later answers cause no request, timer or event. */
async function removeQuietly ({ front }, page, barrier, target) {
  await page.evaluate(name => {
    const view = window
    view[name].remove()
    Object.assign(view, { asked: 0, fetch: () => { view.asked++ } })
    view.events.length = 0
  }, target)
  barrier.open()
  await until(() => front.requests().every(({ done }) => done), { what: 'the end of all requests' })
  await page.waitForFunction(() => window.see.timers() === 0 && window.see.urls().open === 0)
  assert.equal(await page.evaluate(() => window.asked), 0)
  assert.deepEqual(await call(page, 'events.slice'), [])
}

onStage('a loading history layer', { layers: ['steps', 'deep'] }, stage => {
  it('preloads the steps before and after, each image once, and shows them without a request', async () => {
    const page = await stage.show('steps', { time: T(2), preload: 1 })
    const expectedKeys = Object.keys(await stage.rest(page)).flatMap(key => {
      const tile = key.split('/').map(Number)
      return [...new Set([1, 2, 3].map(step => stepAt('steps', step, ...tile)))].map(() => key)
    }).sort()
    await until(() => stage.front.tiles().length === expectedKeys.length, { what: 'the steps before and after' })
    assert.deepEqual(stage.front.tiles(), expectedKeys)
    await until(() => stage.front.requests('tile').every(({ done }) => done))
    stage.front.forget()
    const barrier = hold(stage, 'tile')
    shows(await stage.at(page, T(3)), 'steps', 3)
    shows(await stage.at(page, T(1)), 'steps', 1)
    barrier.open()
  })

  it('preloads at most as many bytes as its option preloadSize allows', async () => {
    const page = await stage.show('steps', { time: T(4), preload: 5, preloadSize: 3 * LENGTH + 1 })
    const count = Object.keys(await stage.rest(page)).length
    await until(() => stage.front.requests('tile').length >= count + 3)
    await call(page, 'layer.changes') // lets the page run another task
    await until(() => stage.front.requests('tile').every(({ done }) => done))
    assert.equal(stage.front.requests('tile').length, count + 3, 'three images')
  })

  it('stops preloading when the clock moves', async () => {
    const page = await stage.show('steps', { time: T(1), preload: 4, requests: 1, wait: false })
    const tiles = await until(() =>
      page.evaluate(() => window.layer.isShown() && Object.keys(window.see.picture()).length))
    const initialCount = stage.front.requests('tile').length
    const barrier = hold(stage, 'tile')
    // earlier requests may still end; the next one is held
    await until(() => stage.front.requests('tile').length > initialCount, { what: 'an image in advance' })
    const heldCount = stage.front.requests('tile').length
    assert.ok(heldCount > tiles)
    await page.evaluate(time => {
      const { layer } = window
      layer.options.preload = 0 // no new preloads, to see the end of the old ones
      layer.setTime(time)
    }, T(1).replace('00Z', '01Z'))
    barrier.open()
    await until(() => stage.front.requests('tile').every(({ done }) => done))
    await stage.rest(page)
    assert.equal(stage.front.requests('tile').length, heldCount)
  })

  it('aborts the requests of tiles that leave the view', async () => {
    const page = await stage.show('steps', { wait: false, requests: 4, map: { center: [0, -100] } })
    const barrier = hold(stage, 'tile')
    await until(() => stage.front.requests('tile').length === 4, { what: 'requests' })
    await moveTo(page, [0, 100])
    await until(() => stage.front.requests('tile').filter(({ aborted }) => aborted).length === 4,
      { what: 'requests given up' })
    barrier.open()
    shows(await stage.rest(page), 'steps', 5)
    const west = stage.front.requests('tile').filter(({ tile }) => +tile.split('/')[1] < 4)
    assert.equal(west.length, 4, 'those that waited never began')
  })

  it('has no list of changes until the index has arrived', async () => {
    const barrier = hold(stage, 'index')
    const page = await stage.show('steps', { wait: false })
    await until(() => stage.front.requests('index').length === 1)
    assert.equal(await call(page, 'layer.changes'), null)
    assert.equal(await call(page, 'layer.isShown'), false)
    barrier.open()
    await stage.rest(page)
    assert.equal((await call(page, 'layer.changes')).length, 5)
  })

  it('requests the index of each new place while answers are slow, and aborts that of old places', async () => {
    const barrier = hold(stage, 'index')
    const page = await stage.show('steps', { wait: false, map: { center: [0, -100] } })
    await until(() => stage.front.requests('index').length === 1)
    for (const place of [[0, -20], [0, 100]]) {
      const requestCount = stage.front.requests('index').length
      await moveTo(page, place)
      await until(() => stage.front.requests('index').length > requestCount, { what: 'a question for the new place' })
    }
    await until(() => stage.front.requests('index')[0].aborted, { what: 'the end of the first question' })
    barrier.open()
    shows(await stage.rest(page), 'steps', 5)
    const indexRequests = stage.front.requests('index')
    assert.deepEqual(indexRequests.map(({ aborted }) => aborted), [true, false, false])
    const columns = indexRequests.filter(({ aborted }) => !aborted)
      .flatMap(({ body }) => body.queries.map(({ startkey, endkey }) => [startkey[2], startkey[3], endkey[3]]))
    const rows = columns.flatMap(([x, y0, y1]) => Array.from({ length: y1 - y0 + 1 }, (_, row) => `${x}/${y0 + row}`))
    assert.equal(new Set(rows).size, rows.length, 'no row of tiles was asked for twice')
  })

  it('has an image in every tile after zooms and moves during slow answers', async () => {
    stage.front.rule(({ kind }) => kind === 'index' || kind === 'tile' ? seconds(0.05) : undefined)
    const page = await stage.show('deep', { time: T(3), wait: false, map: { zoom: 1 } })
    for (const [zoom, x] of [[2, 300], [3, 200], [2, -400], [3, 300], [2, 0], [3, 0]]) {
      await page.evaluate(([level, distance]) => {
        const { map } = window
        map.setZoom(level)
        map.panBy([distance, 50])
      }, [zoom, x])
    }
    await page.waitForFunction(() => !window.map._animatingZoom && !window.map._panAnim?._inProgress)
    const picture = await stage.rest(page)
    assert.ok(Object.values(picture).every(text => /^\d/.test(text)), JSON.stringify(picture))
  })

  it('sends at most as many tile requests at a time as its option requests allows', async () => {
    let [running, maxRunning] = [0, 0]
    stage.front.rule(async ({ kind }) => {
      if (kind !== 'tile') return
      maxRunning = Math.max(maxRunning, ++running)
      await seconds(0.02)
      running--
    })
    const page = await stage.show('steps', { time: T(1), requests: 2 })
    await stage.at(page, T(5))
    assert.equal(maxRunning, 2)
  })

  it('shows a view that has more versions than its option versions allows', async () => {
    const page = await stage.show('steps', { time: T(1), versions: 5 })
    shows(await stage.rest(page), 'steps', 1)
    shows(await stage.at(page, T(5)), 'steps', 5)
    assert.equal(stage.front.requests('index').length, 1)
    await moveTo(page, [0, 120])
    shows(await stage.rest(page), 'steps', 5)
  })

  it('is shown again after its removal from the map without an index request', async () => {
    const page = await stage.show('steps', { time: T(2) })
    await call(page, 'layer.remove')
    assert.equal(await call(page, 'layer.changes'), null)
    await call(page, 'layer.setTime', T(3))
    stage.front.forget()
    await page.evaluate(() => { window.layer.addTo(window.map) })
    shows(await stage.rest(page), 'steps', 3)
    assert.deepEqual(stage.front.requests('index'), [])
  })

  for (const [kind, part] of Object.entries({
    layer: 'its document', index: 'the index', tile: 'images', extent: 'the extent'
  })) {
    it(`has no request, timer or event after its map is removed during the load of ${part}`, async () => {
      const barrier = hold(stage, kind)
      const page = await stage.show('steps', { wait: false, live: true, preload: 2 })
      await until(() => stage.front.requests(kind).length > 0)
      await until(() => stage.front.requests('changes').length > 1, { what: 'the feed' })
      await removeQuietly(stage, page, barrier, 'map')
    })
  }

  it('has no request, timer or event after its removal in the middle of a step', async () => {
    const page = await stage.show('steps', { time: T(1) })
    const barrier = hold(stage, 'tile')
    await page.evaluate(time => {
      const { layer } = window
      layer.options.preload = 3
      layer.setTime(time)
    }, T(3))
    await until(() => stage.front.requests('tile').some(({ done }) => !done))
    await removeQuietly(stage, page, barrier, 'layer')
  })
})
