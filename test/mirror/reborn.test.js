// A tile that was deleted and loaded again says that its image is from the first revision. Who believes that keeps the
// old one.
import assert from 'node:assert/strict'
import { Store } from '../../loader/index.js'
import { onEachStore } from '../support/backends.js'
import { square } from '../support/tiles.js'
import { differences } from './compare.js'
import { documentsOf, replicationOf } from './part.js'

const edition =
  seed => square({ layer: 'osm', time: '2024-01-01T00:00:00Z', side: 6, seed: (x, y) => seed + 6 * x + y })

onEachStore('A mirror of tiles that were deleted and loaded again', backend => {
  let from, to, store

  const mirror = async () => (await replicationOf(from, to, {})).run()

  beforeEach(async () => {
    [from, to] = [await backend.database(), await backend.database()]
    store = await Store.create(from)
    await store.write(edition(0))
    await mirror()
  })

  async function removeAll () {
    const tiles = (await documentsOf(from)).filter(({ type }) => type === 'tile')
    await store.couch.bulk(tiles.map(({ _id, _rev }) => ({ _id, _rev, _deleted: true })))
  }

  it('has the new images, even if it did not read the deletions of the old ones', async () => {
    await removeAll()
    await store.write(edition(100))
    await mirror()
    assert.deepEqual(await differences(from, to), [])
  })

  it('has the new images after it saw the deletions', async () => {
    await removeAll()
    await mirror()
    await store.write(edition(100))
    await mirror()
    assert.deepEqual(await differences(from, to), [])
  })

  it('copies changed fields without the image that it has', async () => {
    await store.extend(
      edition(0).map(({ layer, z, x, y }) => ({ id: [layer, z, x, y].join(':'), expires: '2099-01-01T00:00:00Z' }))
    )
    const { docs, bytes } = await mirror()
    assert.equal(docs, 36)
    const found = await differences(from, to)
    // the embedded store counts anew when bytes come
    assert.deepEqual(found.filter(difference => !difference.includes('revpos')), [])
    if (backend.name === 'CouchDB') assert.ok(bytes < 36 * 1000, `${bytes} bytes`)
  })
})
