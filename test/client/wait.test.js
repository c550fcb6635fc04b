// Tests waiting, retries, the health of a store, the feed of a layer, and the options of Leaflet layers.
import assert from 'node:assert/strict'
import { StoreHealth, followLayer } from '../../client/source/follow.js'
import { afterFree, backoff, retry, wait } from '../../client/source/wait.js'
import { leafletOptions, corners } from '../../client/leaflet/layer-options.js'

const failure = code => Object.assign(new Error(code), { code })

describe('waiting', () => {
  it('ends after its time, or rejects with the reason of its aborted signal', async () => {
    await wait(1)
    const stop = new AbortController()
    const waiting = wait(60000, stop.signal)
    stop.abort(new Error('enough'))
    await assert.rejects(waiting, /enough/)
    await assert.rejects(wait(60000, stop.signal), /enough/)
  })

  it('lets a busy page read an answer before the answer counts as late', async () => {
    const order = []
    const lateTask = new Promise(resolve => afterFree(60, () => resolve(order.push('late'))))
    const end = performance.now() + 100
    while (performance.now() < end); // busy
    setImmediate(() => order.push('answer'))
    await lateTask
    assert.deepEqual(order, ['answer', 'late'])
    const stop = afterFree(1, () => order.push('never'))
    stop()
    await wait(60)
    assert.equal(order.length, 2)
  })

  it('doubles with each attempt up to a limit, plus or minus a quarter', () => {
    for (let attempt = 0; attempt < 40; attempt++) {
      const middle = Math.min(30000, 500 * 2 ** attempt)
      for (let round = 0; round < 20; round++) {
        const milliseconds = backoff(attempt)
        assert.ok(milliseconds >= middle * 0.75 && milliseconds <= middle * 1.25)
      }
    }
    assert.ok(backoff(9, { first: 1, longest: 2 }) <= 2.5)
  })

  it('repeats a task until it succeeds, and reports each failure', async () => {
    const reports = []
    let attempts = 0
    const task = async () => { if (attempts++ < 1) throw failure('A'); return 7 }
    const { signal } = new AbortController()
    const options = { signal, onError: ({ code }) => reports.push(code), onDone: () => reports.push('done') }
    assert.equal(await retry(task, options), 7)
    assert.deepEqual(reports, ['A', 'done'])
  })

  it('reports nothing after its signal aborted', async () => {
    const stop = new AbortController()
    const reports = []
    const options = { signal: stop.signal, onError: () => reports.push('error'), onDone: () => reports.push('done') }
    const [working, failing] =
      [retry(async () => { stop.abort() }, options), retry(async () => { await null; throw failure('A') }, options)]
    await assert.rejects(working, { name: 'AbortError' })
    await assert.rejects(failing, { name: 'AbortError' })
    await assert.rejects(retry(async () => reports.push('begun'), options), { name: 'AbortError' })
    assert.deepEqual(reports, [])
  })
})

describe('the health of a store', () => {
  const healthOf = log => new StoreHealth({ onError: ({ code }) => log.push(code), onBack: () => log.push('back') })

  it('is reported once for the same fault of several parts, and is good when all have recovered', () => {
    const reports = []
    const health = healthOf(reports)
    health.ok('index')
    health.fail('index', failure('A'))
    health.fail('tiles', failure('A'))
    health.fail('index', failure('A'))
    assert.equal(health.isGood, false)
    health.ok('index')
    health.ok('index')
    assert.deepEqual(reports, ['A'])
    health.ok('tiles')
    assert.deepEqual(reports, ['A', 'back'])
    assert.equal(health.isGood, true)
    health.fail('index', failure('A'))
    assert.deepEqual(reports, ['A', 'back', 'A'])
  })

  it('is reported again when the fault changes', () => {
    const reports = []
    const health = healthOf(reports)
    health.fail('index', failure('A'))
    health.fail('index', failure('B'))
    health.fail('layer', failure('A'))
    assert.deepEqual(reports, ['A', 'B', 'A'])
  })
})

describe('following a feed', () => {
  it('waits for changes, but asks without waiting after a failure', async () => {
    const stop = new AbortController()
    const reports = []
    const tile = { z: 1, x: 1, y: 1, rev: '1-a', deleted: false }
    const answers = [{ since: '5', tiles: [tile], layer: true }, { since: '6', tiles: [], layer: false },
      failure('UNREACHABLE'), { since: '7', tiles: [], layer: false }, { since: '8', tiles: [tile], layer: false }]
    const source = {
      changes: async (layer, since, signal, options) => {
        reports.push([since, options.wait, options.past])
        const answer = answers.shift()
        if (!answers.length) stop.abort()
        if (answer instanceof Error) throw answer
        return answer
      }
    }
    await followLayer(source, 'a', {
      signal: stop.signal, past: true, onStart: () => reports.push('start'),
      onChanges: ({ tiles }) => reports.push(`${tiles.length} tiles`),
      onError: error => reports.push(error.message), onBack: () => reports.push('back')
    })
    assert.deepEqual(reports, [
      ['now', false, true], 'back', 'start', '1 tiles',
      ['5', true, true], 'back',
      ['6', true, true], 'UNREACHABLE', ['6', false, true], 'back',
      ['7', true, true]
    ], 'and nothing after it was stopped')
  })
})

describe('the options of a layer document', () => {
  it('become options of Leaflet, with the given number of additional zooms', () => {
    assert.deepEqual(leafletOptions({}, 3),
      {
        minZoom: 0, maxNativeZoom: 18, maxZoom: 21, zoomOffset: -0, tileSize: 256,
        bounds: undefined, attribution: undefined
      })
    assert.deepEqual(leafletOptions({ minzoom: 2, maxzoom: 9, tileSize: 512, bounds: [1, 2, 3, 4] }, 0), {
      minZoom: 3, maxNativeZoom: 10, maxZoom: 10, zoomOffset: -1, tileSize: 512,
      bounds: [[2, 1], [4, 3]], attribution: undefined
    })
    assert.equal(leafletOptions({ tileSize: 128 }, 0).minZoom, 0)
  })

  it('have bounds that continue beyond the antimeridian', () => {
    assert.deepEqual(corners([170, -10, -170, 10]), [[-10, 170], [10, 190]])
    assert.deepEqual(corners([-180, -90, 180, 90]), [[-90, -180], [90, 180]])
  })
})
