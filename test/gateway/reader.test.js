// Tests of the reader, which gathers reads of tiles into few requests to the store: the number of requests, their
// content, their failures, and that they carry a password only if the store refuses anonymous reads.
import assert from 'node:assert/strict'
import { mock } from 'node:test'
import { gzipSync } from 'node:zlib'
import { TilecouchError } from '../../core/index.js'
import { Couch } from '../../loader/store/couch.js'
import { Store } from '../../loader/store/index.js'
import { RecentChanges } from '../../server/gateway/tiles/recent-changes.js'
import { AnonymousFirst, StoreReader } from '../../server/gateway/tiles/reader.js'
import { noiseTile } from '../../bench/tiles.js'
import { until } from '../../bench/wait.js'
import { createGate, startFront } from '../support/client/front.js'
import { json, onEachStore } from '../support/backends.js'
import { startServer } from '../support/server.js'
import { png, square } from '../support/tiles.js'

const [T1, T2] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z']
const SIDE = 32
const idOf = index => `osm:5:${Math.floor(index / SIDE)}:${index % SIDE}`
const bytesOf = doc => doc?._attachments.tile.data

onEachStore('reading many tiles at once', backend => {
  let url, store, front, changes
  before(async function () {
    this.timeout(60000)
    url = await backend.database()
    store = await Store.create(url)
    await store.write(square({ layer: 'osm', time: T1, side: SIDE, seed: (x, y) => x * SIDE + y }))
    await store.write(square({ layer: 'osm', time: T2, side: 4, seed: (x, y) => x === 3 ? null : 5000 + x * SIDE + y }))
    front = await startFront(url)
  })
  beforeEach(() => {
    front.reset()
    changes = new RecentChanges()
  })
  after(async () => {
    await front.close()
    await store.destroy()
  })

  async function open (limits = {}, { readDocuments, ...cache } = {}) {
    return new StoreReader(new Store(new Couch(front.accountUrl, { firstDelay: 5, longestDelay: 20 })), {
      cache: { changes, takeDocument: (id, doc) => doc, takeTimeline: (id, moments) => moments, ...cache },
      limits: { retries: 1, pause: 5, ...limits },
      readDocuments
    })
  }
  const requestedIds = () => front.requests().map(({ body }) => body.docs.map(({ id }) => id))

  it('unpacks gzipped attachments up to a limit, without blocking the event loop', async () => {
    const packed = {
      good: gzipSync(png(2)), damaged: png(2), bomb: gzipSync(Buffer.alloc(65e6)),
      large: gzipSync(Buffer.alloc(40e6)), same: gzipSync(Buffer.alloc(40e6))
    }
    const reader = await open({}, {
      readDocuments: async (couch, ids) =>
        new Map(ids.map(id => [id, { _id: id, _attachments: { tile: { encoding: 'gzip', data: packed[id] } } }]))
    })
    let [turns, ended] = [0, false]
    const turn = () => { turns++; if (!ended) setImmediate(turn) }
    setImmediate(turn)
    const results = await Promise.allSettled(Object.keys(packed).map(id => reader.documents.get(id)))
    ended = true
    assert.deepEqual(results.map(({ value, reason }) => reason?.code ?? bytesOf(value).length),
      [png(2).length, 'BAD_ANSWER', 'BAD_ANSWER', 40e6, 'BAD_ANSWER'])
    assert.ok(turns > 10, `${turns} turns of the event loop`)
  })

  it('reads a thousand tiles in a few requests, each with its own bytes', async () => {
    const reader = await open()
    const docs = await Promise.all(Array.from({ length: 1000 }, (_, index) => reader.documents.get(idOf(index))))
    docs.forEach((doc, index) => {
      const [x, y] = [Math.floor(index / SIDE), index % SIDE]
      const seed = x < 3 && y < 4 ? 5000 + index : index
      if (x === 3 && y < 4) assert.equal(doc.gone, true)
      else assert.ok(bytesOf(doc).equals(png(seed)), doc._id)
    })
    assert.ok(front.requests().length <= Math.ceil(1000 / 64) + 2, `${front.requests().length} requests`)
    assert.equal(requestedIds().flat().length, 1000)
    assert.ok(requestedIds().every(ids => ids.length <= 64))
  })

  it('limits requests in flight, and gathers later tiles in the next one', async () => {
    const reader = await open({ requests: 2, most: 8 })
    let inFlight = 0
    let mostInFlight = 0
    front.rule(async () => {
      mostInFlight = Math.max(mostInFlight, ++inFlight)
      await new Promise(resolve => { setTimeout(resolve, 20) })
      inFlight--
    })
    await Promise.all(Array.from({ length: 64 }, (_, index) => reader.documents.get(idOf(100 + index))))
    assert.equal(mostInFlight, 2)
    assert.equal(front.requests().length, 8)
  })

  it('asks for fewer tiles in one request when tiles are large', async () => {
    const time = '2020-01-01T00:00:00Z'
    await store.write(
      Array.from({ length: 12 }, (_, x) => ({ layer: 'big', z: 6, x, y: 0, time, bytes: noiseTile(x, 400000) }))
    )
    const reader = await open({ maxBytes: 1e6, requests: 1 })
    await reader.documents.get('big:6:0:0')
    front.forget()
    await Promise.all(Array.from({ length: 11 }, (_, x) => reader.documents.get(`big:6:${x + 1}:0`)))
    assert.ok(requestedIds().every(ids => ids.length <= 3), JSON.stringify(requestedIds()))
  })

  it('answers null for missing and deleted tiles', async () => {
    await store.write([{ layer: 'tmp', z: 0, x: 0, y: 0, time: T1, bytes: png(1) }])
    const { _rev: rev } = await store.couch.get('tmp:0:0:0')
    await json(`${await urlOf('tmp:0:0:0')}?rev=${rev}`, { method: 'DELETE' })
    const reader = await open()
    const [deleted, missing, stored] =
      await Promise.all(['tmp:0:0:0', 'osm:9:9:9', idOf(50)].map(id => reader.documents.get(id)))
    assert.deepEqual([deleted, missing], [null, null])
    assert.ok(bytesOf(stored).equals(png(50)))
  })

  it('returns the winning revision of a conflict', async () => {
    const docs = ['a', 'f'].map((digit, index) => ({
      _id: 'two:0:0:0', _rev: `1-${digit.repeat(32)}`, type: 'tile',
      layer: 'two', z: 0, x: 0, y: 0, current: true, time: T1,
      _attachments: { tile: { content_type: 'image/png', data: png(index).toString('base64') } }
    }))
    await json(`${await urlOf('_bulk_docs')}`, {
      method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify({ new_edits: false, docs })
    })
    const reader = await open()
    assert.ok(bytesOf(await reader.documents.get('two:0:0:0')).equals(png(1)))
  })

  it('fails only the tile that cannot be read', async () => {
    front.rule(({ body }) => body.docs.some(({ id }) => id === idOf(77))
      ? { status: 500, body: '{"error":"badarg","reason":"a broken attachment"}' } : undefined)
    const reader = await open({ retries: 0 })
    const results =
      await Promise.allSettled(Array.from({ length: 64 }, (_, index) => reader.documents.get(idOf(64 + index))))
    const failed = results.flatMap(({ status }, index) => status === 'rejected' ? [idOf(64 + index)] : [])
    assert.deepEqual(failed, [idOf(77)])
    assert.equal(results[13].reason.code, 'COUCHDB_ERROR')
    assert.ok(front.requests().length <= 2 * Math.log2(64) + 1, `${front.requests().length} requests`)
  })

  it('reports a tile with an internal error of the store as unreadable, not as missing', async () => {
    const error = (id, name) => ({ id, docs: [{ error: { id, rev: 'undefined', error: name, reason: 'because' } }] })
    const results = [error(idOf(1), 'internal_error'), error(idOf(2), 'not_found')]
    front.rule(() => ({ status: 200, body: JSON.stringify({ results }) }))
    const reader = await open()
    const [bad, missing] = await Promise.allSettled([reader.documents.get(idOf(1)), reader.documents.get(idOf(2))])
    assert.deepEqual([bad.reason?.code, missing.value], ['NO_ANSWER', null])
  })

  it('stops splitting requests when the store fails for every tile', async () => {
    front.rule(() => ({ status: 500, body: '{"error":"badarg","reason":"everything is broken"}' }))
    const reader = await open({ retries: 0, splits: 24 })
    const ids = Array.from({ length: 64 }, (_, index) => idOf(index))
    const results = await Promise.allSettled(ids.map(id => reader.documents.get(id)))
    assert.ok(results.every(({ reason }) => reason?.code === 'COUCHDB_ERROR'))
    assert.ok(front.requests().length <= 25, `${front.requests().length} requests`)
    front.reset()
    front.rule(() => ({ status: 503, body: '{"error":"busy","reason":"later"}' }))
    await assert.rejects(Promise.all([reader.documents.get(idOf(1)), reader.documents.get(idOf(2))]))
    assert.equal(front.requests().length, 1, 'a busy one is not asked twice')
  })

  it('drops tiles that no client waits for any more, and reads those of other clients', async () => {
    const reader = await open({ requests: 1 })
    const storeGate = createGate()
    front.rule(() => storeGate.opened)
    const first = reader.documents.get(idOf(60))
    await until(() => front.requests().length === 1)
    const controller = new AbortController()
    const abandoned =
      [reader.documents.get(idOf(61), controller.signal), reader.documents.get(idOf(61), controller.signal)]
    const sharedReads = [reader.documents.get(idOf(62), controller.signal), reader.documents.get(idOf(62))]
    const sharedRead = reader.documents.get(idOf(60), controller.signal)
    controller.abort()
    for (const read of [...abandoned, sharedReads[0], sharedRead]) await assert.rejects(read, { code: 'ABORTED' })
    storeGate.open()
    assert.ok(bytesOf(await first).equals(png(60)))
    assert.ok(bytesOf(await sharedReads[1]).equals(png(62)))
    assert.deepEqual(requestedIds(), [[idOf(60)], [idOf(62)]])
    await assert.rejects(reader.documents.get(idOf(63), AbortSignal.abort()), { code: 'ABORTED' })
  })

  it('reads a tile again when it changed while it was read', async () => {
    const keepFlags = []
    const reader = await open({}, { takeDocument: (id, doc, keep) => { keepFlags.push(keep); return doc } })
    const storeGate = createGate()
    let first = true
    front.rule(async () => {
      if (first) await storeGate.opened
      first = false
    })
    const reading = reader.documents.get(idOf(70))
    await until(() => front.requests().length === 1)
    const { _rev: rev } = await store.couch.get(idOf(70))
    changes.add(idOf(70), `9${rev.slice(1)}`, false) // a revision that no read ever returns
    storeGate.open()
    assert.ok(bytesOf(await reading).equals(png(70)))
    assert.equal(front.requests().length, 3, 'as often as may be')
    assert.deepEqual(keepFlags, [false], 'what is behind is handed out and not kept')
    changes.add(idOf(71), (await store.couch.get(idOf(71)))._rev, false)
    await reader.documents.get(idOf(71))
    assert.deepEqual(keepFlags, [false, true])
  })

  it('reads many timelines in two requests: the heads, and ranges of past versions', async () => {
    const reader = await open()
    const timelines = await Promise.all(Array.from({ length: 32 }, (_, y) => reader.timelines.get(`osm:5:0:${y}`)))
    timelines.forEach((moments, y) => {
      const id = `osm:5:0:${y}`
      const changed = y < 4
      assert.deepEqual(moments, [...(changed ? [{ id: `${id}@${T1}`, time: T1, current: false }] : []),
        { id, time: changed ? T2 : T1, current: true }])
    })
    assert.deepEqual(front.requests().map(({ path }) => path), ['_bulk_get', '_all_docs/queries'])
    // ids 0:10 to 0:19 sort between 0:1 and 0:2; rows from 4 on have no neighbours with a digit more
    assert.deepEqual(front.requests()[1].body.queries.map(({ endkey }) => endkey),
      ['0', '1', '2', '3', '9', '31'].map(y => `osm:5:0:${y}@~`))
    assert.deepEqual(await reader.timelines.get('osm:9:9:9'), [])
  })

  it('reads the timelines of a few tiles in one request', async () => {
    const reader = await open()
    const ids = ['osm:5:0:30', 'osm:5:0:31', 'osm:5:1:2', 'osm:5:9:9']
    const timelines = await Promise.all(ids.map(id => reader.timelines.get(id)))
    assert.deepEqual(timelines.map(moments => moments.map(({ time }) => time)), [[T1], [T1], [T1, T2], [T1]])
    assert.deepEqual(front.requests().map(({ path }) => path), ['_all_docs/queries'])
  })

  it('lists a version once that is both past and head after a killed load', async () => {
    const { _rev, _attachments, ...fields } = await json(`${await urlOf(idOf(80))}?attachments=true`,
      { headers: { accept: 'application/json' } })
    const { content_type: type, data } = _attachments.tile
    await store.couch.put({
      ...fields, _id: `${idOf(80)}@${T1}`, current: false, _attachments: { tile: { content_type: type, data } }
    })
    await store.couch.put({ _id: `${idOf(80)}@yesterday`, type: 'tile' })
    const reader = await open()
    assert.deepEqual(await reader.timelines.get(idOf(80)), [{ id: idOf(80), time: T1, current: true }])
  })

  const urlOf = async path => `${await backend.url()}/${store.couch.db}/${path}`
})

/** Creates the error of a read that the store refuses. */
const errorOf = code => new TilecouchError(code,
  { url: 'http://store/tiles', status: code === 'UNAUTHORIZED' ? 401 : 403, reason: 'no', why: 'no', db: 'tiles' })

describe('anonymous reads', () => {
  let anonymousFlags
  beforeEach(() => { anonymousFlags = [] })
  afterEach(() => mock.timers.reset())
  /** A read that notes whether it is anonymous. @param {(anonymous: boolean) => any} outcome an error or a value */
  const readThat = outcome => async anonymous => {
    anonymousFlags.push(anonymous)
    const value = outcome(anonymous)
    if (value instanceof Error) throw value
    return value
  }

  it('are repeated with the password when they are refused, and tried again after a while', async () => {
    mock.timers.enable({ apis: ['Date'], now: 0 })
    const reads = new AnonymousFirst()
    let open = false
    for (const [time, isOpen] of /** @type {[number, boolean][]} */ ([[0, false], [599999, false], [600000, true]])) {
      mock.timers.setTime(time)
      open = isOpen
      assert.equal(await reads.read(readThat(anonymous => anonymous && !open ? errorOf('UNAUTHORIZED') : 'a tile')),
        'a tile')
    }
    assert.deepEqual(anonymousFlags, [true, false, false, true])
  })

  it('fail with the error of the read with a password if both fail, and are tried again', async () => {
    const reads = new AnonymousFirst()
    const read = readThat(anonymous => errorOf(anonymous ? 'FORBIDDEN' : 'UNAUTHORIZED'))
    for (let round = 0; round < 2; round++) await assert.rejects(reads.read(read), { code: 'UNAUTHORIZED' })
    assert.deepEqual(anonymousFlags, [true, false, true, false])
  })

  it('are not repeated after errors that a password does not solve', async () => {
    for (const code of ['UNREACHABLE', 'ABORTED', 'DATABASE_NOT_FOUND', 'COUCHDB_ERROR']) {
      await assert.rejects(new AnonymousFirst().read(readThat(() => errorOf(code))), { code })
    }
    assert.deepEqual(anonymousFlags, [true, true, true, true])
  })
})

describe('requests for tiles', () => {
  const requests = []
  let server, size, isClosed, rule

  before(async () => {
    server = await startServer(async (req, res) => {
      const { authorization, accept } = req.headers
      const { docs } = JSON.parse(Buffer.concat(await req.toArray()).toString())
      requests.push({ authorization, accept, ids: docs.map(({ id }) => id) })
      await rule?.()
      const status = isClosed && !authorization ? 401 : 200
      res.writeHead(status, { 'content-type': 'application/json' })
      if (status === 401) return res.end('{"error":"unauthorized","reason":"You are not authorized."}')
      const results = docs.map(({ id }) => {
        const tile = { content_type: 'image/png', data: Buffer.alloc(size, id).toString('base64') }
        return { id, docs: [{ ok: { _id: id, _rev: '1-a', _attachments: { tile } } }] }
      })
      res.end(JSON.stringify({ results }))
    })
  })
  beforeEach(() => {
    requests.length = 0
    size = 1000
    isClosed = false
    rule = undefined
  })
  after(() => server.close())

  const open = (limits = {}) => new StoreReader(/** @type {any} */ ({
    couch: new Couch(`http://anna:secret@127.0.0.1:${server.port}/tiles`, { retries: 0 })
  }), {
    cache: {
      changes: new RecentChanges(), takeDocument: (id, doc) => doc._attachments.tile.data,
      takeTimeline: (id, moments) => moments
    },
    limits
  })

  it('carry no user name when everybody may read the store', async () => {
    const reader = open()
    for (const index of [1, 2]) {
      assert.ok((await reader.documents.get(idOf(index))).equals(Buffer.alloc(size, idOf(index))))
    }
    assert.deepEqual(requests.map(({ authorization }) => authorization), [undefined, undefined])
  })

  it('carry the user name once the store refuses anonymous requests', async () => {
    const reader = open()
    await reader.documents.get(idOf(1))
    isClosed = true
    for (const index of [2, 3]) {
      assert.ok((await reader.documents.get(idOf(index))).equals(Buffer.alloc(size, idOf(index))))
    }
    const basic = `Basic ${btoa('anna:secret')}`
    assert.deepEqual(requests.map(({ authorization }) => authorization), [undefined, undefined, basic, basic])
  })

  it('ask for JSON while tiles are small, and for multipart when they are not', async () => {
    const reader = open()
    const kinds = []
    for (const [index, bytes] of [1000, 1000, 1000, 1000, 40000, 1000].entries()) {
      size = bytes
      await reader.documents.get(idOf(index))
      kinds.push(requests.at(-1).accept)
    }
    assert.equal(kinds[0], 'multipart/mixed', 'what is not known is taken for large')
    assert.deepEqual(kinds.slice(-2), ['application/json', 'multipart/mixed'])
  })

  it('ask for multipart when they name many tiles, even small ones', async () => {
    const reader = open({ inline: 50000, inlineAll: 10000 })
    await reader.documents.get(idOf(0)) // the estimate of the tile size falls slowly
    for (let index = 1; index < 30; index++) await reader.documents.get(idOf(index))
    assert.equal(requests.at(-1).accept, 'application/json')
    await Promise.all(Array.from({ length: 12 }, (_, index) => reader.documents.get(idOf(100 + index))))
    assert.deepEqual([requests.at(-1).ids.length, requests.at(-1).accept], [12, 'multipart/mixed'])
  })

  it('are gathered into one while another request is in flight, and no longer', async () => {
    const reader = open({ busyWait: 60000 })
    const storeGate = createGate()
    rule = () => storeGate.opened
    const first = reader.documents.get(idOf(0))
    await until(() => requests.length === 1)
    const laterReads = [reader.documents.get(idOf(1))]
    await new Promise(resolve => { setTimeout(resolve, 20) })
    laterReads.push(reader.documents.get(idOf(2)))
    assert.equal(requests.length, 1)
    storeGate.open()
    await Promise.all([first, ...laterReads]) // without requests in flight, the reader does not wait for busyWait
    assert.deepEqual(requests.map(({ ids }) => ids), [[idOf(0)], [idOf(1), idOf(2)]])
  })
})
