/* global window -- of the page, in functions that run there */
// Tests several tabs of one device: one tab downloads, all show its progress, and another one continues when it is
// closed.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { holdRequests, openPolls } from '../client/requests.js'
import { T } from '../support/offline/world.js'
import { isCarried } from '../support/offline/shelf.js'
import { field, onField, take } from '../support/offline/suite.js'
import { PLAIN, WORLD_BOX, completed } from './areas.js'

const AREA = { ...PLAIN, name: 'Field' }
const TILES = 1365
const SMALL = { name: 'Small', layer: 'small', bbox: WORLD_BOX, zooms: '0-3' }

onField('areas in several tabs', ['plain', 'small'], stage => {
  let device, firstTab, secondTab
  beforeEach(async () => {
    device = await stage.device()
    ;[firstTab, secondTab] = [await open(), await open()]
  })

  const requestedIds = () => stage.front.requests().filter(isCarried)
    .flatMap(({ body }) => body.docs.map(({ id }) => id)).filter(id => /^\w+:\d/.test(id))
  /** Opens a tab that requests tiles in many small batches. */
  const open = () => device.open({ limits: { batch: 50, smallBytes: 1, batchMost: 50 } })
  const stateOf = (page, name = 'Field') => field(page, 'list')
    .then(areas => areas.find(area => area.name === name)?.state)
  const waitForState =
    (page, value, name) => until(async () => await stateOf(page, name) === value, { what: `${value} in a tab` })
  const tileCount = page => field(page, 'status', 'Field').then(status => status.tiles)

  /** Downloads in the first tab, holds it after this many requests, and waits until the second tab shows it. */
  async function downloadInFirst (requests) {
    await field(firstTab, 'add', AREA)
    await waitForState(secondTab, 'new')
    const requestHold = holdRequests(stage.front, isCarried, requests)
    await field(firstTab, 'begin', 'Field', 'download')
    await requestHold.reached()
    await waitForState(secondTab, 'downloading')
    return requestHold
  }

  /** Downloads in both tabs. The second tab waits for the first one. */
  async function downloadInBoth (requests) {
    const requestHold = await downloadInFirst(requests)
    await field(secondTab, 'begin', 'Field', 'download')
    await waitForState(secondTab, 'waiting')
    return requestHold
  }

  it('the list of areas is the same in all tabs without a reload', async () => {
    await field(firstTab, 'add', AREA)
    await waitForState(secondTab, 'new')
    assert.equal((await field(secondTab, 'add', AREA)).code, 'AREA_EXISTS')
    const added = await Promise.all([firstTab, secondTab].map(page => field(page, 'add', SMALL)))
    assert.deepEqual(added.map(({ code = 'added' }) => code).sort(), ['AREA_EXISTS', 'added'])
    await field(secondTab, 'call', 'Field', 'rename', 'Meadow')
    await waitForState(firstTab, 'new', 'Meadow')
    await field(secondTab, 'call', 'Meadow', 'live', true)
    await until(async () => (await field(firstTab, 'status', 'Meadow')).live)
    await field(firstTab, 'call', 'Meadow', 'remove')
    await until(async () => (await field(secondTab, 'list')).length === 1)
    assert.equal((await open().then(page => field(page, 'list'))).length, 1)
  })

  it('one tab downloads each tile once, and the others show its progress', async () => {
    const requestHold = await downloadInBoth(3)
    await until(async () => await tileCount(secondTab) > 0 && await tileCount(secondTab) === await tileCount(firstTab))
    const lateTab = await open()
    await waitForState(lateTab, 'downloading')
    assert.ok((await field(lateTab, 'status', 'Field')).total.tiles === TILES)
    requestHold.open()
    const ends = await Promise.all([firstTab, secondTab].map(page => field(page, 'ended', 'Field')))
    assert.deepEqual(ends.map(({ result }) => [result?.state, result?.tiles]), Array(2).fill(['complete', TILES]))
    for (const page of [firstTab, secondTab, lateTab]) await waitForState(page, 'complete')
    const ids = requestedIds()
    assert.deepEqual([ids.length, new Set(ids).size], [TILES, TILES])
    assert.deepEqual((await field(secondTab, 'unreadable', 'Field')), [])
  })

  it('a waiting tab continues the download of a tab that is closed', async () => {
    const requestHold = await downloadInBoth(4)
    const before = await until(() => tileCount(secondTab))
    await firstTab.close()
    requestHold.open()
    assert.equal((await completed(field(secondTab, 'ended', 'Field'))).tiles, TILES)
    assert.ok(before >= 20 && requestedIds().length < 2 * TILES - before)
    assert.deepEqual(await field(secondTab, 'contents', 'Field').then(
      contents => Object.fromEntries(Object.entries(contents).filter(([id]) => /^plain:\d/.test(id)))
    ), await stage.wanted(AREA))
  })

  it('an area is incomplete when its downloading tab is closed, and a new tab continues it', async () => {
    const requestHold = await downloadInFirst(4)
    await firstTab.close({ runBeforeUnload: false })
    await waitForState(secondTab, 'incomplete')
    requestHold.open()
    const newTab = await open()
    assert.equal(await stateOf(newTab), 'incomplete')
    stage.front.forget()
    assert.equal((await completed(field(newTab, 'call', 'Field', 'download'))).tiles, TILES)
    await waitForState(secondTab, 'complete')
    assert.ok(requestedIds().length < TILES, 'not from the beginning')
  })

  it('any tab can pause or remove an area that another tab downloads', async () => {
    const requestHold = await downloadInFirst(2)
    await field(secondTab, 'call', 'Field', 'pause')
    assert.equal((await field(firstTab, 'ended', 'Field')).code, 'ABORTED')
    assert.deepEqual([await stateOf(firstTab), await stateOf(secondTab)], ['paused', 'paused'])
    await field(firstTab, 'begin', 'Field', 'download')
    await waitForState(secondTab, 'downloading')
    await field(secondTab, 'call', 'Field', 'remove')
    assert.equal((await field(firstTab, 'ended', 'Field')).code, 'ABORTED')
    requestHold.open()
    await until(async () => (await field(firstTab, 'list')).length === 0)
    assert.deepEqual((await field(secondTab, 'databases')).filter(name => /-[0-9a-f]{8}$/.test(name)), [])
    assert.deepEqual((await field(firstTab, 'connections')).filter(name => /-[0-9a-f]{8}$/.test(name)), [])
    const { result } = await field(firstTab, 'add', AREA).then(() => field(firstTab, 'call', 'Field', 'download'))
    assert.equal(result?.tiles, TILES)
  })

  it('one tab follows the store for all, and another takes over when it is closed', async () => {
    await take(firstTab, SMALL)
    await field(firstTab, 'call', 'Small', 'live', true)
    await until(async () => (await field(secondTab, 'status', 'Small')).live)
    await until(() => openPolls(stage.front) === 1)
    const time = page =>
      page.evaluate(() => /** @type {any} */ (window).field.get('Small').db.get('small:2:1:1').then(doc => doc.time))
    await stage.load('small', { 5: [[2, 1, 1]] })
    await until(async () => await time(secondTab) === T(5))
    await until(() => openPolls(stage.front) === 1)
    assert.ok((await field(secondTab, 'events')).some(({ type, layer }) => type === 'tiles' && layer === 'small'))
    await firstTab.close()
    await until(() => openPolls(stage.front) === 1)
    await stage.load('small', { 6: [[2, 1, 1]] })
    await until(async () => await time(secondTab) === T(6))
    assert.deepEqual((await field(secondTab, 'events')).filter(({ type }) => type === 'failure'), [])
  })
})
