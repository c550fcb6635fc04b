// A real MapProxy on the documents of a store, with the configuration of docs/mapproxy.md.
import assert from 'node:assert/strict'
import path from 'node:path'
import sharp from 'sharp'
import { Store, load, openSource, publish } from '../../loader/index.js'
import { as, json, onEachStore, request } from '../support/backends.js'
import { checkInvariants } from '../support/invariants.js'
import { skip } from '../support/tools.js'
import { block, configuration, findMapProxy, fullTile, startMapProxy, startUpstream, upstreamTile } from './mapproxy.js'
import { finishCommand } from '../support/command.js'

const [T2020, T2021, T2022, FUTURE] =
  ['2020-06-01T00:00:00Z', '2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z', '2100-01-01T00:00:00Z']

onEachStore('MapProxy', backend => {
  if (!findMapProxy()) {
    it('reads and writes tiles', function () {
      skip(this,
        'MapProxy is not installed: set MAPPROXY_PYTHON to a python that has it, or put mapproxy-util on the PATH')
    })
    return
  }
  const closing = []
  let url, store, upstream, writer, mapproxy

  /** Starts a MapProxy with the configuration of the manual. `changes` are replaced first. */
  const mapProxy = async ({ changes = {}, writes = writer, db = new URL(url).pathname.slice(1) } = {}) => {
    const server = new URL('/', url)
    const reads = as(server.href).replace(/\/$/, '')
    const running = await startMapProxy(findMapProxy(), configuration({
      ...changes,
      'http://mapproxy:PASSWORD@localhost:5984': writes,
      'http://localhost:5984/tiles/': `${reads}/${db}/`,
      'http://localhost:5984': reads,
      'db_name: tiles': `db_name: ${db}`,
      'https://tile.example.org': upstream.url
    }))
    closing.push(running.close)
    return running
  }

  before(async function () {
    this.timeout(60000)
    upstream = await startUpstream()
    closing.push(upstream.close)
    url = await backend.database()
    store = await Store.create(url)
    closing.push(() => store.destroy())
    await publish(store)
    writer = await addWriter()
    const layerDoc = JSON.parse(block('json', '"type": "layer"'))
    const layer = await request(`${writer}/${new URL(url).pathname.slice(1)}/layer:osm`, put(layerDoc))
    assert.equal(layer.status, 201, 'a writer defines the layer, as the manual says')
    mapproxy = await mapProxy()
  })

  after(async () => {
    for (const close of closing.reverse()) await close()
  })

  const put = doc => ({ method: 'PUT', headers: { 'content-type': 'application/json' }, body: JSON.stringify(doc) })

  /** The URL of the server for a user who may only write tiles, if the server has users. */
  async function addWriter () {
    const server = new URL('/', url).href
    if (!backend.supports.users) return server.replace(/\/$/, '')
    const name = `mapproxy_${process.pid}_${Date.now().toString(36)}`
    const user = `${server}_users/org.couchdb.user:${name}`
    const added = await request(user, put({ name, password: 'w', roles: ['tilecouch-writer'], type: 'user' }))
    assert.equal(added.status, 201)
    closing.push(async () => request(`${user}?rev=${(await json(user))._rev}`, { method: 'DELETE' }))
    return as(server, name, 'w').replace(/\/$/, '')
  }

  const rewrite = async (address, options) => {
    const response = await request(`${url}/_design/tiles/_rewrite${address}`, options)
    return {
      status: response.status, type: response.headers.get('content-type'),
      location: response.headers.get('location'), body: Buffer.from(await response.arrayBuffer())
    }
  }
  const assertTile = (answer, bytes, message) => {
    assert.deepEqual([answer.status, answer.type], [200, 'image/png'],
      `${answer.body.subarray(0, 200)} ${mapproxy.said()}`)
    assert.ok(answer.body.equals(bytes), message ?? 'byte for byte')
  }
  const pixels = image => sharp(image).removeAlpha().extractChannel(0).raw().toBuffer()
  // MapProxy makes a palette of 256 colours of images that it draws; noise of another seed differs by 85 on average
  const assertAlike = async (image, expected) => {
    const [a, b] = [await pixels(image), await pixels(expected)]
    assert.equal(a.length, b.length)
    const difference = a.reduce((sum, value, index) => sum + Math.abs(value - b[index]), 0) / a.length
    assert.ok(difference < 8, `differs by ${difference} on average`)
  }
  const version = (layer, z, x, y, time, seed) =>
    ({ layer, z, x, y, time, ...(seed === null ? { gone: true } : { bytes: fullTile(seed) }) })

  describe('reads what tilecouch loaded', () => {
    before(() => store.write([
      version('land', 3, 1, 2, T2020, 1), version('land', 3, 1, 2, T2022, 2),
      version('land', 3, 6, 0, T2020, 3), // row 0 is in the north
      version('land', 3, 2, 2, T2020, 4), version('land', 3, 2, 2, T2021, null)
    ]))

    it('over WMTS and as XYZ, with the same rows, and as of a time, through the redirect', async () => {
      assertTile(await mapproxy.tile('land', 3, 1, 2), fullTile(2))
      assertTile(await mapproxy.get('/tiles/land/xyz/3/1/2.png'), fullTile(2))
      assertTile(await mapproxy.tile('land', 3, 6, 0), fullTile(3))
      assertTile(await mapproxy.tile('land-2021', 3, 1, 2), fullTile(1))
      assertTile(await mapproxy.tile('land-2021', 3, 6, 0), fullTile(3))
    })

    it('over WMS, at the same place', async () => {
      const world = 20037508.342789244
      const side = world / 4
      const map = layer => mapproxy.get(
        `/service?service=WMS&version=1.1.1&request=GetMap&layers=${layer}&styles=&srs=EPSG:3857&format=image/png&` +
          `width=256&height=256&bbox=${[-world + side, world - 3 * side, -world + 2 * side, world - 2 * side]}`
      )
      const [newest, earlier] = [await map('land'), await map('land-2021')]
      await assertAlike(newest.body, fullTile(2))
      await assertAlike(earlier.body, fullTile(1))
    })

    it('and shows missing and gone tiles as transparent, the latter by tile URL; the cache answers 500', async () => {
      for (const layer of ['land', 'land-2021']) {
        const { status, body } = await mapproxy.tile(layer, 3, 7, 7)
        assert.equal(status, 200)
        assert.equal((await sharp(body).stats()).isOpaque, false)
      }
      const gone = await mapproxy.tile('land-2021', 3, 2, 2)
      assert.equal((await sharp(gone.body).stats()).isOpaque, false)
      assert.equal((await mapproxy.tile('land', 3, 2, 2)).status, 500,
        'should this have become better, docs/mapproxy.md may lose a limit')
      assert.match(mapproxy.said(), /KeyError: '_attachments'/)
    })

    it('and shows a later load at once', async () => {
      await store.write([version('land', 3, 6, 0, T2022, 5)])
      assertTile(await mapproxy.tile('land', 3, 6, 0), fullTile(5))
      assertTile(await mapproxy.tile('land-2021', 3, 6, 0), fullTile(3), 'and what was then stays')
    })
  })

  describe('writes tiles that tilecouch reads', () => {
    const [z, x, y] = [4, 5, 2]
    let head
    before(async () => {
      assertTile(await mapproxy.tile('osm', z, x, y), upstreamTile(z, x, y))
      head = await json(`${url}/osm:${z}:${x}:${y}`)
    })

    it('as heads that the published store accepts from a writer', () => {
      const { _id, _rev, _attachments, time, stored, timestamp, ...fields } = head
      assert.equal(_id, `osm:${z}:${x}:${y}`)
      assert.deepEqual(fields, { type: 'tile', layer: 'osm', z, x, y, current: true })
      assert.ok(Math.abs(Date.parse(time) - Date.now()) < 60000 && time <= stored, `${time} ${stored}`)
      assert.equal(typeof timestamp, 'number')
      assert.equal(_attachments.tile.content_type, 'image/png')
    })

    it('once, and takes the whole metatile from the store afterwards', async () => {
      const requested = [...upstream.asked]
      assert.deepEqual(requested.toSorted(), ['4/4/2', '4/4/3', '4/5/2', '4/5/3'])
      assertTile(await mapproxy.tile('osm', z, x, y), upstreamTile(z, x, y))
      assertTile(await mapproxy.tile('osm', z, x - 1, y + 1), upstreamTile(z, x - 1, y + 1))
      assert.deepEqual(upstream.asked, requested)
    })

    it('by URL: attachment, head, as of a time, versions, times, TileJSON', async () => {
      const tile = upstreamTile(z, x, y)
      assert.ok(Buffer.from(await (await request(`${url}/osm:${z}:${x}:${y}/tile`)).arrayBuffer()).equals(tile))
      assertTile(await rewrite(`/osm/${z}/${x}/${y}.png`), tile)
      assertTile(await rewrite(`/tms/1.0.0/osm/${z}/${x}/${15 - y}.png`), tile)
      const redirect = await rewrite(`/osm@${head.time}/${z}/${x}/${y}.png`, { redirect: 'manual' })
      assert.deepEqual([redirect.status, redirect.location.includes(`/db/osm:${z}:${x}:${y}/tile`)], [302, true])
      assertTile(await rewrite(`/osm@${head.time}/${z}/${x}/${y}.png`), tile)
      assert.equal((await rewrite(`/osm@2021/${z}/${x}/${y}.png`)).status, 404)
      const { versions } = JSON.parse((await rewrite(`/osm/${z}/${x}/${y}.json`)).body)
      assert.deepEqual(versions.map(({ time, bytes, current }) => [time, bytes, current]),
        [[head.time, tile.length, true]])
      const { times } = JSON.parse((await rewrite('/osm/times.json')).body)
      assert.equal(times.reduce((sum, { tiles }) => sum + tiles, 0), 4)
      const { tiles: templates } = JSON.parse((await rewrite('/osm.json')).body)
      assert.deepEqual(templates, [`${as(url)}/_design/tiles/_rewrite/osm/{z}/{x}/{y}.png`])
    })

    it('in the library and on the command line', async () => {
      const tile = upstreamTile(z, x, y)
      assert.ok((await store.head('osm', z, x, y)).bytes.equals(tile))
      assert.ok((await store.at('osm', z, x, y, FUTURE)).bytes.equals(tile))
      const versions = await store.versions('osm', z, x, y)
      assert.deepEqual(versions.map(({ time, stored, current, type }) => [time, stored, current, type]),
        [[head.time, head.stored, true, 'image/png']])
      assert.equal((await store.stats('osm')).tiles, 4)
      const history = await tilecouch('info', 'osm', `${z}/${x}/${y}`, '--db', url)
      assert.ok(history.includes(head.time) && history.includes('current'), history)
      const [printed] = JSON.parse(await tilecouch('info', 'osm', `${z}/${x}/${y}`, '--json', '--db', url))
      assert.deepEqual([printed.time, printed.size], [head.time, tile.length])
    })

    it('and that a later load keeps as versions', async () => {
      const { backfilled, advanced } =
        await store.write([version('osm', z, x, y, T2020, 7), version('osm', z, x, y, FUTURE, 8)])
      assert.deepEqual([backfilled, advanced], [1, 1])
      assert.deepEqual((await store.versions('osm', z, x, y)).map(({ time }) => time), [T2020, head.time, FUTURE])
      assertTile(await mapproxy.tile('osm', z, x, y), fullTile(8))
      assertTile(await rewrite(`/osm@${head.time}/${z}/${x}/${y}.png`), upstreamTile(z, x, y))
    })

    it('and that a load of a MapProxy export stores as an edition', async () => {
      await mapproxy.util(['export', '-f', 'mapproxy.yaml', '--source',
        'osm', '--grid', 'xyz', '--levels', '4..4', '--type', 'tms', '--dest', 'osm-today'])
      const source = await openSource(path.join(mapproxy.dir, 'osm-today'))
      const summary = await load(store, source, { layer: 'osm-kept', time: '2024-03-01' })
      await source.close()
      assert.deepEqual([summary.created, summary.failed], [4, 0])
      await assertAlike((await store.head('osm-kept', 4, 4, 3)).bytes, upstreamTile(4, 4, 3))
    })
  })

  describe('overwrites', () => {
    it('a head of tilecouch, whose version is lost, when a neighbour in the metatile is missing', async () => {
      await store.write([version('osm', 4, 8, 8, T2020, 10)])
      assertTile(await mapproxy.tile('osm', 4, 8, 8), fullTile(10))
      await mapproxy.tile('osm', 4, 9, 9)
      assertTile(await mapproxy.tile('osm', 4, 8, 8), upstreamTile(4, 8, 8), 'MapProxy wrote the whole metatile')
      assert.equal((await store.versions('osm', 4, 8, 8)).length, 1)
      await assert.rejects(store.at('osm', 4, 8, 8, '2020'), { code: 'TILE_NOT_FOUND' })

      const { backfilled } = await store.write([version('osm', 4, 8, 8, T2020, 10)])
      assert.equal(backfilled, 1)
      assert.ok((await store.at('osm', 4, 8, 8, '2020')).bytes.equals(fullTile(10)))
      assertTile(await mapproxy.tile('osm', 4, 8, 8), upstreamTile(4, 8, 8), 'the head stays')
    })

    it('its own old heads, but answers 500 when it has to refresh a head of tilecouch', async () => {
      const refreshing = await mapProxy({ changes: { 'bulk_meta_tiles: true': 'refresh_before: {seconds: 0}' } })
      upstream.year = 1
      assertTile(await refreshing.tile('osm', 4, 9, 9), upstreamTile(4, 9, 9, 1))
      const versions = await store.versions('osm', 4, 9, 9)
      assert.equal(versions.length, 1)
      assertTile(await rewrite('/osm/4/9/9.png'), upstreamTile(4, 9, 9, 1))

      await store.write([version('osm', 4, 12, 12, T2020, 11)])
      assert.equal((await refreshing.tile('osm', 4, 12, 12)).status,
        500, 'should this have become better, docs/mapproxy.md may lose a limit')
      assert.match(refreshing.said(), /AssertionError/)
      upstream.year = 0
    })
  })

  describe('does not report that the store refused a tile', () => {
    const refused = async options => {
      const running = await mapProxy(options)
      assertTile(await running.tile('osm', 5, 20, 7), upstreamTile(5, 20, 7))
      assert.equal((await request(`${url}/osm:5:20:7`)).status, 404)
      assert.doesNotMatch(running.said(), /forbidden|unauthorized/)
    }

    it('because its user may not write', async function () {
      if (!backend.supports.users) return skip(this, 'everybody may write to an embedded store')
      await refused({ writes: as(new URL('/', url).href).replace(/\/$/, '') })
    })

    it('because the layer of the configuration is wrong', () => refused({ changes: { 'layer: osm ': 'layer: ocm ' } }))

    it('because the format of the configuration is mixed',
      () => refused({ changes: { 'format: image/png           #': 'format: mixed\n    request_format: image/png #' } }))
  })

  describe('and the store', () => {
    it('share a database that MapProxy created', async () => {
      const freshUrl = await backend.database()
      const running =
        await mapProxy({ writes: new URL('/', url).href.replace(/\/$/, ''), db: new URL(freshUrl).pathname.slice(1) })
      assertTile(await running.tile('osm', 3, 5, 1), upstreamTile(3, 5, 1))
      const sharedStore = await Store.create(freshUrl)
      assert.ok((await sharedStore.head('osm', 3, 5, 1)).bytes.equals(upstreamTile(3, 5, 1)))
      await tilecouch('push', freshUrl)
      assertTile(await running.tile('osm', 3, 6, 6), upstreamTile(3, 6, 6), 'written through the validation')
      assert.ok((await sharedStore.head('osm', 3, 6, 6)).bytes.equals(upstreamTile(3, 6, 6)))
      await checkInvariants(freshUrl)
    })

    it('give JPEGs the type of the configuration, even when it is PNG', async () => {
      upstream.jpeg = true
      for (const [format, extension] of [['image/jpeg', 'jpeg'], ['image/png', 'png']]) {
        const freshStore = await Store.create(await backend.database())
        await publish(freshStore)
        const changes = { 'format: image/png           #': `format: ${format}           #` }
        const running = await mapProxy({ changes, db: new URL(freshStore.url).pathname.slice(1) })
        const { status, type } = await running.get(`/wmts/osm/xyz/3/1/1.${extension}`)
        assert.deepEqual([status, type], [200, format])
        const head = await freshStore.head('osm', 3, 1, 1)
        assert.equal(head.type, format)
        assert.equal((await sharp(head.bytes).metadata()).format, 'jpeg')
      }
      upstream.jpeg = false
    })

    it('use the same tile numbers at the deepest zoom, and keep every invariant of the store', async () => {
      const deepProxy =
        await mapProxy({ changes: { 'base: GLOBAL_WEBMERCATOR': 'base: GLOBAL_WEBMERCATOR\n    num_levels: 31' } })
      const [z, x, y] = [30, 562345678, 345678901]
      assertTile(await deepProxy.tile('osm', z, x, y), upstreamTile(z, x, y))
      assert.ok((await store.head('osm', z, x, y)).bytes.equals(upstreamTile(z, x, y)))
      const tiles = await checkInvariants(url)
      assert.ok(tiles.size > 10)
    })
  })
})

const tilecouch = (...args) => finishCommand(args)
