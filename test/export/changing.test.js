// Exports of a store while it is written, and of an edition that was removed and loaded again with corrected images of
// the same size.
import assert from 'node:assert/strict'
import { readFileSync, statSync } from 'node:fs'
import path from 'node:path'
import { noiseTile } from '../../bench/tiles.js'
import { exportLayer } from '../../loader/export/index.js'
import { removeEdition } from '../../loader/maintain/remove/index.js'
import { onEachStore } from '../support/backends.js'
import { assertSameTiles, contentsOf } from '../support/exports.js'
import { useFolder } from '../support/folder.js'
import { publishFunctions } from '../support/published.js'
import { useStore } from '../support/store.js'
import { png, square } from '../support/tiles.js'

const SIDE = 30
const [T1, T2] = ['2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z']
const firstSeed = (x, y) => x * SIDE + y
const secondSeed = (x, y) => {
  if ((x + y) % 6 === 0) return null
  return (x + y) % 2 ? 5000 + x : firstSeed(x, y)
}

const names = Array.from({ length: SIDE * SIDE }, (_, n) => `6/${Math.floor(n / SIDE)}/${n % SIDE}`)
const imagesOf = seed => new Map(names.flatMap(name => {
  const [, x, y] = name.split('/').map(Number)
  return seed(x, y) === null ? [] : [[name, png(seed(x, y))]]
}))

onEachStore('a store that is written to while it is exported', backend => {
  const folder = useFolder()
  const fixture = useStore(backend, {
    async fill (store) {
      await store.defineLayer('osm', { format: 'png' })
      await store.write(square({ layer: 'osm', time: T1, z: 6, side: SIDE, seed: firstSeed }))
      await publishFunctions(store)
    }
  })

  /** Exports a layer. At its first tile, another program begins to write the next edition. */
  async function exportWhileWriting (target, options = {}) {
    let edition
    const onProgress = () => {
      edition ??= fixture.store.write(square({ layer: 'osm', time: T2, z: 6, side: SIDE, seed: secondSeed }),
        { batch: 50 })
    }
    const summary = await exportLayer(fixture.store, 'osm', folder.path(target), { ...options, onProgress })
    await edition
    return { ...summary, found: await contentsOf(folder.path(target), { asked: names }) }
  }

  for (const target of ['out', 'out.mbtiles', 'out.pmtiles']) {
    it(`exports a past time unchanged: ${target}`, async () => {
      const { missing, found: contents } = await exportWhileWriting(target, { time: '2021' })
      assert.equal(missing, 0)
      assertSameTiles(contents, imagesOf(firstSeed))
    })

    it(`exports each tile as it was before or after the write: ${target}`, async () => {
      const { tiles, missing, found: contents } = await exportWhileWriting(target)
      assert.equal(contents.size, tiles)
      assert.equal(tiles + missing, SIDE * SIDE, 'what is gone meanwhile is counted as missing')
      const [imagesBefore, imagesAfter] = [imagesOf(firstSeed), imagesOf(secondSeed)]
      for (const name of names) {
        const bytes = contents.get(name)
        if (!bytes) assert.ok(!imagesAfter.has(name), `${name} is gone`)
        else assert.ok([imagesBefore, imagesAfter].some(images => images.get(name)?.equals(bytes)), name)
      }
    })
  }

  it('loses no tile in a folder, and updates the folder in the next export', async () => {
    await exportLayer(fixture.store, 'osm', folder.path('out'))
    const { found: contents } = await exportWhileWriting('out')
    for (const [name] of imagesOf(secondSeed)) assert.ok(contents.has(name), name)
    await exportLayer(fixture.store, 'osm', folder.path('out'))
    assertSameTiles(await contentsOf(folder.path('out')), imagesOf(secondSeed))
  })
}, { timeout: 60000 })

onEachStore('exports of an edition that is corrected', backend => {
  const ACROSS = 20
  const tiles = seed => Array.from({ length: ACROSS ** 2 }, (_, n) => (
    { layer: 'osm', z: 5, x: n % ACROSS, y: Math.floor(n / ACROSS), time: T2, bytes: noiseTile(seed + n, 1000) }))
  const folder = useFolder()
  const load = async (store, seed) => {
    assert.deepEqual((await store.write(tiles(seed))).failures, [])
    await store.putEdition('osm', T2, { title: 'first' })
  }
  const fixture = useStore(backend, {
    once: true,
    async fill (store) {
      await store.defineLayer('osm', { format: 'png' })
      await load(store, 0)
      await publishFunctions(store)
    }
  })
  const correct = async seed => {
    await removeEdition(fixture.store, 'osm', T2)
    await load(fixture.store, seed)
  }
  /** The counts of written, kept and removed tiles. */
  const counts = ({ written, kept, removed }) => [written, kept, removed]

  it('a folder gets the new images, with later file times', async () => {
    const out = folder.path('out')
    const file = path.join(out, '5/1/1.png')
    await exportLayer(fixture.store, 'osm', out)
    for (const seed of [1000, 2000]) {
      const { mtimeMs: mtimeBefore } = statSync(file)
      await correct(seed)
      assert.deepEqual(counts(await exportLayer(fixture.store, 'osm', out)), [ACROSS ** 2, 0, 0])
      assert.ok(readFileSync(file).equals(noiseTile(seed + ACROSS + 1, 1000)))
      assert.ok(statSync(file).mtimeMs > mtimeBefore)
    }
    assert.deepEqual(counts(await exportLayer(fixture.store, 'osm', out)), [0, ACROSS ** 2, 0])
  })

  for (const [name, seed] of Object.entries({ 'out.mbtiles': 3000, 'out.pmtiles': 4000 })) {
    it(`${name} gets only new images after its first export was stopped`, async () => {
      const out = folder.path(name)
      const stop = new AbortController()
      const onProgress = ({ written }) => { if (written >= ACROSS) stop.abort() }
      await assert.rejects(exportLayer(fixture.store, 'osm', out, { signal: stop.signal, onProgress, concurrency: 1 }),
        { code: 'ABORTED' })
      await correct(seed)
      const { written, kept } = await exportLayer(fixture.store, 'osm', out)
      assert.deepEqual([written, kept], [ACROSS ** 2, 0])
    })
  }
})
