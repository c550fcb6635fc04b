// Tests of every address of tiles: the bytes and headers match the store, from the store and from memory. Also tests
// @2x addresses, which serve tiles with twice the pixels.
import assert from 'node:assert/strict'
import { flipY, quadkey } from '../../core/index.js'
import { json as fetchJson, onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { OPTIONS, token } from '../support/gateway/private.js'
import { useGateway } from '../support/gateway/stand.js'
import { ask } from '../support/gateway/wire.js'

const [T1, T2, T3, T4] =
  ['2022-05-01T00:00:00Z', '2023-06-15T12:00:00Z', '2024-03-01T00:00:00Z', '2024-03-01T18:30:00Z']
const Z = 4
const SIDE = 3

/** Layers with and without large tiles. */
const RETINA = {
  plain: { maxzoom: 1 },
  paired: { maxzoom: 1, retina: 'twin' },
  twin: { tileSize: 512, maxzoom: 1 },
  large: { tileSize: 512, maxzoom: 1 },
  lost: { retina: 'nowhere' },
  small: { retina: 'plain' }
}
const image = (layer, time) => png(1000 + 10 * Object.keys(RETINA).indexOf(layer) + (time === T1 ? 1 : 2))

onEachStore('the gateway', backend => {
  const fixture = useGateway(backend, { fill, options: { opsPort: 0 } })

  // the tiles of the square have different pasts; (2, 2) is gone between two versions, (1, 2) is gone in the end
  async function fill (store) {
    await store.defineLayer('osm',
      { name: 'Test', attribution: '© us', minzoom: Z, maxzoom: Z, bounds: [-180, 0, 0, 85] })
    await store.defineLayer('short', {})
    await store.defineLayer('empty', {})
    await store.defineLayer('swiss', { grid: 'LV95' })
    const tiles = []
    for (let x = 0; x < SIDE; x++) for (let y = 0; y < SIDE; y++) tiles.push([x, y])
    const version = (time, x, y, content) => ({ layer: 'osm', z: Z, x, y, time, ...content })
    await store.write(tiles.map(([x, y]) => version(T1, x, y, { bytes: png(10 * x + y) })))
    await store.write(tiles.filter(([x, y]) => (x + y) % 2)
      .map(([x, y]) => version(T2, x, y, { bytes: png(100 + 10 * x + y) })))
    await store.write(
      [version(T2, 2, 2, { gone: true }), version(T3, 2, 2, { bytes: png(222) }), version(T3, 1, 2, { gone: true })]
    )
    await store.write([version(T4, 0, 0, { bytes: png(400) })])
    const now = new Date().toISOString().slice(0, 19) + 'Z'
    for (const [layer, fields] of Object.entries(RETINA)) {
      await store.defineLayer(layer, fields)
      for (const time of [T1, T2]) await store.write([{ layer, z: 1, x: 1, y: 0, time, bytes: image(layer, time) }])
    }
    await store.write([{ layer: 'short', z: 1, x: 1, y: 0, time: now, bytes: png(6), expires: '2100-01-01T00:00:00Z' }])
  }

  const get = (path, options) => fixture.ask(path, options)

  it('counts TMS rows from the south of the grid of a layer', async () => {
    // 19 columns and 13 rows at zoom 17
    await fixture.store.write(
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

  /** Reads a version from the store, or returns undefined if there is none. */
  const stored = async (layer, z, x, y, time) => {
    try {
      return await (time === undefined ? fixture.store.head(layer, z, x, y) : fixture.store.at(layer, z, x, y, time))
    } catch (error) {
      assert.equal(error.code, 'TILE_NOT_FOUND')
    }
  }

  /** Asserts that an answer matches the version in the store. */
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

  it('takes the type from the bytes, whatever the extension says', async () => {
    for (const ext of ['png', 'jpg', 'webp', 'pbf', 'x1']) await check(`/osm/${Z}/0/0.${ext}`, ['osm', Z, 0, 0])
  })

  it('answers TileJSON with addresses that work', async () => {
    for (const [path, time] of [['/osm.json', undefined], ['/osm@2022-05.json', '2022-05']]) {
      const { status, json, headers } = await get(path)
      assert.deepEqual([status, headers['content-type']], [200, 'application/json'])
      const { tiles, ...otherFields } = json
      assert.deepEqual(otherFields, {
        tilejson: '3.0.0', name: time ? `Test, ${time}` : 'Test', attribution: '© us', minzoom: Z, maxzoom: Z,
        bounds: [-180, 0, 0, 85], scheme: 'xyz', format: 'png', ...(time && { time, 'tilecouch:name': 'Test' })
      })
      const answer = await fetch(tiles[0].replace('{z}', Z).replace('{x}', 0).replace('{y}', 0))
      assert.ok(Buffer.from(await answer.arrayBuffer()).equals((await stored('osm', Z, 0, 0, time)).bytes))
    }
  })

  it('answers versions and times with the same JSON as the couchapp', async () => {
    const paths = [`/osm/${Z}/0/0.json`, `/osm/${Z}/2/2.json`, `/osm/${Z}/1/2.json`,
      `/tms/1.0.0/osm/${Z}/0/${flipY(Z, 1)}.json`, '/short/1/1/0.json', '/osm/times.json', `/osm/times.json?z=${Z}`,
      '/osm/times.json?z=9', `/osm/times.json?z=${Z}&bbox=-179,80,-140,85`,
      `/osm/times.json?z=${Z}&bbox=-150,0,-140,85`, `/osm/times.json?z=${Z}&bbox=170,60,-170,85`,
      '/osm@2022/times.json']
    for (const path of paths) {
      const { json } = await get(path)
      assert.deepEqual(json, await fetchJson(`${fixture.url}/_design/tiles/_rewrite${path}`), path)
    }
    assert.deepEqual((await get('/osm/times.json')).json.times.map(({ time, tiles }) => [time, tiles]),
      [[T1, 9], [T2, 5], [T3, 2], [T4, 1]])
  })

  it('answers unknown layers, tiles and views with the matching error code', async () => {
    const table = [
      ...['/1/0/0.png', '@2024/1/0/0.png', '.json', '/1/0/0.json', '/times.json']
        .map(path => [`/nowhere${path}`, 404, 'LAYER_NOT_FOUND']),
      ['/empty/1/0/0.json', 404, 'TILE_NOT_FOUND'], [`/osm/${Z}/9/9.json`, 404, 'TILE_NOT_FOUND'],
      ['/osm/times.json?z=20&bbox=-180,-80,180,80', 400, 'BAD_BBOX'],
      ['/osm/times.json?z=30&bbox=-180,-85,180,85', 400, 'BAD_BBOX'], ['/nothing.js', 404, 'NOT_FOUND']
    ]
    for (const [path, expected, code] of table) {
      const { status, json, headers } = await get(path)
      assert.deepEqual([status, json.error, headers['cache-control']], [expected, code, 'no-store'], path)
    }
    assert.deepEqual((await get('/empty/times.json')).json, { layer: 'empty', times: [] })
  })

  it('shows health and metrics only at its opsPort when that is set', async () => {
    const onOpsPort = (path, headers = {}) => ask(fixture.gateway.opsUrl, path, { headers })
    const { status, json, headers } = await onOpsPort('/health')
    assert.deepEqual([status, json.status, headers['cache-control']], [200, 'ok', 'no-store'])
    assert.match(json.couchdb.version, /^\d+\./)
    assert.ok(json.couchdb.documents > 9)
    const metrics = await onOpsPort('/metrics', { origin: 'http://evil.example' })
    assert.match(metrics.headers['content-type'], /^text\/plain/)
    assert.equal(metrics.headers['access-control-allow-origin'], undefined)
    assert.match(metrics.text, /^tilecouch_requests_total\{layer="osm",kind="tile",outcome="hit"\} \d{3}/m)
    assert.equal((await onOpsPort(`/osm/${Z}/0/0.png`)).status, 404)
    for (const path of ['/health', '/metrics']) assert.equal((await get(path)).status, 404)
  })

  describe('with twice the pixels', () => {
    it('answers from the retina layer of a layer, now and as of a time, in XYZ and TMS', async () => {
      for (const [path, time, layer = 'twin'] of [
        ['/paired/1/1/0@2x.png', T2], ['/paired@2022/1/1/0@2x.png', T1], ['/tms/1.0.0/paired/1/1/1@2x.png', T2],
        ['/%70aired/1/1/0%402x.png', T2], ['/paired/1/1/0.png', T2, 'paired']
      ]) {
        const { status, headers, body } = await get(path)
        const isImage = body.equals(image(layer, time))
        assert.deepEqual([status, headers['content-type'], headers['x-tilecouch-time'], isImage],
          [200, 'image/png', time, true], path)
        assert.match(headers['cache-control'], /^public, max-age=300/)
      }
    })

    it('answers with the tile itself when the layer has tiles of 512 pixels', async () => {
      const plain = await get('/large/1/1/0.png')
      for (const [options, ...expected] of [
        [{}, 200, plain.body.length], [{ headers: { 'if-none-match': plain.headers.etag } }, 304, 0],
        [{ method: 'HEAD' }, 200, 0], [{ headers: { range: 'bytes=0-9' } }, 206, 10]
      ]) {
        const { status, headers, body } = await get('/large/1/1/0@2x.png', options)
        assert.deepEqual([status, body.length, headers.etag], [...expected, plain.headers.etag])
        assert.ok(plain.body.subarray(0, body.length).equals(body))
      }
    })

    it('refuses with a reason when no layer has large tiles', async () => {
      for (const layer of ['plain', 'lost', 'small']) {
        const { status, json } = await get(`/${layer}/1/1/0@2x.png`)
        assert.deepEqual([status, json.error], [404, 'NO_RETINA'], layer)
        assert.ok(json.reason.includes(`"${layer}"`) && json.advice.includes('--retina'), json.reason)
      }
      for (const [path, ...expected] of [
        ['/nope/1/1/0@2x.png', 404, 'LAYER_NOT_FOUND'], ['/large/1/0/0@2x.png', 404, 'TILE_NOT_FOUND'],
        ['/paired/1/1/0@2x.json', 400, 'BAD_TILE'], ['/paired/1/1/0@3x.png', 400, 'BAD_TILE'],
        ['/paired/1/2/0@2x.png', 400, 'BAD_TILE']
      ]) {
        const { status, json } = await get(path)
        assert.deepEqual([status, json.error], expected, path)
      }
    })

    it('names the address in TileJSON', async () => {
      const { url } = fixture.gateway
      for (const [path, retina] of [['/paired@2022.json', [`${url}/paired@2022/{z}/{x}/{y}@2x.png`]],
        ['/large.json', [`${url}/large/{z}/{x}/{y}@2x.png`]], ['/plain.json', undefined]]) {
        assert.deepEqual((await get(path)).json.retina, retina, path)
      }
    })

    it('needs a token for each of the two layers that is private', async () => {
      for (const [hidden, tokenLayers, expected] of [
        [['twin'], ['twin'], 200], [['paired'], ['paired'], 200],
        [['paired', 'twin'], ['paired', 'twin'], 200], [['paired', 'twin'], ['paired'], 403]
      ]) {
        const gateway = await fixture.another({ ...OPTIONS, privateLayers: hidden })
        assert.equal((await ask(gateway.url, '/paired/1/1/0@2x.png')).status, 401, `${hidden}`)
        const { status, headers } = await ask(gateway.url, `/paired/1/1/0@2x.png?token=${token(tokenLayers)}`)
        assert.deepEqual([status, status === 200 && /^private/.test(headers['cache-control'])],
          [expected, expected === 200], `${hidden}`)
      }
    })
  })
})
