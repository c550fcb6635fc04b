// Reading without a name and password while everybody may read, in JSON while tiles are small, and in company.
import assert from 'node:assert/strict'
import { TilecouchError } from '../../core/index.js'
import { Couch } from '../../loader/store/couch.js'
import { RecentChanges } from '../../server/gateway/tiles/recent-changes.js'
import { AnonymousFirst, StoreReader } from '../../server/gateway/tiles/reader.js'
import { until } from '../../bench/wait.js'
import { gate } from '../support/client/front.js'
import { startServer } from '../support/server.js'

const refused = code => new TilecouchError(code,
  { url: 'http://store/tiles', status: code === 'UNAUTHORIZED' ? 401 : 403, reason: 'no', why: 'no' })

describe('anonymous reads', () => {
  it('are repeated with the password when they are refused, and tried again after a while', async () => {
    const asked = []
    const clock = { time: 0, now () { return this.time } }
    const reads = new AnonymousFirst({ refused: 1000, clock })
    let open = false
    const read = nobody => {
      asked.push(nobody)
      return nobody && !open ? Promise.reject(refused('UNAUTHORIZED')) : Promise.resolve('a tile')
    }
    assert.equal(await reads.read(read), 'a tile')
    clock.time = 999
    assert.equal(await reads.read(read), 'a tile')
    assert.deepEqual(asked, [true, false, false])
    open = true
    clock.time = 1000
    await reads.read(read)
    assert.deepEqual(asked.slice(3), [true])
  })

  it('fail with the error of the read with a password if both fail, and are tried again', async () => {
    const asked = []
    const reads = new AnonymousFirst()
    const read = nobody => {
      asked.push(nobody)
      return Promise.reject(refused(nobody ? 'FORBIDDEN' : 'UNAUTHORIZED'))
    }
    for (let at = 0; at < 2; at++) await assert.rejects(reads.read(read), { code: 'UNAUTHORIZED' })
    assert.deepEqual(asked, [true, false, true, false])
  })

  it('are not repeated after errors that a password does not solve', async () => {
    for (const code of ['UNREACHABLE', 'ABORTED', 'DATABASE_NOT_FOUND', 'COUCHDB_ERROR']) {
      let asked = 0
      await assert.rejects(new AnonymousFirst().read(() => {
        asked++
        return Promise.reject(
          new TilecouchError(code, { url: 'http://store/tiles', status: 500, reason: 'no', why: 'no', db: 'tiles' })
        )
      }), { code })
      assert.equal(asked, 1, code)
    }
  })
})

describe('requests for tiles', () => {
  const requests = []
  let server, size, closed, rule
  const idOf = at => `osm:5:0:${at}`

  before(async () => {
    server = await startServer(async (req, res) => {
      const { authorization, accept } = req.headers
      const { docs } = JSON.parse(Buffer.concat(await req.toArray()).toString())
      requests.push({ authorization, accept, ids: docs.map(({ id }) => id) })
      await rule?.()
      const status = closed && !authorization ? 401 : 200
      res.writeHead(status, { 'content-type': 'application/json' })
      const answer = id => (
        { _id: id, _rev: '1-a', _attachments: {
          tile: { content_type: 'image/png', data: Buffer.alloc(size, id).toString('base64') }
        } }
      )
      res.end(JSON.stringify(status === 200 ? { results: docs.map(({ id }) => ({ id, docs: [{ ok: answer(id) }] })) }
        : { error: 'unauthorized', reason: 'You are not authorized to access this db.' }))
    })
  })
  beforeEach(() => {
    requests.length = 0
    size = 1000
    closed = false
    rule = undefined
  })
  after(() => server.close())

  const open = (limits = {}) => new StoreReader(/** @type {any} */ ({
    couch: new Couch(`http://anna:secret@127.0.0.1:${server.port}/tiles`, { retries: 0 })
  }), {
    cache: { changes: new RecentChanges(), takeDocument: (id, doc) =>
      doc._attachments.tile.data, takeTimeline: (id, moments) => moments }, limits
  })

  it('carry no user name when everybody may read the store', async () => {
    const reader = open()
    for (const at of [1, 2]) assert.ok((await reader.documents.get(idOf(at))).equals(Buffer.alloc(size, idOf(at))))
    assert.deepEqual(requests.map(({ authorization }) => authorization), [undefined, undefined])
  })

  it('carry the user name once the store refuses anonymous requests', async () => {
    const reader = open()
    await reader.documents.get(idOf(1))
    closed = true
    for (const at of [2, 3]) assert.ok((await reader.documents.get(idOf(at))).equals(Buffer.alloc(size, idOf(at))))
    const basic = `Basic ${btoa('anna:secret')}`
    assert.deepEqual(requests.map(({ authorization }) => authorization), [undefined, undefined, basic, basic])
  })

  it('ask for JSON while tiles are small, and for multipart when they are not', async () => {
    const reader = open()
    const kinds = []
    for (const [at, bytes] of [1000, 1000, 1000, 1000, 40000, 1000].entries()) {
      size = bytes
      await reader.documents.get(idOf(at))
      kinds.push(requests.at(-1).accept)
    }
    assert.equal(kinds[0], 'multipart/mixed', 'what is not known is taken for large')
    assert.deepEqual(kinds.slice(-2), ['application/json', 'multipart/mixed'])
  })

  it('ask for multipart when they name many tiles, even small ones', async () => {
    const reader = open({ inline: 50000, inlineAll: 10000 })
    await reader.documents.get(idOf(0)) // 1000 bytes are believed by and by
    for (let at = 1; at < 30; at++) await reader.documents.get(idOf(at))
    assert.equal(requests.at(-1).accept, 'application/json')
    await Promise.all(Array.from({ length: 12 }, (_, at) => reader.documents.get(idOf(100 + at))))
    assert.deepEqual([requests.at(-1).ids.length, requests.at(-1).accept], [12, 'multipart/mixed'])
  })

  it('are gathered into one while another request is in flight, and no longer', async () => {
    const reader = open({ busyWait: 60000 })
    const held = gate()
    rule = () => held.opened
    const first = reader.documents.get(idOf(0))
    await until(() => requests.length === 1)
    const rest = [reader.documents.get(idOf(1))]
    await new Promise(resolve => { setTimeout(resolve, 20) })
    rest.push(reader.documents.get(idOf(2)))
    assert.equal(requests.length, 1)
    held.open()
    await Promise.all([first, ...rest]) // nothing is under way any more: there is no minute to wait
    assert.deepEqual(requests.map(({ ids }) => ids), [[idOf(0)], [idOf(1), idOf(2)]])
  })
})
