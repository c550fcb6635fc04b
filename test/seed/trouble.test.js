// Seeding when requests fail: repeated requests, lists of failed tiles, limits, and stopped runs.
import assert from 'node:assert/strict'
import { Store, parseArea, seed } from '../../loader/index.js'
import { as, onEachStore } from '../support/backends.js'
import { until } from '../../bench/wait.js'
import { LOOPBACK } from '../support/upstream-server.js'
import { QUICK, addsUp, counts, pyramid, useSeeding } from '../support/seeding.js'
import { publishFunctions } from '../support/published.js'

const listOf = ids => ({
  count: new Map([[3, ids.length]]),
  async * tiles () { for (const id of ids) { const [, z, x, y] = id.split(':').map(Number); yield { z, x, y } } }
})

onEachStore('seeding in trouble', backend => {
  const map = useSeeding(backend)

  it('repeats failed requests, and loses no tile to temporary failures', async () => {
    await map.define()
    map.upstream.behave({ status: 503, times: 8 }) // fewer than all attempts of the first four requests
    assert.deepEqual(counts(await map.seed()), { tiles: pyramid(3), fetched: pyramid(3), new: pyramid(3) })
    assert.equal(map.asked().length, pyramid(3) + 8)
  })

  it('lists failed tiles, stores the rest, and later fetches only the list', async () => {
    await map.define()
    const broken = ({ z, x }) => z === 3 && x === 5
    map.upstream.behave({ status: 500, only: broken })
    const failures = []
    const summary = await map.seed({ onFailure: failure => failures.push(failure) })
    assert.deepEqual(counts(summary), { tiles: 85, fetched: 77, new: 77, failed: 8 })
    assert.deepEqual(failures.map(({ id }) => id).sort(), Array.from({ length: 8 }, (_, y) => `map:3:5:${y}`))
    assert.ok(failures.every(({ code, reason }) => code === 'UPSTREAM_FAILED' && /500/.test(reason)))
    assert.deepEqual(summary.failures, failures)
    assert.equal(map.upstream.asked.filter(broken).length, 24, 'each was tried three times')

    map.upstream.behave()
    map.forget()
    const second = await map.seed({ only: listOf(failures.map(({ id }) => id)) })
    assert.deepEqual(counts(second), { tiles: 8, fetched: 8, new: 8 })
    assert.equal(map.asked().length, 8)
    assert.equal((await map.tiles()).length, 85)
  })

  for (const [fault, behaviour] of Object.entries({
    'are cut off': { truncate: 40 }, 'are no images': { body: '<html>sorry</html>', type: 'image/png' },
    'end in the middle': { cut: true }
  })) {
    it(`stores no tiles that ${fault}`, async () => {
      await map.define()
      map.upstream.behave({ ...behaviour, only: ({ z, x }) => z === 2 && x === 1 })
      const summary = await map.seed({ zooms: { min: 0, max: 2 } })
      assert.deepEqual([summary.new, summary.failed], [17, 4])
      assert.ok((await map.tiles()).every(tile => !tile.startsWith('2/1/')))
    })
  }

  it('fetches a metatile of a list once', async () => {
    await map.define({}, { type: 'wms', url: `${map.upstream.url}/wms`, layers: 'world', metatile: 4, buffer: 0 })
    map.upstream.behave({ status: 500 })
    const failures = []
    const broken = await map.seed(
      { zooms: { min: 3, max: 3 }, fetching: { ...QUICK, attempts: 1 }, onFailure: failure => failures.push(failure) }
    )
    assert.deepEqual([counts(broken), broken.requests], [{ tiles: 64, failed: 64 }, 4])
    map.upstream.behave()
    map.forget()
    const summary = await map.seed({ only: listOf([...failures, ...failures].map(({ id }) => id)) })
    assert.deepEqual([counts(summary), map.asked().length], [{ tiles: 64, fetched: 64, new: 64 }, 4])
  })

  it('leaves out tiles of a list that the upstream does not have', async () => {
    await map.define({ maxzoom: 3 })
    assert.deepEqual(counts(await map.seed({ only: listOf(['map:3:1:1', 'map:4:1:1']) })),
      { tiles: 2, fetched: 1, new: 1, outside: 1 })
  })

  it('gives up when the upstream is away for long, and counts no tile as failed', async () => {
    await map.define({}, { concurrency: 2 })
    await map.seed({ zooms: { min: 0, max: 2 } })
    await map.upstream.close()
    const troubles = []
    const seeding =
      map.seed({ fetching: { ...QUICK, giveUpAfter: 0.5, delay: 50 }, onTrouble: error => troubles.push(error.code) })
    await assert.rejects(seeding, error => {
      assert.equal(error.code, 'UPSTREAM_UNREACHABLE')
      assert.deepEqual(counts(error.summary), { tiles: 21, fresh: 21 }, 'no tile is blamed')
      return true
    })
    assert.deepEqual(troubles, ['UPSTREAM_UNREACHABLE'], 'it was said once')
    await map.upstream.start()
    assert.deepEqual(counts(await map.seed()), { tiles: 85, fresh: 21, fetched: 64, new: 64 })
  })

  it('waits for an upstream that is away, and counts no tile as failed', async () => {
    await map.define()
    await map.upstream.close()
    const troubles = []
    const seeding =
      map.seed({ fetching: { ...QUICK, silent: 1000, longestDelay: 50 }, onTrouble: error => troubles.push(error) })
    await until(() => troubles.length > 0)
    await map.upstream.start()
    assert.deepEqual(counts(await seeding), { tiles: 85, fetched: 85, new: 85 })
  })

  it('counts tiles as failed whose server is away while others answer', async () => {
    await map.define({},
      { url: `http://127.0.0.{s}:${map.upstream.host.split(':')[1]}/xyz/{z}/{x}/{y}.png`, subdomains: ['1', '9'] })
    const summary = await map.seed()
    assert.ok(summary.failed > 20 && summary.new > 20, JSON.stringify(counts(summary)))
    assert.ok(summary.failures.every(({ code }) => code === 'UPSTREAM_UNREACHABLE'))
  })

  it('gives up when too many tiles in a row fail', async () => {
    await map.define()
    map.upstream.behave({ status: 502, only: ({ z }) => z === 3 })
    await assert.rejects(map.seed({ fetching: { ...QUICK, failures: 10 } }), error => {
      assert.equal(error.code, 'UPSTREAM_FAILED')
      assert.ok(error.summary.failed < 13 && error.summary.new === 21, JSON.stringify(counts(error.summary)))
      assert.ok(addsUp(error.summary))
      return true
    })
    assert.equal((await map.tiles()).length, 21)
  })

  it('gives up when too many requests are refused, and lists single tiles that are refused', async () => {
    await map.define({}, { concurrency: 1 })
    map.upstream.behave({ status: 403 })
    await assert.rejects(map.seed(), { code: 'UPSTREAM_REFUSED' })
    assert.equal(map.asked().length, QUICK.refusals)
    await map.define()
    map.upstream.behave({ status: 403, only: ({ z, x, y }) => z === 2 && x === 1 && y === 1 })
    const summary = await map.seed({ zooms: { min: 0, max: 2 } })
    assert.deepEqual(counts(summary), { tiles: 21, fetched: 20, new: 20, failed: 1 })
    assert.equal(summary.failures[0].code, 'UPSTREAM_REFUSED')
  })

  it('slows down on 429, and fetches all tiles', async () => {
    await map.define({}, { concurrency: 4 })
    map.upstream.behave({ limit: { requests: 12, per: 1000, retryAfter: 1 } })
    assert.deepEqual(counts(await map.seed({ zooms: { min: 0, max: 2 } })), { tiles: 21, fetched: 21, new: 21 })
  }).timeout(60000)

  it('keeps the given rate and concurrency, or those of the upstream', async () => {
    await map.define({}, { rate: 20, concurrency: 3 })
    map.upstream.behave({ wait: 100 })
    for (const [options, rate, maxConcurrency] of [
      [{}, 20, 3], [{ rate: 10, concurrency: 2, refreshBefore: '9999-01-01T00:00:00Z' }, 10, 2]
    ]) {
      map.forget()
      map.upstream.mostInFlight = 0
      await map.seed({ zooms: { min: 2, max: 2 }, ...options })
      const times = map.upstream.asked.map(request => request.at)
      assert.equal(times.length, 16)
      const seconds = (times[15] - times[0]) / 1000
      assert.ok(seconds > 15 / rate - 0.1, `16 requests in ${seconds} s`)
      assert.ok(map.upstream.mostInFlight <= maxConcurrency, `${map.upstream.mostInFlight} at once`)
    }
  }).timeout(60000)

  it('stops after the requests in flight, and resumes when run again', async () => {
    await map.define({}, { concurrency: 3 })
    map.upstream.behave({ wait: 30 })
    const stop = new AbortController()
    const seeding = map.seed({ signal: stop.signal, onProgress: ({ fetched }) => { if (fetched >= 20) stop.abort() } })
    await assert.rejects(seeding, error => {
      assert.equal(error.code, 'ABORTED')
      assert.ok(error.summary.fetched >= 20 && error.summary.fetched <= 23, `${error.summary.fetched} fetched`)
      assert.equal(error.summary.new, error.summary.fetched)
      assert.ok(addsUp(error.summary))
      return true
    })
    const stored = (await map.tiles()).length
    assert.equal(stored, map.asked().length, 'what was asked for is in the store')
    assert.deepEqual(counts(await map.seed()), { tiles: 85, fresh: stored, fetched: 85 - stored, new: 85 - stored })
    assert.equal(new Set(map.asked()).size, map.asked().length, 'nothing was asked for twice')
  })

  it('stops soon even when the upstream never answers', async () => {
    await map.define()
    map.upstream.behave({ never: true })
    const controller = new AbortController()
    const seeding = map.seed({ signal: controller.signal, fetching: { ...QUICK, grace: 0.1 } })
    await until(() => map.upstream.inFlight > 0)
    controller.abort()
    await assert.rejects(seeding, { code: 'ABORTED' })
  })

  if (backend.supports.users) {
    it('stops at the first batch without the right to write', async () => {
      await map.define()
      await publishFunctions(map.store)
      const anonymousStore = await Store.open(as(map.url))
      await assert.rejects(seed(anonymousStore, 'map', {
        area: parseArea({ bbox: '-180,-85,180,85' }), zooms: { min: 0, max: 5 }, networks: LOOPBACK, fetching: QUICK
      }), error => {
        assert.deepEqual([error.code, error.summary.new], ['FORBIDDEN', 0])
        assert.match(error.message, /writing needs an admin/)
        return true
      })
      assert.ok(map.asked().length < 1000)
    })
  }

  it('refuses layers that may not be seeded', async () => {
    await assert.rejects(map.seed(), { code: 'LAYER_NOT_FOUND' })
    await assert.rejects(seed(map.store, 'map', {}), { code: 'BAD_AREA' })
    await assert.rejects(map.seed({ refreshBefore: 'soon' }), { code: 'BAD_TIME' })
    await map.store.defineLayer('map', {})
    await assert.rejects(map.seed(), { code: 'NO_UPSTREAM' })
    await map.define({}, { seed: false })
    await assert.rejects(map.seed(), { code: 'SEED_FORBIDDEN' })
    assert.deepEqual(map.upstream.requests, [])
    assert.deepEqual(counts(await map.seed({ zooms: { min: 0, max: 0 }, permission: true })),
      { tiles: 1, fetched: 1, new: 1 })
    for (const url of ['https://tile.openstreetmap.org/{z}/{x}/{y}.png',
      'https://{s}.tile.openstreetmap.org/{z}/{x}/{y}.png']) {
      await map.store.defineLayer('map', { upstream: { url, ...(url.includes('{s}') && { subdomains: ['a', 'b'] }) } })
      await assert.rejects(map.seed({ dryRun: true }), error => error.code === 'SEED_FORBIDDEN' &&
        /openstreetmap\.org/.test(error.message) && /--i-have-permission/.test(error.advice))
    }
  })
})
