// Listing and fetching while somebody writes: no tile is lost, none comes twice, and what was listed is what is
// fetched.
import assert from 'node:assert/strict'
import { publish } from '../../loader/couchapp/publish.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { png, square } from '../support/tiles.js'

const SIDE = 18
const time = year => `${year}-01-01T00:00:00Z`
const edition = (year, seed = (x, y) => year * 1000 + x * SIDE + y) =>
  square({ layer: 'osm', time: time(year), z: 7, side: SIDE, seed })

onEachStore('listing while a load runs', backend => {
  /** @type {Store} */
  let store
  beforeEach(async function () {
    this.timeout(60000)
    store = await Store.create(await backend.database(), { q: 4 })
    await store.defineLayer('osm')
    await store.write(edition(2000))
    await publish(store)
  })
  afterEach(() => store.destroy())

  it('gives every tile once as of an earlier time, with the bytes of that time', async function () {
    this.timeout(120000)
    let writing = true
    const load = (async () => {
      for (let year = 2001; year <= 2004; year++) await store.write(edition(year), { batch: 40, concurrency: 3 })
      writing = false
    })()
    const expected = edition(2000).map(({ z, x, y }) => `${z}/${x}/${y}`).sort()
    let rounds = 0
    try {
      while (writing || rounds === 0) {
        const missing = []
        const found = []
        for await (
          const one of store.fetch(store.list('osm', { time: '2000' }), { onMissing: gone => missing.push(gone.id) })
        ) {
          assert.equal(one.time, time(2000))
          assert.ok(one.bytes.equals(png(2000 * 1000 + one.x * SIDE + one.y)), `${one.id} shows what it showed`)
          found.push(`${one.z}/${one.x}/${one.y}`)
        }
        assert.deepEqual([found.sort(), missing], [expected, []], `round ${rounds}`)

        const seen = new Map()
        for await (const { id, versions } of store.listTiles('osm')) {
          assert.ok(!seen.has(id), `${id} comes once`)
          assert.deepEqual(versions.map(version => version.time),
            [...new Set(versions.map(version => version.time))].sort(), 'each time once, oldest first')
          assert.ok(versions.slice(0, -1).every(({ current, id: document }) => !current && document.includes('@')) &&
            versions.at(-1).current, JSON.stringify(versions))
          seen.set(id, versions[0].time)
        }
        assert.deepEqual([seen.size, new Set(seen.values())], [SIDE * SIDE, new Set([time(2000)])])
        const heads = []
        for await (const { id } of store.list('osm')) heads.push(id)
        assert.equal(new Set(heads).size, SIDE * SIDE)
        assert.equal(heads.length, SIDE * SIDE)
        rounds++
      }
    } finally {
      await load
    }
    assert.ok(rounds > 0)
  })

  it('fetches the past copy of a head that was overwritten after it was listed', async () => {
    const listed = []
    for await (const one of store.list('osm', { time: '2000' })) listed.push(one)
    assert.ok(listed.every(({ id }) => !id.includes('@')))
    await store.write(edition(2001))
    for await (const one of store.fetch(listed)) {
      assert.deepEqual([one.id, one.time, one.current], [`osm:7:${one.x}:${one.y}@${time(2000)}`, time(2000), false])
      assert.ok(one.bytes.equals(png(2000 * 1000 + one.x * SIDE + one.y)))
    }
  })

  it('fetches the newest versions for a list without a time, and reports tiles gone meanwhile', async () => {
    const listed = []
    for await (const one of store.list('osm')) listed.push(one)
    await store.write(edition(2001, x => x === 0 ? null : x === 1 ? 7 : undefined))
    const missing = []
    const years = {}
    for await (const one of store.fetch(listed, { onMissing: gone => missing.push(gone) })) {
      years[one.time] = (years[one.time] ?? 0) + 1
    }
    assert.deepEqual(years, { [time(2000)]: SIDE * (SIDE - 2), [time(2001)]: SIDE })
    assert.deepEqual(missing.map(({ x }) => x), Array(SIDE).fill(0))
  })
})
