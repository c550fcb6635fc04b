// Expired tiles: the command and the gateway agree to the second. Removing them loses no history, and does not disturb
// other programs. Refreshing them fetches from the upstream of their layer, as a seed does, and repeatedly with `live`.
import assert from 'node:assert/strict'
import { Store, addSeconds, check, expire, load, now, removeEdition, resolve } from '../../loader/index.js'
import { entryOf } from '../../server/gateway/tiles/entry.js'
import { Couch } from '../../loader/store/couch.js'
import { until } from '../../bench/wait.js'
import { onEachStore, request } from '../support/backends.js'
import { HOUR, T, later, useExpiry } from '../support/expiry.js'
import { checkInvariants } from '../support/invariants.js'
import { memorySource } from '../support/memory-source.js'
import { png } from '../support/tiles.js'
import { openService } from '../support/gateway/stand.js'
import { QUICK } from '../support/seeding.js'
import { useStore } from '../support/store.js'
import { LOOPBACK, startUpstream } from '../support/upstream-server.js'

onEachStore('expired tiles', backend => {
  const map = useExpiry(backend)
  /** x -> fields of a tile. They are written first, so that another program may damage them. */
  const tiles = [
    {}, // 0: only the ttl of its layer
    { expires: later(10) }, // 1: its own
    { expires: later(2 * HOUR) }, // 2: its own, later than the ttl
    { expires: later(-5) }, // 3: before it was stored
    { image: null } // 4: gone, alone
  ]
  const damagedFields = [{ expires: 'soon' }, { expires: '2024-02-30T00:00:00Z' }, { expires: 12 }, { expires: null },
    { expires: '2024-03-01' }, { stored: 'yesterday' }, { stored: undefined }, { stored: 7, expires: later(20) },
    { stored: '2024-13-01T00:00:00Z' }] // of the tiles from x = 10 on

  /** The expired tiles of the layer, according to the gateway. @param {number} moment */
  async function expiredByGateway (moment, layer) {
    const { rows } = await map.store.couch.request({ path: '_all_docs', qs: { startkey: 'osm:', endkey: 'osm;' } })
    const headRows = await map.store.couch.docs(rows.map(({ id }) => id), { attachments: true })
    return headRows.map(({ doc }) => entryOf(doc).fit(layer, { covers: () => true }))
      .filter(({ freshUntil, bytes }) => bytes && !(moment < freshUntil)).map(({ id }) => id).sort()
  }

  const list = (options = {}) => expire(map.store, { action: 'remove', dryRun: true, ...options })
  const expiredByCommand = async (moment, options) => (await list({ now: () => moment, layers: ['osm'], ...options }))
    .listed.map(({ id }) => id).sort()

  before(async function () {
    this.timeout(30000)
    await map.store.defineLayer('osm', { ttl: HOUR })
    await map.write(tiles.map((fields, x) => map.tile(x, fields)))
    await map.write(damagedFields.map((_, index) => map.tile(10 + index)))
    // a tile with a past that expired long ago, and a tile that is gone
    await map.write([map.tile(20, { image: 1, expires: later(1) }), map.tile(21, { image: 1, expires: later(1) })])
    const newer = [
      map.tile(20, { time: later(5), image: 2 }),
      map.tile(21, { time: later(5), image: null, expires: later(30) })
    ]
    await map.write(newer, later(5))
    // A store with validation refuses such documents. They date from before it.
    const { couch } = map.store
    const validation = await couch.get('_design/tiles')
    await couch.request({ method: 'DELETE', path: '_design/tiles', qs: { rev: validation._rev } })
    for (const [index, fields] of damagedFields.entries()) await map.twist(10 + index, fields)
  })

  it('are the same for the command and the gateway at every second', async () => {
    const doc = { ttl: HOUR }
    const moments = [-6, -5, -4, 0, 1, 9, 10, 11, 19, 20, 21, 30,
      HOUR - 1, HOUR, HOUR + 1, HOUR + 5, 2 * HOUR - 1, 2 * HOUR, 2 * HOUR + 1]
    const differentAnswers = new Set()
    for (const seconds of moments) {
      const expected = await expiredByGateway(Date.parse(later(seconds)), doc)
      assert.deepEqual(await expiredByCommand(later(seconds)), expected, `T + ${seconds} s`)
      differentAnswers.add(expected.join())
    }
    assert.ok(differentAnswers.size >= 7, `the moments differ: ${differentAnswers.size}`)
    // The gateway's clock has milliseconds: a second ends with its last one.
    assert.deepEqual(await expiredByGateway(Date.parse(later(10)) - 1, doc), await expiredByCommand(later(9)))
    assert.deepEqual(await expiredByGateway(Date.parse(later(10)) + 999, doc), await expiredByCommand(later(10)))
  }).timeout(20000)

  it('follow the ttl of the layer; without a ttl only tiles with their own time expire', async () => {
    for (const ttl of [60, undefined, HOUR]) {
      await map.store.defineLayer('osm', { ttl: ttl ?? null })
      for (const seconds of [59, 60, HOUR, 9 * HOUR]) {
        const expected = await expiredByGateway(Date.parse(later(seconds)), { ttl })
        assert.deepEqual(await expiredByCommand(later(seconds)), expected, `ttl ${ttl}, T + ${seconds} s`)
      }
    }
  }).timeout(20000)

  it('are listed once each over several pages, without other layers', async () => {
    await map.store.defineLayer('other', { ttl: 1 })
    await map.write([map.tile(0, { expires: later(1) }, 'other'), map.tile(1, {}, 'other')])
    const allIds = await expiredByCommand(later(9 * HOUR))
    assert.deepEqual(await expiredByCommand(later(9 * HOUR), { limits: { page: 2 } }), allIds)
    assert.deepEqual(await expiredByCommand(later(9 * HOUR), { limits: { page: 3 } }), allIds)
    assert.deepEqual(await expiredByCommand(later(9 * HOUR), { layers: undefined }),
      [...allIds, 'other:6:0:0', 'other:6:1:0'].sort())
    const { expired, listed, gone } = await list({ now: () => later(9 * HOUR), layers: ['osm'], limit: 2 })
    assert.deepEqual([expired, listed.length, gone], [allIds.length, 2, 2], 'all are counted, some are listed')
    assert.deepEqual(await expiredByCommand(later(9 * HOUR), { before: later(10) }), ['osm:6:3:0'])
    assert.equal((await expiredByCommand(T, { before: later(11) })).length, 2, 'a dry run may look ahead')
  }).timeout(20000)

  it('cannot be listed without indexes, and the error names the command that builds them', async () => {
    const doc = await map.store.couch.get('_design/versions')
    await request(`${map.url}/_design/versions?rev=${doc._rev}`, { method: 'DELETE' })
    await assert.rejects(list(), { code: 'INDEX_MISSING', advice: /push/ })
    await assert.rejects(list({ layers: ['nowhere'] }), { code: 'LAYER_NOT_FOUND' })
  })
})

onEachStore('removing expired tiles', backend => {
  const map = useExpiry(backend)
  const remove = (seconds, options = {}) =>
    expire(map.store, { action: 'remove', now: () => later(seconds), ...options })
  const counts = ({ expired, removed, ended, changed, refused }) => ({ expired, removed, ended, changed, refused })

  /** A source with the tiles of some columns, as of another edition. */
  const sourceOf = (...columns) => memorySource(Object.fromEntries(columns.map(x => [`6/${x}/0`, x])))

  it('deletes tiles without a past, makes those with a past gone from their expiry on, once and for all', async () => {
    await map.store.defineLayer('osm', { ttl: HOUR })
    await map.write([map.tile(1, { image: 7, time: later(-100) })], later(-100))
    await map.write([map.tile(0), map.tile(1), map.tile(2), map.tile(3, { expires: later(2 * HOUR) })])
    // a version of tomorrow, which expires today
    await map.write([map.tile(2, { time: later(90000), image: 8, expires: later(10) })])
    const planned = await remove(HOUR, { dryRun: true })
    assert.deepEqual(await map.history(0), ['0 tile head'])
    const summary = await remove(HOUR)
    assert.deepEqual(counts(summary), { expired: 3, removed: 1, ended: 2, changed: 0, refused: 0 })
    assert.deepEqual(counts(planned), counts(summary))
    assert.deepEqual(await map.history(0), [])
    assert.deepEqual(await map.history(1), ['-100 tile', '0 tile', `${HOUR} gone head ${HOUR}`])
    assert.deepEqual(await map.history(2), ['0 tile', '90000 tile', '90001 gone head 90001'], 'never before the head')
    assert.deepEqual(await map.history(3), [`0 tile head ${2 * HOUR}`])
    const { bytes } = await map.store.at('osm', 6, 1, 0, later(HOUR - 1))
    assert.deepEqual(bytes, png(1), 'what was shown then is shown')
    await assert.rejects(map.store.at('osm', 6, 1, 0, later(HOUR)), { code: 'TILE_NOT_FOUND' })
    await checkInvariants(map.url)
    const second = await remove(HOUR)
    assert.deepEqual([counts(second), second.gone], [{ expired: 0, removed: 0, ended: 0, changed: 0, refused: 0 }, 1])
  })

  it('with the past deletes all versions, of a limited number of tiles, and copies of fallen heads', async () => {
    await map.write([map.tile(10, { expires: later(1), image: 5, time: later(-9) }),
      map.tile(11, { expires: later(1) }), map.tile(12, { expires: later(2) })])
    await map.write([map.tile(10, { expires: later(1) })])
    assert.deepEqual(counts(await remove(3, { withPast: true, limit: 2 })),
      { expired: 2, removed: 2, ended: 0, changed: 0, refused: 0 })
    assert.deepEqual([await map.history(10), await map.history(11), await map.history(12)], [[], [], ['0 tile head 2']])
    await remove(3)
    await map.write([map.tile(62, { expires: later(5), image: 1 })])
    await map.write([map.tile(62, { time: later(2) })])
    await removeEdition(map.store, 'osm', later(2))
    assert.deepEqual(counts(await remove(6, { layers: ['osm'] })),
      { expired: 1, removed: 1, ended: 0, changed: 0, refused: 0 })
    assert.deepEqual(await map.history(62), [])
    await checkInvariants(map.url)
  })

  it('makes a tile gone only after the time at which it was last found unchanged', async () => {
    await map.store.defineLayer('survey')
    const tile = (x, fields) => map.tile(x, fields, 'survey')
    await map.write([60, 61].map(x => tile(x, { image: 1, time: later(-50) })))
    await map.write([60, 61].map(x => tile(x, { expires: later(5) })))
    await map.write([tile(60, { time: later(10) })])
    await load(map.store, sourceOf(61), { layer: 'survey', time: later(12) })
    assert.equal((await remove(20, { layers: ['survey'] })).ended, 2)
    const timeOf = async (x, seconds) =>
      (await map.store.at('survey', 6, x, 0, later(seconds)).catch(error => error.code))
      .time ?? 'TILE_NOT_FOUND'
    for (let time = 0; time < 2; time++) {
      assert.deepEqual([await timeOf(60, 10), await timeOf(60, 11), await timeOf(61, 12), await timeOf(61, 13)],
        [T, 'TILE_NOT_FOUND', T, 'TILE_NOT_FOUND'])
      await resolve(map.store)
    }
  })

  it('twice at once gives the same as once', async () => {
    await map.write(Array.from({ length: 12 }, (_, x) => map.tile(20 + x, { image: 50 + x, time: later(-50) })))
    const tiles = Array.from({ length: 12 }, (_, x) => map.tile(20 + x, { expires: later(5) }))
    await map.write(tiles.filter(({ x }) => x % 2))
    await map.write(Array.from({ length: 6 }, (_, x) => map.tile(40 + x, { expires: later(5) })))
    const summaries = await Promise.all([remove(6, { limits: { past: 3 } }), remove(6, { limits: { past: 4 } })])
    assert.ok(summaries[0].ended + summaries[1].ended >= 6)
    for (let x = 20; x < 32; x++) {
      assert.deepEqual(await map.history(x), x % 2 ? ['-50 tile', '0 tile', '5 gone head 5'] : ['-50 tile head'])
    }
    for (let x = 40; x < 46; x++) assert.deepEqual(await map.history(x), [])
    await checkInvariants(map.url)
  }).timeout(20000)

  it('keeps tiles that a gateway refreshed after they were listed', async () => {
    await map.write([map.tile(50, { image: 1, time: later(-50) }), map.tile(52, { image: 1, time: later(-50) })])
    await map.write([50, 51, 52].map(x => map.tile(x, { expires: later(5) })))
    const { couch } = map.store
    const { queries } = couch
    // The past is read after the heads were judged: here the gateway is faster.
    couch.queries = async function (...args) {
      const answer = await queries.apply(couch, args)
      if (args[0] === '_all_docs' && couch.queries !== queries) {
        couch.queries = queries
        await map.store.extend([50, 51].map(x => ({ id: `osm:6:${x}:0`, expires: later(HOUR) })))
        await map.write([map.tile(52, { time: later(6), image: 9, expires: later(HOUR) })], later(6))
      }
      return answer
    }
    const tally = await remove(7).finally(() => { couch.queries = queries })
    assert.deepEqual(counts(tally), { expired: 3, removed: 0, ended: 0, changed: 3, refused: 0 })
    assert.deepEqual(await map.history(50), ['-50 tile', `0 tile head ${HOUR}`])
    assert.deepEqual(await map.history(51), [`0 tile head ${HOUR}`])
    assert.deepEqual(await map.history(52), ['-50 tile', '0 tile', `6 tile head ${HOUR}`])
    await checkInvariants(map.url)
  })

  it('withdraws the statements of editions about tiles of several layers', async () => {
    const layers = ['one', 'two']
    for (const layer of layers) {
      await map.store.defineLayer(layer)
      await map.write([map.tile(9, { time: later(-50), expires: later(5) }, layer)])
      await load(map.store, sourceOf(9), { layer, time: later(-10) })
    }
    assert.equal((await remove(20, { layers })).removed, 2)
    const { settled, unknown } = await resolve(map.store, { layers })
    assert.deepEqual([settled, unknown], [0, 0])
  })

  it('leaves no statement without its image when it is killed, and is completed by another run', async () => {
    for (let maxRequests = 6, isKilled = true; isKilled; maxRequests += 3) {
      const layer = `killed${maxRequests}`
      await map.store.defineLayer(layer, { ttl: HOUR })
      await load(map.store, sourceOf(0, 1, 2), { layer, time: later(-10) })
      let requests = 0
      const dying = new Store(new Couch(map.url))
      const send = dying.couch.request
      dying.couch.request = function (...args) {
        return requests++ < maxRequests ? send.apply(dying.couch, args) : Promise.reject(new Error('killed'))
      }
      const options = { now: () => later(1e9), layers: [layer], withPast: true }
      isKilled = await expire(dying, { action: 'remove', ...options }).then(() => false, () => true)
      const { unknown } = await resolve(map.store, { layers: [layer] })
      assert.equal(unknown, 0, `request ${maxRequests}`)
      await expire(map.store, { action: 'remove', ...options })
      const { kinds } = await check(map.store, { layers: [layer] })
      const faults = Object.keys(kinds).filter(kind => kind !== 'short-edition') // that one reports the removed tiles
      assert.deepEqual(faults, [], `request ${maxRequests}`)
    }
  }).timeout(60000)

  it('refuses bad options', async () => {
    for (const options of [{ before: later(99) }, { live: true, limit: 1 }, { live: true, dryRun: true }]) {
      await assert.rejects(remove(9, options), { code: 'BAD_OPTION' })
    }
    await assert.rejects(remove(9, { signal: AbortSignal.abort() }), { code: 'ABORTED' })
    assert.deepEqual(T, later(0))
  })
})

const DAY = 86400

onEachStore('refreshing expired tiles', backend => {
  let store, url, upstream, layer
  useStore(backend, { once: true, published: true, fill: (...opened) => { [store, url] = opened } })
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
  /** A new layer for each test, with tiles that the upstream had a week ago, and that expired a day ago. */
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
    assert.deepEqual([tally.expired, tally.changed + tally.unchanged, tally.changed > 0], [8, 8, true])
    assert.ok(before.expires < now() && (await head(0)).expires > now())
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
    const controller = new AbortController()
    const seeding = { fetching: { ...QUICK, giveUpAfter: 0.05 } }
    const limits = { look: 100, gather: 10 }
    upstream.behave({ status: 503 })
    const running = [0, 1].map(() => refresh({ live: true, signal: controller.signal, seeding, limits }))
    await until(() => upstream.asked.length > 4, { what: 'the first tries' })
    upstream.epoch = 1
    upstream.behave()
    await Promise.all(columns.map(x => until(async () => {
      await service.tiles.get(layer, 3, x, 2).catch(() => {})
      return (await head(x)).expires > now()
    }, { what: `tile ${x} to be refreshed` })))
    // a tile that expires soon
    const image = await upstream.tile(2, 1, 1, { epoch: 0 })
    await store.write([{ layer, z: 2, x: 1, y: 1, time: ago(DAY), bytes: image, expires: addSeconds(now(), 1) }])
    await until(async () => (await store.versions(layer, 2, 1, 1)).at(-1).expires > addSeconds(now(), 60),
      { timeout: 20000, what: 'what expired meanwhile' })
    controller.abort()
    const tallies = await Promise.all(running)
    await service.close()
    assert.ok(tallies.every(({ expired }) => expired >= 1))
    assert.equal((await head(0)).gone, false)
    for (const [id, versions] of await checkInvariants(url)) {
      if (!id.startsWith(`${layer}:`)) continue
      // If two refreshers fetch a tile a second apart and store it in reverse order, there is another version a second
      // earlier.
      assert.equal(new Set(versions.map(({ bytes }) => bytes.toString('hex'))).size, 2, `${id} changed once`)
      assert.ok(versions.length <= 4, id)
    }
  }).timeout(40000)
})
