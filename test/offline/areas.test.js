// Tests areas of a device: their list and states, calls that run at the same time, and layers that forbid offline use.
import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { until } from '../../bench/wait.js'
import { TilecouchError } from '../../client/offline/index.js'
import { holdRequests } from '../client/requests.js'
import { onEachStore, request } from '../support/backends.js'
import { SIDE, box, isCarried, outcome, useShelf } from '../support/offline/shelf.js'

const HALF = { name: 'Half', layer: 'osm', bbox: box([0, 5], [0, 9]), zooms: 6 }
const OSM = { url: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png' }
const OTHER = { name: 'Other', layer: 'osm', bbox: box([4, 9], [0, 9]), zooms: 6 }

onEachStore('areas of a device', backend => {
  const shelf = useShelf(backend)
  let offline
  beforeEach(async () => { offline = await shelf.open() })

  const limits = { batch: 5, smallBytes: 1, batchMost: 5 }

  it('have a name, survive a restart, and have the zooms of their layer by default', async () => {
    const area =
      await offline.areas.add({ name: ' Half ', layer: 'osm', bbox: HALF.bbox.join(), history: { since: '2024' } })
    assert.match(area.id, /^[0-9a-f]{8}$/)
    assert.deepEqual(area.spec,
      { layer: 'osm', bbox: HALF.bbox, zooms: { min: 6, max: 6 }, history: { since: '2024-01-01T00:00:00Z' } })
    assert.deepEqual([area.name, area.state, area.hasHistory, area.isComplete],
      ['Half', 'new', '2024-01-01T00:00:00Z', false])
    assert.deepEqual([area.holds(6, 5, 9), area.holds(6, 6, 9), area.holds(5, 0, 0)], [true, false, false])
    await offline.close()
    const reopened = await shelf.open()
    assert.deepEqual(reopened.areas.list().map(({ id, name, spec }) => [id, name, spec]),
      [[area.id, 'Half', area.spec]])
    assert.equal(reopened.areas.get('Half'), reopened.areas.get(area.id))
  })

  it('are refused with a code and not stored when a field is bad', async () => {
    await offline.areas.add(HALF)
    for (const [fields, code] of [
      [{ name: 'Half' }, 'AREA_EXISTS'], [{ name: '  ' }, 'BAD_OPTION'],
      [{ layer: 'Osm' }, 'BAD_LAYER'], [{ layer: 'nothing' }, 'LAYER_NOT_FOUND'],
      [{ bbox: [1, 2, 3] }, 'BAD_BBOX'], [{ bbox: undefined }, 'BAD_AREA'],
      [{ bounds: [[0, 0], [1, 1]] }, 'BAD_AREA'], [{ zooms: '9-3' }, 'BAD_ZOOM'],
      [{ history: 'all' }, 'BAD_OPTION'], [{ history: { since: 'then' } }, 'BAD_TIME']
    ]) assert.equal(await outcome(offline.areas.add({ ...HALF, name: 'New', ...fields })), code, JSON.stringify(fields))
    assert.equal(offline.areas.list().length, 1)
  })

  it('download exactly what they estimated, report progress, and stay complete when a refresh fails', async () => {
    const area = await offline.areas.add({ ...HALF, history: true })
    const estimate = await area.estimate()
    const events = []
    offline.on('areas progress tiles', ({ type, status }) => events.push(status ? [type, status.tiles] : type))
    const status = await area.download()
    const { state, failed, live, tiles, versions, bytes } = status
    assert.deepEqual([state, failed, live, tiles, versions], ['complete', 0, false, 60, 120])
    assert.deepEqual([tiles, versions, bytes], [estimate.tiles, estimate.versions, estimate.bytes])
    assert.ok(Date.now() - Date.parse(status.updated) < 20000)
    assert.equal(events.filter(type => type === 'areas').length, 2, 'downloading, complete')
    assert.ok(events.some(([type, count]) => type === 'progress' && count === 60) && events.includes('tiles'))

    shelf.front.rule(() => ({ status: 503, body: '{}' }))
    const error = await area.refresh().then(() => undefined, reason => reason)
    assert.equal(error.code, 'COUCHDB_ERROR')
    const { state: laterState, tiles: remainingTiles, error: code, reason } = area.status()
    assert.deepEqual([laterState, remainingTiles, code, reason], ['complete', 60, 'COUCHDB_ERROR', error.message])
    shelf.front.reset()
    assert.equal((await area.refresh()).error, undefined)
  })

  it('continue a download when one of two callers aborts, and stop when both have', async () => {
    const area = await offline.areas.add(HALF)
    const requestHold = holdRequests(shelf.front, isCarried)
    const [firstController, secondController] = [new AbortController(), new AbortController()]
    const first = outcome(area.download({ signal: firstController.signal }))
    const second = outcome(area.refresh({ signal: secondController.signal }))
    await requestHold.reached()
    firstController.abort()
    assert.equal(await first, 'ABORTED')
    assert.equal(area.state, 'downloading')
    secondController.abort()
    assert.equal(await second, 'ABORTED')
    await until(() => area.state === 'incomplete')
    requestHold.open()
    assert.equal((await area.download()).state, 'complete')
  })

  it('can be paused, also across a restart, and continue with the missing tiles', async () => {
    await offline.close()
    offline = await shelf.open({ limits })
    const area = await offline.areas.add(HALF)
    const running = outcome(area.download())
    await until(() => area.status().tiles >= 20, { every: 1 })
    await area.pause()
    assert.equal(await running, 'ABORTED')
    const { state, tiles } = area.status()
    assert.ok(state === 'paused' && tiles >= 20 && tiles < 60, `${state} at ${tiles}`)
    await offline.close()
    offline = await shelf.open()
    assert.equal(offline.areas.get('Half').state, 'paused')
    shelf.front.forget()
    assert.deepEqual((({ state: finalState, tiles: finalTiles }) => [finalState, finalTiles])(
      await offline.areas.get('Half').download()), ['complete', 60])
    const requestedIds = shelf.asked()
    assert.ok(requestedIds.length <= 60 - tiles, `${requestedIds.length} asked for after ${tiles}`)
  })

  it('can be paused while their tiles are counted', async () => {
    const area = await offline.areas.add(HALF)
    const counting = holdRequests(shelf.front, ({ kind }) => kind === 'index')
    const running = outcome(area.download())
    await counting.reached()
    await area.pause()
    assert.deepEqual([await running, area.state], ['ABORTED', 'paused'])
    counting.open()
    assert.equal((await area.download()).state, 'complete')
  })

  it('can be removed during a download, which ends with ABORTED for all callers', async () => {
    const area = await offline.areas.add(HALF)
    const requestHold = holdRequests(shelf.front, isCarried)
    const calls = [area.download(), area.refresh()].map(outcome)
    await requestHold.reached()
    const folder = shelf.path(`field-${area.id}`)
    assert.ok(existsSync(folder))
    const removals = [area.remove(), area.remove()]
    assert.equal(area.state, 'removing')
    assert.equal(await outcome(area.download()), 'AREA_NOT_FOUND')
    await Promise.all(removals)
    assert.deepEqual(await Promise.all(calls), ['ABORTED', 'ABORTED'])
    requestHold.open()
    assert.deepEqual([offline.areas.list(), existsSync(folder), area.state], [[], false, 'removing'])
    for (const verb of ['download', 'refresh', 'estimate', 'pause', 'live', 'rename']) {
      assert.equal(await outcome(area[verb]('x')), 'AREA_NOT_FOUND', verb)
    }
    assert.equal(await area.remove(), undefined)
    await offline.areas.add(HALF) // the name is free again
  })

  it('end every call with ABORTED when the store is closed', async () => {
    const area = await offline.areas.add(HALF)
    const requestHold = holdRequests(shelf.front, isCarried)
    const layerHold = holdRequests(shelf.front, ({ kind }) => kind === 'layer' && area.state === 'downloading')
    const calls = [area.download(), area.refresh()].map(outcome)
    await layerHold.reached()
    calls.push(outcome(offline.areas.add({ ...OTHER })), outcome(offline.areas.estimate(OTHER)))
    await offline.close()
    assert.deepEqual(await Promise.all(calls), Array(4).fill('ABORTED'))
    layerHold.open()
    requestHold.open()
    assert.equal(await outcome(area.download()), 'ABORTED')
    assert.equal(await outcome(offline.areas.add(OTHER)), 'ABORTED')
    assert.deepEqual([offline.databases('osm'), await offline.close()], [[], undefined])
    const reopened = await shelf.open()
    assert.equal((await reopened.areas.get('Half').download()).tiles, 60)
  })

  it('download each tile once for several callers, copy it for another area, and keep it for that one', async () => {
    const [half, other] = [await offline.areas.add(HALF), await offline.areas.add(OTHER)]
    const statuses = await Promise.all([half.download(), half.download(), half.refresh()])
    assert.deepEqual(statuses.map(({ state, tiles }) => [state, tiles]), Array(3).fill(['complete', 60]))
    assert.equal(shelf.asked().length, 60)
    shelf.front.forget()
    await other.download()
    assert.deepEqual(shelf.asked().length, 4 * SIDE, 'what is in both comes from the first')
    await half.remove()
    assert.deepEqual(offline.databases('osm').map(({ area }) => area.name), ['Other'])
    const { rows } = await other.db.allDocs({ startkey: 'osm:6', endkey: 'osm:7' })
    assert.equal(rows.length, 60)
    const { url } = shelf.front
    const image = await other.db.getAttachment('osm:6:4:0', 'tile')
    assert.ok(image.equals(Buffer.from(await (await request(`${url}/osm:6:4:0/tile`)).arrayBuffer())))
    assert.deepEqual((({ changed, state }) => [changed.docs, state])(await other.refresh()), [0, 'complete'])
  })
}, { timeout: 20000 })

onEachStore('layers that forbid offline use', backend => {
  const shelf = useShelf(backend)
  const spec = { name: 'Area', layer: 'osm', bbox: box([0, 3], [0, 3]), zooms: 6 }
  const define =
    fields => shelf.store.defineLayer('osm', stored => ({ ...stored, offline: null, upstream: null, ...fields }))
  const refusal = promise => promise.then(() => undefined, error => {
    assert.ok(error instanceof TilecouchError && error.code === 'OFFLINE_FORBIDDEN', error.stack)
    return error.message
  })
  let offline
  beforeEach(async () => {
    await define({})
    offline = await shelf.open()
  })

  it('are refused by their field offline or the terms of their upstream, with the name', async () => {
    await define({ offline: false })
    assert.equal(await refusal(offline.areas.add(spec)), 'the layer "osm" does not allow offline use')
    assert.equal(await refusal(offline.areas.estimate(spec)), 'the layer "osm" does not allow offline use')
    assert.deepEqual(offline.areas.list(), [])
    await define({ upstream: OSM })
    assert.equal(await refusal(offline.areas.add(spec)),
      'the terms of tile.openstreetmap.org, where the tiles of osm come from, forbid offline use')
    await define({ upstream: { ...OSM, seed: true } })
    assert.equal((await offline.areas.add(spec)).state, 'new')
  })

  it('are downloaded with the option permission, also after a restart', async () => {
    await define({ offline: false, upstream: OSM })
    await offline.areas.add({ ...spec, permission: true })
    await offline.close()
    offline = await shelf.open()
    assert.equal((await offline.areas.get('Area').download()).tiles, 16)
    assert.equal((await offline.areas.get('Area').refresh()).state, 'complete')
  })

  it('are neither refreshed nor downloaded when they forbid it later, but keep their tiles', async () => {
    const area = await offline.areas.add(spec)
    await area.download()
    await define({ offline: false })
    await refusal(area.refresh())
    const { state, tiles, error, reason } = area.status()
    assert.deepEqual([state, tiles, error, reason],
      ['complete', 16, 'OFFLINE_FORBIDDEN', 'the layer "osm" does not allow offline use'])
    await define({})
    const other = await offline.areas.add({ ...spec, name: 'Other' })
    await define({ upstream: OSM })
    await refusal(other.download())
    assert.equal(other.state, 'new')
    await define({})
    assert.equal((await other.download()).error, undefined)
  })
}, { timeout: 20000 })
