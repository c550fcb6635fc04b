// nginx with the configuration deploy/nginx/files.conf: tiles of an exported tree, and a gateway for the others.
import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { Socket } from 'node:net'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { T1, mvt, useStage } from '../support/nginx.js'

const GATEWAY = /^(miss|hit)$/

/** Whether a stream contains a text before its end. */
async function contains (body, text) {
  let received = ''
  for await (const bytes of body) {
    received += Buffer.from(bytes).toString()
    if (received.includes(text)) return true
  }
  return false
}

onEachStore('nginx with files of an exported tree', backend => {
  const stage = useStage(backend)
  const { get } = stage
  const tree = () => path.join(stage.dir, 'tree')
  const put = (name, bytes) => {
    mkdirSync(path.dirname(path.join(tree(), name)), { recursive: true })
    writeFileSync(path.join(tree(), name), bytes)
  }
  const start = async (...args) => {
    const port = await stage.gateway(...args)
    put('osm/4/0/5.png', png(20))
    put('osm@2023-01-01T00:00:00Z/4/0/5.png', png(10))
    put('roads/4/0/5.pbf', mvt)
    utimesSync(path.join(tree(), `osm@${T1}/4/0/5.png`), new Date(T1), new Date(T1)) // as the export does
    await stage.start({ file: 'files.conf', gateways: [port], changes: [['/srv/tiles', tree()]] })
  }
  const from = ({ headers }) => headers.get('x-tilecouch-cache')

  it('serves newest and past tiles from the tree, the rest from the gateway, with the same headers', async () => {
    await start()
    for (const [address, seed, source] of [
      ['/osm/4/0/5.png', 20, /^file$/], ['/osm/4/1/5.png', 21, GATEWAY],
      ['/osm@2023-01-01T00:00:00Z/4/0/5.png', 10, /^file$/],
      ['/osm@2023-01-01T00%3A00%3A00Z/4/0/5.png?v=1', 10, /^file$/], ['/osm@2023/4/1/5.png', 11, GATEWAY],
      ['/osm@2023-01-01T00:00:00Z/4/1/5.png', 11, GATEWAY], ['/tms/1.0.0/osm/4/2/10.png', 22, GATEWAY]
    ]) {
      const answer = await get(address)
      assert.equal(answer.status, 200, address)
      assert.deepEqual(answer.bytes, png(seed), address)
      assert.equal(answer.headers.get('content-type'), 'image/png')
      assert.match(from(answer) ?? '', source, address)
    }
    for (const [file, otherAddress] of [['/osm/4/0/5.png', '/osm/4/1/5.png'],
      [`/osm@${T1}/4/0/5.png`, `/osm@${T1}/4/1/5.png`], ['/roads/4/0/5.pbf', '/roads/4/1/5.pbf']]) {
      const [fromFile, fromGateway] = [await get(file), await get(otherAddress)]
      assert.equal(from(fromFile), 'file')
      assert.match(from(fromGateway), GATEWAY)
      for (const name of ['cache-control', 'content-type', 'access-control-allow-origin',
        'access-control-expose-headers', 'x-content-type-options', 'content-security-policy', 'content-encoding',
        'vary']) {
        assert.equal(fromFile.headers.get(name), fromGateway.headers.get(name), `${name} of ${file}`)
      }
      assert.ok(fromFile.headers.get('last-modified') && fromFile.headers.get('etag'))
    }
  })

  it('answers 304 for a file that has not changed', async () => {
    await start()
    const since = (await get('/osm/4/0/5.png')).headers.get('last-modified')
    const cached = await get('/osm/4/0/5.png', { headers: { 'if-modified-since': since, 'cache-control': 'no-cache' } })
    assert.deepEqual([cached.status, cached.bytes.length], [304, 0])
    assert.match(cached.headers.get('cache-control'), /max-age=300/)
  })

  it('serves a file as soon and as long as it exists, but none that is no tile, or outside the tree', async () => {
    await start()
    assert.match(from(await get('/osm/4/3/5.png')), GATEWAY)
    put('osm/4/3/new', png(99))
    renameSync(path.join(tree(), 'osm/4/3/new'), path.join(tree(), 'osm/4/3/5.png'))
    const answer = await get('/osm/4/3/5.png')
    assert.deepEqual([from(answer), answer.bytes], ['file', png(99)])
    rmSync(path.join(tree(), 'osm/4/3/5.png'))
    assert.match(from(await get('/osm/4/3/5.png')), GATEWAY)
    for (const name of ['osm/secret.txt', 'secret.png', 'osm/4/0/5.png.bak',
      'osm/4/0/.5.png', '.git/config', 'osm/4/x/5.png']) put(name, 'hunter2')
    writeFileSync(path.join(stage.dir, 'outside.png'), 'hunter2')
    const raw = target => new Promise((resolve, reject) => {
      const chunks = []
      const { hostname, port } = new URL(stage.nginx.base)
      new Socket().on('data', part => chunks.push(part))
        .on('end', () => resolve(Buffer.concat(chunks).toString('latin1'))).on('error', reject)
        .connect(+port, hostname,
          function () { this.write(`GET ${target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n`) })
    })
    for (const target of ['/osm/secret.txt', '/secret.png', '/osm/4/0/5.png.bak', '/osm/4/0/.5.png', '/.git/config',
      '/osm/4/x/5.png', '/osm/4/0/../../../../outside.png', '/osm/4/0/..%2f..%2f..%2f..%2foutside.png',
      '/..%2foutside.png', '/osm/4/0/%2e%2e/%2e%2e/%2e%2e/%2e%2e/outside.png']) {
      const response = await raw(target)
      assert.match(response, /^HTTP\/1\.1 4\d\d /, target)
      assert.ok(!response.includes('hunter2'), target)
    }
  })

  it('serves the tree while the gateway is down, and answers 502 for other tiles', async () => {
    await start('--set', 'grace=0')
    await stage.kill()
    assert.equal((await get('/osm/4/0/5.png')).status, 200)
    assert.equal((await get('/osm/4/1/5.png')).status, 502)
  })

  it('leaves methods other than GET to the gateway, passes on changes without delay, hides the metrics', async () => {
    await start()
    const headers = { origin: 'https://a.example', 'access-control-request-method': 'GET',
      'access-control-request-headers': 'if-none-match' }
    const preflight = await get('/osm/4/0/5.png', { method: 'OPTIONS', headers: headers })
    assert.deepEqual([preflight.status, preflight.headers.get('access-control-allow-origin')], [204, '*'])
    for (const method of ['PUT', 'POST', 'DELETE']) {
      const answer = await get('/osm/4/0/5.png', { method })
      assert.deepEqual([answer.status, JSON.parse(answer.bytes.toString()).error], [405, 'READ_ONLY'])
    }
    const head = await get('/osm/4/0/5.png', { method: 'HEAD' })
    assert.deepEqual([head.status, head.headers.get('content-length'), head.bytes.length],
      [200, String(png(20).length), 0])
    assert.equal((await get('/metrics')).status, 404)
    const { tiles } = JSON.parse((await get('/osm.json')).bytes.toString())
    assert.ok(tiles[0].startsWith(`${stage.nginx.base}/osm/`), tiles[0])
    const stop = new AbortController()
    const timeout = setTimeout(() => stop.abort(), 10000)
    const answer =
      await fetch(`${stage.nginx.base}/db/_changes?feed=continuous&since=now&heartbeat=1000`, { signal: stop.signal })
    try {
      const pending = contains(answer.body, 'roads:4:9:9')
      await stage.store.write([{ layer: 'roads', z: 4, x: 9, y: 9, time: T1, bytes: mvt }])
      assert.ok(await pending)
    } finally {
      clearTimeout(timeout)
      stop.abort()
    }
  })

  it('serves vector tiles gzipped, but plain to clients that accept no gzip, and compresses descriptions', async () => {
    await start()
    const zipped = await get('/roads/4/0/5.pbf', { headers: { 'accept-encoding': 'gzip' } })
    assert.deepEqual([from(zipped), zipped.headers.get('content-encoding')], ['file', 'gzip'])
    assert.deepEqual(zipped.bytes, gunzipSync(mvt)) // fetch has unpacked it
    const unzipped = await get('/roads/4/0/5.pbf', { headers: { 'accept-encoding': 'identity' } })
    assert.match(from(unzipped), GATEWAY)
    assert.equal(unzipped.headers.get('content-encoding'), null)
    assert.deepEqual(unzipped.bytes, gunzipSync(mvt))
    const encoding = async address => (await get(address, { headers: { 'accept-encoding': 'gzip' } }))
      .headers.get('content-encoding')
    assert.deepEqual([await encoding('/osm.json'), await encoding('/wmts/1.0.0/WMTSCapabilities.xml')],
      ['gzip', 'gzip'])
    assert.deepEqual([await encoding('/osm/4/0/5.png'), await encoding('/osm/4/1/5.png'),
      await encoding('/tms/1.0.0/osm/4/1/10.png')], [null, null, null])
  })
})
