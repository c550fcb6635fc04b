// Tests of documents that other programs read from a gateway: TileJSON, TMS, favicon.ico and robots.txt.
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { gunzipSync } from 'node:zlib'
import Database from 'libsql'
import { until } from '../../bench/wait.js'
import { exportLayer, load } from '../../loader/index.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { memorySource } from '../support/memory-source.js'
import { png } from '../support/tiles.js'
import { useGateway } from '../support/gateway/stand.js'
import { pattern } from '../support/pattern.js'
import { all, parseXml } from './wmts/xml.js'

const TIME = '2023-06-01T00:00:00Z'

onEachStore('other programs at a gateway', backend => {
  const fixture = useGateway(backend, {
    async fill (store) {
      await store.defineLayer('town',
        { name: 'A & B', description: 'long '.repeat(400), format: 'png', minzoom: 1, maxzoom: 3 })
      await store.defineLayer('swiss', { grid: 'LV95', format: 'png', minzoom: 14, maxzoom: 14 })
      await store.defineLayer('degrees', { grid: 'WorldCRS84Quad', format: 'png', minzoom: 1, maxzoom: 2 })
      await store.write([{ layer: 'town', z: 1, x: 0, y: 0, time: TIME, bytes: png(1) }])
    }
  })

  // the first request may time out while CouchDB builds the index
  before(() => until(async () => (await fixture.ask('/town.json')).status !== 503))

  it('get JSON and XML compressed if they accept gzip', async () => {
    const paths = ['/town.json', '/index.json', '/town/style.json', '/wmts/1.0.0/WMTSCapabilities.xml',
      '/tms/1.0.0/town', '/town.qlr', '/qgis-xyz.xml', '/ogc/api']
    for (const path of paths) {
      const plain = await fixture.ask(path)
      assert.deepEqual([plain.status, plain.headers['content-encoding']], [200, undefined], path)
      const packed = await fixture.ask(path, { headers: { 'accept-encoding': 'gzip, br' } })
      if (plain.body.length < 1000) {
        assert.equal(packed.headers['content-encoding'], undefined, path)
        continue
      }
      assert.equal(packed.headers['content-encoding'], 'gzip', path)
      for (const { headers } of [plain, packed]) assert.match(headers.vary, /Accept-Encoding/, path)
      assert.ok(packed.body.length < plain.body.length, path)
      assert.equal(gunzipSync(packed.body).toString(), plain.text, path)
      assert.notEqual(packed.headers.etag, plain.headers.etag, path)
      for (const { headers } of [plain, packed]) {
        const conditions =
          { 'if-none-match': headers.etag, ...(headers === packed.headers && { 'accept-encoding': 'gzip' }) }
        assert.equal((await fixture.ask(path, { headers: conditions })).status, 304, path)
      }
      const part = await fixture.ask(path, { headers: { 'accept-encoding': 'gzip', range: 'bytes=0-9' } })
      assert.deepEqual([part.status, part.text], [206, plain.text.slice(0, 10)], path)
    }
  })

  it('find /favicon.ico and /robots.txt, also without a viewer', async () => {
    for (const gateway of [fixture.gateway, await fixture.another({ viewer: false })]) {
      const icon = await fetch(`${gateway.url}/favicon.ico`)
      assert.deepEqual([icon.status, icon.headers.get('content-type')], [200, 'image/svg+xml'])
      const robots = await fetch(`${gateway.url}/robots.txt`)
      assert.deepEqual([robots.status, robots.headers.get('content-type')], [200, 'text/plain; charset=utf-8'])
      assert.match(await robots.text(), /^User-agent: \*\nAllow: \/\$\nDisallow: \/\n$/)
    }
  })

  it('find no addresses in the TileJSON of another grid', async () => {
    for (const layer of ['swiss', 'degrees']) {
      for (const name of [layer, `${layer}@2023`]) {
        const { json } = await fixture.ask(`/${name}.json`)
        assert.deepEqual([json.tiles, typeof json.grid], [undefined, 'string'], name)
      }
    }
    const { json: list } = await fixture.ask('/index.json')
    assert.deepEqual(list.map(({ id, tiles }) => [id, tiles?.length]),
      [['degrees', undefined], ['swiss', undefined], ['town', 1]])
  })

  it('find the layers and their addresses by TMS, now and at a time', async () => {
    const service = `${fixture.gateway.url}/tms/1.0.0/`
    const { text, headers } = await fixture.ask('/tms/1.0.0/')
    assert.match(headers['content-type'], /^application\/xml/)
    const maps = text.matchAll(/<TileMap title="([^"]+)" srs="([^"]+)" profile="([^"]+)" href="([^"]+)"/g)
    assert.deepEqual([...maps].map(([, ...attributes]) => attributes), [
      ['degrees', 'EPSG:4326', 'geodetic', `${service}degrees`],
      ['A &amp; B', 'EPSG:3857', 'mercator', `${service}town`]
    ])
    for (const name of ['town', 'town@2023']) {
      const map = await fixture.ask(`/tms/1.0.0/${name}`)
      assert.equal((await fixture.ask(`/tms/1.0.0/${name}/tilemapresource.xml`)).text, map.text)
      assert.match(map.text, pattern(
        /<Origin x="-20037508\.342789\d*" y="-20037508\.342789\d*"\/>\n/,
        /<TileFormat width="256" height="256" mime-type="image\/png" extension="png"\/>/
      ))
      const sets = [...map.text.matchAll(/<TileSet href="([^"]+)" units-per-pixel="([^"]+)" order="(\d+)"\/>/g)]
        .map(([, ...attributes]) => attributes)
      assert.deepEqual(sets.map(([href, , order]) => [href, order]),
        ['0', '1', '2', '3'].map(z => [`${service}${name}/${z}`, z]))
      assert.equal(Math.round(+sets[1][1]), 78272)
      assert.deepEqual((await fixture.ask(`${new URL(sets[1][0]).pathname}/0/1.png`)).body, png(1))
    }
    for (const path of ['/tms/1.0.0/swiss', '/tms/1.0.0/nothing']) {
      assert.equal((await fixture.ask(path)).status, 404, path)
    }
  })
})

const WORLD = [-180, -85, 180, 85]
const world = z => Array.from({ length: 4 ** z }, (_, index) => [z, index >> z, index & (2 ** z - 1)])

onEachStore('a world with one detailed place', backend => {
  const folder = useFolder()
  const tiles = [...world(0), ...world(1), ...world(2), [3, 4, 2]]
  const source = memorySource(Object.fromEntries(tiles.map(([z, x, y]) => [`${z}/${x}/${y}`, z * 100 + x * 10 + y])))
  const fixture = useGateway(backend, { fill: store => load(store, source, { layer: 'osm', time: '2024' }) })

  it('keeps the bounds of the world in documents, TileJSON, WMTS and exports', async () => {
    const { store } = fixture
    assert.deepEqual((await store.layer('osm')).bounds.map(Math.round), WORLD)
    assert.deepEqual((await fixture.ask('/osm.json')).json.bounds.map(Math.round), WORLD)
    for (const [z, x, y] of tiles.filter(([zoom]) => zoom >= 2)) {
      const { status, text } = await fixture.ask(`/wmts/osm/default/GoogleMapsCompatible/${z}/${y}/${x}.png`)
      assert.equal(status, 200, `${z}/${x}/${y}: ${text}`)
    }
    const limits = all(parseXml((await fixture.ask('/wmts/1.0.0/WMTSCapabilities.xml')).text), 'TileMatrixLimits')
      .map(limit => limit.children.map(({ text }) => +text))
    assert.deepEqual(limits, [[0, 0, 0, 0, 0], [1, 0, 1, 0, 1], [2, 0, 3, 0, 3], [3, 2, 2, 4, 4]])
    const file = join(folder.dir, 'world.mbtiles')
    await exportLayer(store, 'osm', file)
    const db = new Database(file)
    const { value } = db.prepare("SELECT value FROM metadata WHERE name = 'bounds'").get()
    db.close()
    assert.deepEqual(value.split(',').map(Math.round), WORLD)
  })
})
