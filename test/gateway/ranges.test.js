// Tests of Range and If-Range: the rules, and that every address of the gateway follows them.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { until } from '../../bench/wait.js'
import { rangeOf } from '../../server/http/answers.js'
import { onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { entryOf, openFront, useGateway } from '../support/gateway/stand.js'
import { ask, closeConnections } from '../support/gateway/wire.js'

const TIME = '2024-01-01T00:00:00Z'
const ETAG = '"abc"'

describe('rangeOf', () => {
  const headerOf = (range, { condition, method = 'GET', length = 100 } = {}) => rangeOf(
    { method, headers: { range, ...(condition && { 'if-range': condition }) } }, length, ETAG
  )

  it('reads the first and last byte, an open end, and a number of last bytes, none beyond the end', () => {
    for (const [range, start, end] of [
      ['bytes=0-9', 0, 10], ['bytes=10-', 10, 100], ['bytes=-10', 90, 100], ['BYTES= 99-99 ', 99, 100],
      ['bytes=90-1000', 90, 100], ['bytes=-1000', 0, 100]
    ]) assert.deepEqual(headerOf(range), { start, end, header: `bytes ${start}-${end - 1}/100` }, range)
  })

  it('ignores several ranges, other units, other methods, and parts of another body', () => {
    for (const range of [undefined, '', 'bytes', 'bytes=', 'bytes=-', 'bytes=5-2', 'bytes=a-b', 'bytes=0-1,5-9',
      'items=0-1', 'bytes=0x1-2', `bytes=${'9'.repeat(20)}-`]) assert.equal(headerOf(range), undefined, range)
    for (const method of ['HEAD', 'POST']) assert.equal(headerOf('bytes=0-9', { method }), undefined)
    assert.ok(headerOf('bytes=0-9', { condition: ETAG }))
    for (const condition of ['"other"', `W/${ETAG}`, 'Wed, 21 Oct 2015 07:28:00 GMT', '*']) {
      assert.equal(headerOf('bytes=0-9', { condition }), undefined, condition)
    }
  })

  it('refuses a range that begins after the body', () => {
    for (const [range, length] of [['bytes=100-', 100], ['bytes=100-200', 100],
      ['bytes=-0', 100], ['bytes=0-', 0], ['bytes=-5', 0]]) {
      assert.throws(() => headerOf(range, { length }), { code: 'BAD_RANGE', status: 416 }, range)
    }
  })
})

describe('a range of a tile', () => {
  let front
  const bytes = gzipSync(png(1))
  const entries =
    { 'osm:1:0:0': entryOf(), 'osm:1:1:0': entryOf({ bytes, type: 'application/vnd.mapbox-vector-tile' }) }
  before(async () => { front = await openFront({ kept: entries }) })
  after(async () => {
    closeConnections()
    await front.close(0)
  })
  const get = (path, headers = {}, method = 'GET') => ask(front.url, path, { headers, method })

  it('is a part of the sent bytes, compressed or not', async () => {
    for (const coding of ['gzip', 'identity']) {
      const whole = await get('/osm/1/1/0.pbf', { 'accept-encoding': coding })
      const part =
        await get('/osm/1/1/0.pbf', { 'accept-encoding': coding, range: 'bytes=10-19', 'if-range': whole.headers.etag })
      assert.deepEqual([part.status, part.headers['content-range'], part.headers['content-encoding']],
        [206, `bytes 10-19/${whole.body.length}`, whole.headers['content-encoding']])
      assert.ok(part.body.equals(whole.body.subarray(10, 20)))
    }
    const [gzipped, plain] =
      await Promise.all(['gzip', 'identity'].map(coding => get('/osm/1/1/0.pbf', { 'accept-encoding': coding })))
    const headers = { 'accept-encoding': 'identity', range: 'bytes=10-19', 'if-range': gzipped.headers.etag }
    assert.equal((await get('/osm/1/1/0.pbf', headers)).status, 200, 'a part of the one is no part of the other')
    assert.notEqual(plain.headers.etag, gzipped.headers.etag)
  })

  it('is counted by its bytes; a missing tile has none, and pages of other origins may read a refusal', async () => {
    await get('/osm/1/0/0.png', { range: 'bytes=0-9' })
    assert.deepEqual([front.requests.at(-1).status, front.requests.at(-1).bytes], [206, 10])
    const missing = await get('/osm/1/1/1.png', { range: 'bytes=0-9' })
    assert.deepEqual([missing.status, missing.headers['accept-ranges']], [404, undefined])
    const refused = await get('/osm/1/0/0.png', { range: 'bytes=99999-', origin: 'https://a.example' })
    assert.deepEqual([refused.status, refused.headers['access-control-allow-origin']], [416, '*'])
  })
})

onEachStore('a range of any answer', backend => {
  const fixture = useGateway(backend, {
    async fill (store) {
      await store.defineLayer('osm', { name: 'A map', minzoom: 0, maxzoom: 1 })
      await store.write([{ layer: 'osm', z: 1, x: 0, y: 0, time: TIME, bytes: png(1) }])
      await store.putEdition('osm', TIME, { title: 'first', complete: true })
    }
  })
  const get = (path, headers = {}, method = 'GET') => fixture.ask(path, { headers, method })
  const PATHS = [
    '/osm/1/0/0.png', '/osm@2024/1/0/0.png', '/osm.json', '/osm/times.json', '/osm/1/0/0.json',
    '/wmts/1.0.0/WMTSCapabilities.xml', '/wmts/osm/default/GoogleMapsCompatible/1/0/0.png',
    '/', '/viewer.css', '/db/osm:1:0:0/tile', '/db/osm:1:0:0/tile?rev='
  ]

  // the first request may time out while CouchDB builds the index
  before(() => until(async () => (await get(PATHS[0])).status !== 503))

  for (const name of PATHS) {
    it(`is sent, ignored or refused by the rules at ${name}`, async () => {
      const path = name.endsWith('=') ? `${name}${(await get('/db/osm:1:0:0')).json._rev}` : name
      const { status, headers, body } = await get(path)
      assert.deepEqual([status, headers['accept-ranges']], [200, 'bytes'])

      const half = Math.floor(body.length / 2)
      for (const [start, end] of [[0, half], [half, body.length]]) {
        const part = await get(path, { range: `bytes=${start}-${end - 1}`, 'if-range': headers.etag })
        assert.deepEqual([part.status, part.headers['content-range'], part.headers['content-length']],
          [206, `bytes ${start}-${end - 1}/${body.length}`, `${end - start}`])
        assert.ok(part.body.equals(body.subarray(start, end)))
        for (const same of ['etag', 'content-type', 'cache-control', 'content-security-policy']) {
          assert.equal(part.headers[same], headers[same], same)
        }
      }

      for (const ignored of [{ range: 'bytes=0-1,3-4' }, { range: 'bytes=0-1', 'if-range': '"other"' }]) {
        const answer = await get(path, ignored)
        assert.deepEqual([answer.status, answer.body.equals(body)], [200, true], JSON.stringify(ignored))
      }
      const head = await get(path, { range: 'bytes=0-1' }, 'HEAD')
      assert.deepEqual([head.status, head.headers['content-length'], head.headers['content-range'], head.body.length],
        [200, `${body.length}`, undefined, 0])
      assert.deepEqual([head.headers.etag, head.headers['content-type']], [headers.etag, headers['content-type']])
      assert.equal((await get(path, { range: 'bytes=0-1', 'if-none-match': headers.etag })).status, 304)

      const refused = await get(path, { range: `bytes=${body.length}-` })
      assert.deepEqual([refused.status, refused.headers['content-range'], refused.headers['cache-control']],
        [416, `bytes */${body.length}`, 'no-store'])
      assert.ok(refused.json.error && refused.json.reason)
    })
  }
})
