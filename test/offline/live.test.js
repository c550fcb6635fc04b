// Tests live areas, which one long poll keeps equal to the store.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { holdRequests, openPolls } from '../client/requests.js'
import { createGate } from '../support/client/front.js'
import { SIDE, box, useShelf } from '../support/offline/shelf.js'
import { isBulk } from '../support/offline/suite.js'
import { square, yearStart } from '../support/tiles.js'

onEachStore('live areas', backend => {
  const shelf = useShelf(backend)
  const west = { name: 'West', layer: 'osm', bbox: box([0, 2], [0, 9]), zooms: 6 }
  const east = { name: 'East', layer: 'osm', bbox: box([5, 9], [0, 9]), zooms: 6 }
  let offline
  let year = 2030
  const polls = () => openPolls(shelf.front)
  /** Loads one column of the western area again. */
  const load = () => {
    const loadYear = ++year
    return shelf.load(yearStart(loadYear), (x, y) => x === 1 ? loadYear * 1000 + y : undefined)
  }
  const newest = area => area.db.get('osm:6:1:0').then(({ time }) => time)

  beforeEach(async () => { offline = await shelf.open() })

  it('download changes with one poll for all areas, and only those of their own tiles', async () => {
    const areas = [await offline.areas.add(west), await offline.areas.add(east)]
    for (const area of areas) {
      await area.download()
      await area.live(true)
    }
    await until(() => polls() === 1 && areas.every(({ state }) => state === 'complete'))
    shelf.front.forget()
    const failures = []
    const touched = []
    offline.on('failure', ({ error }) => failures.push(error))
    offline.on('tiles', ({ area }) => touched.push(area.name))
    const states = new Set()
    offline.on('areas', () => states.add(areas[1].state))
    await until(() => polls() === 0) // the open poll is not counted any more
    await load()
    await until(async () => await newest(areas[0]) === yearStart(year))
    await until(() => areas[0].state === 'complete' && polls() === 1)
    assert.equal(shelf.asked().length, SIDE)
    assert.deepEqual([failures, new Set(touched), states], [[], new Set(['West']), new Set(['complete'])])
    assert.equal(shelf.front.requests().filter(isBulk)
      .every(({ body }) => body.docs.every(({ id }) => !id.startsWith('osm:6:5'))), true)
  })

  it('continue after a restart with the changes since, until live is set to false', async () => {
    const area = await offline.areas.add(west)
    await area.download()
    await area.live()
    await offline.close()
    await load()
    offline = await shelf.open()
    const reopenedArea = offline.areas.get('West')
    assert.equal(reopenedArea.status().live, true)
    await until(async () => await newest(reopenedArea) === yearStart(year))
    await until(() => reopenedArea.state === 'complete')
    await reopenedArea.live(false)
    await until(() => polls() === 0)
    await load()
    assert.equal(reopenedArea.status().live, false)
    assert.notEqual(await newest(reopenedArea), yearStart(year))
  })

  it('report once that the store is away, and continue when it is back', async () => {
    const area = await offline.areas.add(west)
    await area.download()
    const onlineStates = []
    offline.on('online', ({ online }) => onlineStates.push(online))
    const { updated } = area.status()
    await area.live(true)
    await until(() => polls() === 1 && area.status().updated !== updated) // it has fetched missed changes
    await shelf.front.stop()
    await until(() => onlineStates.at(-1) === false)
    await load()
    await shelf.front.restart()
    await until(async () => await newest(area) === yearStart(year), { timeout: 20000 })
    await until(() => onlineStates.at(-1) === true)
    assert.deepEqual(onlineStates.filter(online => !online), [false])
    await until(() => area.state === 'complete')
  })

  it('stay online when their poll breaks and the store has answered since it began', async () => {
    const area = await offline.areas.add(west)
    await area.download()
    const onlineStates = []
    offline.on('online', ({ online }) => onlineStates.push(online))
    const { opened, open } = createGate()
    let brokenPolls = 0
    shelf.front.rule(async ({ path }) => {
      if (!/longpoll/.test(path) || brokenPolls++) return undefined
      await opened
      return { cut: 1 }
    })
    await area.live(true)
    await until(() => brokenPolls === 1)
    await area.estimate()
    open()
    await until(() => brokenPolls > 1)
    assert.deepEqual(onlineStates.filter(online => !online), [])
  })

  it('are refreshed after the refresh of another area during which they became live', async () => {
    const loadOther = loadYear =>
      shelf.store.write(square({ layer: 'other', time: yearStart(loadYear), z: 6, side: 3, seed: () => loadYear }))
    await shelf.store.defineLayer('other', { minzoom: 6, maxzoom: 6 })
    await loadOther(2024)
    const area = await offline.areas.add(west)
    const other = await offline.areas.add({ ...west, name: 'Other', layer: 'other' })
    await area.download()
    await other.download()
    await loadOther(2025)
    await area.live(true)
    await until(() => polls() === 1 && area.state === 'complete')
    const hold = holdRequests(shelf.front, isBulk)
    await load()
    await hold.reached()
    shelf.front.forget()
    await other.live(true)
    await until(() => polls() === 1) // it follows both layers
    hold.open()
    await until(() => other.db.get('other:6:1:0').then(({ time }) => time === yearStart(2025)))
    assert.equal(await newest(area), yearStart(year))
  })

  it('download nothing by themselves before their first download', async () => {
    const area = await offline.areas.add(west)
    await area.live(true)
    await until(() => polls() === 1)
    await load()
    await until(() => shelf.front.requests('changes').length > 2)
    assert.deepEqual([area.state, shelf.asked()], ['new', []])
  })
}, { timeout: 30000 })
