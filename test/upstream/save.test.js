// Tests how answers of an upstream become versions of tiles in a store.
import assert from 'node:assert/strict'
import { Store, addSeconds, now } from '../../loader/index.js'
import { Couch } from '../../loader/store/couch.js'
import { digestOf } from '../../loader/store/tile.js'
import { saveAnswer, versionTime } from '../../loader/load/upstream/save.js'
import { onEachStore } from '../support/backends.js'
import { checkInvariants, checkLoaded } from '../support/invariants.js'
import { useStore } from '../support/store.js'
import { codeOf, useUpstream } from './support.js'

const TILE = { z: 5, x: 17, y: 11 }
const ID = 'osm:5:17:11'

onEachStore('saving answers of an upstream', backend => {
  const suite = useUpstream()
  let store, url
  useStore(backend, { fill: (...values) => { [store, url] = values } })

  const head = () => store.head('osm', 5, 17, 11)
  const times = async () => (await store.versions('osm', 5, 17, 11))
    .map(({ time, current }) => [time, current ? 'head' : 'past'])

  /** Fetches the tile with the validators of its head, and saves the answer. */
  async function refresh (upstream, options) {
    const stored = await head().catch(() => null)
    return saveAnswer(store, 'osm', await upstream.fetch(TILE, { validators: stored?.origin }),
      { head: stored, ...options })
  }

  it('makes the first version of a tile, with the time of the upstream', async () => {
    suite.server.behave({ lastModified: '2023-06-01T08:00:00Z' })
    const [saved] = await refresh(suite.open({}, { ttl: 3600 }))
    const bytes = await suite.server.tile(5, 17, 11)
    const stored = await head()
    assert.deepEqual([saved.outcome, saved.rev, saved.time, saved.digest, saved.type],
      ['written', stored.rev, '2023-06-01T08:00:00Z', digestOf(bytes), 'image/png'])
    assert.deepEqual(stored.bytes, bytes)
    assert.deepEqual([stored.expires, saved.expires, saved.stored],
      [addSeconds(stored.stored, 3600), stored.expires, stored.stored])
    assert.deepEqual(Object.keys(stored.origin ?? {}).sort(), ['etag', 'lastModified', 'url'])
  })

  it('extends unchanged tiles, after a 304 and after equal bytes', async () => {
    const upstream = suite.open({}, { ttl: 3600 })
    const [first] = await refresh(upstream)
    for (const behaviour of [{}, { ignoreConditions: true }, { etag: false }]) {
      suite.server.behave(behaviour)
      const before = await head()
      const checkedAt = addSeconds(before.origin?.checked ?? before.stored, 60)
      const [saved] = await refresh(upstream, { now: checkedAt })
      const after = await head()
      assert.deepEqual([saved.outcome, saved.rev, saved.time], ['extended', after.rev, first.time],
        JSON.stringify(behaviour))
      assert.notEqual(after.rev, before.rev)
      assert.deepEqual([after.stored, after.time, after.digest, after.origin?.checked],
        [first.stored, first.time, first.digest, checkedAt])
    }
    assert.equal((await times()).length, 1)
    assert.equal(suite.server.asked.filter(({ status }) => status === 304).length, 1)
  })

  it('makes new bytes the head, and moves the old version to the past', async () => {
    const upstream = suite.open()
    const loaded = []
    const moments = [2021, 2022, 2023].map(year => `${year}-01-01T00:00:00Z`)
    for (const [epoch, time] of moments.entries()) {
      suite.server.epoch = epoch
      suite.server.behave({ lastModified: time })
      const [{ outcome, bytes }] = await refresh(upstream)
      assert.deepEqual([outcome, bytes], ['written', await suite.server.tile(5, 17, 11)])
      loaded.push({ layer: 'osm', ...TILE, time, bytes })
    }
    assert.deepEqual(await times(), [[moments[0], 'past'], [moments[1], 'past'], [moments[2], 'head']])
    await checkLoaded(url, loaded)
  })

  it('takes the time of the upstream only when it is after the head and not in the future', async () => {
    const upstream = suite.open()
    const clock = now()
    suite.server.behave({ lastModified: '2023-01-01T00:00:00Z' })
    await refresh(upstream)
    // other bytes that claim to be older than the head: they get the present time
    suite.server.epoch++
    suite.server.behave({ lastModified: '2022-01-01T00:00:00Z' })
    const [second] = await refresh(upstream, { now: clock })
    assert.equal(second.time, clock)
    // again within the same second: one second later
    suite.server.epoch++
    const [third] = await refresh(upstream, { now: clock })
    assert.equal(third.time, addSeconds(clock, 1))
    assert.equal((await times()).length, 3)
    await checkInvariants(url)
    assert.equal(versionTime({ lastModified: '2024-01-02T00:00:00Z' }, null, '2024-01-01T00:00:00Z'),
      '2024-01-01T00:00:00Z')
    assert.equal(versionTime({ lastModified: '2023-01-01T00:00:00Z' }, null, '2024-01-01T00:00:00Z'),
      '2023-01-01T00:00:00Z')
    assert.equal(versionTime({}, { time: '2030-01-01T00:00:00Z' }, '2024-01-01T00:00:00Z'), '2030-01-01T00:00:01Z')
  })

  it('stores nothing for missing tiles and broken answers, and brings a tile back that was gone', async () => {
    for (const behaviour of [{ status: 404 }, { status: 500 }, { body: '<html>' },
      { truncate: 10 }, { cut: true }, { body: '' }]) {
      suite.server.behave(behaviour)
      const upstream = suite.open()
      assert.ok(behaviour.status === 404 ? (await refresh(upstream)).length === 0
        : await codeOf(refresh(upstream)) === 'UPSTREAM_FAILED', JSON.stringify(behaviour))
    }
    const { rows } = await store.couch.request({ path: '_all_docs' })
    assert.deepEqual(rows.map(({ id }) => id), ['tilecouch'])
    suite.server.behave()
    const upstream = suite.open()
    await refresh(upstream, { now: '2023-01-01T00:00:00Z' })
    await store.write([{ layer: 'osm', ...TILE, time: '2023-06-01T00:00:00Z', gone: true }])
    const [{ outcome }] = await refresh(upstream, { now: '2024-01-01T00:00:00Z', head: undefined })
    assert.equal(outcome, 'written')
    assert.deepEqual(await times(),
      [['2023-01-01T00:00:00Z', 'past'], ['2023-06-01T00:00:00Z', 'past'], ['2024-01-01T00:00:00Z', 'head']])
    await checkInvariants(url)
  })

  it('writes one version when a tile is fetched six times at once', async () => {
    suite.server.behave({ lastModified: '2023-06-01T08:00:00Z' })
    const upstream = suite.open()
    const answers = await Promise.all(Array.from({ length: 6 }, () => upstream.fetch(TILE)))
    const saved = (await Promise.all(answers.map(answer => saveAnswer(store, 'osm', answer, { head: null })))).flat()
    assert.deepEqual(saved.map(({ outcome }) => outcome), Array(6).fill('written'))
    assert.equal(new Set(saved.map(({ rev }) => rev)).size, 1)
    assert.equal((await times()).length, 1)
  })

  it('comes after the version of another program, even if the head is ahead of the clock', async () => {
    const answer = await suite.open().fetch(TILE)
    const writeSeed = async (time, x) =>
      store.write([{ layer: 'osm', ...TILE, time, bytes: await suite.server.tile(5, x, 1) }])
    await writeSeed('2100-01-01T00:00:00Z', 1)
    const oldHead = await head()
    await writeSeed('2100-01-01T00:00:01Z', 2)
    const [saved] = await saveAnswer(store, 'osm', answer, { head: oldHead, now: '2024-01-01T00:00:00Z' })
    assert.deepEqual([saved.outcome, saved.time], ['written', '2100-01-01T00:00:02Z'])
    await checkInvariants(url)
  })

  it('reports "overtaken", with the bytes and no revision, when another program wrote first', async () => {
    const upstream = suite.open()
    const answer = await upstream.fetch(TILE)
    const bytes = await suite.server.tile(5, 1, 1)
    await store.write([{ layer: 'osm', ...TILE, time: '2100-01-01T00:00:00Z', bytes }])
    const [saved] = await saveAnswer(store, 'osm', answer, { head: null, now: '2024-01-01T00:00:00Z' })
    assert.deepEqual([saved.outcome, saved.rev, saved.bytes], ['overtaken', null, await suite.server.tile(5, 17, 11)])
    const unchanged = { kind: 'unchanged', tiles: [TILE], asked: TILE, origin: { url: 'x' }, expires: null }
    const [overtaken] = await saveAnswer(store, { layer: 'osm' }, unchanged, { head: { ...await head(), rev: '1-0' } })
    assert.deepEqual([overtaken.outcome, overtaken.rev], ['overtaken', null])
    await checkInvariants(url)
  })

  it('saves every tile of a metatile, and later only the tiles that changed', async () => {
    const upstream = suite.open({ type: 'wms', metatile: 2, buffer: 16 }, { ttl: 60 })
    const saved = await saveAnswer(store, 'osm', await upstream.fetch(TILE))
    assert.deepEqual(saved.map(({ id, outcome }) => [id, outcome]).sort(),
      ['osm:5:16:10', 'osm:5:16:11', 'osm:5:17:10', ID].map(id => [id, 'written']))
    await checkLoaded(url, saved.map(({ z, x, y, time, bytes }) => ({ layer: 'osm', z, x, y, time, bytes })))

    // the same picture: a request for any of its tiles extends all of them
    const stored = await store.head('osm', 5, 16, 10)
    const repeated = await upstream.fetch({ z: 5, x: 16, y: 10 }, { validators: stored.origin })
    assert.equal(repeated.kind, 'unchanged')
    const extended = await saveAnswer(store, 'osm', repeated, { head: stored })
    assert.deepEqual(extended.map(({ outcome, bytes }) => [outcome, bytes]), Array(4).fill(['extended', undefined]))

    // one tile has another origin now: the answer does not extend it
    const other = { time: addSeconds(now(), 60), bytes: await suite.server.tile(1, 0, 0) }
    await store.write([{ layer: 'osm', z: 5, x: 16, y: 11, ...other, origin: { url: 'http://elsewhere/' } }])
    const third = await saveAnswer(store, 'osm', repeated, { head: await store.head('osm', 5, 16, 10) })
    assert.deepEqual(third.map(({ id }) => id).sort(), ['osm:5:16:10', 'osm:5:17:10', ID])

    // another picture, in which one tile is unchanged
    suite.server.epoch++
    const next = await upstream.fetch(TILE, { validators: stored.origin })
    assert.ok(next.kind === 'tiles')
    const unchangedHead = await head()
    const mixed = { ...next, tiles: next.tiles.map(tile => tile.x === 17 && tile.y === 11
      ? { ...tile, bytes: unchangedHead.bytes ?? tile.bytes } : tile) }
    const outcomes = await saveAnswer(store, 'osm', mixed, { head: unchangedHead, now: addSeconds(now(), 120) })
    assert.deepEqual(Object.fromEntries(outcomes.map(({ id, outcome }) => [id, outcome])),
      { 'osm:5:16:10': 'written', 'osm:5:16:11': 'written', 'osm:5:17:10': 'written', [ID]: 'extended' })
    await checkInvariants(url)
  })

  it('extends only tiles of the same address when nothing changed', async () => {
    const upstream = suite.open({ type: 'wms', metatile: 2, buffer: 16 }, { ttl: 60 })
    const answer = await upstream.fetch(TILE)
    assert.ok(answer.kind === 'tiles')
    const { digest, ...origin } = answer.origin
    await saveAnswer(store, 'osm', { ...answer, origin })
    // the same ETag at another address
    await store.extend([{ id: 'osm:5:16:11', origin: { ...origin, url: 'http://elsewhere/' } }])
    const tiles = answer.tiles.map(({ z, x, y }) => ({ z, x, y }))
    const unchanged = { kind: 'unchanged', tiles, asked: TILE, origin, expires: null }
    const saved = await saveAnswer(store, 'osm', unchanged, { head: await head() })
    assert.deepEqual(saved.map(({ id }) => id).sort(), ['osm:5:16:10', 'osm:5:17:10', ID])
  })

  it('reports tiles that the store refused, saves the other tiles, and fails without a store', async () => {
    const answer = await suite.open().fetch(TILE)
    assert.ok(answer.kind === 'tiles')
    const wrong = { z: 5, x: 18, y: 11, bytes: Buffer.from('no image'), type: 'image/png' }
    const [saved, refused] = await saveAnswer(store, 'osm', { ...answer, tiles: [...answer.tiles, wrong] })
    assert.deepEqual([saved.outcome, refused.outcome, refused.rev, refused.failure?.code],
      ['written', 'failed', null, 'UNKNOWN_IMAGE'])
    const unreachable = new Store(new Couch('http://127.0.0.1:1/nothing', { retries: 0 }))
    assert.equal(await codeOf(saveAnswer(unreachable, 'osm', answer)), 'UNREACHABLE')
  })
})
