// Tests the limits of requests to an upstream: concurrency, rate, pauses and the circuit breaker.
import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { TilecouchError } from '../../core/index.js'
import { Limiter } from '../../loader/load/upstream/limiter.js'
import { ExpiringMap } from '../../loader/load/upstream/index.js'
import { until } from '../../bench/wait.js'
import { codeOf, useUpstream } from './support.js'

const tile = x => ({ z: 8, x, y: 3 })
const failure = () => new TilecouchError('UPSTREAM_FAILED', { url: 'http://h', why: 'it answered 500' })

/** Returns a promise with the functions that settle it. */
function deferred () {
  const result = {}
  result.promise = new Promise((resolve, reject) => { Object.assign(result, { resolve, reject }) })
  return result
}

describe('the limits of requests', () => {
  const suite = useUpstream()

  it('allow the set number of requests at once, and all requests are answered', async () => {
    const hold = deferred()
    suite.server.behave({ wait: hold.promise })
    const upstream = suite.open({ concurrency: 3 })
    const answers = Promise.all(Array.from({ length: 20 }, (_, x) => upstream.fetch(tile(x))))
    await until(() => suite.server.inFlight === 3, { what: 'three requests' })
    assert.deepEqual([upstream.state().inFlight, upstream.state().queued], [3, 17])
    hold.resolve()
    assert.ok((await answers).every(({ kind }) => kind === 'tiles'))
    assert.equal(suite.server.mostInFlight, 3)
    assert.deepEqual(upstream.state(),
      { layer: 'osm', host: suite.server.host, circuit: 'closed', inFlight: 0, queued: 0, failures: 0, requests: 20 })
  })

  it('allow the set number of requests in a second, evenly, with an interval between two starts', async () => {
    const upstream = suite.open({ rate: 20, concurrency: 10 })
    await Promise.all(Array.from({ length: 12 }, (_, x) => upstream.fetch(tile(x))))
    const times = suite.server.asked.map(({ at }) => at).sort((a, b) => a - b)
    assert.ok(times[11] - times[0] >= 11 * 50 - 60, `${times[11] - times[0]} ms for 12 requests`)
    // a busy machine delays arrivals, but no interval has more requests than allowed
    for (let first = 0; first + 6 < times.length; first++) {
      assert.ok(times[first + 6] - times[first] > 150, 'never six at once')
    }
    const gate = new Limiter('http://h', { concurrency: 1, rate: 5 })
    const started = []
    await Promise.all([250, 5, 5, 5].map(milliseconds => gate.run(async () => {
      started.push(Date.now())
      await sleep(milliseconds)
    })))
    for (let index = 1; index < started.length; index++) {
      assert.ok(started[index] - started[index - 1] >= 198, `${started.map(time => time - started[0])}`)
    }
  })

  it('refuse requests at once when too many wait', async () => {
    const hold = deferred()
    suite.server.behave({ wait: hold.promise })
    const upstream = suite.open({ concurrency: 2 }, {}, { limits: { queue: 5 } })
    const answers = Array.from({ length: 20 }, (_, x) => codeOf(upstream.fetch(tile(x))))
    assert.equal((await Promise.all(answers.slice(7))).filter(code => code === 'UPSTREAM_BUSY').length, 13)
    hold.resolve()
    assert.deepEqual(await Promise.all(answers.slice(0, 7)), Array(7).fill(undefined))
    assert.equal(suite.server.asked.length, 7)
  })

  it('drop requests that were cancelled while they waited, and end all when they are closed', async () => {
    const hold = deferred()
    suite.server.behave({ wait: hold.promise })
    const upstream = suite.open({ concurrency: 1 })
    const first = upstream.fetch(tile(0))
    const stop = new AbortController()
    const waiting = [1, 2, 3].map(x => codeOf(upstream.fetch(tile(x), { signal: stop.signal })))
    await until(() => upstream.state().queued === 3, { what: 'three to wait' })
    stop.abort()
    assert.deepEqual(await Promise.all(waiting), ['ABORTED', 'ABORTED', 'ABORTED'])
    assert.equal(upstream.state().queued, 0)
    hold.resolve()
    await first
    assert.equal(suite.server.asked.length, 1)
    suite.server.behave({ never: true })
    const closing = suite.open({ concurrency: 1, rate: 0.5 })
    const codes = [0, 1, 2].map(x => codeOf(closing.fetch(tile(x))))
    await until(() => suite.server.asked.length === 2, { what: 'a request' })
    await closing.close()
    assert.deepEqual(await Promise.all(codes), ['ABORTED', 'ABORTED', 'ABORTED'])
  })
})

describe('an upstream that limits its callers', () => {
  const suite = useUpstream()

  it('gets no requests during its pause, and then the waiting requests', async () => {
    suite.server.behave({ limit: { requests: 5, per: 900, retryAfter: 1 } })
    const upstream = suite.open({ concurrency: 4 })
    const answers = await Promise.all(Array.from({ length: 8 }, (_, x) => upstream.fetch(tile(x))))
    assert.ok(answers.every(({ kind }) => kind === 'tiles'))
    const refusals = suite.server.asked.filter(({ status }) => status === 429)
    const laterRequests = suite.server.asked.filter(({ at }) => at > refusals[0].at)
    assert.ok(refusals.length <= 4, `${refusals.length} were in flight when it refused the first`)
    assert.ok(laterRequests.filter(({ status }) => status === 200)
      .every(({ at }) => at - refusals[0].at > 900 || at - refusals[0].at < 500))
    assert.equal(upstream.state().circuit, 'closed')
  })

  it('that asks for a long pause is reported with its length, and one that refuses three times in a row', async () => {
    suite.server.behave({ status: 429, retryAfter: 120 })
    const upstream = suite.open()
    await assert.rejects(upstream.fetch(tile(0)),
      error => error.code === 'UPSTREAM_REFUSED' && error.details.retryAfter === 120)
    await assert.rejects(upstream.fetch(tile(1)),
      error => error.code === 'UPSTREAM_BUSY' && error.details.retryAfter > 100)
    assert.equal(suite.server.asked.length, 1)
    suite.server.requests.length = 0
    suite.server.behave({ status: 429, retryAfter: 0 })
    assert.equal(await codeOf(suite.open().fetch(tile(0))), 'UPSTREAM_REFUSED')
    assert.equal(suite.server.asked.length, 3, 'asked and asked twice more')
  })
})

describe('a long pause', () => {
  let now, time
  beforeEach(() => {
    mock.timers.enable({ apis: ['setTimeout'] })
    now = performance.now
    time = 0
    performance.now = () => time
  })
  afterEach(() => {
    performance.now = now
    mock.timers.reset()
  })
  const pass = seconds => {
    time += seconds * 1000
    mock.timers.tick(seconds * 1000)
  }

  it('fails the waiting requests at once, and later requests wait for its end', async () => {
    const gate = new Limiter('http://h', { concurrency: 2, longestPause: 10 })
    const refuse = retryAfter => async () => {
      throw new TilecouchError('UPSTREAM_REFUSED', { url: 'http://h', status: 429, retryAfter })
    }
    const codes = Promise.all([5, 120, 5, 5].map(seconds => codeOf(gate.run(refuse(seconds)))))
    assert.deepEqual(await codes, ['UPSTREAM_BUSY', 'UPSTREAM_REFUSED', 'UPSTREAM_BUSY', 'UPSTREAM_BUSY'])
    pass(100)
    assert.equal(await codeOf(gate.run(async () => {})), 'UPSTREAM_BUSY')
    pass(12)
    const answer = gate.run(async () => time)
    assert.equal(gate.queued, 1)
    pass(8)
    assert.equal(await answer, 120000)
  })
})

describe('the circuit breaker', () => {
  const suite = useUpstream()
  const limits = { failures: 3, open: 0.3, openMost: 0.5 }

  it('opens after failures in a row, tries once, and closes when that succeeds', async () => {
    suite.server.behave({ status: 500 })
    const upstream = suite.open({ concurrency: 1 }, {}, { limits })
    for (let x = 0; x < 3; x++) assert.equal(await codeOf(upstream.fetch(tile(x))), 'UPSTREAM_FAILED')
    assert.deepEqual([upstream.state().circuit, upstream.state().failures], ['open', 3])
    await assert.rejects(upstream.fetch(tile(4)),
      error => error.code === 'UPSTREAM_BUSY' && error.details.retryAfter >= 1)
    assert.equal(suite.server.asked.length, 3)

    // the attempt fails: open again
    await until(async () => await codeOf(upstream.fetch(tile(5))) === 'UPSTREAM_FAILED', { what: 'a try' })
    assert.deepEqual([upstream.state().circuit, suite.server.asked.length], ['open', 4])
    assert.equal(await codeOf(upstream.fetch(tile(6))), 'UPSTREAM_BUSY')

    // the attempt succeeds: closed. Until it ends, every other request is refused
    const hold = deferred()
    suite.server.behave({ wait: hold.promise })
    const before = suite.server.asked.length
    const tries = []
    await until(() => {
      tries.push(codeOf(upstream.fetch(tile(tries.length))))
      return suite.server.asked.length > before
    }, { what: 'another try' })
    assert.equal(upstream.state().circuit, 'half-open')
    assert.equal(await codeOf(upstream.fetch(tile(200))), 'UPSTREAM_BUSY')
    hold.resolve()
    assert.equal((await Promise.all(tries)).filter(code => code === undefined).length, 1)
    assert.deepEqual([upstream.state().circuit, upstream.state().failures, suite.server.asked.length],
      ['closed', 0, before + 1])
    assert.equal(await codeOf(upstream.fetch(tile(7))), undefined)
  })

  it('counts only failures in a row, not missing tiles or refusals; refuses what waits when it opens', async () => {
    const upstream = suite.open({ negative: 0 }, {}, { limits })
    for (const status of [500, 500, 200, 500, 500, 404, 500, 500, 403, 500, 500]) {
      suite.server.behave(status === 200 ? {} : { status })
      await codeOf(upstream.fetch(tile(1)))
    }
    assert.deepEqual([upstream.state().circuit, upstream.state().failures], ['closed', 2])
    suite.server.behave({ status: 503 })
    suite.server.requests.length = 0
    const busy = suite.open({ concurrency: 1 }, {}, { limits })
    const codes = await Promise.all(Array.from({ length: 10 }, (_, x) => codeOf(busy.fetch(tile(x)))))
    assert.deepEqual(codes, [...Array(3).fill('UPSTREAM_FAILED'), ...Array(7).fill('UPSTREAM_BUSY')])
    assert.equal(suite.server.asked.length, 3)
  })

  it('opens for an upstream that cannot be reached, and closes when it can be reached', async () => {
    const upstream = suite.open({}, {}, { limits })
    await suite.server.close()
    try {
      for (let x = 0; x < 3; x++) assert.equal(await codeOf(upstream.fetch(tile(x))), 'UPSTREAM_UNREACHABLE')
      assert.equal(await codeOf(upstream.fetch(tile(0))), 'UPSTREAM_BUSY')
    } finally {
      await suite.server.start()
    }
    await until(async () => await codeOf(upstream.fetch(tile(0))) === undefined, { what: 'the circuit to close' })
    assert.equal(upstream.state().circuit, 'closed')
  })

  it('is not kept open by a cancelled request', async () => {
    const gate = new Limiter('http://h', { concurrency: 1, failures: 1, open: 0.05 })
    assert.equal(await codeOf(gate.run(async () => { throw failure() })), 'UPSTREAM_FAILED')
    const stop = new AbortController()
    const began = deferred()
    let code = 'UPSTREAM_BUSY'
    const trying = until(async () => {
      code = await codeOf(gate.run(async signal => {
        began.resolve()
        await new Promise(resolve => { signal.addEventListener('abort', resolve) })
        throw new TilecouchError('ABORTED')
      }, { signal: stop.signal }))
      return code !== 'UPSTREAM_BUSY'
    }, { what: 'a try' })
    await began.promise
    stop.abort()
    await trying
    assert.equal(code, 'ABORTED')
    assert.equal(await gate.run(async () => 'well'), 'well')
    assert.equal(gate.circuit, 'closed')
  })

  it('stays open longer each time, up to a limit, and closed for other errors, which are passed on', async () => {
    const gate = new Limiter('http://h', { concurrency: 1, failures: 1, open: 20, openMost: 70 })
    const pauses = []
    const { now } = performance
    let time = 0
    performance.now = () => time
    try {
      for (let round = 0; round < 5; round++) {
        assert.equal(await codeOf(gate.run(async () => { throw failure() })), 'UPSTREAM_FAILED')
        const error = await gate.run(async () => {}).catch(thrown => thrown)
        pauses.push(error.details.retryAfter)
        time += error.details.retryAfter * 1000
      }
    } finally {
      performance.now = now
    }
    assert.deepEqual(pauses, [20, 40, 70, 70, 70])
    const closed = new Limiter('http://h', { concurrency: 1, failures: 1 })
    await assert.rejects(closed.run(async () => { throw new TypeError('x is not a function') }), TypeError)
    assert.equal(await closed.run(async () => 1), 1)
  })
})

describe('ExpiringMap', () => {
  it('forgets expired entries, and the oldest entry when it is full', () => {
    const map = new ExpiringMap(3)
    const expiry = Date.now() + 60000
    for (const key of ['a', 'b', 'c', 'd']) map.set(key, { until: expiry })
    map.set('e', { until: Date.now() - 1 })
    assert.deepEqual(['a', 'b', 'c', 'd', 'e'].map(key => Boolean(map.get(key))), [false, true, true, true, false])
    map.set('b', { until: expiry })
    map.set('f', { until: expiry })
    assert.deepEqual(['b', 'c', 'd', 'f'].map(key => Boolean(map.get(key))), [true, false, true, true])
  })
})
