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

  it('are refused for new, copied and renamed layers', async () => {
    await store.defineLayer('osm', {})
    for (const name of RESERVED) {
      await assert.rejects(store.defineLayer(name, {}), { code: 'BAD_LAYER' })
      await assert.rejects(copyLayer(store, 'osm', name), { code: 'BAD_LAYER' })
      await assert.rejects(moveLayer(store, 'osm', name), { code: 'BAD_LAYER' })
    }
    assert.deepEqual((await store.layers()).map(({ layer }) => layer), ['osm'])
  })

  for (const name of ['db', 'work']) {
    it(`of an existing layer, such as ${name}, are reported, and the layer can be read and renamed`,
      () => readAndRename(name)).timeout(30000)
  }

  async function readAndRename (name) {
    const works = ['20240301T101500123-4f9k', '10240301T101500123-4f9k', '99990301T101500123-4f9k'].map(
      run => ({ _id: `work:${run}`, type: 'work', command: 'load', state: 'done', started: T1, seen: T1 })
    )
    for (const work of works) await store.couch.put(work)
    await store.couch.put({ _id: `layer:${name}`, type: 'layer', layer: name, minzoom: 3, maxzoom: 3 })
    await store.write([tile(name, T1, 1), tile(name, T2, 2)])
    await store.putEdition(name, T1, { title: 'First' })
    await publish(store)
    const { kinds, layers } = await check(store)
    assert.deepEqual([Object.keys(kinds), kinds['reserved-name']],
      [['reserved-name', 'unfinished-edition', 'odd-size'], 1])
    assert.deepEqual(layers?.map(({ layer }) => layer), [name])
    assert.deepEqual((await store.at(name, 3, 1, 2, '2023')).bytes, png(1))
    const heads = []
    for await (const { id } of store.heads(name)) heads.push(id)
    assert.deepEqual(heads, [`${name}:3:1:2`])
    assert.equal((await store.defineLayer(name, { name: 'Old' })).name, 'Old')
    assert.equal((await moveLayer(store, name, 'base')).done, true)
    assert.deepEqual((await store.versions('base', 3, 1, 2)).map(({ time }) => time), [T1, T2])
    assert.deepEqual((await store.editions('base')).map(({ title }) => title), ['First'])
    assert.equal((await check(store)).kinds['reserved-name'], undefined)
    assert.deepEqual((await store.couch.docs(works.map(({ _id }) => _id))).map(({ deleted }) => deleted),
      [false, false, false])
  }
})
