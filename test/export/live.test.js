// A store that is written to while it is exported.
import assert from 'node:assert/strict'
import path from 'node:path'
import { exportLayer } from '../../loader/export/index.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { useStore } from '../support/store.js'
import { png, square } from '../support/tiles.js'
import { assertSame, contentsOf } from '../support/exports.js'

const SIDE = 30
const [T1, T2] = ['2021-01-01T00:00:00Z', '2022-01-01T00:00:00Z']
const first = (x, y) => x * SIDE + y
const second = (x, y) => (x + y) % 6 === 0 ? null : (x + y) % 2 ? 5000 + x : first(x, y)

const names = () => Array.from({ length: SIDE * SIDE },
  (_, n) => ({ x: Math.floor(n / SIDE), y: n % SIDE, name: `6/${Math.floor(n / SIDE)}/${n % SIDE}` }))
const shown = seed => new Map(names().flatMap(({ x, y, name }) => seed(x, y) === null ? [] : [[name, png(seed(x, y))]]))

onEachStore('a store that is written to while it is exported', backend => {
  const folder = useFolder()
  const at = name => path.join(folder.dir, name)
  const own = useStore(backend, {
    published: true,
    async fill (store) {
      await store.defineLayer('osm', { format: 'png' })
      await store.write(square({ layer: 'osm', time: T1, z: 6, side: SIDE, seed: first }))
    }
  })

  /** Begins the next edition with the first tile of the export. */
  function meanwhile () {
    const edition = { done: /** @type {Promise<any> | undefined} */ (undefined) }
    return Object.assign(edition,
      {
        onProgress: () => { edition.done ??=
          own.store.write(square({ layer: 'osm', time: T2, z: 6, side: SIDE, seed: second }), { batch: 50 }) }
      })
  }

  for (const target of ['out', 'out.mbtiles', 'out.pmtiles']) {
    it(`exports a past time unchanged: ${target}`, async function () {
      this.timeout(60000)
      const edition = meanwhile()
      const { missing } =
        await exportLayer(own.store, 'osm', at(target), { time: '2021', onProgress: edition.onProgress })
      await edition.done
      assert.equal(missing, 0)
      assertSame(await contentsOf(at(target), { asked: shown(first).keys() }), shown(first))
    })

    it(`exports each tile as it was before or after the write: ${target}`, async function () {
      this.timeout(60000)
      const edition = meanwhile()
      const { tiles, missing } = await exportLayer(own.store, 'osm', at(target), { onProgress: edition.onProgress })
      await edition.done
      const found = await contentsOf(at(target), { asked: shown(first).keys() })
      assert.equal(found.size, tiles)
      assert.equal(tiles + missing, SIDE * SIDE, 'what is gone meanwhile is counted as missing')
      const [before, after] = [shown(first), shown(second)]
      for (const { name } of names()) {
        const bytes = found.get(name)
        if (!bytes) assert.ok(!after.has(name), `${name} is gone`)
        else assert.ok([before, after].some(all => all.get(name)?.equals(bytes)), name)
      }
    })
  }

  it('loses no tile in a folder, and updates the folder in the next export', async function () {
    this.timeout(60000)
    await exportLayer(own.store, 'osm', at('out'))
    const edition = meanwhile()
    await exportLayer(own.store, 'osm', at('out'), { onProgress: edition.onProgress })
    await edition.done
    const found = await contentsOf(at('out'))
    for (const [name] of shown(second)) assert.ok(found.has(name), name)
    await exportLayer(own.store, 'osm', at('out'))
    assertSame(await contentsOf(at('out')), shown(second))
  })
})
