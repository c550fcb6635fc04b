// A power cut, a folder that is put back to an older state, a full disk: what was said to be stored is there, and
// indexes say what documents do.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../../server/embedded/index.js'
import { useSmallDisk } from '../support/small-disk.js'
import { clientFor } from './harness.js'

const leveldown = createRequire(import.meta.url)('leveldown')

const BY_N = { views: { by_n: { map: '(function (doc) { emit(doc.n) })' } } }

describe('the embedded store after a power cut', function () {
  this.timeout(20000)
  let dir, server, client
  beforeEach(async () => {
    dir = mkdtempSync(join(tmpdir(), 'emb-power-'))
    await start()
    await client('PUT', '/db')
  })
  afterEach(async () => {
    await stop()
    rmSync(dir, { recursive: true })
  })

  async function start () {
    server = await startEmbedded({ dir: join(dir, 'data'), admins: 'everybody' })
    client = clientFor(server.url)
  }
  async function stop () {
    client.end()
    await server.close()
  }
  const write = (from, to) => client('POST', '/db/_bulk_docs',
    { docs: Array.from({ length: to - from },
      (_, at) => ({ _id: `d${String(from + at).padStart(3, '0')}`, n: from + at })) })
  const indexed = async () => (await client('GET', '/db/_design/d/_view/by_n')).json.rows.map(({ key }) => key)
  const numbers = (...ranges) => ranges.flatMap(([from, to]) => Array.from({ length: to - from }, (_, at) => from + at))

  /** The documents as they were, the indexes as they are. */
  async function rewind (task) {
    const docs = join(dir, 'data', 'databases', 'db', 'docs')
    await stop()
    cpSync(docs, join(dir, 'then'), { recursive: true })
    await start()
    await task()
    await stop()
    rmSync(docs, { recursive: true })
    renameSync(join(dir, 'then'), docs)
    await start()
  }

  for (const [when, between] of /** @type {const} */ (
    [['at once', () => {}], ['after a restart without queries', async () => { await stop(); await start() }]]
  )) {
    it(`indexes new documents when the index was ahead of the database, ${when}`, async () => {
      await client('PUT', '/db/_design/d', BY_N)
      await write(0, 50)
      assert.equal((await indexed()).length, 50)
      await rewind(async () => {
        await write(50, 100)
        assert.equal((await indexed()).length, 100)
      })
      // as many as were lost, and more: the numbers tell nothing any more
      await write(200, 220)
      await between()
      assert.deepEqual(await indexed(), numbers([0, 50], [200, 220]))
      await write(300, 360)
      await between()
      assert.deepEqual(await indexed(), numbers([0, 50], [200, 220], [300, 360]))
    })
  }

  it('reads documents although an index is damaged', async () => {
    await client('PUT', '/db/_design/d', BY_N)
    await write(0, 5)
    await indexed()
    await stop()
    const views = join(dir, 'data', 'databases', 'db', 'views')
    for (const name of readdirSync(views)) writeFileSync(join(views, name, 'CURRENT'), 'nonsense')
    await start()
    assert.equal((await client('GET', '/db/d001')).status, 200)
    assert.equal((await client('GET', '/db/_design/d/_view/by_n')).status, 500)
  })

  it('keeps an index that is not ahead of the database', async () => {
    await client('PUT', '/db/_design/d', BY_N)
    await write(0, 50)
    await indexed()
    await stop()
    await start()
    assert.equal((await client('GET', '/db/_design/d/_view/by_n?update=false')).json.rows.length, 50)
  })

  it('syncs each write of documents to the disk, but no write of indexes', async () => {
    await client('PUT', '/db/_design/d', BY_N)
    const syncs = []
    const write_ = leveldown.prototype._batch
    leveldown.prototype._batch = function (operations, options, callback) {
      syncs.push([/views/.test(this.location), Boolean(options.sync)])
      return write_.call(this, operations, options, callback)
    }
    try {
      // its LevelDB is opened after the method was replaced
      await stop()
      await start()
      await write(0, 10)
      await client('PUT', '/db/one', { n: 1 })
      await client('PUT', '/db/_local/checkpoint', { n: 1 })
      await indexed()
    } finally {
      leveldown.prototype._batch = write_
    }
    assert.ok(syncs.filter(([isIndex]) => !isIndex).length >= 3)
    for (const [isIndex, isSync] of syncs) assert.equal(isSync, !isIndex)
  })
})

describe('the embedded server on a full disk', function () {
  this.timeout(60000)
  const disk = useSmallDisk(48)
  let server, client

  before(async () => {
    await start()
    await client('PUT', '/db')
    await client('PUT', '/db/_design/d', { views: { v: { map: '(function (doc) { emit(doc._id) })' } } })
  })
  after(async () => {
    client?.end()
    await server?.close()
  })

  async function start () {
    server = await startEmbedded({ dir: join(disk.dir, 'data'), admins: 'everybody' })
    client = clientFor(server.url)
  }

  let batch = 0
  const load = () => {
    const n = batch++
    const image = () => ({ content_type: 'image/png', data: randomBytes(10000).toString('base64') })
    const docs = Array.from({ length: 50 }, (_, at) => ({ _id: `b${n}:${at}`, n, _attachments: { tile: image() } }))
    return client('POST', '/db/_bulk_docs', { docs })
  }
  const stored = new Set()
  const remember = docs => { for (const { id } of docs) stored.add(id) }
  async function keepsAll (path) {
    const ids = new Set((await client('GET', path)).json.rows.map(({ id }) => id))
    for (const id of stored) assert.ok(ids.has(id), id)
  }

  it('answers writes with 507 insufficient_storage', async () => {
    for (let i = 0; i < 10; i++) remember((await load()).json)
    disk.fill(700000)
    let full
    for (let i = 0; i < 40 && !full; i++) {
      const answers = await Promise.all([load(), load(), load(), load()])
      for (const { status, json } of answers) {
        if (status === 201) remember(json)
        else full = { status, json }
      }
    }
    assert.equal(full.status, 507)
    assert.equal(full.json.error, 'insufficient_storage')
    for (const [method, path, body] of [['PUT', '/db/x', {}], ['PUT', '/db/_local/x', {}], [
      'PUT', '/db/y', { _attachments: { tile: { content_type: 'image/png', data: 'YWJj' } } }
    ], ['PUT', '/full', undefined]]) {
      const { status, text } = await client(method, path, body)
      assert.ok([201, 507].includes(status), `${method} ${path} ${status} ${text}`)
    }
  })

  it('still reads all stored documents, attachments and changes', async () => {
    await keepsAll('/db/_all_docs')
    const [first] = stored
    assert.equal((await client('GET', `/db/${first}/tile`)).bytes.length, 10000)
    assert.equal((await client('GET', '/db/_changes?limit=1')).status, 200)
    assert.ok([200, 507].includes((await client('GET', '/db/_design/d/_view/v')).status))
  })

  it('writes again after space is freed, and keeps all stored documents', async () => {
    disk.free()
    const again = await Promise.all([load(), load(), load(), load()])
    for (const { status, text, json } of again) {
      assert.equal(status, 201, text)
      remember(json)
    }
    await keepsAll('/db/_design/d/_view/v')
    assert.equal((await client('PUT', '/db/_local/x', {})).status, 201)
  })

  it('has all stored documents after a restart', async () => {
    client.end()
    await server.close()
    await start()
    await keepsAll('/db/_all_docs')
  })
})
