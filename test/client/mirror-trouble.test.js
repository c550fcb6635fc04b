// Tests mirrors in a PouchDB when something fails: connections that break, and databases that are full, closed or
// deleted.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { HttpCouch } from '../../client/mirror/http.js'
import { Mirror, mirror } from '../../client/mirror/index.js'
import { PouchPeer } from '../../client/mirror/pouch-peer.js'
import { Store } from '../../loader/index.js'
import { startLink } from '../mirror/link.js'
import { backends, json, post, request } from '../support/backends.js'
import { startServer } from '../support/server.js'
import { png, square } from '../support/tiles.js'
import { PouchDB, everything, takeImages, usePouches } from '../support/client/pouches.js'

const T = year => `${year}-01-01T00:00:00Z`
const SIDE = 10
const quick = { poll: 500, firstDelay: 50, longestDelay: 200 }

describe('a mirror in a PouchDB', () => {
  const backend = backends.at(-1)
  const pouch = usePouches()
  let url
  let store
  let link

  before(async () => {
    url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', {})
    await store.write(square({ layer: 'osm', time: T(2024), side: SIDE, seed: (x, y) => x * SIDE + y }))
  })
  beforeEach(async () => { link = await startLink(url) })
  afterEach(() => link.close())

  const assertComplete = async db => {
    const { rows } = await db.allDocs()
    const { rows: storeRows } = await json(`${url}/_all_docs`)
    assert.deepEqual(rows.map(({ id }) => id), storeRows.map(({ id }) => id).filter(id => !id.startsWith('_design/')))
  }

  it('copies everything in several runs over a connection that breaks again and again', async () => {
    link.set({ loss: 15000 })
    const db = pouch()
    for (let rounds = 0; rounds < 50; rounds++) {
      const isDone = await mirror(link.url, db, { limits: { batchBytes: 4000 } }).then(() => true, ({ code }) => {
        assert.equal(code, 'UNREACHABLE')
        return false
      })
      if (isDone) break
    }
    assert.ok(link.counts.resets > 3, `${link.counts.resets} resets`)
    await assertComplete(db)
  }).timeout(60000)

  it('follows the store, reports when the store is away, and continues when it is back', async () => {
    const db = pouch()
    const stop = new AbortController()
    const states = []
    const live = new Mirror(link.url, db,
      { live: true, signal: stop.signal, limits: quick, onState: ({ state, error }) => states.push(error ?? state) })
    const running = live.run()
    await until(() => live.status().state === 'following')
    await store.write([{ layer: 'osm', z: 6, x: 1, y: 1, time: T(2024), bytes: png(900) }])
    await until(() => db.get('osm:6:1:1').catch(() => false))
    await link.cut()
    await until(() => live.status().state === 'away', { timeout: 20000 })
    await store.write([{ layer: 'osm', z: 6, x: 1, y: 2, time: T(2024), bytes: png(901) }])
    await link.restore()
    await until(() => db.get('osm:6:1:2').catch(() => false), { timeout: 20000 })
    await until(() => live.status().state === 'following')
    stop.abort()
    await assert.rejects(running, { code: 'ABORTED' })
    assert.deepEqual([states[0], states.includes('UNREACHABLE')], ['following', true])
    await assertComplete(db)
  }).timeout(60000)

  it('copies documents that a device writes to the store when it runs live', async () => {
    const db = pouch()
    const target = await backend.database()
    await request(target, { method: 'PUT' })
    const stop = new AbortController()
    const live = new Mirror(db, target, { live: true, signal: stop.signal, limits: { ...quick, poll: 60000 } })
    const running = live.run()
    await until(() => live.status().state === 'following')
    await db.put(
      { _id: 'osm:1:0:0', type: 'tile', _attachments: { tile: { content_type: 'image/png', data: png(1) } } }
    )
    const copy = await until(() => json(`${target}/osm:1:0:0`).then(doc => doc._rev && doc), { what: 'the tile' })
    assert.equal(copy._attachments.tile.length, png(1).length)
    stop.abort()
    await assert.rejects(running, { code: 'ABORTED' })
  }).timeout(30000)

  it('ends with ABORTED when the PouchDB is closed or destroyed', async () => {
    for (const end of ['close', 'destroy']) {
      const db = pouch()
      const live = new Mirror(url, db, { live: true, limits: quick })
      const running = live.run()
      await until(() => live.status().state === 'following')
      const rejected = assert.rejects(running, { code: 'ABORTED' }, end)
      await db[end]()
      await rejected
    }
  })

  it('copies nothing when its signal was aborted before the start', async () => {
    const db = pouch()
    await assert.rejects(mirror(url, db, { signal: AbortSignal.abort() }), { code: 'ABORTED' })
    assert.deepEqual(await everything(db), {})
  })

  it('reports DISK_FULL when the PouchDB has no room', async () => {
    for (const trouble of [{ status: 500, name: 'indexed_db_went_bad', reason: 'QuotaExceededError' },
      Object.assign(new Error('IO error: No space left on device'), { status: 500 })]) {
      const db = pouch()
      db.bulkDocs = () => Promise.reject(trouble)
      await assert.rejects(mirror(url, db),
        ({ code, details }) => code === 'DISK_FULL' && details.where.startsWith('PouchDB '))
    }
  })

  it('skips and reports a document that PouchDB refuses', async () => {
    const source = await backend.database()
    await request(source, { method: 'PUT' })
    await post(`${source}/_bulk_docs`, { docs: [{ _id: 'a' }, { _id: 'b' }, { _id: 'c' }] })
    const db = pouch()
    const { bulkDocs } = db
    db.bulkDocs = (docs, options) => docs.some(({ _id: id }) => id === 'b')
      ? Promise.reject(
        Object.assign(new Error('Bad special document member: _x'), { status: 500, name: 'doc_validation' })
      )
      : bulkDocs.call(db, docs, options)
    const refused = []
    const status = await mirror(source, db, { onRefused: doc => refused.push(doc.id) })
    assert.deepEqual([refused, status.refused, status.docs], [['b'], 1, 2])
    assert.deepEqual(Object.keys(await everything(db)), ['a', 'c'])
  })

  it('reads an image again that a compaction removed during the read', async () => {
    const [from, to] = [pouch(), pouch()]
    await mirror(url, from)
    const takes = takeImages(from, 'bulkGet', ({ results }) => results.map(({ docs: [{ ok }] }) => ok), 2)
    const { refused } = await mirror(from, to)
    assert.deepEqual([takes(), refused], [2, 0])
    assert.deepEqual(await everything(to), await everything(from))
  })

  it('fails with the name of a tile whose image never matches its digest, and does not copy it', async () => {
    const [from, to] = [pouch(), pouch()]
    await mirror(url, from)
    const isBad = doc => doc?._id === 'osm:5:2:3'
    takeImages(from, 'bulkGet', ({ results }) => results.map(({ docs: [{ ok }] }) => ok).filter(isBad), Infinity)
    const copying = mirror(from, to, { limits: { tries: 2, retryDelay: 1 } })
    await assert.rejects(copying, ({ code, message }) => code === 'NO_ANSWER' &&
      /osm:5:2:3: the bytes .* digest/.test(message))
    assert.equal(await to.get('osm:5:2:3').catch(({ status }) => status), 404)
  })

  it('refuses invalid sides and options without naming the password', () => {
    const db = pouch()
    const wrongSides = ['', 'nowhere', 'http://127.0.0.1:5984', 'ftp://127.0.0.1/tiles',
      null, {}, 7, new PouchDB('http://127.0.0.1:5984/tiles', { skip_setup: true })]
    for (const side of wrongSides) assert.throws(() => new Mirror(side, db), { code: 'BAD_DATABASE' }, String(side))
    assert.throws(() => new Mirror('http://admin:secret@127.0.0.1', db), ({ message }) => !/secret|admin/.test(message))
    assert.throws(() => new Mirror(url, db, { zooms: '9-3' }), { code: 'BAD_ZOOM' })
    assert.throws(() => new Mirror(url, db, { bbox: '1,2,3' }), { code: 'BAD_BBOX' })
    assert.throws(() => new Mirror(db, url, { since: '2024' }), { code: 'BAD_OPTION' })
  })

  it('returns a change that happens while it waits, and stops waiting when its signal aborts', async () => {
    const db = pouch()
    const peer = new PouchPeer(db)
    const waiting = peer.changes({ since: 0, limit: 10, wait: 20000 })
    await db.put({ _id: 'x' })
    const { rows } = await waiting
    assert.deepEqual(rows.map(({ id }) => id), ['x'])
    const stop = new AbortController()
    const pendingChanges = peer.changes({ since: rows[0].seq, limit: 10, wait: 20000, signal: stop.signal })
    stop.abort()
    await assert.rejects(pendingChanges, { code: 'ABORTED' })
  })

  it('leaves no listeners at the PouchDB', async () => {
    const db = pouch()
    await db.info()
    const count = () => db.listenerCount('closed') + db.listenerCount('destroyed')
    const before = count()
    await mirror(url, db)
    assert.equal(count(), before)
  })
})

describe('a CouchDB over fetch', () => {
  let answers
  let requests
  let server
  let couch

  before(async () => {
    server = await startServer((req, res) => {
      requests.push(req)
      const answer = answers.shift() ?? [200, '{"ok":true}']
      if (answer === 'cut') return res.destroy()
      if (answer === 'silent') return
      res.writeHead(answer[0], { 'content-type': 'application/json' })
      if (answer[2]) res.flushHeaders()
      res.write(answer[1])
      if (answer[2] === 'cut') setImmediate(() => res.destroy())
      else res.end()
    })
  })
  after(() => server.close())
  beforeEach(() => {
    answers = []
    requests = []
    couch = new HttpCouch(`http://me:%C3%A4%20pass@127.0.0.1:${server.port}/some/tiles/`,
      { firstDelay: 1, longestDelay: 2 })
  })

  it('repeats a request after temporary failures and bad answers', async () => {
    answers = [[503, '{"reason":"busy"}'], 'cut', [429, ''], [200, '{"ok":'], [200, 'null'], [200, '{"half":', 'cut']]
    assert.deepEqual(await couch.request({ path: 'x', qs: { a: 'b c' } }), { ok: true })
    assert.equal(requests.length, 7)
    assert.equal(requests[0].url, '/some/tiles/x?a=b+c')
    assert.equal(requests[0].headers.authorization, `Basic ${Buffer.from('me:ä pass').toString('base64')}`)
  })

  it('sends headers of every kind that fetch takes, which replace the name and password of the address', async () => {
    for (const headers of [{ authorization: 'Bearer 7' }, new Headers({ Authorization: 'Bearer 7' }),
      [['Authorization', 'Bearer 7']]]) {
      answers = [[200, '{}']]
      requests = []
      await new HttpCouch(`http://me:pass@127.0.0.1:${server.port}/tiles`, { fetchOptions: { headers } }).request({})
      assert.deepEqual(requests.map(sent => sent.headers.authorization), ['Bearer 7'])
    }
  })

  it('does not repeat a request after a permanent failure, nor more often than its retries allow', async () => {
    for (const [answer, code] of [
      [[401, '{}'], 'UNAUTHORIZED'],
      [[403, '{"reason":"no"}'], 'FORBIDDEN'],
      [[404, '{"error":"not_found","reason":"missing"}'], 'COUCHDB_ERROR'],
      [[507, '{}'], 'DISK_FULL'],
      [[404, '{"reason":"Database does not exist."}'], 'DATABASE_NOT_FOUND'],
      [[412, '{}'], 'COUCHDB_ERROR']
    ]) {
      requests = []
      answers = [answer]
      await assert.rejects(couch.request({}),
        error => error.code === code && !/me:|%C3|ä/.test(JSON.stringify([error.message, error.details])))
      assert.equal(requests.length, 1, code)
    }
    answers = ['cut', 'cut', 'cut']
    requests = []
    await assert.rejects(couch.request({ retries: 2 }), { code: 'UNREACHABLE' })
    assert.equal(requests.length, 3)
  })

  it('finds undefined for a missing document, and fails for a missing database', async () => {
    answers = [[404, '{"error":"not_found","reason":"missing"}']]
    assert.equal(await couch.find({ path: '_local/x' }), undefined)
    answers = [[404, '{"reason":"no_db_file"}']]
    await assert.rejects(couch.find({ path: '_local/x' }), { code: 'DATABASE_NOT_FOUND' })
  })

  it('fails with UNREACHABLE when the server sends nothing within the timeout', async () => {
    answers = ['silent']
    await assert.rejects(couch.request({ timeout: 50 }),
      ({ code, details }) => code === 'UNREACHABLE' && details.silent)
    assert.equal(requests.length, 1)
  })

  it('ends a request with ABORTED when its signal aborts', async () => {
    answers = ['silent']
    const stop = new AbortController()
    const pendingRequest = couch.request({ signal: stop.signal })
    await until(() => requests.length)
    stop.abort()
    await assert.rejects(pendingRequest, { code: 'ABORTED' })
  })

  it('refuses an answer that is larger than the limit of the request', async () => {
    answers = [[200, JSON.stringify({ long: 'x'.repeat(5000) })]]
    await assert.rejects(couch.request({ raw: true, most: 1000 }), { code: 'ANSWER_TOO_LARGE' })
  })
})
