import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import path from 'node:path'
import { exportLayer } from '../../loader/export/index.js'
import { exportTree } from '../../loader/export/tree/index.js'
import { Store } from '../../loader/store/index.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { skip, tilesPython } from '../support/tools.js'
import { findings, image, tile, vectorTile } from '../support/sample-tiles.js'
import { publishFunctions } from '../support/published.js'

const [T1, T2, T3] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z', '2022-07-01T00:00:00Z']

onEachStore('verify of exported files', backend => {
  const folder = useFolder()
  /** @type {Store} */
  let store

  before(async function () {
    this.timeout(60000)
    store = await Store.create(await backend.database())
    for (const layer of ['osm', 'water', 'mixed']) {
      await store.defineLayer(layer, { minzoom: 2, maxzoom: 4, bounds: [-180, -85, 180, 85] })
    }
    const square = async (layer, time, make) => {
      const versions = []
      for (const [z, side] of [[2, 4], [4, 6]]) for (let x = 0; x < side; x++) {
        for (let y = 0; y < side; y++) versions.push({ layer, z, x, y, time, bytes: await make(x * y) })
      }
      await store.write(versions)
    }
    await square('osm', T1, seed => tile(seed % 7)) // some are equal
    await square('osm', T2, seed => tile(seed % 7 + (seed % 3)))
    const { advanced } = await store.write([{ layer: 'osm', z: 4, x: 5, y: 5, time: T3, gone: true }])
    assert.equal(advanced, 1)
    await square('water', T1, vectorTile)
    await square('mixed', T1, async seed => seed % 2 ? tile(seed) : image('jpeg', seed + 1, 256))
    await store.defineLayer('water', { format: 'pbf', vector_layers: [{ id: 'water', fields: {} }] })
    await store.defineLayer('osm', { format: 'png' })
    await publishFunctions(store)
  })
  after(() => store.destroy())

  const TARGETS =
    { 'a.mbtiles': {}, 'cache.mbtiles': { cache: true }, 'a.pmtiles': {}, folder: {}, tms: { scheme: 'tms' } }

  for (const layer of ['osm', 'water']) {
    for (const [name, options] of Object.entries(TARGETS)) {
      it(`finds nothing in ${layer} as ${name}, newest or as of a time`, async () => {
        for (const time of [undefined, '2021']) {
          const target = path.join(folder.dir, `${time ?? 'now'}-${name}`)
          const { tiles } = await exportLayer(store, layer, target, { time, ...options })
          const { said, summary } = await findings(target, { scheme: /** @type {any} */ (options).scheme })
          assert.deepEqual([said, summary.tiles], [[], tiles], target)
          assert.ok(summary.checked.decoded > 0)
        }
      })
    }
  }

  it('warns of a file that claims one format and has two', async () => {
    for (const name of ['a.mbtiles', 'a.pmtiles']) {
      const target = path.join(folder.dir, name)
      await exportLayer(store, 'mixed', target)
      const { summary } = await findings(target)
      assert.deepEqual([summary.faults, Object.keys(summary.kinds)], [0, ['mixed-formats']], name)
    }
    const target = path.join(folder.dir, 'folder')
    await exportLayer(store, 'mixed', target)
    assert.deepEqual((await findings(target)).said, [], 'names say which')
  })

  it('finds nothing in the trees that a web server serves', async () => {
    const { trees, links } = await exportTree(store, 'osm', folder.dir)
    assert.ok(trees.length > 0)
    for (const name of [...trees, ...links]) {
      assert.deepEqual((await findings(path.join(folder.dir, name))).said, [], name)
    }
  })

  it('finds no fault in the conversions of mb-util and pmtiles-convert', async function () {
    const python = tilesPython()
    if (!python) return skip(this, 'TILES_PYTHON names no Python with pmtiles and mbutil')
    const mbtiles = path.join(folder.dir, 'a.mbtiles')
    await exportLayer(store, 'osm', mbtiles)
    const bin = path.dirname(python)
    execFileSync(path.join(bin, 'mb-util'), [mbtiles, path.join(folder.dir, 'unpacked'), '--scheme=xyz'],
      { stdio: 'ignore' })
    const unpacked = await findings(path.join(folder.dir, 'unpacked'))
    assert.deepEqual([unpacked.summary.faults, unpacked.summary.tiles], [0, 51])
    execFileSync(path.join(bin, 'pmtiles-convert'), [mbtiles, path.join(folder.dir, 'b.pmtiles')], { stdio: 'ignore' })
    const { summary, said } = await findings(path.join(folder.dir, 'b.pmtiles'))
    assert.deepEqual([summary.faults, summary.tiles], [0, 51], said.join())
  })
})
