// Refreshing what has expired: from the upstream of its layer, as a seed does it, and for ever where it is asked to.
import assert from 'node:assert/strict'
import { addSeconds, now } from '../../core/index.js'
import { expire } from '../../loader/maintain/expired/index.js'
import { openService } from '../support/gateway/stand.js'
import { until } from '../../bench/wait.js'
import { QUICK } from '../support/seeding.js'
import { onEachStore } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { useStore } from '../support/store.js'
import { LOOPBACK, startUpstream } from '../support/upstream-server.js'

const DAY = 86400

onEachStore('refreshing expired tiles', backend => {
  let store, url, upstream, layer
  useStore(backend, { once: true, published: true, fill: (...own) => { [store, url] = own } })
  before(async () => { upstream = await startUpstream({ tileSize: 64 }) })
  after(() => upstream.close())

  const ago = seconds => addSeconds(now(), -seconds)
  const columns = Array.from({ length: 8 }, (_, x) => x)
  const refresh = ({ seeding = {}, ...options } = {}) => expire(store,
    { action: 'refresh', layers: [layer], seeding: { networks: LOOPBACK, fetching: QUICK, ...seeding }, ...options })
  const counts =
    ({ expired, changed, unchanged, missing, failed, left }) => ({ expired, changed, unchanged, missing, failed, left })
  const head = async x => (await store.versions(layer, 3, x, 2)).at(-1)

  let layers = 0
  /** A layer of its own for each test, with tiles as the upstream had them a week ago, which expired a day ago. */
  beforeEach(async () => {
    upstream.behave()
    upstream.epoch = 0
    upstream.requests.length = 0
    layer = `map${layers++}`
    await store.defineLayer(layer,
      { tileSize: 64, ttl: 10 * DAY, upstream: { url: `${upstream.url}/xyz/{z}/{x}/{y}.png`, negative: 60 } })
    const versions = await Promise.all(columns.map(
      async x => ({ layer, z: 3, x, y: 2, time: ago(7 * DAY), bytes: await upstream.tile(3, x, 2), expires: ago(DAY) })
    ))
    await store.write(versions, { stored: ago(7 * DAY) })
  })

  it('lets unchanged tiles expire later, and stores changed tiles as versions', async () => {
    upstream.epoch = 1
    const before = await head(0)
    const tally = await refresh({ limits: { page: 3, refresh: 5 } })
    assert.equal(tally.expired, 8)
    assert.equal(tally.changed + tally.unchanged, 8)
    assert.ok(tally.changed > 0)
    assert.ok((await head(0)).expires > now())
    assert.ok(before.expires < now())
    assert.deepEqual(counts(await refresh()), { expired: 0, changed: 0, unchanged: 0, missing: 0, failed: 0, left: 0 })
    const tiles = await checkInvariants(url)
    assert.equal([...tiles.values()].filter(versions => versions.length === 2).length, tally.changed)
  })

  it('lists failures and repeats them later, keeps missing tiles, and fetches gone tiles', async () => {
    await store.write([{ layer, z: 3, x: 7, y: 2, time: ago(DAY), gone: true, expires: ago(DAY) }],
      { stored: ago(DAY) })
    upstream.behave({ status: ({ x }) => x === 1 ? 500 : 404, only: ({ x }) => x === 1 || x === 2 })
    const tally = await refresh()
    assert.deepEqual(counts(tally), { expired: 8, changed: 1, unchanged: 5, missing: 1, failed: 1, left: 0 })
    assert.deepEqual(tally.named.map(({ id, what }) => `${id} ${what}`), [`${layer}:3:1:2 failed`])
    assert.equal((await head(7)).gone, false, 'it is there again')
    upstream.behave()
    assert.deepEqual(counts(await refresh()), { expired: 2, changed: 0, unchanged: 2, missing: 0, failed: 0, left: 0 })
  })

  it('refuses a named layer without an upstream, skips it among all layers, and stops when one is away', async () => {
    await store.defineLayer('still', { ttl: 1 })
    await store.defineLayer('shy', { ttl: 1, upstream: { url: 'https://tile.openstreetmap.org/{z}/{x}/{y}.png' } })
    await assert.rejects(refresh({ layers: ['still'] }), { code: 'NO_UPSTREAM' })
    await assert.rejects(refresh({ layers: [layer, 'shy'] }), { code: 'SEED_FORBIDDEN' })
    await upstream.close()
    const tally = await refresh({ layers: undefined, seeding: { fetching: { ...QUICK, giveUpAfter: 0.1 } } })
    assert.deepEqual(tally.skipped.map(({ layer: name, code }) => `${name} ${code}`),
      ['shy SEED_FORBIDDEN', 'still NO_UPSTREAM'])
    assert.deepEqual(tally.troubles.map(({ code }) => code), ['UPSTREAM_UNREACHABLE'])
    assert.equal(tally.left, 8)
    await upstream.start()
  })

  it('runs live twice beside a gateway, after an upstream returns, and for newly expired tiles', async () => {
    const service = await openService(url)
    const stop = new AbortController()
    const seeding = { fetching: { ...QUICK, giveUpAfter: 0.05 } }
    const limits = { look: 100, gather: 10 }
    upstream.behave({ status: 503 })
    const running = [0, 1].map(() => refresh({ live: true, signal: stop.signal, seeding, limits }))
    await until(() => upstream.asked.length > 4, { what: 'the first tries' })
    upstream.epoch = 1
    upstream.behave()
    await Promise.all(columns.map(x => until(async () => {
      await service.tiles.get(layer, 3, x, 2).catch(() => {})
      return (await head(x)).expires > now()
    }, { what: `tile ${x} to be refreshed` })))
    // one that expires in a moment
    await store.write(
      [
        { layer, z: 2, x: 1, y: 1, time: ago(DAY), bytes: await upstream.tile(2,
          1, 1, { epoch: 0 }), expires: addSeconds(now(), 1) }
      ]
    )
    await until(async () => (await store.versions(layer, 2, 1, 1)).at(-1).expires > addSeconds(now(), 60),
      { timeout: 20000, what: 'what expired meanwhile' })
    stop.abort()
    const tallies = await Promise.all(running)
    await service.close()
    assert.ok(tallies.every(({ expired }) => expired >= 1))
    assert.equal((await head(0)).gone, false)
    for (const [id, versions] of await checkInvariants(url)) {
      if (!id.startsWith(`${layer}:`)) continue
      // who fetched it a second before the other, and stored it after him, adds that it was so a second before
      assert.equal(new Set(versions.map(({ bytes }) => bytes.toString('hex'))).size, 2, `${id} changed once`)
      assert.ok(versions.length <= 4, id)
    }
  }).timeout(40000)
})
