// Tests the requests of CouchSource at stores, and its errors at a faulty server.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { CouchSource } from '../../client/source/couch-source.js'
import { isPassing } from '../../client/source/failure.js'
import { Store } from '../../loader/index.js'
import { onEachStore, as } from '../support/backends.js'
import { startServer } from '../support/server.js'
import { png } from '../support/tiles.js'
import { publishFunctions } from '../support/published.js'
import { bytesOf } from './pictures.js'

const T = step => `2024-01-0${step}T00:00:00Z`
const version = (x, y, step) => ({ layer: 'osm', z: 3, x, y, time: T(step), bytes: png(x * 100 + y * 10 + step) })
const never = new AbortController().signal

onEachStore('a CouchSource', backend => {
  let store
  let url
  const paths = ['', '/_design/tiles/_rewrite/db']

  before(async () => {
    url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', { name: 'Map', maxzoom: 3 })
    await store.defineLayer('empty', {})
    await store.write([version(1, 1, 1), version(1, 2, 2), version(1, 1, 3), version(2, 5, 1)])
    await store.write([{ layer: 'osm', z: 3, x: 2, y: 5, time: T(2), gone: true }])
    await publishFunctions(store)
  })

  for (const path of paths) {
    describe(path ? 'at the address of the rewrites' : 'at the address of the database', () => {
      let source
      before(() => { source = new CouchSource(`${as(url)}${path}/`) })

      it('reads the document of a layer', async () => {
        const doc = await source.layer('osm')
        assert.deepEqual([doc.name, doc.maxzoom, doc.type], ['Map', 3, 'layer'])
        await assert.rejects(source.layer('nothing'), { code: 'LAYER_NOT_FOUND' })
        await assert.rejects(source.layer('No!'), { code: 'BAD_LAYER' })
      })

      it('returns one list of versions for each column of tiles', async () => {
        const [firstList, secondList, thirdList] = await source.versions('osm',
          [{ z: 3, x: 1, y0: 0, y1: 3 }, { z: 3, x: 2, y0: 4, y1: 7 }, { z: 3, x: 1, y0: 4, y1: 7 }])
        assert.deepEqual(firstList.map(({ x, y, time, current, gone }) => [x, y, time, current, gone]),
          [[1, 1, T(1), false, false], [1, 1, T(3), true, false], [1, 2, T(2), true, false]])
        assert.deepEqual(secondList.map(({ time, current, gone, bytes }) => [time, current, gone, bytes > 0]),
          [[T(1), false, false, true], [T(2), true, true, false]])
        assert.deepEqual(thirdList, [])
      })

      it('reads the first and the last time of a layer', async () => {
        assert.deepEqual(await source.extent('osm'), { first: T(1), last: T(3) })
        assert.equal(await source.extent('empty'), null)
      })

      it('reads images of heads and past versions, and rejects others with TILE_NOT_FOUND', async () => {
        const [[past, head]] = await source.versions('osm', [{ z: 3, x: 1, y0: 1, y1: 1 }])
        assert.deepEqual(await bytesOf(await source.tile(past)), png(111))
        const image = await source.tile(head)
        assert.deepEqual(await bytesOf(image), png(113))
        assert.equal(image.type, 'image/png')
        assert.equal(head.digest, `md5-${createHash('md5').update(png(113)).digest('base64')}`)
        await assert.rejects(source.tile({ ...head, y: 7 }), { code: 'TILE_NOT_FOUND' })
        await assert.rejects(source.tile({ ...head, rev: '9-0123456789abcdef0123456789abcdef' }),
          { code: 'TILE_NOT_FOUND' })
      })

      it('reports changed and deleted tiles and layer documents, past versions on request', async () => {
        const layer = `live${path.length}`
        const { since } = await source.changes(layer, 'now', never)
        assert.deepEqual(await source.changes(layer, since, never, { wait: false }), { since, tiles: [], layer: false })
        const waiting = source.changes(layer, since, never)
        await store.write([{ ...version(1, 1, 1), layer: `${layer}er` }]) // a layer with a longer name
        await store.write([{ ...version(1, 1, 1), layer }])
        const first = await waiting
        assert.deepEqual(first.tiles.map(({ z, x, y, deleted }) => [z, x, y, deleted]), [[3, 1, 1, false]])
        await store.defineLayer(layer, { name: 'Live' })
        const second = await source.changes(layer, first.since, never)
        assert.deepEqual([second.tiles, second.layer], [[], true])
        await store.write([{ ...version(1, 1, 2), layer }])
        const third = await source.changes(layer, second.since, never)
        assert.deepEqual(third.tiles.map(({ y, rev }) => [y, +rev.split('-')[0]]), [[1, 2]], 'the head alone')
        const allChanges = await source.changes(layer, second.since, never, { past: true })
        assert.equal(allChanges.tiles.length, 2)
        const { _rev: rev } = await store.couch.get(`${layer}:3:1:1`)
        await store.couch.request({ method: 'DELETE', path: `${layer}%3A3%3A1%3A1`, qs: { rev } })
        const fourth = await source.changes(layer, third.since, never)
        assert.deepEqual(fourth.tiles.map(({ x, deleted }) => [x, deleted]), [[1, true]])
      })

      it('ends a wait for changes without an error before its timeout', async () => {
        const short = new CouchSource(`${as(url)}${path}`, { timeout: 400 })
        const { since } = await short.changes('empty', 'now', never)
        assert.deepEqual((await short.changes('empty', since, never)).tiles, [])
      })

      it('stops waiting for changes when its signal aborts', async () => {
        const stop = new AbortController()
        const { since } = await source.changes('empty', 'now', stop.signal)
        const waiting = source.changes('empty', since, stop.signal)
        stop.abort()
        await assert.rejects(waiting, { name: 'AbortError' })
      })
    })
  }

  it('distinguishes a missing database, a missing index and a missing layer', async () => {
    const nowhere = new CouchSource(`${as(url)}_not`)
    await assert.rejects(nowhere.layer('osm'), { code: 'DATABASE_NOT_FOUND' })
    await assert.rejects(nowhere.extent('osm'), { code: 'DATABASE_NOT_FOUND' })
    const bare = await backend.database()
    await Store.create(bare)
    const source = new CouchSource(as(bare))
    await assert.rejects(source.versions('osm', [{ z: 0, x: 0, y0: 0, y1: 0 }]), { code: 'INDEX_MISSING' })
    await assert.rejects(source.extent('osm'), { code: 'INDEX_MISSING' })
    await assert.rejects(source.layer('osm'), { code: 'LAYER_NOT_FOUND' })
  })

  if (backend.supports.users) it('reports UNAUTHORIZED without a valid name and password', async () => {
    const locked = await backend.database()
    await Store.create(locked, { public: false })
    await assert.rejects(new CouchSource(as(locked)).layer('osm'), { code: 'UNAUTHORIZED' })
    const headers = { authorization: `Basic ${btoa('nobody:wrong')}` }
    await assert.rejects(new CouchSource(as(locked), { fetchOptions: { headers } }).extent('osm'),
      { code: 'UNAUTHORIZED' })
  })
})

describe('a CouchSource at a faulty server', () => {
  let server
  let url
  let serve
  const json = (status, body) => (request, response) => response.writeHead(status,
    { 'Content-Type': 'application/json' }).end(typeof body === 'string' ? body : JSON.stringify(body))
  const tile =
    { layer: 'a', z: 0, x: 0, y: 0, time: T(1), rev: '1-a', bytes: 1, gone: false, current: true, expires: null }
  const calls = {
    layer: source => source.layer('a'),
    versions: source => source.versions('a', [{ z: 0, x: 0, y0: 0, y1: 0 }]),
    extent: source => source.extent('a'),
    tile: source => source.tile(tile),
    changes: source => source.changes('a', '1', never)
  }
  const names = Object.keys(calls)
  const codeOf = async (name, options) => calls[name](new CouchSource(`${url}/db`, options))
    .then(() => 'none', error => error.code ?? error.name)

  before(async () => {
    server = await startServer((request, response) => serve(request, response))
    url = server.url
  })
  after(() => server.close())

  for (const [fault, answer, codes, isTemporary] of [
    ['an error of the server', json(500, { error: 'x', reason: 'boom' }), names.map(() => 'COUCHDB_ERROR'), true],
    ['an overloaded server', json(429, { error: 'x' }), names.map(() => 'COUCHDB_ERROR'), true],
    ['an error page of a proxy', (request, response) => response.writeHead(502).end('<h1>Bad gateway</h1>'),
      names.map(() => 'COUCHDB_ERROR'), true],
    ['a bad request', json(400, { error: 'bad_request' }), names.map(() => 'COUCHDB_ERROR'), false],
    ['a missing name or password', json(401, { error: 'unauthorized' }), names.map(() => 'UNAUTHORIZED'), false],
    ['a forbidden request', json(403, { error: 'forbidden', reason: 'no' }), names.map(() => 'FORBIDDEN'), false],
    ['a 404 of another server', (request, response) => response.writeHead(404).end('<h1>Not here</h1>'),
      names.map(() => 'BAD_ANSWER'), true],
    ['a 404 whose body is null', json(404, 'null'), names.map(() => 'BAD_ANSWER'), true],
    ['a body that is not JSON', json(200, '<h1>'), names.map(() => 'BAD_ANSWER'), true],
    ['JSON of another shape', json(200, '{}'), names.map(() => 'BAD_ANSWER'), true],
    ['null as the answer', json(200, 'null'), names.map(() => 'BAD_ANSWER'), true],
    ['a failed query in the results', json(200, { results: [{ error: 'timeout', reason: 'the index is built' }] }),
      ['COUCHDB_ERROR', 'COUCHDB_ERROR', 'COUCHDB_ERROR', 'BAD_ANSWER', 'COUCHDB_ERROR'], false],
    ['a connection that breaks during the answer', (request, response) => {
      response.writeHead(200, { 'Content-Length': 100 })
      response.write('{"results":', () => response.destroy())
    }, ['UNREACHABLE', 'UNREACHABLE', 'UNREACHABLE', 'BAD_ANSWER', 'UNREACHABLE'], true],
    ['a connection without an answer', (request, response) => response.destroy(), names.map(() => 'UNREACHABLE'), true]
  ]) {
    it(`reports ${fault} as a temporary or a permanent fault`, async () => {
      serve = answer
      for (const [index, name] of names.entries()) assert.equal(await codeOf(name), codes[index], name)
      const error = await calls.versions(new CouchSource(`${url}/db`)).catch(reason => reason)
      assert.equal(isPassing(error), isTemporary)
    })
  }

  it('reports UNREACHABLE when an answer or its rest does not arrive within the timeout', async () => {
    serve = () => {}
    for (const name of names) assert.equal(await codeOf(name, { timeout: 50 }), 'UNREACHABLE', name)
    serve = (request, response) => response.writeHead(200).write('{')
    for (const name of names) assert.equal(await codeOf(name, { timeout: 50 }), 'UNREACHABLE', name)
  })

  it('reports a server that is not running as UNREACHABLE, a temporary fault', async () => {
    await assert.rejects(new CouchSource('http://127.0.0.1:9/db').layer('a'),
      error => error.code === 'UNREACHABLE' && isPassing(error))
  })

  it('stops reading an answer when its signal aborts', async () => {
    const stop = new AbortController()
    serve = (request, response) => response.writeHead(200).write('{', () => stop.abort())
    await assert.rejects(new CouchSource(`${url}/db`).layer('a', stop.signal), { name: 'AbortError' })
  })

  it('leaves out changes whose id is not a valid tile', async () => {
    serve = json(200,
      { last_seq: '7-x', results: [{ id: 'a:99:1:1', changes: [{ rev: '1-a' }] },
        { id: 'a:1:1:1', changes: [{ rev: '1-b' }] }, { id: 'layer:a', changes: [{ rev: '1-c' }] }] })
    const changes = await new CouchSource(`${url}/db`).changes('a', '1', never)
    assert.deepEqual(changes,
      { since: '7-x', tiles: [{ layer: 'a', z: 1, x: 1, y: 1, rev: '1-b', deleted: false }], layer: true })
  })

  it('sends one request for each call, with the given headers', async () => {
    const requests = []
    serve = (request, response) => {
      requests.push([request.method, request.url, request.headers['x-key'], request.headers['content-type']])
      if (/tile$|tile\?/.test(request.url)) return response.end('x')
      json(200, { _id: 'layer:a', type: 'layer', layer: 'a', results: /_changes/.test(request.url)
        ? [] : Array(/by_time/.test(request.url) ? 2 : 1).fill({ rows: [] }), last_seq: 1 })(request, response)
    }
    const source = new CouchSource(` ${url}/db// `, { fetchOptions: { headers: { 'x-key': '7' } } })
    for (const name of names) await calls[name](source)
    assert.ok(requests.every(([, , key]) => key === '7'))
    assert.deepEqual(requests.map(([method, path]) => `${method} ${path.split('?')[0]}`), [
      'GET /db/layer%3Aa', 'POST /db/_design/versions/_view/by_tile/queries',
      'POST /db/_design/versions/_view/by_time/queries', 'GET /db/a:0:0:0/tile', 'POST /db/_changes'
    ])
    assert.ok(requests.every(([method, , , type]) => method === 'GET' || type === 'application/json'))
    assert.equal(source.template('a'), `${url}/db/a:{z}:{x}:{y}/tile`)
    assert.throws(() => source.template('A'), { code: 'BAD_LAYER' })
  })

  it('sends headers that are an object of Headers or pairs, as fetch takes them', async () => {
    let sent
    serve = (request, response) => {
      sent = request.headers
      json(200, { results: [], last_seq: 1 })(request, response)
    }
    for (const headers of [new Headers({ 'X-Key': '7' }), [['X-Key', '7']]]) {
      await new CouchSource(`${url}/db`, { fetchOptions: { headers } }).changes('a', '1', never)
      assert.deepEqual([sent['x-key'], sent['content-type']], ['7', 'application/json'])
    }
  })

  it('requests an image with a wrong digest or length again past the cache, then refuses it', async () => {
    const validImage = png(1)
    const digest = `md5-${createHash('md5').update(validImage).digest('base64')}`
    const tileVersion = { ...tile, bytes: validImage.length, digest }
    const changedImage = Buffer.from(validImage)
    changedImage[changedImage.length - 20] ^= 1 // the same length, but other content
    const answers =
      { other: changedImage, 'a part': validImage.subarray(0, 40), 'a page': Buffer.from('<h1>Log in</h1>') }
    const source = new CouchSource(`${url}/db`)
    for (const [label, wrongImage] of Object.entries(answers)) {
      const caches = []
      const send = bytes => (request, response) => {
        caches.push(request.headers['cache-control'])
        response.writeHead(200, { 'Content-Type': 'image/png' }).end(bytes)
      }
      serve = send(wrongImage)
      await assert.rejects(source.tile(tileVersion), error => error.code === 'BAD_ANSWER' && isPassing(error), label)
      assert.deepEqual(caches, [undefined, 'no-cache'], label)
      serve = (request, response) => send(request.headers['cache-control'] ? validImage : wrongImage)(request, response)
      assert.deepEqual(await bytesOf(await source.tile(tileVersion)), validImage, label)
    }
    serve = (request, response) => response.end(changedImage)
    assert.ok(await source.tile({ ...tileVersion, digest: undefined }), 'of an older index the length alone is known')
  })

  it('refuses an address with a name or password and an invalid address', () => {
    for (const db of ['', ' ', null, undefined, 7, 'http://a:b@host/db', '//a:b@host/db', 'https://a@host/db']) {
      assert.throws(() => new CouchSource(db),
        error => error.code === 'BAD_DATABASE' && !/:b@/.test(error.message), String(db))
    }
    for (const db of ['/db', 'db', '../db', 'http://host/db', 'https://host:6984/a/b@c']) assert.ok(new CouchSource(db))
  })
})
