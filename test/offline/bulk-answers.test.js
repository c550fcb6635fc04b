// A device beside a store whose answers have errors for some documents, or leave them out.
import assert from 'node:assert/strict'
import { Selection } from '../../core/mirror/index.js'
import { HttpCouch } from '../../client/mirror/http.js'
import { StoreListing } from '../../client/offline/store-listing.js'
import { Store } from '../../loader/store/index.js'
import { publish } from '../../loader/couchapp/publish.js'
import { onEachStore } from '../support/backends.js'
import { startFaulty, wrongOnce } from '../support/faulty-store.js'
import { square } from '../support/tiles.js'

const T = '2024-01-01T00:00:00Z'

onEachStore('a device at a store whose bulk answers have errors or lack rows', backend => {
  let store, faulty, http
  beforeEach(async () => {
    const url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', { format: 'png' })
    await store.putEdition('osm', T, {})
    await store.write(square({ layer: 'osm', time: T, side: 3, seed: (x, y) => x * 3 + y }))
    await publish(store)
    faulty = await startFaulty(url)
    http = new HttpCouch(faulty.url, { firstDelay: 2, longestDelay: 4 })
  })
  afterEach(async () => {
    await faulty.close()
    await store.destroy()
  })

  it('finds every stored document, and reports only missing documents as missing', async () => {
    faulty.fault = wrongOnce()
    const ids = ['osm:5:0:0', 'osm:5:1:1', 'osm:5:2:2', 'osm:5:9:9', 'layer:osm']
    assert.deepEqual((await http.docs(ids)).map(({ doc, deleted }) => [doc?._id, deleted]),
      ids.map(id => [id === 'osm:5:9:9' ? undefined : id, false]))
    assert.deepEqual((await http.docs(['osm:5:8:8'])).map(({ doc, deleted }) => [doc, deleted]),
      [[undefined, false]], 'of a single one, too')
    const ranges = await http.queries('_all_docs', ids.map(id => ({ startkey: id, endkey: id })))
    assert.deepEqual(ranges.map(rows => rows.length), [1, 1, 1, 0, 1])
    assert.ok(faulty.faults >= ids.length)
  })

  it('lists every document of a layer that is not a tile', async () => {
    const names = async () => (await new StoreListing(http, new Selection({ layers: ['osm'] })).layerDocuments())
      .documents.map(({ id }) => id)
    const expected = await names()
    assert.deepEqual(expected, ['tilecouch', 'layer:osm', `edition:osm@${T}`])
    faulty.fault = wrongOnce()
    assert.deepEqual(await names(), expected)
    assert.ok(faulty.faults > 0)
  })

  it('fails with the ids of documents that never get an answer', async () => {
    faulty.fault = ({ id }) => id === 'osm:5:1:1' ? 'missing' : undefined
    await assert.rejects(http.docs(['osm:5:0:0', 'osm:5:1:1']), error => {
      assert.deepEqual([error.code, error.details.ids], ['NO_ANSWER', ['osm:5:1:1']])
      return true
    })
  }).timeout(20000)
})
