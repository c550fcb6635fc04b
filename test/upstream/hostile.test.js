import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import sharp from 'sharp'
import { inspectTile, isExactTime } from '../../core/index.js'
import { expiryFrom, modifiedFrom, retryAfter, validatorsFrom } from '../../loader/upstream/freshness.js'
import { tileFrom } from '../../loader/upstream/image.js'
import { until } from '../../bench/wait.js'
import { seeded } from '../loader/helpers.js'
import { useUpstream } from './support.js'

const NOW = '2024-03-01T12:00:00Z'
const conceal = text => text

describe('an upstream that is hostile', () => {
  const given = useUpstream()

  it('gets no beginning of an image stored, wherever it ends', async () => {
    const picture = sharp(Buffer.from(Array.from({ length: 48 * 48 * 3 }, (_, at) => at * 7 % 256)), { raw: { width: 48, height: 48, channels: 3 } })
    for (const image of [await picture.png().toBuffer(), await picture.jpeg().toBuffer(), await picture.webp().toBuffer(), gzipSync(Buffer.from([0x1a, 0x08, 0x78, 0x02, 0x0a, 0x01, 0x61, 0x28, 0x80, 0x20]))]) {
      assert.ok('type' in tileFrom({ headers: {}, bytes: image }, { vector: false, conceal }))
      for (let length = 0; length < image.length; length++) {
        for (const vector of [false, true]) {
          const found = tileFrom({ headers: {}, bytes: image.subarray(0, length) }, { vector, conceal })
          assert.ok('why' in found, `${length} of ${image.length} bytes`)
        }
      }
    }
  })

  it('cannot make us stumble with bytes and encodings', () => {
    const bytes = fc.oneof(fc.uint8Array({ maxLength: 200 }), fc.uint8Array({ maxLength: 60 }).map(rest => Uint8Array.from([0x1f, 0x8b, 8, ...rest])), fc.uint8Array({ maxLength: 60 }).map(rest => Uint8Array.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, ...rest])))
    const encoding = fc.constantFrom(undefined, 'gzip', 'br', 'deflate', 'gzip, br', 'x-gzip,gzip', 'constructor', '__proto__', 'zstd', ',,,', '')
    fc.assert(fc.property(bytes, encoding, fc.boolean(), (body, name, vector) => {
      const found = tileFrom({ headers: { 'content-encoding': name, 'content-type': 'image/png' }, bytes: Buffer.from(body) }, { vector, conceal })
      if ('why' in found) assert.ok(typeof found.why === 'string' && found.why.length < 500)
      else assert.equal(inspectTile(found.bytes).type, found.type)
    }), { numRuns: 3000 })
  })

  it('cannot make us stumble with headers', () => {
    const number = fc.oneof(fc.bigInt().map(String), fc.double().map(String), fc.string())
    const date = fc.oneof(fc.date().map(value => isNaN(+value) ? '' : value.toUTCString()), fc.string(), number)
    const text = fc.record({
      'cache-control': fc.oneof(fc.string(), fc.tuple(fc.constantFrom('max-age', 's-maxage', 'no-store', 'Max-Age'), number).map(parts => parts.join('='))),
      expires: date, date, age: number, 'last-modified': date, etag: fc.string(), 'retry-after': fc.oneof(number, date)
    }, { requiredKeys: [] })
    fc.assert(fc.property(text, headers => {
      const expires = expiryFrom(headers, { expires: 'upstream', now: NOW })
      assert.ok(expires === null || (isExactTime(expires) && expires >= '2024-03-01T12:01:00Z' && expires <= '2025-03-01T12:00:00Z'), String(expires))
      const modified = modifiedFrom(headers, NOW)
      assert.ok(modified === undefined || (isExactTime(modified) && modified <= NOW), modified)
      const wait = retryAfter(headers)
      assert.ok(wait === undefined || wait >= 0, String(wait))
      for (const value of Object.values(validatorsFrom(headers))) assert.match(value, /^[ -~]+$/)
    }), { numRuns: 3000 })
  })

  it('in every way at once never gets a wrong tile through, and leaves nothing behind', async () => {
    const next = seeded(7)
    const ways = [
      {}, {}, {}, { status: 500 }, { status: 404 }, { body: '<html>' }, { truncate: 7 }, { cut: true }, { gzip: true }, { type: 'text/html' }, { wait: 30 }, { headers: { 'content-encoding': 'gzip' } },
      { redirect: '/nowhere' }, { never: true }, { body: '' }, { status: 206 }, { headers: { 'content-encoding': 'br' } }
    ]
    const drawn = new Map()
    given.server.behave(Object.fromEntries(['status', 'body', 'truncate', 'cut', 'gzip', 'type', 'wait', 'headers', 'redirect', 'never'].map(name => [name, request => {
      if (!drawn.has(request)) drawn.set(request, ways[Math.floor(next() * ways.length)])
      return drawn.get(request)[name]
    }])))
    const upstream = given.open({ concurrency: 8, timeout: 1, negative: 0 }, {}, { limits: { failures: 1e6 } })
    const warnings = []
    const warned = warning => warnings.push(warning)
    process.on('warning', warned)
    const shared = new AbortController()
    const tiles = Array.from({ length: 250 }, (_, index) => ({ z: 8, x: index, y: 100 }))
    const outcomes = { tiles: 0, missing: 0, failed: 0 }
    await Promise.all(tiles.map(async tile => {
      try {
        const answer = await upstream.fetch(tile, { signal: shared.signal })
        if (answer.kind !== 'tiles') return outcomes.missing++
        outcomes.tiles++
        assert.deepEqual(answer.tiles, [{ ...tile, bytes: await given.server.tile(8, tile.x, 100), type: 'image/png' }])
      } catch (error) {
        assert.match(error.code ?? error.stack, /^UPSTREAM_(FAILED|UNREACHABLE)$/)
        outcomes.failed++
      }
    }))
    assert.ok(outcomes.tiles > 60 && outcomes.missing > 10 && outcomes.failed > 60, JSON.stringify(outcomes))
    assert.deepEqual([upstream.state().inFlight, upstream.state().queued], [0, 0])
    await until(() => given.server.inFlight === 0, { what: 'the connections to end' })
    given.server.behave()
    assert.equal((await upstream.fetch({ z: 8, x: 0, y: 0 })).kind, 'tiles')
    process.off('warning', warned)
    assert.deepEqual(warnings, [])
  })
})
