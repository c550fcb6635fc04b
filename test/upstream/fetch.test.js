// Tests fetching from an upstream: kinds of addresses, conditional requests, failures, limits and expiry.
import assert from 'node:assert/strict'
import { inspect } from 'node:util'
import { gzipSync } from 'node:zlib'
import sharp from 'sharp'
import { userAgentOf } from '../../loader/load/upstream/index.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { startServer } from '../support/server.js'
import { codeOf, useUpstream } from './support.js'
import { expiryFrom, modifiedFrom, retryAfter, validatorsFrom } from '../../loader/load/upstream/freshness.js'

const TILE = { z: 5, x: 17, y: 11 }

/** Returns the tiles of an answer. Another kind of answer fails the test. */
const tilesOf = answer => {
  assert.equal(answer.kind, 'tiles')
  return answer.tiles
}

describe('fetching from an upstream', () => {
  const suite = useUpstream()
  const bytesOf = async upstream => tilesOf(await upstream.fetch(TILE))[0].bytes

  it('gets the same tile from XYZ, TMS, quadkeys, WMTS and WMS', async () => {
    const expected = await suite.server.tile(5, 17, 11)
    const kinds = [
      {}, { type: 'tms' }, { url: `${suite.server.url}/quadkey/{quadkey}.png` },
      { type: 'wmts', styles: 'default' }, { type: 'wmts', matrix: 'EPSG:3857:{z}' },
      { url: `${suite.server.url}/tms/{z}/{x}/{-y}.png` },
      ...['1.1.1', '1.3.0'].map(version => ({ type: 'wms', version, metatile: 1, buffer: 0 }))
    ]
    for (const settings of kinds) {
      const answer = await suite.open(settings).fetch(TILE)
      const [{ bytes, type, ...tile }] = tilesOf(answer)
      assert.deepEqual([tile, type], [TILE, 'image/png'])
      assert.deepEqual(bytes, expected, JSON.stringify(settings))
      assert.match(answer.kind === 'tiles' ? answer.origin.url : '', new RegExp(`^${suite.server.url}/`))
    }
  })

  it('sends the User-Agent of tilecouch and the headers of the layer', async () => {
    await suite.open({ headers: { Referer: 'https://example.org/', 'X-Client': 'a', Accept: 'image/webp' } },
      {}, { userAgent: userAgentOf('maps@example.org') }).fetch(TILE)
    const [{ headers }] = suite.server.asked
    assert.match(headers['user-agent'], /^tilecouch\/\d+\.\d+\.\d+ \(maps@example\.org\)$/)
    assert.deepEqual([headers.referer, headers['x-client'], headers.accept],
      ['https://example.org/', 'a', 'image/webp'])
    assert.equal(userAgentOf('a(b)\r\nHost: evil'), userAgentOf('abHost: evil'), 'nothing that is no text of a header')
  })

  it('requests a tile from the subdomain that it belongs to', async () => {
    const { host } = suite.server
    const upstream = suite.open(
      { url: `http://{s}:${host.split(':')[1]}/xyz/{z}/{x}/{y}.png`, subdomains: ['127.0.0.1', 'localhost'] }
    )
    for (const x of [0, 1, 2, 3]) await upstream.fetch({ z: 5, x, y: 0 })
    assert.deepEqual(suite.server.asked.map(({ headers }) => headers.host.split(':')[0]),
      ['127.0.0.1', 'localhost', '127.0.0.1', 'localhost'])
  })

  it('recognises unchanged tiles by ETag or Last-Modified, which is not in the future, but not elsewhere', async () => {
    const upstream = suite.open({}, { ttl: 600 })
    suite.server.behave({ lastModified: '2023-06-01T08:00:00Z' })
    const first = await upstream.fetch(TILE)
    assert.ok(first.kind === 'tiles')
    assert.equal(first.lastModified, '2023-06-01T08:00:00Z')
    assert.ok(first.origin.etag && first.origin.lastModified)
    for (const validators of [first.origin, { etag: first.origin.etag }, { lastModified: first.origin.lastModified }]) {
      const repeated = await upstream.fetch(TILE, { validators })
      assert.ok(repeated.kind === 'unchanged', inspect(validators))
      assert.deepEqual([repeated.origin, repeated.asked, repeated.tiles], [first.origin, TILE, [TILE]])
      assert.ok(repeated.expires && repeated.expires > new Date(Date.now() + 590000).toISOString())
    }
    assert.equal((await upstream.fetch(TILE, { validators: { ...first.origin, url: 'http://other/' } })).kind, 'tiles')
    suite.server.epoch++
    assert.equal((await upstream.fetch(TILE, { validators: first.origin })).kind, 'tiles')
    suite.server.behave({ status: 304 })
    assert.equal(await codeOf(suite.open().fetch(TILE)), 'UPSTREAM_FAILED', 'a 304 without conditions')
    suite.server.behave({ lastModified: '2023-06-01T08:00:00Z' })
    const fetched = await suite.open({ time: 'fetched' }).fetch(TILE)
    assert.ok(fetched.kind === 'tiles' && fetched.lastModified === undefined)
    suite.server.behave({ lastModified: new Date(Date.now() + 86400000).toISOString() })
    const tomorrow = await suite.open().fetch(TILE)
    assert.ok(tomorrow.kind === 'tiles' && tomorrow.lastModified === undefined)
  })

  it('remembers missing tiles for a while', async () => {
    for (const status of [404, 410, 204]) {
      suite.server.requests.length = 0
      suite.server.behave({ status, only: ({ x }) => x === TILE.x })
      const upstream = suite.open({ negative: 0.5 * TIME_FACTOR })
      const lasting = 500 * TIME_FACTOR
      const before = Date.now()
      const missing = await upstream.fetch(TILE)
      assert.equal(missing.kind, 'missing')
      assert.ok(missing.until >= before + lasting && missing.until <= Date.now() + lasting)
      assert.deepEqual(await upstream.fetch(TILE), missing)
      assert.equal((await upstream.fetch({ ...TILE, x: 3 })).kind, 'tiles')
      assert.equal(suite.server.asked.length, 2)
      suite.server.behave()
      await until(async () => (await upstream.fetch(TILE)).kind === 'tiles', { what: 'the memory to fade' })
    }
  })

  const broken = {
    'an error of the server': { status: 500 },
    'an error of a proxy': { status: 502 },
    'a page of HTML': { body: '<html><body>maintenance</body></html>', type: 'text/html' },
    'a page of HTML with the type of an image': { body: '<html><body>maintenance</body></html>' },
    'a GIF image': { body: 'GIF89a...........................' },
    'an SVG': { body: '<svg xmlns="http://www.w3.org/2000/svg"/>', type: 'image/svg+xml' },
    'an empty answer': { body: '' },
    'an image that is cut off, with the length of the rest': { truncate: 100 },
    'an image without its last byte': { truncate: 1 },
    'a connection that ends in the middle': { cut: true },
    'garbage that is marked as gzip': {
      body: Buffer.concat([Buffer.from([0x1f, 0x8b, 8]), Buffer.alloc(50, 7)]), headers: { 'content-encoding': 'gzip' }
    },
    'a partial answer': { status: 206 },
    'status 418': { status: 418 },
    'a redirect to an invalid address': { redirect: 'http://' },
    'a redirect to a file': { redirect: 'file:///etc/passwd' },
    'redirects without end': { redirect: ({ url }) => url }
  }
  for (const [name, behaviour] of Object.entries(broken)) {
    it(`fails for ${name}, and works again afterwards`, async () => {
      suite.server.behave({ ...behaviour, times: behaviour.redirect ? 10 : 1 })
      const upstream = suite.open()
      await assert.rejects(upstream.fetch(TILE), { code: 'UPSTREAM_FAILED' })
      suite.server.behave()
      assert.deepEqual(await bytesOf(upstream), await suite.server.tile(5, 17, 11))
    })
  }

  it('tells from the bytes, not from the header, what type they are and whether they are gzip', async () => {
    const jpeg = await sharp({ create: { width: 8, height: 8, channels: 3, background: '#123456' } }).jpeg().toBuffer()
    suite.server.behave({ body: jpeg, type: 'image/png' })
    assert.equal(tilesOf(await suite.open().fetch(TILE))[0].type, 'image/jpeg')
    suite.server.behave({ type: 'text/plain' })
    assert.equal(tilesOf(await suite.open().fetch(TILE))[0].type, 'image/png')
    for (const behaviour of [{ gzip: true }, { headers: { 'content-encoding': 'gzip' } }]) {
      suite.server.behave(behaviour)
      assert.deepEqual(await bytesOf(suite.open()), await suite.server.tile(5, 17, 11))
    }
  })

  it('packs vector tiles that are not packed, and takes empty tiles for missing', async () => {
    const raw = Buffer.from([0x1a, 0x08, 0x78, 0x02, 0x0a, 0x01, 0x61, 0x28, 0x80, 0x20])
    const packed = gzipSync(raw)
    const fetch = async behaviour => {
      suite.server.behave(behaviour)
      return suite.open({ url: `${suite.server.url}/xyz/{z}/{x}/{y}.pbf` }, { format: 'pbf' }).fetch(TILE)
    }
    for (const behaviour of [{ body: raw }, { body: packed },
      { body: packed, headers: { 'content-encoding': 'gzip' } }]) {
      const [{ bytes, type }] = tilesOf(await fetch(behaviour))
      assert.equal(type, 'application/vnd.mapbox-vector-tile')
      if (behaviour.body === packed) assert.deepEqual(bytes, packed)
    }
    assert.equal((await fetch({ body: '' })).kind, 'missing', 'an empty vector tile')
    assert.equal(await codeOf(fetch({ body: '<html>' })), 'UPSTREAM_FAILED')
    assert.equal(suite.server.asked.at(-1)?.headers['accept-encoding'], 'gzip')
  })

  it('follows a few redirects', async () => {
    suite.server.behave(
      { redirect: ({ url }) => `/xyz${url.replace('/old', '')}`, only: ({ url }) => url.startsWith('/old') }
    )
    const upstream = suite.open({ url: `${suite.server.url}/old/{z}/{x}/{y}.png` })
    const answer = await upstream.fetch(TILE)
    assert.deepEqual(tilesOf(answer)[0].bytes, await suite.server.tile(5, 17, 11))
    assert.ok(answer.kind === 'tiles' && answer.origin.url.includes('/old/'), 'the next time it asks the same address')
    assert.equal(upstream.state().requests, 2)
  })

  it('limits the size of an answer, and its time by the timeout of the layer', async () => {
    suite.server.behave({ body: Buffer.alloc(3e6) })
    await assert.rejects(suite.open({}, {}, { limits: { maxBytes: 1e6 } }).fetch(TILE),
      { code: 'UPSTREAM_FAILED', message: /too large/ })
    const bomb = gzipSync(Buffer.alloc(80e6))
    suite.server.behave({ body: bomb, headers: { 'content-encoding': 'gzip' } })
    await assert.rejects(suite.open().fetch(TILE), { code: 'UPSTREAM_FAILED', message: /cannot be unpacked/ })
    for (const behaviour of [{ never: true }, { drip: 20 }]) {
      suite.server.behave(behaviour)
      const began = performance.now()
      await assert.rejects(suite.open({ timeout: 0.3 }).fetch(TILE),
        { code: 'UPSTREAM_FAILED', message: /no answer within 0\.3 s/ })
      assert.ok(performance.now() - began < 3000 * TIME_FACTOR)
    }
    await until(() => suite.server.inFlight === 0, { what: 'the connections to end' })
  })

  it('reports an upstream that cannot be reached', async () => {
    await assert.rejects(suite.open({ url: 'http://127.0.0.1:1/{z}/{x}/{y}.png' }).fetch(TILE), {
      code: 'UPSTREAM_UNREACHABLE',
      message: /^cannot reach the upstream http:\/\/127\.0\.0\.1:1: the connection was refused$/
    })
    await assert.rejects(suite.open({ url: 'http://no-such-host.invalid/{z}/{x}/{y}.png' }).fetch(TILE),
      { code: 'UPSTREAM_UNREACHABLE' })
  })

  it('stops on a signal, before and during a request', async () => {
    suite.server.behave({ never: true })
    const stop = new AbortController()
    const fetching = suite.open().fetch(TILE, { signal: stop.signal })
    await until(() => suite.server.asked.length === 1, { what: 'the request' })
    stop.abort()
    await assert.rejects(fetching, { code: 'ABORTED' })
    await until(() => suite.server.inFlight === 0, { what: 'the connection to end' })
    await assert.rejects(suite.open().fetch(TILE, { signal: stop.signal }), { code: 'ABORTED' })
    const closing = suite.open()
    const pending = closing.fetch(TILE)
    await until(() => suite.server.asked.length === 2, { what: 'the request' })
    await Promise.all([assert.rejects(pending, { code: 'ABORTED' }), closing.close()])
    await assert.rejects(closing.fetch(TILE), { code: 'ABORTED' })
  })

  it('repeats a request once when a kept connection was closed', async () => {
    const bytes = await suite.server.tile(5, 17, 11)
    const usedSockets = new WeakSet()
    const paths = []
    // answers the first request of a connection, and closes the connection at the second
    const { url, close } = await startServer((req, res) => {
      paths.push(req.url)
      if (req.url?.includes('never') || usedSockets.has(req.socket)) return req.socket.destroy()
      usedSockets.add(req.socket)
      res.end(bytes)
    })
    try {
      const upstream = suite.open({ url: `${url}/{z}/{x}/{y}`, concurrency: 1 })
      for (let time = 0; time < 4; time++) assert.deepEqual(await bytesOf(upstream), bytes)
      assert.equal(paths.length, 7)
      const never = suite.open({ url: `${url}/never/{z}/{x}/{y}` })
      await assert.rejects(never.fetch(TILE), { code: 'UPSTREAM_UNREACHABLE', message: /the connection was closed/ })
      assert.equal(paths.length, 9)
    } finally {
      await close()
    }
  })

  it('leaves no timer that keeps a process running', async () => {
    const timers = () => process.getActiveResourcesInfo().filter(name => name === 'Timeout').length
    await null // Mocha sets the timer of the test once the test waits
    const before = timers()
    const upstream = suite.open({ timeout: 300, rate: 100 })
    for (let x = 0; x < 3; x++) await upstream.fetch({ ...TILE, x })
    suite.server.behave({ status: 429, retryAfter: 200 })
    assert.equal(await codeOf(upstream.fetch({ ...TILE, x: 4 })), 'UPSTREAM_REFUSED')
    await upstream.close()
    await until(() => timers() <= before, { what: 'the timers to go' })
  })
})

const NOW = '2024-03-01T12:00:00Z'
const later = seconds => new Date(Date.parse(NOW) + seconds * 1000).toISOString().slice(0, 19) + 'Z'
const http = iso => new Date(iso).toUTCString()
const YEAR = 31536000

describe('when tiles expire', () => {
  const expiry = (headers, options) => expiryFrom(headers, { expires: 'upstream', now: NOW, ...options })

  it('by s-maxage, then max-age, then Expires, less the age; else after the ttl', () => {
    const date = http(NOW)
    const golden = [
      [{ 'cache-control': 'max-age=600' }, 600],
      [{ 'cache-control': 'public, max-age=600, s-maxage=900' }, 900],
      [{ 'cache-control': 'MAX-AGE="600"' }, 600],
      [{ 'cache-control': 'max-age=600', age: '100' }, 500],
      [{ 'cache-control': 'max-age=600', expires: http(later(9000)), date }, 600],
      [{ expires: http(later(9000)), date }, 9000],
      [{ expires: http(later(9000)), date: http(later(1000)) }, 8000], // a fast clock: the difference counts
      [{ 'cache-control': 'public' }, 3600],
      [{}, 3600],
      [{ 'cache-control': ['max-age=600', 'public'] }, 600]
    ]
    for (const [headers, seconds] of golden) {
      assert.equal(expiry(headers, { ttl: 3600 }), later(seconds), JSON.stringify(headers))
    }
    assert.equal(expiry({}), null, 'nobody says anything: never')
  })

  it('after at least a minute, at most a year, the seconds that the layer sets, or never without a ttl', () => {
    const short = [{ 'cache-control': 'no-cache' }, { 'cache-control': 'no-store' },
      { 'cache-control': 'private, max-age=600' }, { 'cache-control': 'max-age=0' }, { 'cache-control': 'max-age=-5' },
      { 'cache-control': 'max-age=x' }, { 'cache-control': 'max-age=5', age: '600' }, { expires: '0' },
      { expires: '-1' }, { expires: http(later(-9000)), date: http(NOW) }, { expires: 'soon' }]
    for (const headers of short) assert.equal(expiry(headers, { ttl: 3600 }), later(60), JSON.stringify(headers))
    for (const headers of [{ 'cache-control': 'max-age=3153600000' },
      { expires: 'Fri, 31 Dec 9999 23:59:59 GMT', date: http(NOW) }]) assert.equal(expiry(headers), later(YEAR))
    const soon = { 'cache-control': 'max-age=5' }
    for (const [options, seconds] of [[{ expires: 'layer', ttl: 3600 }, 3600], [{ expires: 7200, ttl: 3600 }, 7200]]) {
      assert.equal(expiry(soon, options), later(seconds))
    }
    assert.equal(expiry(soon, { expires: 'layer' }), null)
  })
})

describe('the headers of an answer', () => {
  it('tell when a tile changed by Last-Modified, and have it and ETag for the next request, if valid', () => {
    assert.equal(modifiedFrom({ 'last-modified': http('2023-06-01T08:00:00Z') }, NOW), '2023-06-01T08:00:00Z')
    assert.equal(modifiedFrom({ 'last-modified': http(NOW) }, NOW), NOW)
    for (const text of [undefined, '', 'yesterday', http(later(1)), http('1970-01-01T00:00:00Z'),
      http('1994-12-31T23:59:59Z'), '99999999999999999999']) {
      assert.equal(modifiedFrom({ 'last-modified': text }, NOW), undefined, text)
    }
    const lastModified = http(NOW)
    assert.deepEqual(validatorsFrom({ etag: '"abc"', 'last-modified': lastModified }), { etag: '"abc"', lastModified })
    assert.deepEqual(validatorsFrom({ etag: 'W/"1-2"' }), { etag: 'W/"1-2"' })
    for (const etag of ['abc', '"a"b"', '"', '"a\r\nX: y"', `"${'a'.repeat(300)}"`, '"é"', '']) {
      assert.deepEqual(validatorsFrom({ etag }), {}, etag)
    }
    for (const text of ['never', 'x'.repeat(50)]) assert.deepEqual(validatorsFrom({ 'last-modified': text }), {})
  })

  it('ask for a pause by Retry-After, in seconds or as a date', () => {
    const values = ['120', ' 0 ', new Date(0).toUTCString(), 'later', undefined]
    assert.deepEqual(values.map(text => retryAfter({ 'retry-after': text })), [120, 0, 0, undefined, undefined])
    const seconds = retryAfter({ 'retry-after': new Date(Date.now() + 60000).toUTCString() })
    assert.ok(seconds >= 58 && seconds <= 60, String(seconds))
  })
})
