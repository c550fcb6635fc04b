// Every address of the gateway, on every store: its bytes are those the store says, and so is what is said about them.
import assert from 'node:assert/strict'
import { gunzipSync, gzipSync } from 'node:zlib'
import { flipY, quadkey } from '../../core/index.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { json as fetchJson, onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { useGateway } from '../support/gateway/stand.js'
import { ask } from '../support/gateway/wire.js'

const [T1, T2, T3, T4] =
  ['2022-05-01T00:00:00Z', '2023-06-15T12:00:00Z', '2024-03-01T00:00:00Z', '2024-03-01T18:30:00Z']
const Z = 4
const SIDE = 3
const VECTOR = gzipSync(Buffer.from([0x1a, 2, 1, 2]))

onEachStore('the gateway', backend => {
  const own = useGateway(backend, { fill, options: { opsPort: 0 } })

  // each tile of the square has a past of its own; (2, 2) is gone between two of its versions, (1, 2) for good
  async function fill (made) {
    await made.defineLayer('osm',
      { name: 'Test', attribution: '© us', minzoom: Z, maxzoom: Z, bounds: [-180, 0, 0, 85] })
    await made.defineLayer('roads', { format: 'pbf', vector_layers: [{ id: 'a', fields: {} }] })
    await made.defineLayer('short', { ttl: 3600 })
    await made.defineLayer('empty', {})
    await made.defineLayer('swiss', { grid: 'LV95' })
    const tiles = []
    for (let x = 0; x < SIDE; x++) for (let y = 0; y < SIDE; y++) tiles.push([x, y])
    const version = (time, x, y, content) => ({ layer: 'osm', z: Z, x, y, time, ...content })
    await made.write(tiles.map(([x, y]) => version(T1, x, y, { bytes: png(10 * x + y) })))
    await made.write(tiles.filter(([x, y]) => (x + y) % 2)
      .map(([x, y]) => version(T2, x, y, { bytes: png(100 + 10 * x + y) })))
    await made.write(
      [version(T2, 2, 2, { gone: true }), version(T3, 2, 2, { bytes: png(222) }), version(T3, 1, 2, { gone: true })]
    )
    await made.write([version(T4, 0, 0, { bytes: png(400) })])
    const now = new Date().toISOString().slice(0, 19) + 'Z'
    await made.write(
      [{ layer: 'roads', z: 1, x: 0, y: 0, time: T1, bytes: VECTOR },
        { layer: 'short', z: 1, x: 0, y: 0, time: now, bytes: png(5) },
        { layer: 'short', z: 1, x: 1, y: 0, time: now, bytes: png(6), expires: new Date(Date.now() + 100000)
          .toISOString().slice(0, 19) + 'Z' }]
    )
  }

  function get (path, headers = {}, method = 'GET') {
    const isMonitoring = /^\/(health|metrics)/.test(path)
    return isMonitoring ? ask(own.gateway.opsUrl, path, { headers, method }) : own.ask(path, { headers, method })
  }

  it('counts TMS rows from the south of the grid of a layer', async () => {
    // 19 columns and 13 rows at zoom 17
    await own.store.write(
      [[0, 12], [18, 0]].map(([x, y]) => ({ layer: 'swiss', z: 17, x, y, time: T1, bytes: png(10 * x + y) }))
    )
    for (const [x, row, y] of [[0, 0, 12], [18, 12, 0]]) {
      const answers = await Promise.all([get(`/tms/1.0.0/swiss/17/${x}/${row}.png`),
        get(`/swiss/17/${x}/${y}.png`), get(`/tms/1.0.0/swiss@2022/17/${x}/${row}.png`)])
      for (const { status, body } of answers) assert.deepEqual([status, body.equals(png(10 * x + y))], [200, true])
    }
    const { versions, ...tile } = (await get('/tms/1.0.0/swiss/17/18/12.json')).json
    assert.deepEqual([tile, versions.length], [{ layer: 'swiss', z: 17, x: 18, y: 0 }, 1])
    assert.equal((await get('/tms/1.0.0/swiss/17/0/13.png')).status, 400)
    assert.equal((await get(`/quadkey/swiss/${quadkey(17, 0, 12)}.png`)).status, 404)
  })

  /** What the store itself says: the version, or nothing. */
  const stored = async (layer, z, x, y, time) => {
    try {
      return await (time === undefined ? own.store.head(layer, z, x, y) : own.store.at(layer, z, x, y, time))
    } catch (error) {
      assert.equal(error.code, 'TILE_NOT_FOUND')
    }
  }

  /** Compares an answer with what the store says. */
  async function check (path, [layer, z, x, y, time], expected) {
    const { status, headers, body } = await get(path)
    const version = expected === undefined ? await stored(layer, z, x, y, time) : expected
    if (!version) {
      assert.deepEqual([status, JSON.parse(`${body}`).error, headers['cache-control']],
        [404, 'TILE_NOT_FOUND', 'public, max-age=60'], path)
      return
    }
    assert.equal(status, 200, path)
    assert.ok(body.equals(version.bytes), `${path}: other bytes`)
    assert.deepEqual([headers['content-type'], headers['x-tilecouch-time'], headers.etag],
      [version.type, version.time, `"${version.digest.slice(4)}"`], path)
    assert.doesNotMatch(headers['cache-control'], /immutable/, path)
  }

  const TIMES = [undefined, '2021', '2022', '2022-04-30', '2022-05',
    '2022-05-01', T1, '2022-05-01T00:00:01Z', '2023', '2023-06-15T11', '2023-06-15T12', '2023-06-15T11:59:59Z',
    T2, '2024-02-29', '2024-03', '2024-03-01', '2024-03-01T18', '2024-03-01T18:29', T3, T4, '2030']

  it('answers each tile as of each time as the store does, from the store and from memory', async () => {
    for (const time of TIMES) {
      const reference = time === undefined ? 'osm' : `osm@${time}`
      for (let x = 0; x < SIDE; x++) {
        for (let y = 0; y < SIDE; y++) {
          const version = await stored('osm', Z, x, y, time) ?? null
          const paths = [`/${reference}/${Z}/${x}/${y}.png`, `/tms/1.0.0/${reference}/${Z}/${x}/${flipY(Z, y)}.png`,
            `/quadkey/${reference}/${quadkey(Z, x, y)}.png`]
          for (const path of paths) await check(path, ['osm', Z, x, y, time], version)
        }
      }
    }
    const { headers } = await get(`/osm@${T1}/${Z}/0/0.png`)
    assert.deepEqual([headers['x-tilecouch-cache'], headers['cache-control']],
      ['hit', 'public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800'])
  })

  it('does not look at the extension: the type is that of the bytes', async () => {
    for (const ext of ['png', 'jpg', 'webp', 'pbf', 'x1']) await check(`/osm/${Z}/0/0.${ext}`, ['osm', Z, 0, 0])
  })

  it('answers heads without a body for all of these', async () => {
    for (const path of [`/osm/${Z}/0/0.png`, `/osm@2022/${Z}/0/0.png`, '/osm.json',
      `/osm/${Z}/0/0.json`, '/osm/times.json', '/health', '/metrics', '/', '/wmts/1.0.0/WMTSCapabilities.xml']) {
      const [whole, head] = [await get(path), await get(path, {}, 'HEAD')]
      assert.deepEqual([head.status, head.body.length, head.headers['content-type']],
        [200, 0, whole.headers['content-type']], path)
      if (!/health|metrics/.test(path)) {
        assert.deepEqual([head.headers['content-length'], head.headers.etag],
          [`${whole.body.length}`, whole.headers.etag], path)
      }
    }
  })

  it('says 304 to who has it, and sends it to who has another', async () => {
    for (const path of [`/osm/${Z}/0/0.png`, `/osm@2022/${Z}/0/0.png`, '/roads/1/0/0.pbf',
      '/osm.json', `/osm/${Z}/0/0.json`, '/osm/times.json', '/', '/wmts/1.0.0/WMTSCapabilities.xml']) {
      const { headers } = await get(path, { 'accept-encoding': 'gzip' })
      assert.match(headers.etag, /^"[^"]+"$/, path)
      for (const [tags, expected] of [[headers.etag, 304], [`W/${headers.etag}`, 304],
        [`"x", ${headers.etag}`, 304], ['*', 304], ['"x"', 200]]) {
        const { status, body } = await get(path, { 'accept-encoding': 'gzip', 'if-none-match': tags })
        assert.deepEqual([status, body.length > 0], [expected, expected === 200], `${path} ${tags}`)
      }
      if (!headers['last-modified']) continue
      for (const since of [headers['last-modified'], 'Thu, 01 Jan 1970 00:00:00 GMT', new Date().toUTCString()]) {
        assert.equal((await get(path, { 'if-modified-since': since })).status, 200)
      }
      assert.equal((await get(path, { 'if-modified-since': headers['last-modified'], 'if-none-match': '"x"' })).status,
        200)
    }
  })

  it('tells clients how long a tile holds: by its own word, by its layer, or for a while', async () => {
    const age = async path => Number(
      /^public, max-age=(\d+), stale-while-revalidate=86400, stale-if-error=604800$/.exec(
        (await get(path)).headers['cache-control']
      )?.[1]
    )
    assert.equal(await age(`/osm/${Z}/0/0.png`), 300)
    assert.equal(await age(`/osm@2022/${Z}/0/0.png`), 300)
    const [byLayer, byItself] = [await age('/short/1/0/0.png'), await age('/short/1/1/0.png')]
    assert.ok(byLayer > 3400 && byLayer <= 3600, `${byLayer}`)
    assert.ok(byItself > 0 && byItself <= 100, `${byItself}`)
  })

  it('answers vector tiles packed or not, and 204 where there is none', async () => {
    const [packed, plain, missing] = [await get('/roads/1/0/0.pbf', { 'accept-encoding': 'gzip' }),
      await get('/roads/1/0/0.pbf'), await get('/roads/1/1/1.pbf')]
    assert.deepEqual([packed.headers['content-encoding'], packed.body], ['gzip', VECTOR])
    assert.deepEqual([plain.headers['content-encoding'], plain.body], [undefined, gunzipSync(VECTOR)])
    assert.deepEqual([missing.status, missing.body.length, missing.headers['cache-control']],
      [204, 0, 'public, max-age=60'])
  })

  it('answers TileJSON with addresses that work', async () => {
    for (const [path, time] of [['/osm.json', undefined], ['/osm@2022-05.json', '2022-05']]) {
      const { status, json, headers } = await get(path)
      assert.deepEqual([status, headers['content-type']], [200, 'application/json'])
      const { tiles, ...rest } = json
      assert.deepEqual(rest,
        {
          tilejson: '3.0.0', name: time ? `Test, ${time}` : 'Test', attribution: '© us', minzoom: Z, maxzoom: Z,
          bounds: [-180, 0, 0, 85], scheme: 'xyz', format: 'png', ...(time && { time, 'tilecouch:name': 'Test' })
        })
      const answer = await fetch(tiles[0].replace('{z}', Z).replace('{x}', 0).replace('{y}', 0))
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals((await stored('osm', Z, 0, 0, time)).bytes))
    }
  })

  it('answers versions and times in the words of the couchapp', async () => {
    const paths =
      [`/osm/${Z}/0/0.json`, `/osm/${Z}/2/2.json`, `/osm/${Z}/1/2.json`, `/tms/1.0.0/osm/${Z}/0/${flipY(Z, 1)}.json`,
        '/short/1/1/0.json', '/osm/times.json', `/osm/times.json?z=${Z}`, '/osm/times.json?z=9',
      `/osm/times.json?z=${Z}&bbox=-179,80,-140,85`, `/osm/times.json?z=${Z}&bbox=-150,0,-140,85`,
      `/osm/times.json?z=${Z}&bbox=170,60,-170,85`, '/osm@2022/times.json']
    for (const path of paths) {
      const { json } = await get(path)
      assert.deepEqual(json, await fetchJson(`${own.url}/_design/tiles/_rewrite${path}`), path)
    }
    assert.deepEqual((await get('/osm/times.json')).json.times.map(({ time, tiles }) => [time, tiles]),
      [[T1, 9], [T2, 5], [T3, 2], [T4, 1]])
  })

  it('says of what is not there which part of it', async () => {
    const table =
      [['/nowhere/1/0/0.png', 404, 'LAYER_NOT_FOUND'], ['/nowhere@2024/1/0/0.png', 404, 'LAYER_NOT_FOUND'], [
        '/nowhere.json', 404, 'LAYER_NOT_FOUND'
      ], ['/nowhere/1/0/0.json', 404, 'LAYER_NOT_FOUND'], ['/nowhere/times.json', 404, 'LAYER_NOT_FOUND'],
      ['/empty/1/0/0.json', 404, 'TILE_NOT_FOUND'], [`/osm/${Z}/9/9.json`, 404, 'TILE_NOT_FOUND'],
      ['/osm/times.json?z=20&bbox=-180,-80,180,80', 400, 'BAD_BBOX'],
      ['/osm/times.json?z=30&bbox=-180,-85,180,85', 400, 'BAD_BBOX'], ['/nothing.js', 404, 'NOT_FOUND']]
    for (const [path, expected, code] of table) {
      const { status, json, headers } = await get(path)
      assert.deepEqual([status, json.error, headers['cache-control']], [expected, code, 'no-store'], path)
    }
    assert.deepEqual((await get('/empty/times.json')).json, { layer: 'empty', times: [] })
  })

  it('answers WMTS with the same tile, now and as of a time', async () => {
    for (const time of [undefined, '2022-05-01T00:00:00Z']) {
      const version = await stored('osm', Z, 1, 0, time)
      const query = new URLSearchParams(
        {
          SERVICE: 'WMTS', REQUEST: 'GetTile', VERSION: '1.0.0', LAYER: 'osm',
          STYLE: 'default', FORMAT: 'image/png', TILEMATRIXSET: 'GoogleMapsCompatible',
          TILEMATRIX: `${Z}`, TILEROW: '0', TILECOL: '1', ...(time && { TIME: time })
        }
      )
      for (
        const path of [`/wmts?${query}`, `/wmts/osm/default/${time ? `${time}/` : ''}GoogleMapsCompatible/${Z}/0/1.png`]
      ) {
        const { status, headers, body, text } = await get(path, { origin: 'https://a.example' })
        assert.equal(status, 200, `${path}: ${text}`)
        assert.ok(body.equals(version.bytes), path)
        assert.deepEqual([headers['x-tilecouch-time'], headers['access-control-allow-origin']], [version.time, '*'])
      }
    }
  })

  it('shows a tile that was stored within a second, and what it was before under its time', async () => {
    const path = `/osm/${Z}/0/2.png`
    const before = await get(path)
    await own.store.write([{ layer: 'osm', z: Z, x: 0, y: 2, time: '2025-01-01T00:00:00Z', bytes: png(2025) }])
    const started = performance.now()
    await until(async () => (await get(path)).body.equals(png(2025)), { what: 'the new tile' })
    assert.ok(performance.now() - started < 1000 * TIME_FACTOR)
    assert.equal((await get(path, { 'if-none-match': before.headers.etag })).status, 200)
    assert.deepEqual((await get(`/osm@2024/${Z}/0/2.png`)).body, before.body)
    await check(`/osm@2025/${Z}/0/2.png`, ['osm', Z, 0, 2, '2025'])
  })

  it('is healthy while the store answers, and counts what it answered', async () => {
    const { status, json, headers } = await get('/health')
    assert.deepEqual([status, json.status, headers['cache-control']], [200, 'ok', 'no-store'])
    assert.match(json.couchdb.version, /^\d+\./)
    assert.ok(json.couchdb.documents > 9)
    const metrics = await get('/metrics')
    assert.match(metrics.headers['content-type'], /^text\/plain/)
    const hits = /^tilecouch_requests_total\{layer="osm",kind="tile",outcome="hit"\} (\d+)$/m.exec(metrics.text)
    assert.ok(Number(hits?.[1]) > 100, metrics.text.slice(0, 2000))
    assert.match(metrics.text, /^tilecouch_cache_bytes [1-9]/m)
    assert.match(metrics.text, /^tilecouch_follower_up 1$/m)
  })

  it('shows health and metrics on a port of their own when it has one', async () => {
    const other = await own.another({ opsPort: 0 })
    for (const path of ['/health', '/metrics']) {
      assert.equal((await ask(other.url, path)).status, 404)
      assert.equal((await ask(/** @type {string} */ (other.opsUrl), path)).status, 200)
    }
    assert.equal((await ask(/** @type {string} */ (other.opsUrl), `/osm/${Z}/0/0.png`)).status, 404)
    assert.equal((await ask(other.url, `/osm/${Z}/0/0.png`)).status, 200)
    assert.equal((
      await ask(/** @type {string} */ (other.opsUrl), '/metrics', { headers: { origin: 'http://evil.example' } })
    ).headers['access-control-allow-origin'], undefined)
  })
})
