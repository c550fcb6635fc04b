// Tests that a hostile upstream cannot store bad tiles, exhaust the memory or cause unexpected errors.
import assert from 'node:assert/strict'
import { brotliCompressSync, constants, deflateSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import sharp from 'sharp'
import { inspectTile, isExactTime } from '../../core/index.js'
import { expiryFrom, modifiedFrom, retryAfter, validatorsFrom } from '../../loader/load/upstream/freshness.js'
import { tileFrom } from '../../loader/load/upstream/image.js'
import { until } from '../../bench/wait.js'
import { startServer } from '../support/server.js'
import { claimingSize, png } from '../support/tiles.js'
import { random as seeded } from '../../bench/tiles.js'
import { useUpstream } from './support.js'

const NOW = '2024-03-01T12:00:00Z'
const conceal = text => text
const TINY = png(1)

describe('an upstream that is hostile', () => {
  const suite = useUpstream()

  it('cannot get an incomplete image stored', async () => {
    const picture = sharp(Buffer.from(Array.from({ length: 48 * 48 * 3 }, (_, index) => index * 7 % 256)),
      { raw: { width: 48, height: 48, channels: 3 } })
    for (const image of [await picture.png().toBuffer(), await picture.jpeg().toBuffer(), await picture.webp()
      .toBuffer(), gzipSync(Buffer.from([0x1a, 0x08, 0x78, 0x02, 0x0a, 0x01, 0x61, 0x28, 0x80, 0x20]))]) {
      assert.ok('type' in await tileFrom({ headers: {}, bytes: image }, { vector: false, conceal }))
      for (let length = 0; length < image.length; length++) {
        for (const vector of [false, true]) {
          const result = await tileFrom({ headers: {}, bytes: image.subarray(0, length) }, { vector, conceal })
          assert.ok('why' in result, `${length} of ${image.length} bytes`)
        }
      }
    }
  })

  it('cannot cause unexpected errors by bytes and encodings', async () => {
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 200 }),
      fc.uint8Array({ maxLength: 60 }).map(tail => Uint8Array.from([0x1f, 0x8b, 8, ...tail])),
      fc.uint8Array({ maxLength: 60 })
        .map(tail => Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...tail])))
    const encoding = fc.constantFrom(undefined, 'gzip', 'br', 'deflate',
      'gzip, br', 'x-gzip,gzip', 'constructor', '__proto__', 'zstd', ',,,', '')
    await fc.assert(fc.asyncProperty(bytes, encoding, fc.boolean(), async (body, name, vector) => {
      const result = await tileFrom({
        headers: { 'content-encoding': name, 'content-type': 'image/png' }, bytes: Buffer.from(body)
      }, { vector, conceal })
      if ('why' in result) assert.ok(typeof result.why === 'string' && result.why.length < 500)
      else assert.equal(inspectTile(result.bytes).type, result.type)
    }), { numRuns: 3000 })
  })

  describe('sends a few kilobytes that unpack to many megabytes', () => {
    const zeros = Buffer.alloc(40e6)
    // empty layers: bytes with the outer form of a vector tile
    const layers = Buffer.alloc(40e6, Buffer.from([0x1a, 0x00]))
    // one large layer
    const largeLayer = Buffer.concat([Buffer.from([0x1a, 0x80, 0xb4, 0x89, 0x13]), Buffer.alloc(40000000)])
    const brotli = brotliCompressSync(zeros, { params: { [constants.BROTLI_PARAM_QUALITY]: 4 } })
    // name, bytes, encoding, whether a vector tile is expected, and whether the bytes are accepted
    for (const [name, bytes, encoding, vector, isAccepted = false] of [
      ['an image in gzip', gzipSync(zeros), 'gzip', false], ['an image in brotli', brotli, 'br', false],
      ['an image in deflate', deflateSync(zeros), 'deflate', false],
      ['gzip in gzip', gzipSync(gzipSync(zeros)), 'gzip, gzip', false],
      ['a vector tile', gzipSync(layers), undefined, true],
      ['a vector tile of one layer', gzipSync(largeLayer), undefined, true, true],
      ['an image that is a vector tile', gzipSync(layers), undefined, false],
      ['an uncompressed vector tile', layers, undefined, true]
    ]) {
      it(`and the process stays responsive: ${name}`, async () => {
        const headers = { 'content-encoding': encoding }
        let [turns, ended] = [0, false]
        const turn = () => { turns++; if (!ended) setImmediate(turn) }
        setImmediate(turn)
        const result = await tileFrom({ headers, bytes }, { vector, conceal, limit: 32e6 })
          .finally(() => { ended = true })
        assert.equal('type' in result, isAccepted, JSON.stringify(result).slice(0, 300))
        assert.ok(turns > 10, `${turns} turns of the event loop`)
      })
    }

    it('and is refused when they are packed more than twice', async () => {
      const deep = Array.from({ length: 3 }).reduce(inner => gzipSync(inner), TINY)
      for (const [encoding, bytes, key] of [['gzip,gzip,gzip', deep, 'why'],
        ['gzip, x-gzip', gzipSync(gzipSync(TINY)), 'type']]) {
        const headers = { 'content-encoding': encoding }
        assert.ok(key in await tileFrom({ headers, bytes }, { vector: false, conceal }), encoding)
      }
    })
  })

  it('cannot send an image that would fill the memory', async () => {
    for (const [width, height, isAccepted] of [[4096, 4096, true], [4097, 1, false], [1, 30000, false],
      [30000, 30000, false]]) {
      suite.server.behave({ body: claimingSize(TINY, width, height) })
      const fetching = suite.open({ negative: 0 }).fetch({ z: 8, x: 1, y: 1 })
      if (isAccepted) assert.equal((await fetching).kind, 'tiles')
      else await assert.rejects(fetching, { code: 'UPSTREAM_FAILED', message: /its image has \d+ x \d+ pixels/ })
      if (isAccepted) continue
      // the picture of a metatile is refused as well, before it is decoded
      await assert.rejects(suite.open({ type: 'wms' }).fetch({ z: 8, x: 1, y: 1 }),
        { code: 'UPSTREAM_FAILED', message: /pixel/ })
    }
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'.padEnd(60))
    suite.server.behave({ body: gzipSync(Buffer.concat([Buffer.from([0x1a, 60]), svg])) })
    await assert.rejects(suite.open({ type: 'wms' }).fetch({ z: 8, x: 1, y: 1 }),
      { code: 'UPSTREAM_FAILED', message: /its picture is application/ })
  })

  it('cannot use more memory than allowed by endless answers', async () => {
    const responses = []
    const { url, close } = await startServer((req, res) => {
      res.writeHead(200, { 'content-length': 1e7 })
      responses.push(res)
      res.write(Buffer.alloc(4e5))
    })
    try {
      const [first, second] = [1, 2].map(() => suite.open({ url: `${url}/{z}/{x}/{y}` }, {}, { limits: { held: 1e6 } }))
      const pending = [first.fetch({ z: 8, x: 0, y: 0 }), second.fetch({ z: 8, x: 1, y: 0 })].map(
        fetching => fetching.catch(error => error.message)
      )
      await until(() => responses.length === 2, { what: 'two answers' })
      // the request that reaches the limit is ended; the others continue
      const third = first.fetch({ z: 8, x: 2, y: 0 }).catch(error => error.message)
      assert.match(await Promise.race([...pending, third]), /take more memory than they may/)
      await Promise.all([first.close(), second.close()])
      await Promise.all([...pending, third])
      suite.server.behave()
      assert.equal((await suite.open({}, {}, { limits: { held: 1e6 } }).fetch({ z: 8, x: 0, y: 0 })).kind, 'tiles')
    } finally {
      await close()
    }
  })

  it('is refused when it sends endless headers, redirects or error pages', async () => {
    const headers = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`x-${index}`, 'x'.repeat(1000)]))
    suite.server.behave({ headers })
    await assert.rejects(suite.open().fetch({ z: 8, x: 1, y: 1 }), { code: 'UPSTREAM_FAILED', message: /not HTTP/ })
    const { url, close } = await startServer((req, res) => {
      res.writeHead(req.url?.includes('redirect') ? 302 : 500, { location: '/redirect' })
      const writeMore = () => { if (!res.destroyed) res.write(Buffer.alloc(65536), () => setImmediate(writeMore)) }
      writeMore()
    })
    try {
      for (const [folder, message] of [['', /500/], ['/redirect', /again and again/]]) {
        await assert.rejects(suite.open({ url: `${url}${folder}/{z}/{x}/{y}` }).fetch({ z: 8, x: 1, y: 1 }),
          { code: 'UPSTREAM_FAILED', message })
      }
    } finally {
      await close()
    }
  })

  it('cannot cause unexpected errors by headers', () => {
    const number = fc.oneof(fc.bigInt().map(String), fc.double().map(String), fc.string())
    const date = fc.oneof(fc.date().map(value => isNaN(+value) ? '' : value.toUTCString()), fc.string(), number)
    const text = fc.record({
      'cache-control': fc.oneof(fc.string(),
        fc.tuple(fc.constantFrom('max-age', 's-maxage', 'no-store', 'Max-Age'), number).map(parts => parts.join('='))),
      expires: date, date, age: number, 'last-modified': date, etag: fc.string(), 'retry-after': fc.oneof(number, date)
    }, { requiredKeys: [] })
    fc.assert(fc.property(text, headers => {
      const expires = expiryFrom(headers, { expires: 'upstream', now: NOW })
      assert.ok(expires === null || (isExactTime(expires) && expires >= '2024-03-01T12:01:00Z' &&
        expires <= '2025-03-01T12:00:00Z'), String(expires))
      const modified = modifiedFrom(headers, NOW)
      assert.ok(modified === undefined || (isExactTime(modified) && modified <= NOW), modified)
      const wait = retryAfter(headers)
      assert.ok(wait === undefined || wait >= 0, String(wait))
      for (const value of Object.values(validatorsFrom(headers))) assert.match(value, /^[ -~]+$/)
    }), { numRuns: 3000 })
  })

  it('in many ways at once gets no wrong tile through, and leaves no connection open', async () => {
    const next = seeded(7)
    const ways = [
      {}, {}, {}, { status: 500 }, { status: 404 }, { body: '<html>' }, { truncate: 7 },
      { cut: true }, { gzip: true }, { type: 'text/html' }, { wait: 30 }, { headers: { 'content-encoding': 'gzip' } },
      { redirect: '/nowhere' }, { never: true }, { body: '' }, { status: 206 },
      { headers: { 'content-encoding': 'br' } }
    ]
    const waysByRequest = new Map()
    const wayOf = request => {
      if (!waysByRequest.has(request)) waysByRequest.set(request, ways[Math.floor(next() * ways.length)])
      return waysByRequest.get(request)
    }
    const settings = ['status', 'body', 'truncate', 'cut', 'gzip', 'type', 'wait', 'headers', 'redirect', 'never']
    suite.server.behave(Object.fromEntries(settings.map(name => [name, request => wayOf(request)[name]])))
    const upstream = suite.open({ concurrency: 8, timeout: 1, negative: 0 }, {}, { limits: { failures: 1e6 } })
    const warnings = []
    const onWarning = warning => warnings.push(warning)
    process.on('warning', onWarning)
    const shared = new AbortController()
    const tiles = Array.from({ length: 250 }, (_, index) => ({ z: 8, x: index, y: 100 }))
    const outcomes = { tiles: 0, missing: 0, failed: 0 }
    await Promise.all(tiles.map(async tile => {
      try {
        const answer = await upstream.fetch(tile, { signal: shared.signal })
        if (answer.kind !== 'tiles') return outcomes.missing++
        outcomes.tiles++
        assert.deepEqual(answer.tiles, [{ ...tile, bytes: await suite.server.tile(8, tile.x, 100), type: 'image/png' }])
      } catch (error) {
        assert.match(error.code ?? error.stack, /^UPSTREAM_(FAILED|UNREACHABLE)$/)
        outcomes.failed++
      }
    }))
    assert.ok(outcomes.tiles > 60 && outcomes.missing > 10 && outcomes.failed > 60, JSON.stringify(outcomes))
    assert.deepEqual([upstream.state().inFlight, upstream.state().queued], [0, 0])
    await until(() => suite.server.inFlight === 0, { what: 'the connections to end' })
    suite.server.behave()
    assert.equal((await upstream.fetch({ z: 8, x: 0, y: 0 })).kind, 'tiles')
    process.off('warning', onWarning)
    assert.deepEqual(warnings, [])
  })
})
