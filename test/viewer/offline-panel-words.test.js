// Tests the texts and calculations of the panel of areas, and the addresses of its images, without a browser.
import assert from 'node:assert/strict'
import { DeviceStore } from '../../attachments/device.js'
import { boxOf, cornersOf, outlinesOf, polygonOf } from '../../attachments/offline/geometry.js'
import { Estimator } from '../../attachments/offline/estimate.js'
import { actionOf, figuresOf, shareOf, stateWords } from '../../attachments/offline/area-item.js'
import { freeName, freshness, isStopped, pastWords, problem } from '../../attachments/offline/words.js'
import { until } from '../../bench/wait.js'
import { TilecouchError } from '../../core/index.js'

const MINUTE = 60000
const DAY = 1440 * MINUTE
const NOW = Date.parse('2024-06-20T12:00:00Z')
const TILE = { z: 3, x: 4, y: 5 }
const version = rev => ({ _id: 'steps:3:4:5', _rev: rev })
const timeAgo = ms => new Date(NOW - ms).toISOString()

describe('words of the panel of areas', () => {
  it('say how fresh an area is', () => {
    assert.equal(freshness({ updated: timeAgo(5 * MINUTE) }, NOW), 'Up to date 5 minutes ago')
    assert.equal(freshness({ updated: timeAgo(14 * DAY) }, NOW), '14 days old')
    assert.equal(freshness({ updated: timeAgo(MINUTE), live: true }, NOW), 'Kept up to date')
    assert.equal(freshness({ updated: timeAgo(2 * DAY), live: true }, NOW), '2 days old, follows the store when it can')
    assert.equal(freshness({ updated: timeAgo(-MINUTE) }, NOW), 'Up to date just now', 'a clock that was put back')
  })

  it('say how much of the past an area has, and since which day', () => {
    assert.equal(pastWords(false), '')
    assert.equal(pastWords(true), 'with all its past')
    for (const since of ['2023-11-29', '2023-11-29T00:00:00Z']) {
      assert.match(pastWords(since), /^with its past since (29 Nov|Nov 29,) 2023$/)
    }
  })

  it('name each state and the action for it', () => {
    for (const [state, ...words] of /** @type {[any, ...string[]][]} */ ([
      [{ state: 'new' }, 'Not downloaded yet', 'Download', 'download'],
      [{ state: 'downloading' }, 'Downloading …', 'Pause', 'pause'],
      [{ state: 'downloading', updated: timeAgo(0) }, 'Refreshing …', 'Pause', 'pause'],
      [{ state: 'paused' }, 'Paused', 'Go on', 'download'],
      [{ state: 'incomplete', failed: 3 }, '3 tiles failed', 'Try again', 'download'],
      [{ state: 'incomplete', failed: 0 }, 'Not complete', 'Go on', 'download'],
      [{ state: 'removing' }, 'Removing …']
    ])) assert.deepEqual([stateWords(state), ...actionOf(state)], words)
  })

  it('say how far a download is, without figures that are not known', () => {
    const total = { tiles: 1234, versions: 1234, bytes: 12000000 }
    const status = { state: 'downloading', tiles: 617, bytes: 6000000, total, rate: 1200000, remaining: 5 }
    assert.equal(figuresOf(status), '617 of 1,234 tiles · 6.0 MB of 12.0 MB · 1.2 MB/s · a few seconds left')
    assert.equal(shareOf(status), 0.5)
    assert.equal(figuresOf({ ...status, state: 'paused' }), '617 of 1,234 tiles · 6.0 MB of 12.0 MB')
    assert.equal(figuresOf({ ...status, total: undefined }), '')
    assert.equal(shareOf({ ...status, total: undefined }), undefined)
    assert.equal(figuresOf({ ...status, rate: undefined, remaining: Infinity }),
      '617 of 1,234 tiles · 6.0 MB of 12.0 MB')
    assert.equal(shareOf({ ...status, bytes: 13000000 }), 1, 'never beyond its end')
  })

  it('say every error in plain words', () => {
    for (
      const code of ['QUOTA_EXCEEDED', 'UNREACHABLE', 'OFFLINE_FORBIDDEN',
        'INDEX_MISSING', 'LAYER_NOT_FOUND', 'AREA_EXISTS', 'BAD_BBOX',
        'BAD_AREA', 'BAD_ZOOM', 'NO_POUCHDB', 'UNAUTHORIZED', 'FORBIDDEN', 'DATABASE_NOT_FOUND']
    ) {
      const words = problem(new TilecouchError(code, { layer: 'osm', url: 'http://x', why: 'y' }))
      assert.match(words, /^[A-Z].*\.$/, code)
      assert.doesNotMatch(words, /undefined|did not work/, code)
    }
    assert.match(problem(new TilecouchError('QUOTA_EXCEEDED', { needed: 40e6, free: 12e6 })),
      /needs 40\.0 MB, and 12\.0 MB are free/)
    assert.match(problem(new TilecouchError('OFFLINE_FORBIDDEN', { layer: 'osm', host: 'tile.example' })),
      /tile\.example, whose terms forbid it/)
    assert.match(problem({ code: 'QUOTA_EXCEEDED' }), /no room left/, 'as it stands in a status, without details')
    assert.equal(problem(new Error('x'.repeat(300))).length, 'This did not work: .'.length + 200)
    assert.ok(isStopped(new TilecouchError('ABORTED')) && isStopped(new DOMException('', 'AbortError')) &&
      !isStopped(new Error('x')))
  })

  it('propose a name that no other area has', () => {
    assert.equal(freeName('Harbour', []), 'Harbour')
    assert.equal(freeName('Harbour', ['Harbour', 'Harbour 2']), 'Harbour 3')
  })
})

describe('shapes of areas', () => {
  it('are the same box in every copy of the world', () => {
    const box = (west, east) => boxOf([{ lat: 10, lng: west }, { lat: -10, lng: east }])
    assert.deepEqual(box(5, 15), [5, -10, 15, 10])
    assert.deepEqual(box(365, 375), [5, -10, 15, 10])
    assert.deepEqual(box(170, 190), [170, -10, -170, 10], 'over the antimeridian')
    assert.deepEqual(box(100, 180), [100, -10, 180, 10])
    assert.deepEqual(box(-180, 180), [-180, -10, 180, 10])
    assert.deepEqual(box(-300, 300), [-180, -10, 180, 10])
    assert.deepEqual(boxOf([{ lat: 89, lng: 0 }, { lat: -89, lng: 1 }]),
      [0, -85.05113, 1, 85.05113], 'beyond there are no tiles')
  })

  it('keep their corners when they are converted to boxes, polygons and outlines', () => {
    assert.deepEqual(boxOf(cornersOf([170, -10, -170, 10])), [170, -10, -170, 10])
    const { type, coordinates } = polygonOf([{ lat: 0, lng: 370 }, { lat: 10, lng: 375 }, { lat: 5, lng: 380 }])
    assert.equal(type, 'Polygon')
    assert.deepEqual(coordinates, [[[10, 0], [15, 10], [20, 5], [10, 0]]])
    assert.deepEqual(outlinesOf({ polygon: { type, coordinates } })[0][0].slice(0, 3), [[0, 10], [10, 15], [5, 20]])
    assert.deepEqual(outlinesOf({ bbox: [5, -10, 15, 10] }), [[[[10, 5], [10, 15], [-10, 15], [-10, 5]]]])
  })
})

describe('an estimate for an area that changes', () => {
  it('is requested after a pause, and only the last answer counts', async () => {
    const requests = []
    const results = []
    const resolvers = {}
    const estimator = new Estimator((spec, { signal }) => new Promise(resolve => {
      requests.push([spec, signal])
      resolvers[spec] = resolve
    }), answer => results.push(answer))
    estimator.follow('a')
    estimator.follow('b')
    await until(() => requests.length === 1, { what: 'the question' })
    estimator.follow('c')
    assert.equal(requests[0][1].aborted, true, 'nobody wants to know any more')
    await until(() => requests.length === 2, { what: 'the next question' })
    resolvers.c(3)
    resolvers.b(2)
    await until(() => results.length, { what: 'the answer' })
    assert.deepEqual(results, [{ answer: 3 }])
    assert.deepEqual(requests.map(([spec]) => spec), ['b', 'c'])
  })
})

describe('addresses of images on the device', () => {
  const { createObjectURL, revokeObjectURL } = URL
  let blobs, revoked
  beforeEach(() => {
    blobs = []
    revoked = []
    URL.createObjectURL = blob => {
      blobs.push(blob)
      return `blob:${blobs.length}`
    }
    URL.revokeObjectURL = url => { revoked.push(url) }
  })
  afterEach(() => Object.assign(URL, { createObjectURL, revokeObjectURL }))

  it('lead to the newest image after a refresh', async () => {
    let rev = '1-a'
    const device = { head: async () => ({ blob: new Blob([rev]), version: { rev } }) }
    const store = new DeviceStore({ device })
    const first = await store.newestUrl('steps', TILE)
    assert.equal(await store.newestUrl('steps', TILE), first, 'the same image has one address')
    rev = '2-b'
    const second = await store.newestUrl('steps', TILE)
    assert.notEqual(second, first)
    assert.deepEqual(await Promise.all(blobs.map(blob => blob.text())), ['1-a', '2-b'])
  })

  it('are created once for concurrent readers', async () => {
    const device =
      { tile: async () => new Blob(['x']), head: async () => ({ blob: new Blob(['x']), version: { rev: '1-a' } }) }
    const store = new DeviceStore({ device })
    const urls = await Promise.all([
      store.tileUrl(version('1-a')), store.tileUrl(version('1-a')),
      store.newestUrl('steps', TILE), store.newestUrl('steps', TILE)
    ])
    assert.deepEqual([new Set(urls).size, blobs.length], [1, 1], 'no address that nobody revokes')
  })

  it('are looked up again after the image was missing or its reading failed', async () => {
    const answers = [undefined, new Error('closed'), new Blob(['x'])]
    const device = { tile: async () => {
      const answer = answers.shift()
      if (answer instanceof Error) throw answer
      return answer
    } }
    const store = new DeviceStore({ device })
    assert.equal(await store.tileUrl(version('1-a')), undefined)
    await assert.rejects(store.tileUrl(version('1-a')), /closed/)
    assert.equal(await store.tileUrl(version('1-a')), 'blob:1')
  })

  it('are revoked when there are more than 500, the least recently used first', async () => {
    const store = new DeviceStore({ device: { tile: async () => new Blob(['x']) } })
    const urls = []
    for (let index = 0; index < 500; index++) urls.push(await store.tileUrl(version(`1-${index}`)))
    await store.tileUrl(version('1-0')) // it was used last
    for (let index = 500; index < 502; index++) await store.tileUrl(version(`1-${index}`))
    assert.deepEqual(revoked, [urls[1], urls[2]])
  })
})
