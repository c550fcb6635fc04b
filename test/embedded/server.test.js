// The embedded store as a process: its lock, its folder, and its effects on the host. After a power cut, a restored
// folder or a full disk, it has all documents that it confirmed, and its indexes match them.
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import {
  cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync
} from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import { Databases } from '../../server/embedded/databases.js'
import { findEmbedded, startEmbedded } from '../../server/embedded/index.js'
import { TIME_FACTOR } from '../../bench/wait.js'
import { useSmallDisk } from '../support/small-disk.js'
import { clientFor, startIn, startInProcess, startInTmp } from './harness.js'

const require = createRequire(import.meta.url)

describe('the embedded server', function () {
  this.timeout(20000)
  const closing = []
  const children = []
  let dir
  beforeEach(() => { dir = mkdtempSync(join(tmpdir(), 'emb-test-')) })
  afterEach(async () => {
    for (const close of closing.splice(0)) await close()
    for (const child of children.splice(0)) child.kill('SIGKILL')
    rmSync(dir, { recursive: true, force: true })
  })

  /** A server for one test. */
  async function open () {
    const server = await startIn(dir)
    closing.push(server.close)
    return server
  }

  /** Starts a server in another process; resolves when it listens. */
  async function startElsewhere (cwd) {
    const started = startInProcess({ dir }, { cwd })
    children.push(started.child)
    return { ...started, url: await started.listening }
  }

  it('gives each database its own instance_start_time, which a restart keeps', async () => {
    const startsOf = async isNew => {
      const { client, close } = await open()
      const starts = []
      for (const name of ['one', 'two']) {
        if (isNew) await client('PUT', `/${name}`)
        starts.push((await client('GET', `/${name}`)).json.instance_start_time)
      }
      await close()
      return starts
    }
    const [one, two] = await startsOf(true)
    assert.match(one, /^\d+$/)
    assert.notEqual(one, two)
    assert.deepEqual(await startsOf(false), [one, two])
  })

  it('listens on loopback and keeps its data over a restart', async () => {
    const { url, client: firstClient, close } = await open()
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+$/)
    await firstClient('PUT', '/kept%2Fdb')
    await firstClient('PUT', '/kept%2Fdb/doc', { a: 1 })
    await firstClient('PUT', '/kept%2Fdb/_security', { members: { roles: ['r'] } })
    await firstClient('PUT', '/kept%2Fdb/_design/d', { views: { v: { map: '(function (doc) { emit(doc.a) })' } } })
    await firstClient('GET', '/kept%2Fdb/_design/d/_view/v')
    await close()
    await close() // a second close does nothing
    mkdirSync(join(dir, 'databases', '100%')) // a folder of another program
    const { client: secondClient } = await open()
    assert.deepEqual((await secondClient('GET', '/_all_dbs')).json, ['kept/db'])
    assert.equal((await secondClient('GET', '/kept%2Fdb/doc')).json.a, 1)
    assert.deepEqual((await secondClient('GET', '/kept%2Fdb/_security')).json, { members: { roles: ['r'] } })
    assert.equal((await secondClient('GET', '/kept%2Fdb/_design/d/_view/v')).json.total_rows, 1)
  })

  it('answers 404 for what was being read when its database was deleted', async () => {
    const databases = new Databases(join(dir, 'own'), /** @type {any} */ (undefined))
    await databases.create('db')
    const database = databases.get('db')
    const refusal = assert.rejects(database.use(async () => {
      await once(database, 'changed') // the deletion begins
      throw new TypeError('the files are closed')
    }), { status: 404, reason: 'Database does not exist.' })
    await setImmediate() // the read begins
    await databases.remove('db')
    await refusal
  })

  it('locks its folder against a second server in any process, but not if its port was in use', async () => {
    const server = await startEmbedded({ dir })
    await assert.rejects(startEmbedded({ dir }), { code: 'EMBEDDED_LOCKED' })
    await assert.rejects(startElsewhere(), /EMBEDDED_LOCKED/)
    assert.equal(await findEmbedded(dir), server.adminUrl)
    await server.close()
    assert.equal(await findEmbedded(dir), null)
    assert.equal(existsSync(join(dir, 'server.json')), false)
    const otherServer = await startInTmp()
    await assert.rejects(startEmbedded({ dir, port: otherServer.port }), { code: 'PORT_IN_USE' })
    await otherServer.stop()
    await (await startEmbedded({ dir, admins: 'everybody' })).close()
  })

  it('is found from another process until it is killed', async () => {
    const { child, url, exited } = await startElsewhere()
    assert.equal(await findEmbedded(dir), url)
    assert.equal(JSON.parse(readFileSync(join(dir, 'server.json'), 'utf8')).pid, child.pid)
    await assert.rejects(startEmbedded({ dir, admins: 'everybody' }), { code: 'EMBEDDED_LOCKED' })
    child.kill('SIGKILL')
    await exited
    assert.equal(await findEmbedded(dir), null)
    const server = await startEmbedded({ dir, admins: 'everybody' }) // the lock ended with its process
    await server.close()
  })

  it('is not found when another server has its port', async () => {
    const otherServer = await startInTmp()
    writeFileSync(join(dir, 'server.json'), JSON.stringify({ url: otherServer.url, pid: process.pid, uuid: 'another' }))
    assert.equal(await findEmbedded(dir), null)
    await otherServer.stop()
  })

  it('gives every client admin rights when everybody is admin', async () => {
    const { client } = await open()
    assert.deepEqual((await client('GET', '/_session')).json.userCtx, { name: null, roles: ['_admin'] })
    assert.equal((await client('PUT', '/db')).status, 201)
  })

  it('starts quickly, writes nothing to the working folder and nothing to the terminal', async () => {
    const cwd = mkdtempSync(join(tmpdir(), 'emb-cwd-'))
    const started = Date.now()
    const { child, url, errors, exited } = await startElsewhere(cwd)
    assert.ok(Date.now() - started < 5000 * TIME_FACTOR)
    const client = clientFor(url)
    await client('PUT', '/db')
    await client('PUT', '/db/doc/tile', 'abc', { 'Content-Type': 'image/png' })
    await client('PUT', '/db/_design/d', { shows: { ok: '(function () { return "ok" })' } })
    assert.equal((await client('GET', '/db/_design/d/_show/ok')).text, 'ok')
    client.end()
    child.kill('SIGTERM')
    await exited
    assert.equal(errors(), '')
    assert.deepEqual(readdirSync(cwd), [])
    rmSync(cwd, { recursive: true })
  })

  it('opens and deletes no folder that a local document names', async () => {
    const notes = '_local/_pouch_dependentDbs' // where PouchDB keeps the paths of its indexes
    const victim = join(dir, 'databases', 'victim', 'docs')
    const otherFolder = join(dir, 'elsewhere')
    const hostile = { dependentDbs: {
      [victim]: true, [otherFolder]: true, [`${victim}-mrview-${'0'.repeat(32)}/../../../elsewhere`]: true
    } }
    const { client, close } = await open()
    await client('PUT', '/victim')
    await client('PUT', '/victim/doc', { n: 1 })
    await client('PUT', '/victim/_local/lastSeq', { seq: 1e9 })
    await client('PUT', '/db')
    for (const [method, path, body] of [['PUT', `/db/${notes}`, hostile],
      ['PUT', `/db/${encodeURIComponent(notes)}`, hostile],
      ['PUT', `/db/${notes}?new_edits=false&rev=1-a`, { ...hostile, _rev: '1-a' }],
      ['POST', '/db', { _id: notes, ...hostile }]]) {
      assert.equal((await client(method, path, body)).status, 403, `${method} ${path}`)
    }
    const { status, text } = await client('POST', '/db/_bulk_docs', { docs: [{ _id: notes, ...hostile }] })
    assert.ok(status === 403 || /forbidden/.test(text), text)
    await close()
    // written directly, because the server refuses it
    const PouchDB = require('pouchdb-node')
    const pouch = new PouchDB(join(dir, 'databases', 'db', 'docs'))
    await pouch.put({ _id: notes, ...hostile })
    await pouch.close()
    const { client: secondClient } = await open()
    assert.equal((await secondClient('GET', '/db')).status, 200)
    assert.equal((await secondClient('GET', '/victim/doc')).json.n, 1)
    assert.equal(existsSync(otherFolder), false)
  })

  it('ends waiting feeds when it closes or their database is deleted', async () => {
    const { client, close } = await open()
    await client('PUT', '/db')
    const firstFeed = client('GET', '/db/_changes?feed=longpoll&since=now&heartbeat=20')
    await client('GET', '/db')
    assert.equal((await client('DELETE', '/db')).status, 200)
    await firstFeed.catch(() => {})
    await client('PUT', '/db')
    const secondFeed = client('GET', '/db/_changes?feed=continuous&since=now&heartbeat=20').catch(() => {})
    await client('GET', '/db')
    await close()
    await secondFeed
  })

  it('keeps design functions from setting cookies and security headers', async () => {
    const { client } = await open()
    const headers = {
      'X-Own': 'a', 'Set-Cookie': 'AuthSession=x', 'content-security-policy': 'script-src *',
      'X-CONTENT-TYPE-OPTIONS': 'none'
    }
    const text = JSON.stringify({ code: 200, headers, body: 'x' })
    await client('PUT', '/db')
    await client('PUT', '/db/_design/d', {
      shows: { s: `(function () { return ${text} })` },
      lists: { l: `(function () { start(${text}) })` },
      views: { v: { map: '(function (doc) { emit(doc._id) })' } },
      rewrites: `(function () { return ${text} })`
    })
    for (const path of ['_show/s', '_list/l/v', '_rewrite/x']) {
      const answer = await client('GET', `/db/_design/d/${path}`)
      assert.deepEqual([answer.status, answer.headers['x-own'], answer.headers['set-cookie']],
        [200, 'a', undefined], path)
      assert.deepEqual([answer.headers['content-security-policy'], answer.headers['x-content-type-options']],
        ['sandbox', 'nosniff'], path)
    }
  })
})

const leveldown = require('leveldown')

const BY_N = { views: { by_n: { map: '(function (doc) { emit(doc.n) })' } } }

describe('the embedded store after a power cut', function () {
  this.timeout(20000)
  let dir, client, stop
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
    ({ client, close: stop } = await startIn(join(dir, 'data')))
  }
  async function restart () {
    await stop()
    await start()
  }
  const numbers = (...ranges) => ranges.flatMap(([from, to]) => Array.from({ length: to - from }, (_, n) => from + n))
  const write = (...range) => client('POST', '/db/_bulk_docs',
    { docs: numbers(range).map(n => ({ _id: `d${String(n).padStart(3, '0')}`, n })) })
  const readIndex = async () => (await client('GET', '/db/_design/d/_view/by_n')).json.rows.map(({ key }) => key)

  /** Runs a task and then restores the earlier documents. The indexes keep the state after the task. */
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

  for (const [when, beforeQuery] of [['at once', () => {}], ['after a restart without queries', restart]]) {
    it(`indexes new documents when the index was ahead of the database, ${when}`, async () => {
      await client('PUT', '/db/_design/d', BY_N)
      await write(0, 50)
      assert.equal((await readIndex()).length, 50)
      await rewind(async () => {
        await write(50, 100)
        assert.equal((await readIndex()).length, 100)
      })
      // fewer documents than were lost, then more: sequence numbers do not show the loss
      await write(200, 220)
      await beforeQuery()
      assert.deepEqual(await readIndex(), numbers([0, 50], [200, 220]))
      await write(300, 360)
      await beforeQuery()
      assert.deepEqual(await readIndex(), numbers([0, 50], [200, 220], [300, 360]))
    })
  }

  it('keeps an index that is not ahead of the database, and reads documents although one is damaged', async () => {
    await client('PUT', '/db/_design/d', BY_N)
    await write(0, 50)
    await readIndex()
    await restart()
    assert.equal((await client('GET', '/db/_design/d/_view/by_n?update=false')).json.rows.length, 50)
    await stop()
    const views = join(dir, 'data', 'databases', 'db', 'views')
    for (const name of readdirSync(views)) writeFileSync(join(views, name, 'CURRENT'), 'nonsense')
    await start()
    assert.equal((await client('GET', '/db/d001')).status, 200)
    assert.equal((await client('GET', '/db/_design/d/_view/by_n')).status, 500)
  })

  it('syncs each write of documents to the disk, but no write of indexes', async () => {
    await client('PUT', '/db/_design/d', BY_N)
    const syncs = []
    const originalBatch = leveldown.prototype._batch
    leveldown.prototype._batch = function (operations, options, callback) {
      syncs.push([/views/.test(this.location), Boolean(options.sync)])
      return originalBatch.call(this, operations, options, callback)
    }
    try {
      // its LevelDB is opened after the method was replaced
      await restart()
      await write(0, 10)
      await client('PUT', '/db/one', { n: 1 })
      await client('PUT', '/db/_local/checkpoint', { n: 1 })
      await readIndex()
    } finally {
      leveldown.prototype._batch = originalBatch
    }
    assert.ok(syncs.filter(([isIndex]) => !isIndex).length >= 3)
    for (const [isIndex, isSync] of syncs) assert.equal(isSync, !isIndex)
  })
})

describe('the embedded server on a full disk', function () {
  this.timeout(60000)
  const disk = useSmallDisk(48)
  let client, stop

  before(async () => {
    await start()
    await client('PUT', '/db')
    await client('PUT', '/db/_design/d', { views: { v: { map: '(function (doc) { emit(doc._id) })' } } })
  })
  after(() => stop?.())

  async function start () {
    ({ client, close: stop } = await startIn(join(disk.dir, 'data')))
  }

  let batch = 0
  const load = () => {
    const n = batch++
    const image = () => ({ content_type: 'image/png', data: randomBytes(10000).toString('base64') })
    const docs =
      Array.from({ length: 50 }, (_, index) => ({ _id: `b${n}:${index}`, n, _attachments: { tile: image() } }))
    return client('POST', '/db/_bulk_docs', { docs })
  }
  const storedIds = new Set()
  const remember = docs => { for (const { id } of docs) storedIds.add(id) }
  async function assertAllStored (path) {
    const ids = new Set((await client('GET', path)).json.rows.map(({ id }) => id))
    for (const id of storedIds) assert.ok(ids.has(id), id)
  }

  it('answers writes with 507, still reads, writes again after space is freed, keeps all over a restart', async () => {
    for (let i = 0; i < 10; i++) remember((await load()).json)
    disk.fill(700000)
    let fullAnswer
    for (let i = 0; i < 40 && !fullAnswer; i++) {
      const answers = await Promise.all([load(), load(), load(), load()])
      for (const { status, json } of answers) {
        if (status === 201) remember(json)
        else fullAnswer = { status, json }
      }
    }
    assert.equal(fullAnswer.status, 507)
    assert.equal(fullAnswer.json.error, 'insufficient_storage')
    const tile = { content_type: 'image/png', data: 'YWJj' }
    const writes = [['/db/x', {}], ['/db/_local/x', {}], ['/db/y', { _attachments: { tile } }], ['/full']]
    for (const [path, body] of writes) {
      const { status, text } = await client('PUT', path, body)
      assert.ok([201, 507].includes(status), `${path} ${status} ${text}`)
    }
    await assertAllStored('/db/_all_docs')
    const [first] = storedIds
    assert.equal((await client('GET', `/db/${first}/tile`)).bytes.length, 10000)
    assert.equal((await client('GET', '/db/_changes?limit=1')).status, 200)
    assert.ok([200, 507].includes((await client('GET', '/db/_design/d/_view/v')).status))
    disk.free()
    const answers = await Promise.all([load(), load(), load(), load()])
    for (const { status, text, json } of answers) {
      assert.equal(status, 201, text)
      remember(json)
    }
    await assertAllStored('/db/_design/d/_view/v')
    assert.equal((await client('PUT', '/db/_local/x', {})).status, 201)
    await stop()
    await start()
    await assertAllStored('/db/_all_docs')
  })
})
