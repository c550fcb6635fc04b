/* global window -- of the page, in functions that run there */
// Tests one area of thousands of tiles from its estimate to its removal. Some of the tests switch the network off.
import assert from 'node:assert/strict'
import { field, isBulk, isTransfer, onField, take } from '../support/offline/suite.js'
import { tour } from '../support/offline/tour.js'
import { T, downTo } from '../support/offline/world.js'
import { WORLD_BOX, assertEstimated, completed, resultOf } from './areas.js'

const WORLD = { name: 'World', layer: 'world', bbox: WORLD_BOX, zooms: '0-6', history: true }
const HERE = { places: /** @type {any} */ ([[0, 0, 6], [60, -120, 6], [20, 179, 3], [60, 45, 6], [0, 0, 7]]), times: [
  T(1), T(2), T(3), T(4)
] }
const CHANGED = downTo(5).slice(-60)
  .concat(Array.from({ length: 40 }, (_, index) => [6, 30 + index % 5, 28 + index % 8]))

const SAMPLED = 400 // maximum number of documents that an estimate measures without their images

onField('an area of 5,461 tiles and their past', ['world'], stage => {
  let device
  let page
  let reference
  let storedRevisions

  before(async () => {
    device = await stage.device({ stays: true })
    page = await device.open()
    await device.install(page)
  })

  it('is downloaded exactly as estimated, and equals the store', async () => {
    assert.ok((await field(page, 'add', WORLD)).id)
    stage.front.forget()
    const estimate = await resultOf(field(page, 'call', 'World', 'estimate'))
    assert.ok(stage.received().requests < 20, `${stage.received().requests} requests for an estimate`)
    stage.front.forget()
    const status = await completed(field(page, 'call', 'World', 'download'))
    storedRevisions = await stage.wanted(WORLD)
    assert.equal(Object.keys(storedRevisions).length, 5461 + 1024 + 4)
    const contents = await field(page, 'contents', 'World')
    for (const [id, revision] of Object.entries(storedRevisions)) assert.deepEqual(contents[id], revision, id)
    assert.deepEqual([status.tiles, status.versions, status.bytes], [estimate.tiles, estimate.versions, estimate.bytes])
    assert.equal(estimate.versions, Object.keys(storedRevisions).length)
    // these images are so small that the estimated size of the documents is nearly all
    assertEstimated(stage.received(isTransfer), estimate)
    const tasks = await field(page, 'longTasks')
    console.log(
      `      ${stage.received(isBulk).bytes} bytes in ${stage.received(isBulk).requests} requests (foretold ` +
        (`${estimate.transfer}), others ${stage.received(entry => !isBulk(entry)).bytes}; long tasks: ` +
          `${tasks.length}, the longest ${Math.round(Math.max(0, ...tasks))} ms`)
    )
  })

  it('shows the same as the store without a network, at all places and times', async () => {
    reference = await tour(page, 'world', HERE)
    await device.leave()
    await device.reload(page)
    assert.deepEqual((await field(page, 'list')).map(({ name, state }) => [name, state]), [['World', 'complete']])
    assert.deepEqual(await tour(page, 'world', HERE, { offline: true }), reference)
    assert.deepEqual(await tour(page, 'world', HERE, { offline: true, read: 'only' }), reference)
    await device.comeBack()
  })

  it('requests no tile that is on the device while the network is available', async () => {
    stage.front.forget()
    assert.deepEqual(await tour(page, 'world', HERE, { offline: true }), reference)
    assert.equal(stage.front.requests('tile').length, 0)
  })

  it('requests only the changed tiles in a refresh', async () => {
    await stage.load('world', { 4: CHANGED })
    const storeRevisions = await stage.wanted(WORLD)
    const changed = Object.keys(storeRevisions).filter(id => storeRevisions[id][0] !== storedRevisions[id]?.[0])
    assert.equal(changed.length, 200, 'a hundred new heads, and what they were')
    stage.front.forget()
    const { changed: refreshed } = await resultOf(field(page, 'call', 'World', 'refresh'))
    assert.equal(refreshed.tiles, 200)
    assert.deepEqual(stage.asked().sort(), changed.sort())
    const contents = await field(page, 'contents', 'World')
    for (const [id, revision] of Object.entries(storeRevisions)) assert.deepEqual(contents[id], revision, id)
    stage.front.forget()
    assert.deepEqual((await field(page, 'call', 'World', 'refresh')).result.changed, { docs: 0, tiles: 0, bytes: 0 })
    assert.equal(stage.asked().length, 0)
    await device.leave()
    const offlineTour = await tour(page, 'world', { ...HERE, times: [T(4)] }, { offline: true })
    await device.comeBack()
    assert.deepEqual(offlineTour, await tour(page, 'world', { ...HERE, times: [T(4)] }))
  })

  it('gives tiles to another area, which keeps them when the first area is removed', async () => {
    const west = { name: 'West', layer: 'world', bbox: [-179.9, 1, -0.1, 84], zooms: '2-6' }
    stage.front.forget()
    const status = await take(page, west)
    assert.ok(stage.asked().length <= SAMPLED, `${stage.asked().length} documents of tiles over the net`)
    assert.equal(status.state, 'complete')
    const places = /** @type {any} */ ([[40, -90, 5], [60, -120, 6]])
    const storeTour = await tour(page, 'world', { places, times: [T(4)] })
    const databases = (await field(page, 'databases')).length
    const { error, message } = await field(page, 'call', 'World', 'remove')
    assert.equal(error ?? message, undefined)
    assert.equal((await field(page, 'databases')).length, databases - 1)
    await device.leave()
    await device.reload(page)
    assert.deepEqual((await field(page, 'list')).map(({ name, state }) => [name, state]), [['West', 'complete']])
    const contents = await field(page, 'contents', 'West')
    const storeRevisions = await stage.wanted(west)
    for (const [id, revision] of Object.entries(storeRevisions)) assert.deepEqual(contents[id], revision, id)
    assert.deepEqual(await field(page, 'unreadable', 'West'), [])
    assert.deepEqual(await tour(page, 'world', { places, times: [T(4)] }, { offline: true }), storeTour)
    await device.comeBack()
  })

  it('leaves no connection when its store is closed, and no database when it is destroyed', async () => {
    await page.evaluate(() => /** @type {any} */ (window).map.remove())
    await page.evaluate(() => /** @type {any} */ (window).offline.close())
    assert.deepEqual(await field(page, 'connections'), [])
    assert.equal((await page.evaluate(() => /** @type {any} */ (window).see.urls())).open, 0, 'object URLs')
    await device.begin(page)
    await page.evaluate(() => /** @type {any} */ (window).offline.destroy())
    assert.deepEqual(await field(page, 'connections'), [])
    assert.deepEqual(await field(page, 'databases'), [])
  })
})
