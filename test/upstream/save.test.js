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
  const given = useUpstream()
  let store, url
  useStore(backend, { fill: (...own) => { [store, url] = own } })

  const head = () => store.head('osm', 5, 17, 11)
  const times = async () => (await store.versions('osm', 5, 17, 11))
    .map(({ time, current }) => [time, current ? 'head' : 'past'])

  /** Fetches with what is stored in mind, and keeps what came. */
  async function refresh (upstream, options) {
    const stored = await head().catch(() => null)
    return saveAnswer(store, 'osm', await upstream.fetch(TILE, { validators: stored?.origin }),
      { head: stored, ...options })
  }

  it('makes the first version of a tile, with the time of the upstream', async () => {
    given.server.behave({ lastModified: '2023-06-01T08:00:00Z' })
    const [kept] = await refresh(given.open({}, { ttl: 3600 }))
    const bytes = await given.server.tile(5, 17, 11)
    const stored = await head()
    assert.deepEqual([kept.outcome, kept.rev, kept.time, kept.digest, kept.type],
      ['written', stored.rev, '2023-06-01T08:00:00Z', digestOf(bytes), 'image/png'])
    assert.deepEqual(stored.bytes, bytes)
    assert.deepEqual([stored.expires, kept.expires, kept.stored],
      [addSeconds(stored.stored, 3600), stored.expires, stored.stored])
    assert.deepEqual(Object.keys(stored.origin ?? {}).sort(), ['etag', 'lastModified', 'url'])
  })

  it('extends unchanged tiles, after a 304 and after equal bytes', async () => {
    const upstream = given.open({}, { ttl: 3600 })
    const [first] = await refresh(upstream)
    for (const behaviour of [{}, { ignoreConditions: true }, { etag: false }]) {
      given.server.behave(behaviour)
      const before = await head()
      const then = addSeconds(before.origin?.checked ?? before.stored, 60)
      const [kept] = await refresh(upstream, { now: then })
      const after = await head()
      assert.deepEqual([kept.outcome, kept.rev, kept.time], ['extended', after.rev, first.time],
        JSON.stringify(behaviour))
      assert.notEqual(after.rev, before.rev)
      assert.deepEqual([after.stored, after.time, after.digest, after.origin?.checked],
        [first.stored, first.time, first.digest, then])
    }
    assert.equal((await times()).length, 1)
    assert.equal(given.server.asked.filter(({ status }) => status === 304).length, 1)
  })

  it('makes new bytes the head, and moves the old version to the past', async () => {
    const upstream = given.open()
    const loaded = []
    const moments = [2021, 2022, 2023].map(year => `${year}-01-01T00:00:00Z`)
    for (const [epoch, time] of moments.entries()) {
      given.server.epoch = epoch
      given.server.behave({ lastModified: time })
      const [{ outcome, bytes }] = await refresh(upstream)
      assert.deepEqual([outcome, bytes], ['written', await given.server.tile(5, 17, 11)])
      loaded.push({ layer: 'osm', ...TILE, time, bytes })
    }
    assert.deepEqual(await times(), [[moments[0], 'past'], [moments[1], 'past'], [moments[2], 'head']])
    await checkLoaded(url, loaded)
  })

  it('takes the time of the upstream only when it is after the head and not in the future', async () => {
    const upstream = given.open()
    const clock = now()
    given.server.behave({ lastModified: '2023-01-01T00:00:00Z' })
    await refresh(upstream)
    // other bytes, and it says that they are older than what we have: they are from now
    given.server.epoch++
    given.server.behave({ lastModified: '2022-01-01T00:00:00Z' })
    const [second] = await refresh(upstream, { now: clock })
    assert.equal(second.time, clock)
    // within the same second: one second later
    given.server.epoch++
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
      given.server.behave(behaviour)
      const upstream = given.open()
      assert.ok(behaviour.status === 404 ? (await refresh(upstream)).length === 0
        : await codeOf(refresh(upstream)) === 'UPSTREAM_FAILED', JSON.stringify(behaviour))
    }
    const { rows } = await store.couch.request({ path: '_all_docs' })
    assert.deepEqual(rows.map(({ id }) => id), ['tilecouch'])
    given.server.behave()
    const upstream = given.open()
    await refresh(upstream, { now: '2023-01-01T00:00:00Z' })
    await store.write([{ layer: 'osm', ...TILE, time: '2023-06-01T00:00:00Z', gone: true }])
    const [{ outcome }] = await refresh(upstream, { now: '2024-01-01T00:00:00Z', head: undefined })
    assert.equal(outcome, 'written')
    assert.deepEqual(await times(),
      [['2023-01-01T00:00:00Z', 'past'], ['2023-06-01T00:00:00Z', 'past'], ['2024-01-01T00:00:00Z', 'head']])
    await checkInvariants(url)
  })

  it('writes one version when a tile is fetched six times at once', async () => {
    given.server.behave({ lastModified: '2023-06-01T08:00:00Z' })
    const upstream = given.open()
    const answers = await Promise.all(Array.from({ length: 6 }, () => upstream.fetch(TILE)))
    const kept = (await Promise.all(answers.map(answer => saveAnswer(store, 'osm', answer, { head: null })))).flat()
    assert.deepEqual(kept.map(({ outcome }) => outcome), Array(6).fill('written'))
    assert.equal(new Set(kept.map(({ rev }) => rev)).size, 1)
    assert.equal((await times()).length, 1)
  })

  it('reports "overtaken", with the bytes and no revision, when another program wrote first', async () => {
    const upstream = given.open()
    const answer = await upstream.fetch(TILE)
    const bytes = await given.server.tile(5, 1, 1)
    await store.write([{ layer: 'osm', ...TILE, time: '2100-01-01T00:00:00Z', bytes }])
    const [kept] = await saveAnswer(store, 'osm', answer, { head: null, now: '2024-01-01T00:00:00Z' })
    assert.deepEqual([kept.outcome, kept.rev, kept.bytes], ['overtaken', null, await given.server.tile(5, 17, 11)])
    const unchanged = { kind: 'unchanged', tiles: [TILE], asked: TILE, origin: { url: 'x' }, expires: null }
    const [known] = await saveAnswer(store, { layer: 'osm' }, unchanged, { head: { ...await head(), rev: '1-0' } })
    assert.deepEqual([known.outcome, known.rev], ['overtaken', null])
    await checkInvariants(url)
  })

  it('saves every tile of a metatile, and later only the tiles that changed', async () => {
    const upstream = given.open({ type: 'wms', metatile: 2, buffer: 16 }, { ttl: 60 })
    const kept = await saveAnswer(store, 'osm', await upstream.fetch(TILE))
    assert.deepEqual(kept.map(({ id, outcome }) => [id, outcome]).sort(),
      ['osm:5:16:10', 'osm:5:16:11', 'osm:5:17:10', ID].map(id => [id, 'written']))
    await checkLoaded(url, kept.map(({ z, x, y, time, bytes }) => ({ layer: 'osm', z, x, y, time, bytes })))

    // the same picture: all of them hold longer, asked for by any of them
    const stored = await store.head('osm', 5, 16, 10)
    const again = await upstream.fetch({ z: 5, x: 16, y: 10 }, { validators: stored.origin })
    assert.equal(again.kind, 'unchanged')
    const extended = await saveAnswer(store, 'osm', again, { head: stored })
    assert.deepEqual(extended.map(({ outcome, bytes }) => [outcome, bytes]), Array(4).fill(['extended', undefined]))

    // one of them is from elsewhere by now: it says nothing of that
    const other = { time: addSeconds(now(), 60), bytes: await given.server.tile(1, 0, 0) }
    await store.write([{ layer: 'osm', z: 5, x: 16, y: 11, ...other, origin: { url: 'http://elsewhere/' } }])
    const third = await saveAnswer(store, 'osm', again, { head: await store.head('osm', 5, 16, 10) })
    assert.deepEqual(third.map(({ id }) => id).sort(), ['osm:5:16:10', 'osm:5:17:10', ID])

    // another picture, of which one tile is as it was
    given.server.epoch++
    const next = await upstream.fetch(TILE, { validators: stored.origin })
    assert.ok(next.kind === 'tiles')
    const same = await head()
    const mixed = { ...next, tiles: next.tiles.map(tile => tile.x === 17 && tile.y === 11
      ? { ...tile, bytes: same.bytes ?? tile.bytes } : tile) }
    const outcomes = await saveAnswer(store, 'osm', mixed, { head: same, now: addSeconds(now(), 120) })
    assert.deepEqual(Object.fromEntries(outcomes.map(({ id, outcome }) => [id, outcome])),
      { 'osm:5:16:10': 'written', 'osm:5:16:11': 'written', 'osm:5:17:10': 'written', [ID]: 'extended' })
    await checkInvariants(url)
  })

  it('extends only tiles of the same address when nothing changed', async () => {
    const upstream = given.open({ type: 'wms', metatile: 2, buffer: 16 }, { ttl: 60 })
    const answer = await upstream.fetch(TILE)
    assert.ok(answer.kind === 'tiles')
    const { digest, ...origin } = answer.origin
    await saveAnswer(store, 'osm', { ...answer, origin })
    // the same ETag, of another address
    await store.extend([{ id: 'osm:5:16:11', origin: { ...origin, url: 'http://elsewhere/' } }])
    const tiles = answer.tiles.map(({ z, x, y }) => ({ z, x, y }))
    const unchanged = { kind: 'unchanged', tiles, asked: TILE, origin, expires: null }
    const kept = await saveAnswer(store, 'osm', unchanged, { head: await head() })
    assert.deepEqual(kept.map(({ id }) => id).sort(), ['osm:5:16:10', 'osm:5:17:10', ID])
  })

  it('reports tiles that the store refused, saves the other tiles, and fails without a store', async () => {
    const answer = await given.open().fetch(TILE)
    assert.ok(answer.kind === 'tiles')
    const wrong = { z: 5, x: 18, y: 11, bytes: Buffer.from('no image'), type: 'image/png' }
    const [good, bad] = await saveAnswer(store, 'osm', { ...answer, tiles: [...answer.tiles, wrong] })
    assert.deepEqual([good.outcome, bad.outcome, bad.rev, bad.failure?.code],
      ['written', 'failed', null, 'UNKNOWN_IMAGE'])
    const away = new Store(new Couch('http://127.0.0.1:1/nothing', { retries: 0 }))
    assert.equal(await codeOf(saveAnswer(away, 'osm', answer)), 'UNREACHABLE')
  })
})
