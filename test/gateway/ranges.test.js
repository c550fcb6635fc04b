// A part of an answer: Range, If-Range and what pages of other origins may send and see of them.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { rangeOf } from '../../server/http/answers.js'
import { onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { entryOf, openFront } from '../support/gateway/front.js'
import { useGateway } from '../support/gateway/stand.js'
import { ask, closeConnections } from '../support/gateway/wire.js'

const TIME = '2024-01-01T00:00:00Z'
const ETAG = '"abc"'

describe('a range of bytes', () => {
  const of = (range, { condition, method = 'GET', length = 100 } = {}) => {
    const found = rangeOf({ method, headers: { range, ...(condition && { 'if-range': condition }) } }, length, ETAG)
    return found && [found.start, found.end, found.header]
  }

  it('is its first and last byte, or everything from one on, or the last ones', () => {
    assert.deepEqual(of('bytes=0-9'), [0, 10, 'bytes 0-9/100'])
    assert.deepEqual(of('bytes=10-'), [10, 100, 'bytes 10-99/100'])
    assert.deepEqual(of('bytes=-10'), [90, 100, 'bytes 90-99/100'])
    assert.deepEqual(of('BYTES= 99-99 '), [99, 100, 'bytes 99-99/100'])
  })

  it('ends with the body', () => {
    assert.deepEqual(of('bytes=90-1000'), [90, 100, 'bytes 90-99/100'])
    assert.deepEqual(of('bytes=-1000'), [0, 100, 'bytes 0-99/100'])
  })

  it('is ignored when it is none, or several, or of another method', () => {
    for (const range of [undefined, '', 'bytes', 'bytes=', 'bytes=-', 'bytes=5-2', 'bytes=a-b', 'bytes=0-1,5-9',
      'items=0-1', 'bytes=0x1-2', `bytes=${'9'.repeat(20)}-`]) assert.equal(of(range), undefined, range)
    for (const method of ['HEAD', 'POST']) assert.equal(of('bytes=0-9', { method }), undefined)
  })

  it('is ignored when the client has a part of another body, or knows only its date', () => {
    assert.ok(of('bytes=0-9', { condition: ETAG }))
    for (const condition of ['"other"', `W/${ETAG}`, 'Wed, 21 Oct 2015 07:28:00 GMT', '*']) {
      assert.equal(of('bytes=0-9', { condition }), undefined, condition)
    }
  })

  it('is refused when the body has no such bytes', () => {
    for (const [range, length] of [['bytes=100-', 100], ['bytes=100-200', 100],
      ['bytes=-0', 100], ['bytes=0-', 0], ['bytes=-5', 0]]) {
      assert.throws(() => of(range, { length }), error => error.code === 'BAD_RANGE' && error.status === 416, range)
    }
  })
})

describe('a range of a tile', () => {
  /** @type {Awaited<ReturnType<typeof openFront>>} */
  let front
  const bytes = gzipSync(png(1))
  const kept = { 'osm:1:0:0': entryOf(), 'osm:1:1:0': entryOf({ bytes, type: 'application/vnd.mapbox-vector-tile' }) }
  before(async () => { front = await openFront({ kept }) })
  after(async () => {
    closeConnections()
    await front.close(0)
  })
  const get = (path, headers = {}, method = 'GET') => ask(front.url, path, { headers, method })

  it('is of the bytes that are sent, coded or not', async () => {
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
    assert.equal(
      (await get(
        '/osm/1/1/0.pbf', { 'accept-encoding': 'identity', range: 'bytes=10-19', 'if-range': gzipped.headers.etag }
      )).status, 200, 'a part of the one is no part of the other'
    )
    assert.notEqual(plain.headers.etag, gzipped.headers.etag)
  })

  it('is counted by its own bytes, and a tile that is missing has none', async () => {
    await get('/osm/1/0/0.png', { range: 'bytes=0-9' })
    assert.deepEqual([front.requests.at(-1).status, front.requests.at(-1).bytes], [206, 10])
    const missing = await get('/osm/1/1/1.png', { range: 'bytes=0-9' })
    assert.deepEqual([missing.status, missing.headers['accept-ranges']], [404, undefined])
  })

  it('may be asked for by pages of other origins, which see what they got', async () => {
    const { headers } = await get('/osm/1/0/0.png', { origin: 'https://a.example', range: 'bytes=0-9' })
    for (const name of ['Accept-Ranges', 'Content-Range', 'ETag']) {
      assert.match(headers['access-control-expose-headers'], new RegExp(name), name)
    }
    const preflight = await get('/osm/1/0/0.png',
      {
        origin: 'https://a.example', 'access-control-request-method': 'GET',
        'access-control-request-headers': 'range,if-range,if-none-match'
      }, 'OPTIONS')
    for (const name of ['Range', 'If-Range', 'If-None-Match']) {
      assert.match(preflight.headers['access-control-allow-headers'], new RegExp(`\\b${name}\\b`), name)
    }
    const refused = await get('/osm/1/0/0.png', { origin: 'https://a.example', range: 'bytes=99999-' })
    assert.deepEqual([refused.status, refused.headers['access-control-allow-origin']], [416, '*'])
  })
})

onEachStore('a range of any answer', backend => {
  const own = useGateway(backend, {
    async fill (store) {
      await store.defineLayer('osm', { name: 'A map', minzoom: 0, maxzoom: 1 })
      await store.write([{ layer: 'osm', z: 1, x: 0, y: 0, time: TIME, bytes: png(1) }])
      await store.putEdition('osm', TIME, { title: 'first', complete: true })
    }
  })
  const get = (path, headers = {}, method = 'GET') => own.ask(path, { headers, method })

  async function paths () {
    const { json: head } = await get('/db/osm:1:0:0')
    return ['/osm/1/0/0.png', '/osm@2024/1/0/0.png', '/osm.json',
      '/osm/times.json', '/osm/1/0/0.json', '/wmts/1.0.0/WMTSCapabiliti' +
      'es.xml', '/wmts/osm/default/GoogleMapsCo' +
      'mpatible' +
      '/1/0/0.png',
      '/', '/viewer.css', '/db/osm:1:0:0/tile', `/db/osm:1:0:0/tile?rev=${head._rev}`]
  }

  it('is that part of it, and all parts together are the whole', async () => {
    for (const path of await paths()) {
      const whole = await get(path)
      const { length } = whole.body
      assert.deepEqual([whole.status, whole.headers['accept-ranges']], [200, 'bytes'], path)
      const half = Math.floor(length / 2)
      const parts = await Promise.all(
        [`bytes=0-${half - 1}`, `bytes=${half}-`].map(range => get(path, { range, 'if-range': whole.headers.etag }))
      )
      assert.deepEqual(
        parts.map(({ status, headers }) => [status, headers['content-range'], +headers['content-length']]),
        [[206, `bytes 0-${half - 1}/${length}`, half], [206, `bytes ${half}-${length - 1}/${length}`, length - half]],
        path
      )
      assert.ok(Buffer.concat(parts.map(({ body }) => body)).equals(whole.body), path)
      for (const name of ['etag', 'content-type', 'cache-control', 'content-security-policy']) {
        assert.equal(parts[0].headers[name], whole.headers[name], `${path} ${name}`)
      }
      assert.deepEqual((await get(path, { range: 'bytes=-5' })).body, whole.body.subarray(-5), path)
    }
  })

  it('is the whole where there are several, or the client has a part of another body; and nothing of it comes with ' +
    'HEAD or when it has not changed', async () => {
    for (const path of await paths()) {
      const whole = await get(path)
      for (const headers of [{ range: 'bytes=0-1,3-4' }, { range: 'bytes=0-1', 'if-range': '"other"' },
        { range: 'lines=1-2' }]) {
        const answer = await get(path, headers)
        assert.deepEqual([answer.status, answer.body.equals(whole.body)],
          [200, true], `${path} ${JSON.stringify(headers)}`)
      }
      const head = await get(path, { range: 'bytes=0-1' }, 'HEAD')
      assert.deepEqual([head.status, head.headers['content-length'], head.headers['accept-ranges'],
        head.headers['content-range']], [200, `${whole.body.length}`, 'bytes', undefined], path)
      assert.equal((await get(path, { range: 'bytes=0-1', 'if-none-match': whole.headers.etag })).status, 304, path)
    }
  })

  it('is refused beyond its end, with its length', async () => {
    for (const path of await paths()) {
      const { body } = await get(path)
      const refused = await get(path, { range: `bytes=${body.length}-` })
      assert.deepEqual([refused.status, refused.headers['content-range'], refused.headers['cache-control']],
        [416, `bytes */${body.length}`, 'no-store'], path)
      assert.ok(refused.json.error && refused.json.reason, path)
    }
  })
})
