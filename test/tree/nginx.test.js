// nginx serves trees with the configuration that tilecouch generates.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { exportTree, nginxConfig } from '../../loader/index.js'
import { noiseTile } from '../../bench/tiles.js'
import { until } from '../../bench/wait.js'
import { findNginx, mvt, startNginx } from '../support/nginx.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { png, square } from '../support/tiles.js'
import { skip } from '../support/tools.js'
import { edition, tile } from '../support/trees.js'
import { useStore } from '../support/store.js'

const sharp = createRequire(import.meta.url)('sharp')
const [T1, T2] = ['2022-03-01T00:00:00Z', '2023-06-30T12:34:56Z']
const STEADY = 'public, max-age=300, stale-while-revalidate=86400, stale-if-error=604800'

describe('the configuration of nginx for trees', () => {
  const folder = useFolder()

  it('is deploy/nginx/files.conf for a gateway and the defaults', () => {
    assert.equal(readFileSync(fileURLToPath(new URL('../../deploy/nginx/files.conf', import.meta.url)), 'utf8'),
      nginxConfig({ gateway: 'http://127.0.0.1:8080' }))
  })

  it('is valid for nginx with every option', function () {
    const nginx = findNginx()
    if (!nginx) skip(this, 'nginx is not installed')
    for (const options of [
      {}, { gateway: 'http://127.0.0.1:8080' }, { gateway: 'https://127.0.0.1:8443/' },
      { gateway: 'http://[::1]:8080' },
      { root: '/srv/my tiles/with; {braces} and #' }, { root: '/srv/größe' },
      { listen: '127.0.0.1:8081', serverName: 'a.example b.example' },
      { layers: [{ layer: 'osm' }, { layer: 'weather', ttl: 60 }, { layer: 'relief', ttl: 604800 }] }
    ]) {
      writeFileSync(folder.path('tiles.conf'), nginxConfig(options))
      writeFileSync(folder.path('nginx.conf'),
        `pid ${folder.dir}/pid; error_log ${folder.dir}/error.log; events { } http { access_log off; include ` +
          `${folder.dir}/tiles.conf; }`)
      const args = ['-t', '-q', '-c', folder.path('nginx.conf'), '-e', folder.path('error.log')]
      execFileSync(nginx, args, { stdio: 'pipe' })
    }
  })

  it('refuses roots, gateways, names and addresses that nginx would misread', () => {
    for (const options of [
      { root: '/srv/$tiles' }, { root: '/srv/ti"les' }, { root: '/srv/a\nb' },
      { gateway: '127.0.0.1:8080' }, { gateway: 'http://a.example/path' },
      { gateway: 'http://name:secret@a.example' }, { gateway: 'ftp://a.example' },
      { serverName: 'a; }' }, { listen: '80; }' }, { origin: '"; }' }
    ]) assert.throws(() => nginxConfig(options), { code: 'BAD_OPTION' }, JSON.stringify(options))
  })
})

onEachStore('nginx on trees', backend => {
  const folder = useFolder()
  let store, nginx, stop, following
  const to = () => folder.path('tiles')

  beforeEach(function () { if (!findNginx()) skip(this, 'nginx is not installed') })
  afterEach(async () => {
    stop?.abort()
    await following?.catch(() => {})
    await nginx?.close()
    stop = following = nginx = undefined
  })
  useStore(backend, { published: 'functions', async fill (openedStore) {
    store = openedStore
    await store.defineLayer('osm', { format: 'png' })
    await store.defineLayer('weather', { format: 'png', ttl: 20 })
    await store.defineLayer('roads', { format: 'pbf' })
    await edition(store, square({ layer: 'osm', time: T1, side: 4, seed: (x, y) => x * 4 + y }))
    const red = sharp({ create: { width: 4, height: 4, channels: 3, background: 'red' } })
    await edition(store, [tile(1, 1, T2, 99), { ...tile(9, 9, T2, 1), bytes: await red.jpeg().toBuffer() }])
    await edition(store, [tile(1, 1, T1, 5, 'weather')])
    await edition(store, [{ layer: 'roads', z: 5, x: 1, y: 1, time: T1, bytes: mvt }])
  } })

  const start = async () => {
    for (const layer of ['osm', 'weather', 'roads']) await exportTree(store, layer, to())
    nginx = await startNginx({ dir: folder.dir, text: nginxConfig({ root: to(), layers: await store.layers() }) })
  }
  const get = async (address, options) => {
    const answer = await fetch(nginx.base + address, options)
    const bytes = Buffer.from(await answer.arrayBuffer())
    return { status: answer.status, bytes, header: name => answer.headers.get(name) }
  }

  it('serves the newest tiles, editions and periods under any file extension, and answers 304', async () => {
    await start()
    for (const [address, seed, age, modified] of [
      ['/osm/5/1/1.png', 99, STEADY, T2], ['/osm/5/1/2.png', 6, STEADY, T1],
      [`/osm@${T2}/5/1/1.png`, 99, STEADY, T2], [`/osm@${T2}/5/1/2.png`, 6, STEADY, T1],
      [`/osm@${T1}/5/1/1.png`, 5, STEADY, T1],
      ['/osm@2022/5/1/1.png', 5, STEADY, T1], ['/osm@2023/5/1/1.png', 99, STEADY, T2],
      ['/osm@2023-06-30/5/1/2.png', 6, STEADY, T1],
      [`/osm@${encodeURIComponent(T2)}/5/1/1.png?v=1`, 99, STEADY, T2],
      ['/weather/5/1/1.png', 5, STEADY.replace('300', '20'), T1],
      [`/weather@${T1}/5/1/1.png`, 5, STEADY.replace('300', '20'), T1]
    ]) {
      const answer = await get(address)
      assert.equal(answer.status, 200, address)
      assert.deepEqual(answer.bytes, png(seed), address)
      assert.equal(answer.header('cache-control'), age, address)
      assert.equal(Date.parse(answer.header('last-modified') ?? ''), Date.parse(modified), address)
      assert.deepEqual(['content-type', 'access-control-allow-origin', 'x-content-type-options',
        'content-security-policy'].map(answer.header), ['image/png', '*', 'nosniff', 'sandbox'])
      const cached = await get(address,
        { headers: { 'if-modified-since': answer.header('last-modified'), 'cache-control': 'no-cache' } })
      assert.deepEqual([cached.status, cached.header('cache-control')], [304, age])
    }
    for (const address of ['/osm/5/9/9.png', '/osm/5/9/9.jpg', '/osm/5/9/9.webp']) {
      const answer = await get(address)
      assert.deepEqual([answer.status, answer.header('content-type')], [200, 'image/jpeg'], address)
    }
    const vector = await get('/roads/5/1/1.mvt')
    assert.deepEqual([vector.status, vector.header('content-type'), vector.header('content-encoding'),
      vector.header('vary')], [200, 'application/vnd.mapbox-vector-tile', 'gzip', 'Accept-Encoding'])
  })

  it('sends the new bytes of a tile that was replaced at the same time', async () => {
    await start()
    const { header } = await get(`/osm@${T1}/5/1/1.png`)
    const conditions =
      { 'if-none-match': header('etag'), 'if-modified-since': header('last-modified'), 'cache-control': 'no-cache' }
    assert.equal((await get(`/osm@${T1}/5/1/1.png`, { headers: conditions })).status, 304)
    const newBytes = noiseTile(7, 900)
    for (const id of ['osm:5:1:1', `osm:5:1:1@${T1}`]) {
      await store.couch.update(id, ({ _id, _rev }) => ({ _id, _rev, _deleted: true }))
    }
    await store.write([{ layer: 'osm', z: 5, x: 1, y: 1, time: T1, bytes: newBytes }])
    await exportTree(store, 'osm', to())
    const answer = await get(`/osm@${T1}/5/1/1.png`, { headers: conditions })
    assert.deepEqual([answer.status, answer.bytes.equals(newBytes)], [200, true])
    assert.equal(Date.parse(answer.header('last-modified')), Date.parse(header('last-modified')) + 1000,
      'a cache that only knows times has to be told')
  })

  it('answers 404 or 204 for missing tiles, and serves no other files of the folder', async () => {
    await start()
    const missing = await get('/osm/5/30/30.png', { headers: { origin: 'https://a.example' } })
    assert.deepEqual([missing.status, JSON.parse(missing.bytes.toString()).error, missing.header('cache-control'),
      missing.header('access-control-allow-origin')], [404, 'TILE_NOT_FOUND', 'public, max-age=60', '*'])
    assert.equal((await get(`/osm@${T1}/5/9/9.png`)).status, 404)
    assert.equal((await get('/roads/5/2/2.pbf')).status, 204)
    mkdirSync(path.join(to(), '.tilecouch/5/1'), { recursive: true })
    writeFileSync(path.join(to(), '.tilecouch/5/1/1.png'), png(1))
    for (const address of ['/.tilecouch/osm.json', '/.tilecouch/5/1/1.png',
      '/osm/', '/osm', '/osm.json', '/', '/osm/5/1/1.png.bak', '/osm%2f..%2f.tilecouch/5/1/1.png']) {
      const answer = await get(address)
      assert.ok([404, 400].includes(answer.status), `${address}: ${answer.status}`)
    }
    const preflight = await get('/osm/5/1/1.png',
      { method: 'OPTIONS', headers: { origin: 'https://a.example', 'access-control-request-method': 'GET' } })
    assert.deepEqual([preflight.status, preflight.header('access-control-allow-methods')], [204, 'GET, HEAD'])
    for (const method of ['POST', 'PUT', 'DELETE']) {
      const answer = await get('/osm/5/1/1.png', { method })
      assert.deepEqual([answer.status, JSON.parse(answer.bytes.toString()).error], [405, 'READ_ONLY'])
    }
    assert.equal(nginx.errors().match(/\[(error|crit|alert|emerg)\].*/)?.[0], undefined)
  })

  it('shows changes in their order, and only complete tiles', async () => {
    await start()
    stop = new AbortController()
    following = exportTree(store, 'osm', to(), { follow: true, signal: stop.signal, limits: { gather: 10 } })
    following.catch(() => {})
    const numbers = new Map(Array.from({ length: 30 }, (_, n) => [png(1000 + n).toString('latin1'), n]))
    numbers.set(png(99).toString('latin1'), -1)
    let [lastShown, reads, ended] = [-1, 0, false]
    const reading = (async () => {
      while (!ended) {
        const { status, bytes } = await get('/osm/5/1/1.png')
        assert.equal(status, 200)
        const number = numbers.get(bytes.toString('latin1'))
        assert.ok(number !== undefined && number >= lastShown,
          `a version that was loaded, and none older than before: ${number} after ${lastShown}`)
        lastShown = number
        reads++
      }
    })()
    reading.catch(() => {})
    for (let number = 0; number < 30; number++) {
      await store.write([tile(1, 1, `2024-01-01T00:00:${String(number).padStart(2, '0')}Z`, 1000 + number)])
    }
    await until(() => lastShown === 29)
    ended = true
    await reading
    assert.ok(reads >= 10, `${reads}`)
  })
})
