// A world with one detailed place: every zoom is announced and served as far as it has tiles.
import assert from 'node:assert/strict'
import path from 'node:path'
import Database from 'libsql'
import { exportLayer, load } from '../../loader/index.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import { useGateway } from '../support/gateway/stand.js'
import { all, parseXml } from './wmts/xml.js'

const WORLD = [-180, -85, 180, 85]
const PLACE = [3, 4, 2]

const source = (name, tiles) => /** @type {any} */ ({
  name,
  fields: {},
  async * tiles () { for (const [z, x, y] of tiles) yield { z, x, y, read: async () => png(z * 100 + x * 10 + y) } }
})
const world = z => Array.from({ length: 4 ** z }, (_, index) => [z, index >> z, index & (2 ** z - 1)])

onEachStore('a world with one detailed place', backend => {
  const folder = useFolder()
  const tiles = [...world(0), ...world(1), ...world(2), PLACE]
  const own = useGateway(backend, { fill: store => load(store, source('one', tiles), { layer: 'osm', time: '2024' }) })

  it('keeps the bounds of the world in documents, TileJSON, WMTS and exports', async () => {
    const { store, gateway } = own
    assert.deepEqual((await store.layer('osm')).bounds.map(Math.round), WORLD)
    const { bounds } = await (await fetch(`${gateway.url}/osm.json`)).json()
    assert.deepEqual(bounds.map(Math.round), WORLD)
    for (const [z, x, y] of [...world(2), PLACE]) {
      const answer = await fetch(`${gateway.url}/wmts/osm/default/GoogleMapsCompatible/${z}/${y}/${x}.png`)
      assert.equal(answer.status, 200, `${z}/${x}/${y}: ${await answer.text()}`)
    }
    const limits = async () => all(
      parseXml(await (await fetch(`${gateway.url}/wmts/1.0.0/WMTSCapabilities.xml`)).text()), 'TileMatrixLimits'
    ).map(limit => limit.children.map(({ text }) => +text))
    assert.deepEqual(await limits(), [[0, 0, 0, 0, 0], [1, 0, 1, 0, 1], [2, 0, 3, 0, 3], [3, 2, 2, 4, 4]])
    const file = path.join(folder.dir, 'world.mbtiles')
    await exportLayer(store, 'osm', file)
    const db = new Database(file)
    const { value } = /** @type {any} */ (db.prepare("SELECT value FROM metadata WHERE name = 'bounds'").get())
    db.close()
    assert.deepEqual(value.split(',').map(Math.round), WORLD)
  })
})
