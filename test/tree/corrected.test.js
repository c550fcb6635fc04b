// A time that was taken out and filled again with other bytes is another version, and what was taken out is nowhere: also where
// file times, sizes and the feed of changes look as before.
import assert from 'node:assert/strict'
import { Store, publish, removeEdition } from '../../loader/index.js'
import { exportTree } from '../../loader/tree/index.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { checkTrees, edition, tile } from './helpers.js'

const [T1, T2, T3] = ['2019-01-01T00:00:00Z', '2020-01-01T00:00:00Z', '2021-01-01T00:00:00Z']

onEachStore('trees of editions that were corrected', backend => {
  const folder = useFolder()
  let url, store
  beforeEach(async function () {
    this.timeout(20000)
    url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', { format: 'png' })
    await publish(store)
    await edition(store, [tile(0, 0, T1, 1), tile(1, 0, T1, 2), tile(2, 0, T1, 3)])
    await edition(store, [tile(1, 0, T2, 4)])
    await exportTree(store, 'osm', folder.dir)
    await checkTrees(url, folder.dir)
  })

  it('hold the bytes that came instead, of the same size', async () => {
    await removeEdition(store, 'osm', T1)
    await edition(store, [tile(0, 0, T1, 5), tile(1, 0, T1, 6)])
    await exportTree(store, 'osm', folder.dir)
    await checkTrees(url, folder.dir)
  })

  it('do not show what went while its head has come back with a later time', async () => {
    await removeEdition(store, 'osm', T1)
    await edition(store, [tile(0, 0, T3, 7), tile(2, 0, T3, 8)])
    await edition(store, [tile(1, 0, T1, 9)])
    await exportTree(store, 'osm', folder.dir)
    const { trees } = await checkTrees(url, folder.dir)
    assert.deepEqual(trees, ['', T1, T2, T3])
  })

  it('are compared byte for byte when they were not whole and the store was written since', async () => {
    const stop = new AbortController()
    await edition(store, [tile(5, 5, T3, 1)])
    await exportTree(store, 'osm', folder.dir, { zooms: { min: 0, max: 9 }, signal: stop.signal, onProgress: () => stop.abort() }).catch(error => { assert.equal(error.code, 'ABORTED') })
    await removeEdition(store, 'osm', T1)
    await edition(store, [tile(0, 0, T1, 5), tile(1, 0, T1, 6), tile(2, 0, T1, 7)])
    await exportTree(store, 'osm', folder.dir)
    await checkTrees(url, folder.dir)
  })
})
