// Writing versions: new heads, the past, repeated and refused writes, and tiles without a head.
import assert from 'node:assert/strict'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore, post } from '../support/backends.js'
import { checkInvariants, checkLoaded } from '../support/invariants.js'
import { useStore } from '../support/store.js'
import { png, square, yearStart } from '../support/tiles.js'

const [T1, T2, T3, T4] =
  ['2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z', '2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']
const tile = (time, seed, fields) => (
  { layer: 'osm', z: 3, x: 1, y: 2, time, ...(seed === null ? { gone: true } : { bytes: png(seed) }), ...fields }
)
const counts = ({ created, advanced, backfilled, unchanged, failed, gone }) => (
  { created, advanced, backfilled, unchanged, failed, gone }
)
const none = { created: 0, advanced: 0, backfilled: 0, unchanged: 0, failed: 0, gone: 0 }

onEachStore('writing versions', backend => {
  const fixture = useStore(backend)

  const stateOf = ({ gone, current }) => {
    if (gone) return 'gone'
    return current ? 'head' : 'past'
  }
  const times = async () =>
    (await fixture.store.versions('osm', 3, 1, 2)).map(version => [version.time, stateOf(version)])
  const write = async (...versions) => counts(await fixture.store.write(versions))

  it('creates a head for a new tile', async () => {
    assert.deepEqual(await write(tile(T1, 1)), { ...none, created: 1 })
    const head = await fixture.store.head('osm', 3, 1, 2)
    assert.deepEqual([head.time, head.type, head.current], [T1, 'image/png', true])
    assert.deepEqual(head.bytes, png(1))
    assert.match(head.stored, /^\d{4}-.*Z$/)
  })

  it('moves the head to the past before a later version takes its place', async () => {
    await write(tile(T1, 1))
    assert.deepEqual(await write(tile(T2, 2)), { ...none, advanced: 1 })
    assert.deepEqual(await times(), [[T1, 'past'], [T2, 'head']])
    await checkLoaded(fixture.url, [tile(T1, 1), tile(T2, 2)])
  })

  it('changes nothing when the same bytes are loaded for the same time again', async () => {
    await write(tile(T1, 1))
    const headBefore = await fixture.store.head('osm', 3, 1, 2)
    assert.deepEqual(await write(tile(T1, 1)), { ...none, unchanged: 1 })
    assert.equal((await fixture.store.head('osm', 3, 1, 2)).rev, headBefore.rev)
  })

  it('adds the time of unchanged bytes to the head, without a new version', async () => {
    await write(tile(T1, 1))
    assert.deepEqual(await write(tile(T2, 1)), { ...none, unchanged: 1 })
    assert.deepEqual(await times(), [[T1, 'head']])
    assert.deepEqual((await fixture.store.couch.get('osm:3:1:2')).seen.map(([time]) => time), [T2])
  })

  it('makes a confirmed image a version when another image is written between its times', async () => {
    await write(tile(T1, 1))
    await write(tile(T4, 1))
    assert.deepEqual(await write(tile(T2, 2)), { ...none, backfilled: 1 })
    assert.deepEqual(await times(), [[T1, 'past'], [T2, 'past'], [T4, 'head']])
    await checkLoaded(fixture.url, [tile(T1, 1), tile(T2, 2), tile(T4, 1)])
  })

  it('writes a version of an older time into the past', async () => {
    await write(tile(T3, 3))
    assert.deepEqual(await write(tile(T1, 1)), { ...none, backfilled: 1 })
    assert.deepEqual(await write(tile(T2, 2)), { ...none, backfilled: 1 })
    assert.deepEqual(await times(), [[T1, 'past'], [T2, 'past'], [T3, 'head']])
    await checkLoaded(fixture.url, [tile(T1, 1), tile(T2, 2), tile(T3, 3)])
  })

  it('shows the bytes of the head from an earlier time on if they are written for that time', async () => {
    await write(tile(T3, 3))
    assert.deepEqual(await write(tile(T1, 3)), { ...none, backfilled: 1 })
    await checkLoaded(fixture.url, [tile(T1, 3), tile(T2, 3), tile(T3, 3)])
  })

  it('refuses other bytes for a time at which the head was confirmed, and confirms a time once', async () => {
    await write(tile(T1, 1))
    await write(tile(T3, 1))
    const { _rev: rev } = await fixture.store.couch.get('osm:3:1:2')
    assert.deepEqual(await write(tile(T3, 1)), { ...none, unchanged: 1 })
    assert.equal((await fixture.store.couch.get('osm:3:1:2'))._rev, rev)
    assert.deepEqual((await fixture.store.write([tile(T3, 2)])).failures.map(({ code }) => code), ['VERSION_TAKEN'])
    await checkLoaded(fixture.url, [tile(T1, 1), tile(T3, 1)])
  })

  it('refuses other bytes for a time that is taken, in the present and in the past', async () => {
    await write(tile(T1, 1), tile(T2, 2))
    const summary = await fixture.store.write([tile(T2, 9), tile(T1, 8)])
    assert.equal(summary.failed, 2)
    assert.deepEqual(summary.failures.map(failure => failure.code), ['VERSION_TAKEN', 'VERSION_TAKEN'])
    await checkLoaded(fixture.url, [tile(T1, 1), tile(T2, 2)])
  })

  it('stores a gone tile once, and its return as a new version', async () => {
    await write(tile(T1, 1))
    assert.deepEqual(await write(tile(T2, null)), { ...none, advanced: 1, gone: 1 })
    await assert.rejects(fixture.store.head('osm', 3, 1, 2), { code: 'TILE_NOT_FOUND' })
    await assert.rejects(fixture.store.at('osm', 3, 1, 2, T3), { code: 'TILE_NOT_FOUND' })
    assert.deepEqual(await write(tile(T3, null)), { ...none, unchanged: 1 })
    assert.deepEqual(await write(tile(T4, 1)), { ...none, advanced: 1 })
    assert.deepEqual(await times(), [[T1, 'past'], [T2, 'gone'], [T4, 'head']])
    await checkLoaded(fixture.url, [tile(T1, 1), tile(T2, null), tile(T3, null), tile(T4, 1)])
  })

  it('takes several versions of one tile in one batch, in any order', async () => {
    assert.equal((await fixture.store.write([tile(T3, 3), tile(T1, 1), tile(T4, 4), tile(T2, 2)])).failed, 0)
    await checkLoaded(fixture.url, [tile(T1, 1), tile(T2, 2), tile(T3, 3), tile(T4, 4)])
  })

  it('keeps expiry, origin and the fields of other programs in the past', async () => {
    await write(tile(T1, 1, { expires: T3, origin: { url: 'https://example.org/1', etag: '"a"' } }))
    const doc = await fixture.store.couch.get('osm:3:1:2')
    await fixture.store.couch.put({ ...doc, timestamp: 1234.5 })
    await write(tile(T2, 2))
    const past = await fixture.store.couch.get(`osm:3:1:2@${T1}`)
    assert.deepEqual([past.expires, past.origin, past.timestamp, past.current],
      [T3, { url: 'https://example.org/1', etag: '"a"' }, 1234.5, false])
  })

  it('reports tiles that cannot be stored and stores the others', async () => {
    const bytes = png(1)
    const failures = []
    const summary = await fixture.store.write([
      tile(T1, 1, { x: 0 }),
      tile(T1, 1, { x: 1, bytes: bytes.subarray(0, bytes.length - 5) }),
      tile(T1, 1, { x: 2, bytes: Buffer.from('<html><body>502 Bad Gateway</body></html>') }),
      tile(T1, 1, { x: 3, bytes: Buffer.alloc(0) }),
      tile(T1, 1, { x: 4, y: 9 }),
      tile(T1, 1, { x: 5, layer: 'No!' }),
      tile('2021-02-30T00:00:00Z', 1, { x: 6 }),
      tile(T1, 1, { x: 7, bytes: undefined, read: async () => { throw new Error('EIO: i/o error') } }),
      tile(T1, 2, { x: 7, y: 7 })
    ], { onFailure: failure => failures.push(failure.code) })
    assert.deepEqual(counts(summary), { ...none, created: 2, failed: 7 })
    assert.deepEqual(failures.sort(),
      ['BAD_LAYER', 'BAD_TILE', 'BAD_TIME', 'EMPTY_IMAGE', 'SOURCE_UNREADABLE', 'TRUNCATED_IMAGE', 'UNKNOWN_IMAGE'])
    assert.equal(summary.tiles, 9)
    await checkInvariants(fixture.url)
  })

  it('sends the documents of a request in the order of their ids', async () => {
    const { couch } = fixture.store
    const sentIds = /** @type {string[][]} */ ([])
    couch.request = function (request) {
      if (request.path === '_bulk_docs') sentIds.push(JSON.parse(`${request.body}`).docs.map(({ _id }) => _id))
      return Couch.prototype.request.call(couch, request)
    }
    const edition = square({ layer: 'osm', time: T1, side: 20, seed: (x, y) => x * 20 + y }).reverse()
    assert.equal((await fixture.store.write(edition, { batch: 150 })).created, 400)
    const tileIds = sentIds.map(ids => ids.filter(id => id.startsWith('osm:'))).filter(ids => ids.length)
    assert.ok(tileIds.length >= 3)
    for (const ids of tileIds) assert.deepEqual(ids, [...ids].sort())
  })

  it('writes every tile of a larger load and of its next edition', async () => {
    const edition = square({ layer: 'osm', time: T1, side: 20, seed: (x, y) => x * 20 + y })
    const summary = await fixture.store.write(edition, { batch: 30 })
    assert.equal(summary.created, 400)
    assert.deepEqual(summary.types, { 'image/png': 400 })
    assert.deepEqual(counts(await fixture.store.write(edition)), { ...none, unchanged: 400 })
    const changedThird = (x, y) => (x % 3 ? 0 : 1000) + x * 20 + y
    const secondEdition =
      square({ layer: 'osm', time: T2, side: 20, seed: (x, y) => y === 3 ? null : changedThird(x, y) })
    assert.deepEqual(counts(await fixture.store.write(secondEdition, { batch: 30 })),
      { ...none, unchanged: 400 - 20 - 133, advanced: 153, gone: 20 })
    await checkLoaded(fixture.url, [...edition, ...secondEdition])
  })

  it('loses no version when four loaders write different times of the same tiles', async () => {
    const editions =
      [T2, T1, T4, T3].map((time, index) => square({ layer: 'osm', time, seed: (x, y) => index * 1000 + x * 8 + y }))
    const summaries = await Promise.all(editions.map(async edition => {
      const otherStore = await Store.open(fixture.url)
      return otherStore.write(edition, { batch: 7, concurrency: 3 })
    }))
    assert.deepEqual(summaries.map(summary => summary.failed), [0, 0, 0, 0])
    await checkLoaded(fixture.url, editions.flat())
  })

  it('stores every tile once when two loaders write the same edition', async () => {
    const edition = square({ layer: 'osm', time: T1, seed: (x, y) => x * 8 + y })
    const [firstSummary, secondSummary] = await Promise.all(
      [fixture.store.write(edition, { batch: 5 }), (await Store.open(fixture.url)).write(edition, { batch: 9 })]
    )
    assert.equal(firstSummary.failed + secondSummary.failed, 0)
    const tiles = await checkLoaded(fixture.url, edition)
    assert.equal(tiles.size, 64)
  })

  it('goes on from the newest past version when somebody deleted the head', async () => {
    await write(tile(T1, 1), tile(T2, 2))
    const { rev } = await fixture.store.head('osm', 3, 1, 2)
    await fixture.store.couch.request({ method: 'DELETE', path: 'osm:3:1:2', qs: { rev } })
    assert.deepEqual(await write(tile(T3, 3)), { ...none, advanced: 1 })
    assert.deepEqual(await times(), [[T1, 'past'], [T3, 'head']])
  })

  it('stops when its signal aborts, with a summary, and continues in the next run', async () => {
    const edition = square({ layer: 'osm', time: T1, side: 20, seed: (x, y) => x * 20 + y })
    const stop = new AbortController()
    const stopped = fixture.store.write(edition,
      { batch: 20, concurrency: 1, signal: stop.signal, onProgress: ({ tiles }) => tiles >= 100 && stop.abort() })
    await assert.rejects(stopped, error => error.code === 'ABORTED' &&
      error.summary.created >= 100 && error.summary.created < 400)
    const resumed = await fixture.store.write(edition)
    assert.equal(resumed.failed, 0)
    assert.ok(resumed.unchanged >= 100)
    await checkLoaded(fixture.url, edition)
  })
})

// such a tile is left by a raw _purge of its head
onEachStore('a tile with past versions but without a head', backend => {
  const fixture = useStore(backend, { fill: store => store.defineLayer('osm', { format: 'png' }) })
  const ID = 'osm:4:1:1'
  const tileOf = (year, seed = year, y = 1) =>
    ({ layer: 'osm', z: 4, x: 1, y, time: yearStart(year), bytes: png(seed) })

  /** Leaves all years except the last as past versions, without a head and without its tombstone. */
  async function behead (years = [2021, 2022, 2023]) {
    if (backend.name === 'CouchDB') {
      for (const year of years) await fixture.store.write([tileOf(year)])
      const { _rev: rev } = await fixture.store.couch.get(ID)
      const purged = await post(`${fixture.url}/_purge`, { [ID]: [rev] })
      assert.deepEqual(purged.purged[ID], [rev])
      return
    }
    // the embedded store cannot purge: write the past documents alone
    const docs = years.slice(0, -1).map(year => ({
      _id: `${ID}@${yearStart(year)}`, type: 'tile', layer: 'osm', z: 4, x: 1,
      y: 1, current: false, time: yearStart(year), stored: yearStart(year),
      _attachments: { tile: { content_type: 'image/png', data: png(year).toString('base64') } }
    }))
    for (const { error } of await fixture.store.couch.bulk(docs)) assert.equal(error, undefined)
  }
  const timeline = async () => (await fixture.store.versions('osm', 4, 1, 1))
    .map(({ time, current }) => [time.slice(0, 4), current])

  it('shows no older version after a load of an older time', async () => {
    await behead()
    await fixture.store.write([tileOf(2020)])
    assert.deepEqual((await timeline()).filter(([, current]) => current)
      .map(([year]) => year).filter(year => year < '2022'), [], 'no head before its past (invariant 2)')
    assert.deepEqual((await fixture.store.at('osm', 4, 1, 1, '2024')).time, yearStart(2022))
    assert.deepEqual((await fixture.store.at('osm', 4, 1, 1, '2020')).time, yearStart(2020))
    await checkInvariants(fixture.url)
  })

  it('shows no older version after a load that also brings its neighbour', async () => {
    await behead()
    await fixture.store.write([tileOf(2020), tileOf(2020, 2020, 2)])
    assert.deepEqual((await fixture.store.at('osm', 4, 1, 1, '2024')).time, yearStart(2022))
    await checkInvariants(fixture.url)
  })

  it('shows its newest past version when the older ones were loaded before the head was lost', async () => {
    await behead([2020, 2021, 2022, 2023])
    assert.deepEqual((await fixture.store.at('osm', 4, 1, 1, '2024')).time, yearStart(2022))
    await fixture.store.write([tileOf(2019)])
    assert.deepEqual((await fixture.store.at('osm', 4, 1, 1, '2024')).time, yearStart(2022))
    await checkInvariants(fixture.url)
  })

  it('is unchanged by the bytes of its newest past version, and gets a head for other bytes', async () => {
    await behead()
    await fixture.store.write([tileOf(2024, 2022)])
    assert.deepEqual((await fixture.store.at('osm', 4, 1, 1, '2024')).bytes, png(2022))
    await fixture.store.write([tileOf(2025)])
    assert.deepEqual((await fixture.store.head('osm', 4, 1, 1)).time, yearStart(2025))
    assert.deepEqual((await fixture.store.at('osm', 4, 1, 1, '2023')).time, yearStart(2022))
    await checkInvariants(fixture.url)
  })
})
