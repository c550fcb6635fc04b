// The URLs of DESIGN.md 4, requested over HTTP from the couchapp itself.
import assert from 'node:assert/strict'
import { as, onEachStore, request } from '../support/backends.js'
import { useStore } from '../support/store.js'
import { png, square } from '../support/tiles.js'
import { packTile } from '../support/vector-tile.js'

const [T1, T2, T3] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z', '2023-06-01T00:00:00Z']

onEachStore('tile URLs', backend => {
  let store
  let app
  const fill = async (openedStore, url) => {
    store = openedStore
    app = `${url}/_design/tiles/_rewrite`
    await store.defineLayer('osm', { name: 'Test', minzoom: 3, maxzoom: 3, bounds: [-180, -85, 180, 85], ttl: 3600 })
    await store.write(square({ layer: 'osm', time: T1, z: 3, seed: (x, y) => x * 8 + y }))
    await store.write(square({ layer: 'osm', time: T2, z: 3, seed: (x, y) => x < 2 ? 100 + x * 8 + y : undefined }))
    await store.write([{ layer: 'osm', z: 3, x: 0, y: 0, time: T3, gone: true }])
  }
  useStore(backend, { once: true, published: true, fill })

  const get = async (path, options) => {
    const response = await request(app + path, { redirect: 'manual', ...options })
    const body = Buffer.from(await response.arrayBuffer())
    return {
      status: response.status, type: response.headers.get('content-type'),
      headers: response.headers, body, json: () => JSON.parse(body.toString())
    }
  }
  const follow = async path => get(path, { redirect: 'follow' })

  it('serves the head of a tile', async () => {
    const { status, type, body, headers } = await get('/osm/3/1/0.png')
    assert.deepEqual([status, type], [200, 'image/png'])
    assert.deepEqual(body, png(108))
    assert.match(headers.get('etag'), /^"/)
  })

  it('serves gzipped vector tiles, with content-encoding from the embedded store if accepted', async () => {
    const road = name => packTile({
      roads: [
        { type: /** @type {const} */ ('LineString'), lines: /** @type {any} */ ([[[0, 0], [4096, 4096]]]), properties: {
          name
        } }
      ]
    })
    await store.defineLayer('roads', { format: 'pbf' })
    for (const time of [T1, T2]) await store.write([{ layer: 'roads', z: 3, x: 0, y: 0, time, bytes: road(time) }])
    const isEmbedded = backend.name === 'embedded'
    const fetchEncoding = async (path, encoding) => {
      const { status, headers, body } =
        await get(path, { redirect: 'follow', headers: { 'accept-encoding': encoding } })
      assert.equal(status, 200, path)
      return [headers.get('content-encoding'), body[0] === 0x1f]
    }
    for (const path of ['/roads/3/0/0.pbf', '/roads@2021/3/0/0.pbf',
      '/roads@2023/3/0/0.pbf', '/tms/1.0.0/roads@2023/3/0/7.pbf']) {
      assert.deepEqual(await fetchEncoding(path, 'gzip, br'), isEmbedded ? ['gzip', false] : [null, true], path)
      assert.deepEqual(await fetchEncoding(path, 'identity'), [null, true], path)
    }
    // a request with a revision gets the stored bytes, for programs that compare them
    const { headers } = await get('/roads@2023/3/0/0.pbf')
    const rev = new URL(headers.get('location')).searchParams.get('rev')
    assert.deepEqual(await fetchEncoding(`/db/roads:3:0:0/tile?rev=${rev}`, 'gzip'), [null, true])
    const head = await get('/roads/3/0/0.pbf', { method: 'HEAD', headers: { 'accept-encoding': 'gzip' } })
    assert.deepEqual([head.status, head.headers.get('content-encoding')], [200, isEmbedded ? 'gzip' : null])
  })

  it('answers 304 to a request with the ETag of the head', async () => {
    const { headers } = await get('/osm/3/1/0.png')
    const cached = await get('/osm/3/1/0.png', { headers: { 'if-none-match': headers.get('etag') } })
    assert.equal(cached.status, 304)
  })

  it('redirects a URL with a time to the version of that time, below its own path', async () => {
    const { status, headers, body } = await get('/osm@2021/3/1/0.png')
    assert.equal(status, 302)
    assert.ok(body.length > 0, 'an empty body breaks keep-alive clients')
    assert.equal(headers.get('location'), `${as(app)}/db/osm:3:1:0@${T1}/tile`, 'QGIS does not work out relative ones')
    assert.match(headers.get('cache-control'), /^private/, 'the host is what the client wrote')
    const proxied = async extraHeaders => (
      await get('/osm@2021/3/1/0.png', { headers: { 'x-forwarded-for': '10.0.0.1', ...extraHeaders } })
    ).headers.get('location')
    assert.equal(await proxied({}), `../../../db/osm:3:1:0@${T1}/tile`, 'a proxy may show any path')
    assert.equal(
      await proxied(
        {
          'x-forwarded-host': 'maps.example.org', 'x-forwarded-proto': 'https',
          'x-forwarded-uri': '/town/osm@2021/3/1/0.png'
        }
      ), `https://maps.example.org/town/db/osm:3:1:0@${T1}/tile`
    )
    assert.deepEqual((await follow('/osm@2021/3/1/0.png')).body, png(8))
    assert.deepEqual((await follow('/osm@2022-05-31/3/1/0.png')).body, png(8))
    assert.deepEqual((await follow('/osm@2022-06-01/3/1/0.png')).body, png(108), 'the end of the day')
    assert.deepEqual((await follow(`/osm@${T2}/3/1/0.png`)).body, png(108), 'to the second')
    assert.deepEqual((await follow('/osm@2030/3/7/7.png')).body, png(63))
  })

  it('answers 404 in JSON where there is no tile at that time', async () => {
    for (const path of ['/osm@2020/3/1/0.png', '/osm@2024/3/0/0.png',
      '/osm/3/0/0.png', '/osm/9/1/1.png', '/nope/1/1/1.png', '/nope@2024/1/1/1.png']) {
      const { status, type, json } = await get(path)
      assert.equal(status, 404, path)
      assert.match(type, /json/, path)
      assert.ok(json().reason, path)
    }
  })

  it('answers repeated redirects, errors and tiles correctly', async () => {
    for (let round = 0; round < 5; round++) {
      assert.deepEqual((await follow('/osm@2021/3/1/0.png')).body, png(8))
      assert.equal((await get('/osm@1999/3/1/0.png')).status, 404)
      assert.deepEqual((await get('/osm/3/1/0.png')).body, png(108))
    }
  })

  it('counts rows from the south under /tms/', async () => {
    assert.deepEqual((await get('/tms/1.0.0/osm/3/1/7.png')).body, png(108))
    assert.deepEqual((await follow('/tms/1.0.0/osm@2021/3/1/7.png')).body, png(8))
  })

  it('describes a layer, now and at a time, in TileJSON', async () => {
    const tileJson = (await get('/osm.json')).json()
    assert.deepEqual([tileJson.tilejson, tileJson.name, tileJson.minzoom, tileJson.tiles, tileJson.scheme],
      ['3.0.0', 'Test', 3, [`${as(app)}/osm/{z}/{x}/{y}.png`], 'xyz'])
    assert.equal(tileJson.ttl, undefined)
    assert.match((await get('/osm.json')).headers.get('cache-control'), /^private/)
    assert.deepEqual((await get('/osm@2022.json')).json().tiles, [`${as(app)}/osm@2022/{z}/{x}/{y}.png`])
    assert.deepEqual((await get('/osm.json', { headers: { 'x-forwarded-for': '10.0.0.1' } })).json().tiles,
      ['osm/{z}/{x}/{y}.png'])
    assert.deepEqual((
      await get('/osm.json', { headers: { 'x-forwarded-prefix': '/couch', 'x-forwarded-host': 'maps.example.org' } })
    ).json().tiles, [`http://maps.example.org/couch${new URL(app).pathname}/osm/{z}/{x}/{y}.png`])
    assert.equal((await get('/nope.json')).status, 404)
  })

  it('lists the versions of a tile', async () => {
    const { layer, z, x, y, versions } = (await get('/osm/3/0/0.json')).json()
    assert.deepEqual([layer, z, x, y], ['osm', 3, 0, 0])
    assert.deepEqual(versions.map(({ time, bytes, gone, current }) => [time, bytes, gone, current]), [
      [T1, png(0).length, false, false], [T2, png(100).length, false, false], [T3, 0, true, true]
    ])
    assert.equal((await get('/osm/3/7/7.json')).json().versions.length, 1)
    assert.equal((await get('/osm/7/7/7.json')).status, 404)
  })

  it('lists the same times of changes as the library', async () => {
    assert.deepEqual((await get('/osm/times.json')).json().times, await store.times('osm'))
    for (const bbox of [[-180, 0, -90.1, 85], [-45, -10, 10, 40], [-180, -85, 180, 85]]) {
      assert.deepEqual((await get(`/osm/times.json?bbox=${bbox}&z=3`)).json().times,
        await store.times('osm', { bbox, z: 3 }), `${bbox}`)
    }
    const wrapped = [170, -85, -170, 85]
    assert.deepEqual((await get(`/osm/times.json?bbox=${wrapped}&z=3`)).json().times,
      await store.times('osm', { bbox: wrapped, z: 3 }))
  })

  it('answers a wrong request with 400 or 404 and an error code', async () => {
    const wrongRequests = [
      ['/osm/3/8/0.png', 400, 'BAD_TILE'], ['/osm/31/0/0.png', 400, 'BAD_TILE'],
      ['/osm/3/-1/0.png', 400, 'BAD_TILE'], ['/osm/a/b/c.png', 400, 'BAD_TILE'],
      ['/osm/3/1/0', 400, 'BAD_TILE'], ['/Osm/3/1/0.png', 400, 'BAD_LAYER'], ['/layer/3/1/0.png', 400, 'BAD_LAYER'],
      ['/osm@yesterday/3/1/0.png', 400, 'BAD_TIME'], ['/osm@2021-13/3/1/0.png', 400, 'BAD_TIME'],
      ['/osm@2021-02-30/3/1/0.png', 400, 'BAD_TIME'],
      ['/osm@0000-02-29/3/9/0.png', 400, 'BAD_TILE'], ['/osm@0100-02-29/3/1/0.png', 400, 'BAD_TIME'],
      ['/osm/times.json?bbox=1,2,3&z=3', 400, 'BAD_BBOX'], ['/osm/times.json?bbox=1,2,3,4', 400, 'BAD_ZOOM'],
      ['/a/b', 404, 'NOT_FOUND'], ['/osm/1/2/3/4/5.png', 404, 'NOT_FOUND']
    ]
    for (const [path, status, code] of wrongRequests) {
      const answer = await get(path)
      assert.deepEqual([answer.status, answer.json().error], [status, code], path)
    }
  })

  it('serves the viewer and its files', async () => {
    const page = await get('/')
    assert.equal(page.status, 200)
    assert.match(page.type, /^text\/html/)
    assert.match((await get('/leaflet.css')).type, /^text\/css/)
    assert.match((await get('/leaflet.js')).type, /javascript/)
    assert.equal((await get('/nothing.txt')).status, 404)
    const withoutSlash = await get('')
    assert.deepEqual([withoutSlash.status, new URL(withoutSlash.headers.get('location'), app).pathname],
      [301, new URL(app).pathname + '/'])
  })

  it('serves the database below /db, read-only', async () => {
    assert.equal((await get('/db')).json().db_name, new URL(app).pathname.split('/')[1])
    assert.equal((await get('/db/osm:3:1:0')).json().time, T2)
    assert.equal((await get('/db/layer:osm')).json().name, 'Test')
    assert.equal((await get('/db/_all_docs?limit=1')).json().rows.length, 1)
    const query = { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(
      { queries: [{ startkey: ['osm', 3, 1, 0], endkey: ['osm', 3, 1, 0, {}], reduce: false }] }
    ) }
    assert.equal((await get('/db/_design/versions/_view/by_tile/queries', query)).json().results[0].rows.length, 2)
    for (const [path, method] of [['/db/x', 'PUT'], ['/db/_bulk_docs', 'POST'],
      ['/db/osm:3:1:0', 'DELETE'], ['/osm/3/1/0.png', 'PUT'], ['/db/_purge', 'POST']]) {
      const answer = await get(path, { method, headers: { 'content-type': 'application/json' }, body: '{}' })
      assert.deepEqual([answer.status, answer.json().error], [405, 'READ_ONLY'], `${method} ${path}`)
    }
  })
})
