/* global window -- of the page, in functions that run there */
// Several tabs of one device: one transfers, all know, and what one leaves another takes up.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { gate } from '../support/client/front.js'
import { T } from '../support/offline/world.js'
import { isCarried } from '../support/offline/shelf.js'
import { field, onField, take } from '../support/offline/suite.js'

const AREA = { name: 'Field', layer: 'plain', bbox: [-180, -85, 180, 85], zooms: '0-5' }
const TILES = 1365
const SMALL = { name: 'Small', layer: 'small', bbox: [-180, -85, 180, 85], zooms: '0-3' }

onField('areas in several tabs', ['plain', 'small'], stage => {
  let device, one, two
  beforeEach(async () => {
    device = await stage.device()
    ;[one, two] = [await open(), await open()]
  })

  const asked = () => stage.front.requests().filter(isCarried)
    .flatMap(({ body }) => body.docs.map(({ id }) => id)).filter(id => /^\w+:\d/.test(id))
  /** A tab that asks for tiles in many small lots. */
  const open = () => device.open({ limits: { batch: 50, smallBytes: 1, batchMost: 50 } })
  const state = (page, name = 'Field') => field(page, 'list')
    .then(areas => areas.find(area => area.name === name)?.state)
  const stateIs =
    (page, wanted, name) => until(async () => await state(page, name) === wanted, { what: `${wanted} in a tab` })
  const tiles = page => field(page, 'status', 'Field').then(status => status.tiles)
  /** Holds back tiles after so many requests for them. */
  const hold = (after = 0) => {
    const held = gate()
    let count = 0
    const off = stage.front.rule(entry => isCarried(entry) && ++count > after ? held.opened : undefined)
    return { open: () => { off(); held.open() }, reached: () => until(() => count > after) }
  }

  /** The first tab downloads until it made so many requests, and the second knows. */
  async function oneDownloads (requests) {
    await field(one, 'add', AREA)
    await stateIs(two, 'new')
    const held = hold(requests)
    await field(one, 'begin', 'Field', 'download')
    await held.reached()
    await stateIs(two, 'downloading')
    return held
  }

  /** The second tab waits for the first one. */
  async function bothDownload (requests) {
    const held = await oneDownloads(requests)
    await field(two, 'begin', 'Field', 'download')
    await stateIs(two, 'waiting')
    return held
  }

  it('the list of areas is the same in all tabs without a reload', async () => {
    await field(one, 'add', AREA)
    await stateIs(two, 'new')
    assert.equal((await field(two, 'add', AREA)).code, 'AREA_EXISTS')
    const added = await Promise.all([one, two].map(page => field(page, 'add', SMALL)))
    assert.deepEqual(added.map(({ code = 'added' }) => code).sort(), ['AREA_EXISTS', 'added'])
    await field(two, 'call', 'Field', 'rename', 'Meadow')
    await stateIs(one, 'new', 'Meadow')
    await field(two, 'call', 'Meadow', 'live', true)
    await until(async () => (await field(one, 'status', 'Meadow')).live)
    await field(one, 'call', 'Meadow', 'remove')
    await until(async () => (await field(two, 'list')).length === 1)
    assert.equal((await open().then(page => field(page, 'list'))).length, 1)
  })

  it('one tab downloads each tile once, and the others show its progress', async () => {
    const held = await bothDownload(3)
    await until(async () => await tiles(two) > 0 && await tiles(two) === await tiles(one))
    const late = await open()
    await stateIs(late, 'downloading')
    assert.ok((await field(late, 'status', 'Field')).total.tiles === TILES)
    held.open()
    const ends = await Promise.all([one, two].map(page => field(page, 'ended', 'Field')))
    assert.deepEqual(ends.map(({ result }) => [result?.state, result?.tiles]), Array(2).fill(['complete', TILES]))
    for (const page of [one, two, late]) await stateIs(page, 'complete')
    const ids = asked()
    assert.deepEqual([ids.length, new Set(ids).size], [TILES, TILES])
    assert.deepEqual((await field(two, 'unreadable', 'Field')), [])
  })

  it('a waiting tab continues the download of a tab that is closed', async () => {
    const held = await bothDownload(4)
    const before = await until(() => tiles(two))
    await one.close()
    held.open()
    const { result } = await field(two, 'ended', 'Field')
    assert.deepEqual([result?.state, result?.tiles], ['complete', TILES])
    assert.ok(before >= 20 && asked().length < 2 * TILES - before)
    assert.deepEqual(await field(two, 'contents', 'Field').then(
      all => Object.fromEntries(Object.entries(all).filter(([id]) => /^plain:\d/.test(id)))
    ), await stage.wanted(AREA))
  })

  it('an area is incomplete when its downloading tab is closed, and a new tab continues it', async () => {
    const held = await oneDownloads(4)
    await one.close({ runBeforeUnload: false })
    await stateIs(two, 'incomplete')
    held.open()
    const again = await open()
    assert.equal(await state(again), 'incomplete')
    stage.front.forget()
    const { result } = await field(again, 'call', 'Field', 'download')
    assert.deepEqual([result?.state, result?.tiles], ['complete', TILES])
    await stateIs(two, 'complete')
    assert.ok(asked().length < TILES, 'not from the beginning')
  })

  it('any tab can pause or remove an area that another tab downloads', async () => {
    const held = await oneDownloads(2)
    await field(two, 'call', 'Field', 'pause')
    assert.equal((await field(one, 'ended', 'Field')).code, 'ABORTED')
    assert.deepEqual([await state(one), await state(two)], ['paused', 'paused'])
    await field(one, 'begin', 'Field', 'download')
    await stateIs(two, 'downloading')
    await field(two, 'call', 'Field', 'remove')
    assert.equal((await field(one, 'ended', 'Field')).code, 'ABORTED')
    held.open()
    await until(async () => (await field(one, 'list')).length === 0)
    assert.deepEqual((await field(two, 'databases')).filter(name => /-[0-9a-f]{8}$/.test(name)), [])
    assert.deepEqual((await field(one, 'connections')).filter(name => /-[0-9a-f]{8}$/.test(name)), [])
    const { result } = await field(one, 'add', AREA).then(() => field(one, 'call', 'Field', 'download'))
    assert.equal(result?.tiles, TILES)
  })

  it('one tab follows the store for all, and another takes over when it is closed', async () => {
    await take(one, SMALL)
    await field(one, 'call', 'Small', 'live', true)
    await until(async () => (await field(two, 'status', 'Small')).live)
    const polls = () => stage.front.requests('changes').filter(({ path, done }) => /longpoll/.test(path) && !done)
      .length
    await until(() => polls() === 1)
    const time = page =>
      page.evaluate(() => /** @type {any} */ (window).field.get('Small').db.get('small:2:1:1').then(doc => doc.time))
    await stage.load('small', { 5: [[2, 1, 1]] })
    await until(async () => await time(two) === T(5))
    await until(() => polls() === 1)
    assert.ok((await field(two, 'events')).some(({ type, layer }) => type === 'tiles' && layer === 'small'))
    await one.close()
    await until(() => polls() === 1)
    await stage.load('small', { 6: [[2, 1, 1]] })
    await until(async () => await time(two) === T(6))
    assert.deepEqual((await field(two, 'events')).filter(({ type }) => type === 'failure'), [])
  })
})
