// A power cut, or a folder that is put back to an older state: what was said to be stored is there, and indexes say
// what documents do.
import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../../server/embedded/index.js'
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
