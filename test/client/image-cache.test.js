// Tests ImageCache with a source whose requests a test answers.
import assert from 'node:assert/strict'
import { engineDefaults } from '../../client/engine/history-engine.js'
import { ImageCache } from '../../client/engine/image-cache.js'
import { TilecouchError } from '../../core/index.js'
import { until } from '../../bench/wait.js'

const version = (x, fields = {}) => ({
  layer: 'a', z: 5, x, y: 0, time: '2024-01-01T00:00:00Z', rev: '1-a',
  bytes: 10, gone: false, current: false, expires: null, ...fields
})
const temporaryError = () => new TilecouchError('COUCHDB_ERROR', { url: 'http://x', status: 503, reason: 'busy' })
const permanentError = () => new TilecouchError('TILE_NOT_FOUND', { id: 'a' })

/** Creates a cache and its source, whose requests a test answers. */
function createCache (options = {}) {
  const requests = []
  const tile = ({ x }, signal, { fresh }) => new Promise((resolve, reject) => {
    const end = settle => value => {
      request.done = true
      settle(value)
    }
    const answer = (size = 10) => end(resolve)(new Blob(['x'.repeat(size)]))
    const request = { x, fresh, done: false, aborted: false, answer, fail: end(reject) }
    signal.addEventListener('abort', () => {
      request.aborted = true
      request.fail(signal.reason)
    })
    requests.push(request)
  })
  const source = { requests, open: () => requests.filter(({ done }) => !done), tile }
  return { source, cache: new ImageCache(source, { ...engineDefaults, ...options }) }
}

const isAborted = error => error.name === 'AbortError'
const turn = () => new Promise(resolve => { setImmediate(resolve) })

describe('the image cache', () => {
  it('fetches a limited number of images at a time, urgent ones first, in the order of the calls', async () => {
    const { source, cache } = createCache({ requests: 2 })
    for (const x of [0, 1, 2, 3]) cache.load(version(x), { urgent: false })
    for (const x of [4, 5]) cache.load(version(x))
    const order = []
    while (source.open().length) {
      assert.ok(source.open().length <= 2)
      order.push(source.open()[0].x)
      source.open()[0].answer()
      await turn()
    }
    assert.deepEqual(order, [0, 1, 4, 5, 2, 3])
  })

  it('requests the image of a version once for all its users', async () => {
    const { source, cache } = createCache()
    const images = Promise.all([cache.load(version(1)), cache.load(version(1), { urgent: false })])
    source.requests[0].answer()
    const [a, b] = await images
    assert.equal(a, b)
    assert.equal(await cache.load(version(1)), a)
    assert.equal(cache.has(version(1)), true)
    assert.equal(source.requests.length, 1)
    cache.load(version(1, { rev: '2-b' }))
    cache.load(version(1, { time: '2024-01-02T00:00:00Z' }))
    cache.load(version(1, { rev: '3-c', content: '1-a' }))
    assert.equal(source.requests.length, 3,
      'another revision or time is another image, unless it is known to be the same')
  })

  it('moves a waiting image to the front when it becomes urgent', async () => {
    const { source, cache } = createCache({ requests: 1 })
    for (const x of [0, 1, 2]) cache.load(version(x), { urgent: false })
    cache.load(version(2))
    source.requests[0].answer()
    await turn()
    assert.equal(source.open()[0].x, 2)
  })

  it('drops a waiting request that all users released, and finishes one that has begun', async () => {
    const { source, cache } = createCache({ requests: 1 })
    const [firstUser, secondUser] = [{}, {}]
    const started = cache.load(version(0), { user: firstUser })
    const waiting = cache.load(version(1), { user: firstUser })
    cache.load(version(2), { user: firstUser })
    cache.load(version(2), { user: secondUser })
    for (const x of [0, 1, 2, 7]) cache.release(version(x), firstUser)
    await assert.rejects(waiting, isAborted)
    source.requests[0].answer()
    await started
    await turn()
    assert.deepEqual(source.requests.map(({ x, aborted }) => [x, aborted]), [[0, false], [2, false]])
    assert.ok(cache.has(version(0)))
  })

  it('aborts a request that is released with abort, unless it has another user', async () => {
    const { source, cache } = createCache()
    const [firstUser, secondUser] = [{}, {}]
    const released = cache.load(version(0), { user: firstUser })
    cache.load(version(1), { user: firstUser })
    cache.load(version(1), { user: secondUser, urgent: false })
    for (const x of [0, 1]) cache.release(version(x), firstUser, { abort: true })
    await assert.rejects(released, isAborted)
    assert.deepEqual(source.requests.map(({ aborted }) => aborted), [true, false])
    cache.load(version(0))
    assert.equal(source.requests.length, 3, 'who comes back asks anew')
  })

  it('repeats a request only after a temporary failure, past the cache, up to its attempts', async () => {
    const { source, cache } = createCache({ attempts: 2, requests: 1 })
    const result = cache.load(version(0))
    const next = cache.load(version(1))
    source.requests[0].fail(temporaryError())
    await turn()
    assert.equal(source.open()[0].x, 1, 'others need not wait for this one')
    source.open()[0].fail(permanentError())
    await assert.rejects(next, { code: 'TILE_NOT_FOUND' })
    await until(() => source.open().length)
    assert.deepEqual(source.requests.map(({ x, fresh }) => [x, fresh]), [[0, false], [1, false], [0, true]])
    source.open()[0].fail(temporaryError())
    await assert.rejects(result, { code: 'COUCHDB_ERROR' })
    await turn()
    assert.equal(source.requests.length, 3)
    cache.load(version(0))
    assert.equal(source.open()[0].fresh, true)
  })

  it('does not repeat a failed request whose image was released', async () => {
    const { source, cache } = createCache()
    const user = {}
    const result = cache.load(version(0), { user })
    source.requests[0].fail(temporaryError())
    await turn()
    cache.release(version(0), user)
    await assert.rejects(result, isAborted)
    cache.load(version(0))
    assert.equal(source.requests.length, 2, 'and whoever comes back does not wait')
  })

  it('keeps images up to cacheSize bytes, and drops the least recently used', async () => {
    const { source, cache } = createCache({ cacheSize: 30 })
    const load = async x => {
      const result = cache.load(version(x))
      source.open()[0]?.answer(10)
      await result
    }
    for (const x of [0, 1, 2]) await load(x)
    await load(0)
    await load(3)
    assert.deepEqual([0, 1, 2, 3].map(x => cache.has(version(x))), [true, false, true, true])
    const large = cache.load(version(9))
    source.open()[0].answer(100)
    assert.equal((await large).size, 100, 'one that is too large is shown and not kept')
    assert.deepEqual([0, 1, 2, 3, 9].map(x => cache.has(version(x))), [false, false, false, false, false])
  })

  it('counts an image once that a dropped request and the next one bring', async () => {
    const answers = []
    const tile = () => new Promise(resolve => { answers.push(() => resolve(new Blob(['x'.repeat(10)]))) })
    const cache = new ImageCache({ tile }, { ...engineDefaults, cacheSize: 30 })
    const user = {}
    const dropped = cache.load(version(0), { user })
    cache.release(version(0), user, { abort: true })
    await assert.rejects(dropped, isAborted)
    const loads = [0, 1, 2].map(x => cache.load(version(x)))
    for (const answer of answers) answer()
    await Promise.all(loads)
    assert.deepEqual([0, 1, 2].map(x => cache.has(version(x))), [true, true, true])
  })

  it('fetches a damaged image again, past the cache', async () => {
    const { source, cache } = createCache()
    const first = cache.load(version(0))
    source.requests[0].answer()
    await first
    cache.forget(version(0))
    cache.forget(version(1))
    assert.equal(cache.has(version(0)), false)
    const second = cache.load(version(0))
    source.requests[1].answer()
    await second
    assert.deepEqual(source.requests.map(({ fresh }) => fresh), [false, true])
  })

  it('reads an image from the device as soon as it is there, unless it is damaged', async () => {
    const requestedColumns = []
    const device = new Map()
    const cache = new ImageCache({
      fromDevice: async ({ x }) => device.get(x),
      fromNetwork: async ({ x }) => {
        requestedColumns.push(x)
        throw new TilecouchError('TILE_NOT_FOUND', { id: `${x}` })
      }
    }, engineDefaults)
    await assert.rejects(cache.load(version(0)))
    device.set(0, new Blob(['image']))
    assert.equal(await cache.load(version(0)), device.get(0))
    cache.forget(version(0))
    await assert.rejects(cache.load(version(0)))
    assert.deepEqual(requestedColumns, [0, 0])
  })
})
