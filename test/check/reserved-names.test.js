// Names that no new layer may have, and a store that has such a layer from before.
import assert from 'node:assert/strict'
import { RESERVED } from '../../core/index.js'
import { check, copyLayer, publish, moveLayer } from '../../loader/index.js'
import { onEachStore } from '../support/backends.js'
import { useStore } from '../support/store.js'
import { png } from '../support/tiles.js'

const [T1, T2] = ['2023-01-01T00:00:00Z', '2024-01-01T00:00:00Z']
const tile = (layer, time, seed) => ({ layer, z: 3, x: 1, y: 2, time, bytes: png(seed) })

onEachStore('reserved names', backend => {
  let store
  useStore(backend, { fill: own => { store = own } })

  it('are not given to new layers, nor to copies', async () => {
    await store.defineLayer('osm', {})
    for (const name of RESERVED) {
      await assert.rejects(store.defineLayer(name, {}), { code: 'BAD_LAYER' })
      await assert.rejects(copyLayer(store, 'osm', name), { code: 'BAD_LAYER' })
      await assert.rejects(moveLayer(store, 'osm', name), { code: 'BAD_LAYER' })
    }
    assert.deepEqual((await store.layers()).map(({ layer }) => layer), ['osm'])
  })

  it('of an existing layer are reported, and the layer is read and renamed', async function () {
    this.timeout(30000)
    await store.couch.put({ _id: 'layer:db', type: 'layer', layer: 'db', minzoom: 3, maxzoom: 3 })
    await store.write([tile('db', T1, 1), tile('db', T2, 2)])
    await store.putEdition('db', T1, { title: 'First' })
    await publish(store)
    const { kinds } = await check(store)
    assert.equal(kinds['reserved-name'], 1)
    assert.deepEqual((await store.at('db', 3, 1, 2, '2023')).bytes, png(1))
    assert.equal((await store.defineLayer('db', { name: 'Old' })).name, 'Old')
    assert.equal((await moveLayer(store, 'db', 'base')).done, true)
    assert.deepEqual((await store.versions('base', 3, 1, 2)).map(({ time }) => time), [T1, T2])
    assert.deepEqual((await store.editions('base')).map(({ title }) => title), ['First'])
    assert.equal((await check(store)).kinds['reserved-name'], undefined)
  })
})
