// What goes and what stays, on a small layer with a past of every kind.
import assert from 'node:assert/strict'
import { parseArea } from '../../core/index.js'
import { endCopies, removeEdition, removeLayer, removeTiles } from '../../loader/remove/index.js'
import { json, onEachStore, request } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { HISTORY, T, Z, fill, historyOf, storeOf, without } from './stage.js'

const limits = { grace: 0 }
const nothing = { changed: 0, refused: 0, named: [], purged: 0 }

onEachStore('removing', backend => {
  /** @type {import('../../loader/store/index.js').Store} */
  let store
  let url
  before(async function () {
    this.timeout(60000)
    url = await backend.database()
    store = await storeOf(url)
  })
  beforeEach(async () => {
    await removeLayer(store, 'osm', { limits }).catch(() => {})
    await store.defineLayer('osm', { format: 'png' })
    await fill(store)
  })
  after(() => store.destroy())

  const sizeOf = (...seeds) => seeds.reduce((sum, seed) => sum + (seed === null ? 0 : png(seed).length), 0)
  const editions = async () => (await store.editions('osm')).map(({ title }) => title)

  it('whole tiles go, with all of their past', async () => {
    const only = [{ z: Z, x: 1, y: 1 }, { z: Z, x: 1, y: 4 }, { z: Z, x: 9, y: 9 }]
    const tally = await removeTiles(store, 'osm', { only, limits })
    assert.deepEqual(tally, { ...nothing, tiles: 2, versions: 4, bytes: sizeOf(1, 4, 14, 24), heads: 2, fallen: 0, editions: 0 })
    assert.deepEqual(await historyOf(url), without(HISTORY, tile => ['1/1', '1/4'].includes(tile)))
    assert.deepEqual(await editions(), ['2020', '2021', '2022'], 'editions are of the whole layer')
  })

  it('heads fall back when the newest edition goes', async () => {
    const tally = await removeEdition(store, 'osm', T(2022), { limits })
    assert.deepEqual(tally, { ...nothing, tiles: 5, versions: 5, bytes: sizeOf(23, 24, 26, 27), heads: 1, fallen: 4, editions: 1 })
    assert.deepEqual(await historyOf(url), without(HISTORY, (tile, year) => year === '2022'))
    assert.deepEqual(await editions(), ['2020', '2021'])
    assert.equal((await store.couch.get(`osm:${Z}:2:1`)).gone, true, 'also to a version that says that there is no tile')
  })
})
