// A tile whose head is missing and whose past is there, as after a raw _purge of the head.
import assert from 'node:assert/strict'
import { Store } from '../../loader/store/index.js'
import { onEachStore, json } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { png } from '../support/tiles.js'

const T = year => `${year}-01-01T00:00:00Z`
const ID = 'osm:4:1:1'
const tile = (year, seed = year) => ({ layer: 'osm', z: 4, x: 1, y: 1, time: T(year), bytes: png(seed) })
const neighbour = year => ({ layer: 'osm', z: 4, x: 1, y: 2, time: T(year), bytes: png(year) })

onEachStore('a tile with past versions but without a head', backend => {
  let url, store
  beforeEach(async () => {
    url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', { format: 'png' })
  })
  afterEach(() => store.destroy())

  /** All but the last in the past, no head, and no tombstone of one. */
  async function behead (years = [2021, 2022, 2023]) {
    if (backend.name === 'CouchDB') {
      for (const year of years) await store.write([tile(year)])
      const { _rev: rev } = await store.couch.get(ID)
      const purged = await json(`${url}/_purge`,
        { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ [ID]: [rev] }) })
      assert.deepEqual(purged.purged[ID], [rev])
      return
    }
    // the embedded store cannot purge: the same documents, as a replication of the past alone leaves them
    const docs = years.slice(0, -1).map(year => ({
      _id: `${ID}@${T(year)}`, type: 'tile', layer: 'osm', z: 4, x: 1,
      y: 1, current: false, time: T(year), stored: T(year),
      _attachments: { tile: { content_type: 'image/png', data: png(year).toString('base64') } }
    }))
    for (const { error } of await store.couch.bulk(docs)) assert.equal(error, undefined)
  }
  const timeline = async () => (await store.versions('osm', 4, 1, 1))
    .map(({ time, current }) => [time.slice(0, 4), current])

  it('shows no older version after a load of an older time', async () => {
    await behead()
    await store.write([tile(2020)])
    assert.deepEqual((await timeline()).filter(([, current]) => current)
      .map(([year]) => year).filter(year => year < '2022'), [], 'no head before its past (invariant 2)')
    assert.deepEqual((await store.at('osm', 4, 1, 1, '2024')).time, T(2022))
    assert.deepEqual((await store.at('osm', 4, 1, 1, '2020')).time, T(2020))
    await checkInvariants(url)
  })

  it('shows no older version after a load that also brings its neighbour', async () => {
    await behead()
    await store.write([tile(2020), neighbour(2020)])
    assert.deepEqual((await store.at('osm', 4, 1, 1, '2024')).time, T(2022))
    await checkInvariants(url)
  })

  it('shows its newest past version when the older ones were loaded before the head was lost', async () => {
    await behead([2020, 2021, 2022, 2023])
    assert.deepEqual((await store.at('osm', 4, 1, 1, '2024')).time, T(2022))
    await store.write([tile(2019)])
    assert.deepEqual((await store.at('osm', 4, 1, 1, '2024')).time, T(2022))
    await checkInvariants(url)
  })

  it('is unchanged by the bytes of its newest past version, and gets a head for other bytes', async () => {
    await behead()
    await store.write([tile(2024, 2022)])
    assert.deepEqual((await store.at('osm', 4, 1, 1, '2024')).bytes, png(2022))
    await store.write([tile(2025)])
    assert.deepEqual((await store.head('osm', 4, 1, 1)).time, T(2025))
    assert.deepEqual((await store.at('osm', 4, 1, 1, '2023')).time, T(2022))
    await checkInvariants(url)
  })
})
