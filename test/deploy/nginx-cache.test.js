// nginx with the configuration deploy/nginx/proxy-cache.conf in front of a gateway.
import assert from 'node:assert/strict'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { until } from '../../bench/wait.js'
import { ask } from '../support/gateway/wire.js'
import { onEachStore } from '../support/backends.js'
import { startServer } from '../support/server.js'
import { png } from '../support/tiles.js'
import { T1, T2, mvt, useStage } from '../support/nginx.js'

onEachStore('nginx with a cache of its own', backend => {
  const stage = useStage(backend)
  const { get } = stage
  const startAt = port => stage.start({
    file: 'proxy-cache.conf', gateways: [port], changes: [['/var/cache/nginx/tilecouch', path.join(stage.dir, 'cache')]]
  })
  const start = async (...args) => startAt(await stage.gateway(...args))
  const state = ({ headers }) => headers.get('x-cache')
  /** Waits until an address is answered in a cache state, and returns the answer. */
  const untilState = (expectedState, address) => until(async () => {
    const answer = await get(address)
    return state(answer) === expectedState && answer
  }, { what: `${address} to be ${expectedState}` })
  const fetches = address => stage.nginx.requests().filter(([, uri, , upstream]) => uri === address && upstream !== '-')
    .map(([, , , upstream]) => upstream)

  it('caches newest and past tiles, whatever the query, asks once for many requests, and answers 304', async () => {
    await start()
    for (const [address, seed] of [['/osm/4/0/5.png', 20], ['/osm@2023/4/0/5.png', 10],
      ['/osm@2023-01-01T00:00:00Z/4/1/5.png', 11], ['/tms/1.0.0/osm/4/1/10.png', 21], ['/quadkey/osm/0203.png', 0]]) {
      const first = await get(address)
      assert.equal(state(first), 'MISS', address)
      if (seed) assert.deepEqual(first.bytes, png(seed))
      const second = await get(`${address}?t=${Math.random()}`)
      assert.equal(second.status, first.status)
      assert.equal(state(second), 'HIT', address)
      assert.deepEqual(second.bytes, first.bytes)
      for (const name of ['etag', 'cache-control', 'last-modified', 'content-type', 'access-control-allow-origin']) {
        assert.equal(second.headers.get(name), first.headers.get(name), name)
      }
    }
    assert.match((await get('/osm@2023-01-01T00:00:00Z/4/1/5.png')).headers.get('cache-control'),
      /^public, max-age=300,/)
    const { headers } = await get('/osm/4/0/5.png')
    const unchanged = await get('/osm/4/0/5.png', { headers: { 'if-none-match': headers.get('etag') } })
    assert.deepEqual([unchanged.status, state(unchanged)], [304, 'HIT'])
    const answers = await Promise.all(Array.from({ length: 40 }, () => get('/osm/4/2/5.png')))
    for (const answer of answers) assert.deepEqual(answer.bytes, png(22))
    // nginx logs after the answer
    await until(() => stage.nginx.requests().filter(([, uri]) => uri === '/osm/4/2/5.png').length === 40)
    assert.equal(fetches('/osm/4/2/5.png').length, 1)
  })

  it('revalidates an expired tile by its ETag', async () => {
    await start('--set', 'maxAge=1', '--set', 'staleWhileRevalidate=0')
    await get('/osm/4/0/5.png')
    const revalidated = await untilState('REVALIDATED', '/osm/4/0/5.png')
    assert.deepEqual([revalidated.status, revalidated.bytes], [200, png(20)])
    await until(() => fetches('/osm/4/0/5.png').includes('304'))
  })

  it('shows an expired tile while it fetches the new one, when the gateway allows that', async () => {
    await start('--set', 'maxAge=1')
    const tile = { layer: 'osm', z: 4, x: 7, y: 7, bytes: png(50) }
    await stage.store.write([{ ...tile, time: T1 }])
    const address = '/osm/4/7/7.png'
    assert.deepEqual((await get(address)).bytes, png(50))
    await stage.store.write([{ ...tile, time: T2, bytes: png(51) }])
    assert.deepEqual((await untilState('STALE', address)).bytes, png(50))
    await until(async () => (await get(address)).bytes.equals(png(51)))
  })

  it('serves cached tiles, even expired ones, after the gateway was killed', async () => {
    await start('--set', 'maxAge=1', '--set', 'staleWhileRevalidate=0', '--set', 'staleIfError=0')
    const tiles = { '/osm/4/0/5.png': png(20), '/osm@2023-01-01T00:00:00Z/4/0/5.png': png(10) }
    for (const address of Object.keys(tiles)) await get(address)
    await stage.kill()
    for (const [address, bytes] of Object.entries(tiles)) {
      const stale = await untilState('STALE', address)
      assert.deepEqual([stale.status, stale.bytes], [200, bytes])
    }
    assert.equal((await get('/osm/4/3/5.png')).status, 502)
  })

  it('caches missing tiles as the gateway says, but no errors', async () => {
    await start('--set', 'grace=0')
    for (const address of ['/nolayer/4/0/5.png', '/osm/4/99/5.png', '/osm@yesterday/4/0/5.png', '/osm/31/0/5.png']) {
      const [first, second] = [await get(address), await get(address)]
      assert.ok(first.status >= 400 && first.status === second.status, address)
      assert.notEqual(state(second), 'HIT', address)
    }
    const missing = '/osm/4/12/12.png'
    assert.deepEqual([(await get(missing)).status, state(await get(missing))], [404, 'HIT'])
    await stage.kill()
    const broken = '/osm/4/3/5.png'
    for (let i = 0; i < 3; i++) {
      const answer = await get(broken)
      assert.deepEqual([answer.status, state(answer)], [502, 'MISS'])
    }
  })

  it('caches no 5xx answer, even if the gateway allows caching', async () => {
    let count = 0
    const badServer = await startServer((req, res) =>
      res.writeHead(503, { 'cache-control': 'public, max-age=3600' }).end(String(count++)))
    try {
      await startAt(badServer.port)
      for (let i = 0; i < 3; i++) assert.equal((await get('/osm/4/0/5.png')).bytes.toString(), String(i))
    } finally {
      await badServer.close()
    }
  })

  it('caches no descriptions, viewer or database, vector tiles by encoding, and compresses no images', async () => {
    await start()
    for (const address of ['/', '/osm.json', '/osm/4/0/5.json', '/wmts/1.0.0/WMTSCapabilities.xml',
      '/db/osm:4:0:5', '/db/osm:4:0:5/tile']) {
      await get(address)
      const second = await get(address)
      assert.equal(second.status, 200, address)
      assert.equal(state(second), null, address)
      await until(() => fetches(address).length === 2, { what: `two requests for ${address}` }) // nginx logs later
    }
    for (const encoding of ['gzip', 'identity', 'gzip', 'identity']) {
      const answer = await get('/roads/4/0/5.pbf', { headers: { 'accept-encoding': encoding } })
      assert.equal(answer.headers.get('content-encoding'), encoding === 'gzip' ? 'gzip' : null)
      assert.deepEqual(answer.bytes, gunzipSync(mvt))
    }
    for (let i = 0; i < 2; i++) {
      assert.equal((await get('/osm/4/0/5.png', { headers: { 'accept-encoding': 'gzip, br' } }))
        .headers.get('content-encoding'), null)
    }
  })

  it('caches no links to forged hosts, even when it caches every path', async () => {
    const everything = ['location / {', 'location / { proxy_cache tilecouch; proxy_cache_key $uri;']
    const evil = {
      'x-forwarded-host': 'evil.example', 'x-forwarded-prefix': '/evil.example',
      'x-forwarded-uri': '//evil.example/osm.json', forwarded: 'host=evil.example', host: 'evil.example'
    }
    const addresses = ['/osm.json', '/osm@2024.json', '/wmts/1.0.0/WMTSCapabilities.xml']
    for (const args of [[], ['--trust-proxy', '--public-url', 'https://maps.example.org/']]) {
      const cache = ['/var/cache/nginx/tilecouch', path.join(stage.dir, `cache${args.length}`)]
      const gateways = [await stage.gateway(...args)]
      await stage.start({ file: 'proxy-cache.conf', gateways, changes: [everything, cache] })
      for (const address of addresses) {
        await ask(stage.nginx.base, address, { headers: evil })
        const { status, text } = await ask(stage.nginx.base, address)
        assert.equal(status, 200)
        assert.ok(!text.includes('evil'), `${args} ${address}`)
        if (args.length) {
          assert.ok(!(await ask(stage.nginx.base, address, { headers: evil })).text.includes('evil'),
            `${args} ${address}`)
        }
      }
      await stage.nginx.close()
      await stage.endOwn()
    }
  })
})
