// Exports of an edition that was removed and loaded again, corrected: images of the same size for the same time are
// other images.
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { Store, exportLayer, publish, removeEdition } from '../../loader/index.js'
import { noiseTile } from '../../bench/tiles.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'

const T = '2022-03-01T00:00:00Z'
const SIDE = 20

const tiles = seed => Array.from({ length: SIDE * SIDE }, (_,
  at) => ({ layer: 'osm', z: 5, x: at % SIDE, y: Math.floor(at / SIDE), time: T, bytes: noiseTile(seed + at, 1000) }))

onEachStore('exports of an edition that is corrected', backend => {
  const folder = useFolder()
  let store

  const load = async seed => {
    await removeEdition(store, 'osm', T)
    const { failures } = await store.write(tiles(seed))
    assert.deepEqual(failures, [])
    await store.putEdition('osm', T, { title: 'first' })
  }

  before(async () => {
    store = await Store.create(await backend.database())
    await store.defineLayer('osm', { format: 'png' })
    await publish(store)
    await store.write(tiles(0))
    await store.putEdition('osm', T, { title: 'first' })
  })
  after(() => store.destroy())

  it('a folder gets the new images, with later file times', async () => {
    const out = path.join(folder.dir, 'out')
    const file = path.join(out, '5/1/1.png')
    await exportLayer(store, 'osm', out)
    for (const seed of [1000, 2000]) {
      const { mtimeMs: before } = statSync(file)
      await load(seed)
      const { written, kept } = await exportLayer(store, 'osm', out)
      assert.deepEqual([written, kept], [SIDE * SIDE, 0])
      assert.ok(readFileSync(file).equals(noiseTile(seed + SIDE + 1, 1000)))
      assert.ok(statSync(file).mtimeMs > before)
    }
    const { written, kept, removed } = await exportLayer(store, 'osm', out)
    assert.deepEqual([written, kept, removed], [0, SIDE * SIDE, 0])
  })

  for (const [name, seed] of /** @type {[string, number][]} */ ([['out.mbtiles', 3000], ['out.pmtiles', 4000]])) {
    it(`${name} gets only new images after its first export was stopped`, async () => {
      const out = path.join(folder.dir, name)
      const stop = new AbortController()
      const onProgress = ({ written }) => { if (written >= SIDE) stop.abort() }
      await assert.rejects(exportLayer(store, 'osm', out, { signal: stop.signal, onProgress, concurrency: 1 }),
        { code: 'ABORTED' })
      await load(seed)
      const { written, kept } = await exportLayer(store, 'osm', out)
      assert.deepEqual([written, kept], [SIDE * SIDE, 0])
    })
  }
})
