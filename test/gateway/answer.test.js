// Tests of the answer to a tile request: its headers, cache lifetimes, compression, 304, and answers for missing tiles.
import assert from 'node:assert/strict'
import { EventEmitter, once } from 'node:events'
import net from 'node:net'
import { mock } from 'node:test'
import { gunzipSync, gzipSync } from 'node:zlib'
import sharp from 'sharp'
import { TilecouchError } from '../../core/index.js'
import { until } from '../../bench/wait.js'
import { CachePolicy, Unpacked, tile } from '../../server/gateway/routes/tile.js'
import { matchesEtag, sendCompressed } from '../../server/http/answers.js'
import { png } from '../support/tiles.js'
import { entryOf } from '../support/gateway/stand.js'
import { useFront } from './use-front.js'

/** Stops the clock, so that ages are exact. */
const stopClock = () => mock.timers.enable({ apis: ['Date'], now: Date.parse('2026-11-24T04:30:00Z') })

describe('matchesEtag', () => {
  const etag = '"CY9rzUYh03PK3k6DJie09g=="'

  it('finds a weak or strong ETag in a list, and accepts * for any', () => {
    for (const tags of [etag, `W/${etag}`, `"a", ${etag}`, `"a",W/"b",${etag},"c"`, '*', ` ${etag} `]) {
      assert.equal(matchesEtag(tags, etag), true, tags)
    }
    for (const tags of [undefined, '"a"', '', '""', etag.slice(1, -1), `"${etag}"`, 'W/"a", "b"',
      etag.toLowerCase(), '"*"']) assert.equal(matchesEtag(tags, etag), false, tags)
  })
})

describe('sendCompressed', () => {
  it('compresses the same buffer only once', async () => {
    const sent = []
    const req = { method: 'GET', headers: { 'accept-encoding': 'gzip' } }
    const res = { appendHeader () {}, writeHead () {}, end: bytes => sent.push(bytes) }
    const send = body => sendCompressed(req, res, '"a"', {}, {}, body)
    const cachedBody = Buffer.alloc(2000, 'a')
    await Promise.all([send(cachedBody), send(cachedBody)])
    for (const body of [cachedBody, Buffer.from(cachedBody)]) await send(body)
    assert.deepEqual(sent.map(bytes => bytes === sent[0]), [true, true, true, false])
    for (const bytes of sent) assert.deepEqual(gunzipSync(bytes), cachedBody)
  })
})

describe('CachePolicy', () => {
  beforeEach(stopClock)
  afterEach(() => mock.timers.reset())

  const policy = new CachePolicy({ maxAge: 300, staleWhileRevalidate: 86400, staleIfError: 604800 })
  const cacheControlOf = (time, entry, outcome = 'hit') => policy.of({ time }, { entry: entryOf(entry), outcome })

  const EXPIRED = { expires: '2026-11-24T04:29:59Z' }
  const VALID = { expires: '2026-11-24T04:31:40Z' }
  const TIMES = ['2024', '2024-03', '2024-03-01', '2024-03-01T00:00', '2024-03-01T00:00:00Z', '2024-03-02T00:00:00Z']

  const cases = [
    ['the remaining seconds for a tile that expires later', [[undefined, VALID], [undefined, VALID, 'miss']], 100],
    ['no seconds for a tile that has expired or is stale', [[undefined, EXPIRED], [undefined, EXPIRED, 'stale'],
      [undefined, EXPIRED, 'miss'], [undefined, {}, 'stale'], [undefined, VALID, 'stale']], 0],
    ['maxAge for a tile that never expires', [[undefined, {}], ['9998', {}]], 300],
    ['maxAge for a past time, even if the tile has expired', TIMES.map(time => [time, EXPIRED]), 300],
    ['the remaining seconds of the head for a future time', [['2026-11-24T04:46:40Z', VALID], ['9998', VALID]], 100],
    ['no seconds for a future time of an expired head', [['2026-11-24T04:46:40Z', EXPIRED], ['9998', EXPIRED]], 0]
  ]
  for (const [title, questions, age] of cases) {
    it(`allows ${title}`, () => {
      for (const question of questions) {
        assert.equal(cacheControlOf(...question),
          `public, max-age=${age}, stale-while-revalidate=86400, stale-if-error=604800`, JSON.stringify(question))
      }
    })
  }

  it('omits directives that are set to 0, and allows a minute at most for missing tiles', () => {
    const plain = new CachePolicy({ maxAge: 10, staleWhileRevalidate: 0, staleIfError: 0 })
    assert.equal(plain.of({}, { entry: entryOf(), outcome: 'hit' }), 'public, max-age=10')
    assert.deepEqual([plain.missing, policy.missing], ['public, max-age=10', 'public, max-age=60'])
  })
})

describe('Unpacked', () => {
  it('accepts a tile again after the client of another tile has left', async () => {
    const unpacked = new Unpacked({ most: 1000, mostHeld: 10 })
    const [first, second] = ['a', 'b'].map(letter =>
      entryOf({ bytes: gzipSync(letter.repeat(10)), type: 'application/vnd.mapbox-vector-tile' }))
    const response = new EventEmitter()
    await unpacked.take(first, response)
    await assert.rejects(unpacked.take(second, new EventEmitter()), { code: 'BUSY' })
    response.emit('close')
    assert.equal(`${await unpacked.take(second, new EventEmitter())}`, 'b'.repeat(10))
  })
})

describe('a tile as an answer', () => {
  beforeEach(stopClock)
  afterEach(() => mock.timers.reset())

  const front = useFront({})
  const { open, get } = front

  it('has the stored bytes, the headers of a tile, and its source in X-Tilecouch-Cache', async () => {
    const entry = entryOf({ expires: '2026-11-24T04:31:40Z' })
    await open({ kept: { 'osm:1:0:0': entry }, get: async () => entryOf({ bytes: png(2) }) })
    const { status, headers, body } = await get('/osm/1/0/0.png')
    assert.deepEqual([status, body], [200, entry.bytes])
    const { 'cache-control': age, date, connection, 'keep-alive': alive, ...otherHeaders } = headers
    assert.equal(age, 'public, max-age=100, stale-while-revalidate=86400, stale-if-error=604800')
    assert.deepEqual(otherHeaders, {
      'content-type': 'image/png',
      'content-length': `${entry.bytes.length}`,
      'accept-ranges': 'bytes',
      etag: entry.etag,
      'last-modified': 'Fri, 01 Mar 2024 00:00:00 GMT',
      'x-tilecouch-time': '2024-03-01T00:00:00Z',
      'x-tilecouch-cache': 'hit',
      'x-content-type-options': 'nosniff',
      'content-security-policy': 'sandbox',
      'access-control-allow-origin': '*',
      'access-control-expose-headers': headers['access-control-expose-headers']
    })
    const missed = await get('/osm/1/1/0.png')
    assert.deepEqual([missed.headers['x-tilecouch-cache'], missed.body], ['miss', png(2)])
  })

  it('has no body for HEAD, and is 304 when the client has its ETag', async () => {
    const entry = entryOf()
    await open({ kept: { 'osm:1:0:0': entry } })
    const whole = await get('/osm/1/0/0.png')
    const head = await get('/osm/1/0/0.png', {}, 'HEAD')
    assert.deepEqual([head.status, head.body.length, head.headers['content-length']],
      [200, 0, whole.headers['content-length']])
    assert.equal((await get('/osm/1/0/0.png', { 'if-modified-since': entry.lastModified })).status,
      200, 'a second may have seen two versions')
    for (const headers of [{ 'if-none-match': entry.etag },
      { 'if-none-match': entry.etag, 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' }]) {
      for (const method of ['GET', 'HEAD']) {
        const unchanged = await get('/osm/1/0/0.png', headers, method)
        assert.deepEqual([unchanged.status, unchanged.body.length], [304, 0])
        const kept = ['etag', 'last-modified', 'cache-control', 'x-tilecouch-time', 'access-control-allow-origin']
        for (const name of kept) assert.equal(unchanged.headers[name], whole.headers[name], name)
        for (const name of ['content-type', 'content-length', 'content-encoding']) {
          assert.equal(unchanged.headers[name], undefined, name)
        }
      }
    }
  })

  it('is sent uncompressed and without Vary when it is an image', async () => {
    await open({ kept: { 'osm:1:0:0': entryOf() } })
    const { headers, body } =
      await get('/osm/1/0/0.png', { 'accept-encoding': 'gzip, br', origin: 'https://a.example' })
    assert.deepEqual([headers['content-encoding'], headers.vary, body], [undefined, undefined, png(1)])
  })

  it('is sent as stored when it is a vector tile, and unpacked for clients without gzip', async () => {
    const plain = Buffer.from([0x1a, 3, 1, 2, 3])
    const entry = entryOf({ bytes: gzipSync(plain), type: 'application/vnd.mapbox-vector-tile' })
    await open({ kept: { 'osm:1:0:0': entry } })
    const packed = ['gzip', 'gzip, deflate, br', 'br;q=1, gzip;q=0.1', '*', 'GZIP']
    for (const coding of [...packed, 'gzip;q=0', 'identity', 'br', '', 'gzip;q=0, *']) {
      const isPacked = packed.includes(coding)
      const { status, headers, body } = await get('/osm/1/0/0.pbf', { 'accept-encoding': coding })
      assert.deepEqual([status, headers['content-encoding'], headers['content-type'], headers.vary],
        [200, isPacked ? 'gzip' : undefined, entry.type, 'Accept-Encoding'], coding)
      assert.equal(headers['content-length'], `${body.length}`)
      assert.deepEqual(isPacked ? gunzipSync(body) : body, plain, coding)
      assert.equal(headers.etag === entry.etag, isPacked, 'other bytes have another ETag')
      const unchanged = await get('/osm/1/0/0.pbf', { 'accept-encoding': coding, 'if-none-match': headers.etag })
      assert.deepEqual([unchanged.status, unchanged.headers.etag, unchanged.headers.vary],
        [304, headers.etag, 'Accept-Encoding'])
      assert.equal((await get('/osm/1/0/0.pbf', { 'accept-encoding': coding }, 'HEAD')).headers['content-length'],
        `${body.length}`)
    }
    const { headers, body } = await get('/osm/1/0/0.pbf')
    assert.deepEqual([headers['content-encoding'], body], [undefined, plain], 'who says nothing may not know gzip')
  })

  it('is unpacked once for all clients, and refused with 503 while idle clients hold too many bytes', async () => {
    const type = 'application/vnd.mapbox-vector-tile'
    const packed = gzipSync(Buffer.alloc(60e6), { level: 1 })
    const names = Array.from({ length: 7 }, (_, index) => `osm:3:${index}:0`)
    const entries = Object.fromEntries(names.map(name => [name, entryOf({ bytes: Buffer.from(packed), type })]))
    await open({ kept: entries })
    const idle = []
    const startRequest = async path => {
      const socket = net.connect(front.port, '127.0.0.1').on('error', () => {})
      idle.push(socket)
      socket.write(`GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`)
      const [head] = await once(socket, 'data')
      socket.pause()
      return +/ (\d+) /.exec(`${head}`)[1]
    }
    const bytesBefore = process.memoryUsage().arrayBuffers
    for (let client = 0; client < 30; client++) assert.equal(await startRequest('/osm/3/0/0.pbf'), 200)
    assert.ok(process.memoryUsage().arrayBuffers - bytesBefore < 150e6, 'one for all')
    const statuses = []
    for (let x = 1; x < 7; x++) statuses.push(await startRequest(`/osm/3/${x}/0.pbf`))
    assert.deepEqual([...new Set(statuses)], [200, 503])
    assert.ok(process.memoryUsage().arrayBuffers - bytesBefore < 350e6, 'and a limit for all')
    for (const socket of idle) socket.destroy()
    const isFree = async () => (await get('/osm/3/6/0.pbf', {}, 'HEAD')).status === 200
    await until(isFree, { what: 'room again when they have left' })
  }).timeout(60000)

  it('is not unpacked for clients that had left before it was found', async () => {
    const packed = gzipSync(Buffer.alloc(60e6), { level: 1 })
    const columns = [0, 1, 2, 3, 4, 5]
    const entryAt = () => entryOf({ bytes: Buffer.from(packed), type: 'application/vnd.mapbox-vector-tile' })
    await open({ kept: Object.fromEntries(columns.map(x => [`osm:3:${x}:0`, entryAt()])) })
    const closedResponse = { destroyed: true, once () {} }
    for (const x of columns.slice(1)) {
      const request = { layer: 'osm', z: 3, x, y: 0 }
      await Promise.resolve(tile(front.ctx, request, { method: 'GET', headers: {} }, closedResponse)).catch(() => {})
    }
    assert.equal((await get('/osm/3/0/0.pbf')).status, 200)
  }).timeout(60000)

  it('is refused when a stored vector tile cannot be unpacked', async () => {
    const entry =
      entryOf({ bytes: gzipSync(Buffer.alloc(1000)).subarray(0, -4), type: 'application/vnd.mapbox-vector-tile' })
    await open({ kept: { 'osm:1:0:0': entry } })
    const { status, json, headers } = await get('/osm/1/0/0.pbf')
    assert.deepEqual([status, json.error, headers['cache-control']], [422, 'TRUNCATED_IMAGE', 'no-store'])
  })

  describe('that is missing', () => {
    const layers = { osm: { format: 'png' }, roads: { format: 'pbf' }, large: { format: 'webp', tileSize: 512 } }
    const answers = {
      auto: { osm: 404, roads: 204 },
      404: { osm: 404, roads: 404 },
      204: { osm: 204, roads: 204 },
      transparent: { osm: 200, roads: 204, large: 200 }
    }

    const reasons = { TILE_NOT_FOUND: 'no tile', NOT_KEPT: 'this store does not keep' }
    /** Asserts that the answer is a PNG of transparent pixels. */
    async function assertBlank (headers, body, side) {
      const { width, height, format, channels, hasAlpha } = await sharp(body).metadata()
      const properties = [headers['content-type'], width, height, format, hasAlpha, channels]
      assert.deepEqual(properties, ['image/png', side, side, 'png', true, 4])
      const pixels = await sharp(body).ensureAlpha().raw().toBuffer()
      assert.ok(pixels.every((value, index) => index % 4 !== 3 || value === 0), 'every pixel is transparent')
      assert.ok(body.length < 2000)
    }

    const absent = code => async id => { throw new TilecouchError(code, { id }) }

    for (const [missing, byLayer] of Object.entries(answers)) {
      it(`is ${Object.values(byLayer).join(' or ')} when the option missing is ${missing}`, async () => {
        for (const [code, reason] of Object.entries(reasons)) {
          await open({ layers, options: { missing }, get: absent(code) })
          for (const [layer, expected] of Object.entries(byLayer)) {
            for (const method of ['GET', 'HEAD']) {
              const { status, headers, body } = await get(`/${layer}/3/1/1.png`, {}, method)
              assert.equal(status, expected)
              assert.equal(headers['cache-control'], 'public, max-age=60')
              assert.equal(headers['access-control-allow-origin'], '*')
              if (status === 204 || method === 'HEAD') assert.equal(body.length, 0)
              else if (status === 404) {
                const { advice, ...answer } = JSON.parse(`${body}`)
                assert.deepEqual(answer, { error: code, reason: `${reason} ${layer}:3:1:1` })
              } else await assertBlank(headers, body, layers[layer].tileSize ?? 256)
            }
          }
          await front.close(0)
        }
      })
    }

    it('is an uncacheable error when the layer is unknown or the store cannot be reached', async () => {
      await open({
        get: async id => {
          throw new TilecouchError(id.startsWith('osm') ? 'TILE_NOT_FOUND' : 'UNREACHABLE',
            { id, url: 'http://inside:5984/tiles', why: 'connect ECONNREFUSED 10.0.0.5' })
        }, layers: {}, options: { missing: 'transparent' }
      })
      const unknown = await get('/osm/1/0/0.png')
      assert.deepEqual([unknown.status, unknown.json.error, unknown.headers['cache-control']],
        [404, 'LAYER_NOT_FOUND', 'no-store'])
      const unreachable = await get('/other/1/0/0.png')
      assert.deepEqual([unreachable.status, unreachable.json,
        unreachable.headers['cache-control'], unreachable.headers['retry-after']],
        [503, { error: 'UNREACHABLE', reason: 'the store cannot be reached' }, 'no-store', '5'])
    })
  })
})
