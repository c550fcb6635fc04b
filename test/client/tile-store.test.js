// Tests ImageCache with a source whose requests a test answers.
import assert from 'node:assert/strict'
import { ImageCache } from '../../client/engine/image-cache.js'
import { TilecouchError } from '../../core/index.js'
import { until } from '../../bench/wait.js'

const version = (x, fields = {}) => ({
  layer: 'a', z: 5, x, y: 0, time: '2024-01-01T00:00:00Z', rev: '1-a',
  bytes: 10, gone: false, current: false, expires: null, ...fields
})
const temporaryError = () => new TilecouchError('COUCHDB_ERROR', { url: 'http://x', status: 503, reason: 'busy' })
const permanentError = () => new TilecouchError('TILE_NOT_FOUND', { id: 'a' })

/** Creates a cache, `store`, and its source, `from`, whose requests a test answers. */
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
  const from = { asked: requests, open: () => requests.filter(({ done }) => !done), tile }
  return { from, store: new ImageCache(from, options) }
}

const isAborted = error => error.name === 'AbortError'
const turn = () => new Promise(resolve => { setImmediate(resolve) })

describe('the image cache', () => {
  it('fetches a limited number of images at a time, urgent ones first, in the order of the calls', async () => {
    const { from, store } = createCache({ requests: 2 })
    for (const x of [0, 1, 2, 3]) store.load(version(x), { urgent: false })
    for (const x of [4, 5]) store.load(version(x))
    const order = []
    while (from.open().length) {
      assert.ok(from.open().length <= 2)
      order.push(from.open()[0].x)
      from.open()[0].answer()
      await turn()
    }
    assert.deepEqual(order, [0, 1, 4, 5, 2, 3])
  })

  it('requests the image of a version once for all its users', async () => {
    const { from, store } = createCache()
    const images = Promise.all([store.load(version(1)), store.load(version(1), { urgent: false })])
    from.asked[0].answer()
    const [a, b] = await images
    assert.equal(a, b)
    assert.equal(await store.load(version(1)), a)
    assert.equal(store.has(version(1)), true)
    assert.equal(from.asked.length, 1)
    store.load(version(1, { rev: '2-b' }))
    store.load(version(1, { time: '2024-01-02T00:00:00Z' }))
    store.load(version(1, { rev: '3-c', content: '1-a' }))
    assert.equal(from.asked.length, 3, 'another revision or time is another image, unless it is known to be the same')
  })

  it('moves a waiting image to the front when it becomes urgent', async () => {
    const { from, store } = createCache({ requests: 1 })
    for (const x of [0, 1, 2]) store.load(version(x), { urgent: false })
    store.load(version(2))
    from.asked[0].answer()
    await turn()
    assert.equal(from.open()[0].x, 2)
  })

  it('drops a waiting request that all users released, and finishes one that has begun', async () => {
    const { from, store } = createCache({ requests: 1 })
    const [firstUser, secondUser] = [{}, {}]
    const started = store.load(version(0), { user: firstUser })
    const waiting = store.load(version(1), { user: firstUser })
    store.load(version(2), { user: firstUser })
    store.load(version(2), { user: secondUser })
    for (const x of [0, 1, 2, 7]) store.release(version(x), firstUser)
    await assert.rejects(waiting, isAborted)
    from.asked[0].answer()
    await started
    await turn()
    assert.deepEqual(from.asked.map(({ x, aborted }) => [x, aborted]), [[0, false], [2, false]])
    assert.ok(store.has(version(0)))
  })

  it('aborts a request that is released with abort, unless it has another user', async () => {
    const { from, store } = createCache()
    const [firstUser, secondUser] = [{}, {}]
    const released = store.load(version(0), { user: firstUser })
    store.load(version(1), { user: firstUser })
    store.load(version(1), { user: secondUser, urgent: false })
    for (const x of [0, 1]) store.release(version(x), firstUser, { abort: true })
    await assert.rejects(released, isAborted)
    assert.deepEqual(from.asked.map(({ aborted }) => aborted), [true, false])
    store.load(version(0))
    assert.equal(from.asked.length, 3, 'who comes back asks anew')
  })

  it('repeats a request only after a temporary failure, past the cache, up to its attempts', async () => {
    const { from, store } = createCache({ attempts: 2, requests: 1 })
    const result = store.load(version(0))
    const next = store.load(version(1))
    from.asked[0].fail(temporaryError())
    await turn()
    assert.equal(from.open()[0].x, 1, 'others need not wait for this one')
    from.open()[0].fail(permanentError())
    await assert.rejects(next, { code: 'TILE_NOT_FOUND' })
    await until(() => from.open().length)
    assert.deepEqual(from.asked.map(({ x, fresh }) => [x, fresh]), [[0, false], [1, false], [0, true]])
    from.open()[0].fail(temporaryError())
    await assert.rejects(result, { code: 'COUCHDB_ERROR' })
    await turn()
    assert.equal(from.asked.length, 3)
    store.load(version(0))
    assert.equal(from.open()[0].fresh, true)
  })

  it('does not repeat a failed request whose image was released', async () => {
    const { from, store } = createCache()
    const user = {}
    const result = store.load(version(0), { user })
    from.asked[0].fail(temporaryError())
    await turn()
    store.release(version(0), user)
    await assert.rejects(result, isAborted)
    store.load(version(0))
    assert.equal(from.asked.length, 2, 'and whoever comes back does not wait')
  })

  it('keeps images up to cacheSize bytes, and drops the least recently used', async () => {
    const { from, store } = createCache({ cacheSize: 30 })
    const load = async x => {
      const result = store.load(version(x))
      from.open()[0]?.answer(10)
      await result
    }
    for (const x of [0, 1, 2]) await load(x)
    await load(0)
    await load(3)
    assert.deepEqual([0, 1, 2, 3].map(x => store.has(version(x))), [true, false, true, true])
    const large = store.load(version(9))
    from.open()[0].answer(100)
    assert.equal((await large).size, 100, 'one that is too large is shown and not kept')
    assert.deepEqual([0, 1, 2, 3, 9].map(x => store.has(version(x))), [false, false, false, false, false])
  })

  it('fetches a damaged image again, past the cache', async () => {
    const { from, store } = createCache()
    const first = store.load(version(0))
    from.asked[0].answer()
    await first
    store.forget(version(0))
    store.forget(version(1))
    assert.equal(store.has(version(0)), false)
    const second = store.load(version(0))
    from.asked[1].answer()
    await second
    assert.deepEqual(from.asked.map(({ fresh }) => fresh), [false, true])
  })

  it('reads an image from the device as soon as it is there, unless it is damaged', async () => {
    const requestedColumns = []
    const device = new Map()
    const store = new ImageCache({
      fromDevice: async ({ x }) => device.get(x),
      fromNetwork: async ({ x }) => {
        requestedColumns.push(x)
        throw new TilecouchError('TILE_NOT_FOUND', { id: `${x}` })
      }
    })
    await assert.rejects(store.load(version(0)))
    device.set(0, new Blob(['image']))
    assert.equal(await store.load(version(0)), device.get(0))
    store.forget(version(0))
    await assert.rejects(store.load(version(0)))
    assert.deepEqual(requestedColumns, [0, 0])
  })

  it('aborts all requests when it is closed, and can be used again', async () => {
    const { from, store } = createCache({ requests: 1 })
    const loads = [0, 1].map(x => store.load(version(x)))
    store.close()
    for (const result of loads) await assert.rejects(result, isAborted)
    await turn()
    assert.deepEqual(from.asked.map(({ aborted }) => aborted), [true])
    store.load(version(5))
    assert.equal(from.asked.length, 2)
  })
})
