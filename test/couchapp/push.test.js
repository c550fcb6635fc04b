// Pushing design documents to a CouchDB: new, changed and unchanged ones, staging documents, and concurrent pushes.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { promisify } from 'node:util'
import couchdbPush from 'couchdb-push'
import { compose, composeFolder } from '../../loader/couchapp/compose.js'
import { push } from '../../loader/couchapp/push.js'
import { Couch } from '../../loader/store/couch.js'
import { couchDb, json, post, put, request } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { skip } from '../support/tools.js'

/** A new database on a real CouchDB for each test of a suite. Without one, the suite is skipped. */
function useDatabase () {
  const database = { url: '' }
  before(function () { if (!couchDb) skip(this, 'no real CouchDB') })
  beforeEach(async () => {
    database.url = await couchDb.database()
    await request(database.url, { method: 'PUT' })
  })
  afterEach(async () => { if (database.url) await request(database.url, { method: 'DELETE' }) })
  return database
}

/** A document with its attachments. CouchDB sends them in several parts unless the request asks for JSON. */
const readWhole = url => json(`${url}?attachments=true`, { headers: { accept: 'application/json' } })
const pushClassic = promisify(couchdbPush)
const view = body => `(function (doc) { ${body} })`
const design = (map, more = {}) => (
  { _id: '_design/app', language: 'javascript', views: { all: { map: view(map), reduce: '_count' } }, couchapp: {
    signatures: {}
  }, ...more }
)
const actions = pushed => Object.fromEntries(pushed.map(({ id, action }) => [id, action]))

describe('pushing design documents', function () {
  const database = useDatabase()
  const fill = count => post(`${database.url}/_bulk_docs`,
    { docs: Array.from({ length: count }, (_, index) => ({ _id: `d${index}`, index })) })
  const couch = () => new Couch(database.url, { retries: 2 })
  const ids = async () => (await json(`${database.url}/_all_docs`))
    .rows.map(({ id }) => id).filter(id => id.startsWith('_design/'))

  it('deploys new documents, and leaves no staging document', async () => {
    const docs = await compose()
    assert.deepEqual(Object.values(actions(await push(couch(), docs))), ['new', 'new'])
    assert.deepEqual(await ids(), docs.map(({ _id }) => _id).sort())
    for (const doc of docs) {
      const { _rev, _attachments, ...stored } = await json(`${database.url}/${doc._id}`)
      const { _attachments: attachments, ...expected } = doc
      assert.deepEqual(stored, expected)
      assert.deepEqual(Object.keys(_attachments ?? {}).sort(), Object.keys(attachments ?? {}).sort())
    }
  })

  it('does not write unchanged documents', async () => {
    const docs = await compose()
    await push(couch(), docs)
    const revs = async () => (await json(`${database.url}/_all_docs`))
      .rows.map(({ id, value }) => `${id} ${value.rev}`)
    const before = await revs()
    assert.deepEqual([...new Set(Object.values(actions(await push(couch(), docs))))], ['unchanged'])
    assert.deepEqual(await revs(), before)
  })

  it('replaces only the documents that changed, and names their fields', async () => {
    const docs = await compose()
    await push(couch(), docs)
    const revOf = async id => (await json(`${database.url}/${id}`))._rev
    const before = await revOf('_design/versions')
    const changed = docs.map(doc => doc._id === '_design/tiles' ? { ...doc, rewrites: [], lists: undefined } : doc)
    const pushed = await push(couch(), JSON.parse(JSON.stringify(changed)))
    assert.deepEqual(pushed.filter(({ action }) => action !== 'unchanged').map(({ id, action, fields }) => ({
      id, action, fields: fields.sort()
    })),
      [{ id: '_design/tiles', action: 'changed', fields: ['lists', 'rewrites'] }])
    assert.equal(await revOf('_design/versions'), before)
    assert.equal((await json(`${database.url}/_design/tiles`)).lists, undefined)
  })

  it('notices an attachment whose bytes changed', async () => {
    const app = (text, signature) => [
      { _id: '_design/app', language: 'javascript', _attachments: {
        'a.txt': { content_type: 'text/plain', data: btoa(text) }
      }, couchapp: { signatures: { 'a.txt': signature } } }
    ]
    await push(couch(), app('one', '1'))
    assert.deepEqual(actions(await push(couch(), app('one', '1'))), { '_design/app': 'unchanged' })
    assert.deepEqual(actions(await push(couch(), app('two', '2'))), { '_design/app': 'changed' })
    assert.equal((await readWhole(`${database.url}/_design/app`))._attachments['a.txt'].data, btoa('two'))
  })

  it('changes nothing in a dry run', async () => {
    const docs = await compose()
    assert.deepEqual([...new Set(Object.values(actions(await push(couch(), docs, { dryRun: true }))))], ['new'])
    assert.deepEqual(await ids(), [])
    await push(couch(), [design('emit(doc._id)')])
    const pushed = await push(couch(), [design('emit(doc.index)')], { dryRun: true })
    assert.deepEqual(pushed, [{ id: '_design/app', action: 'changed', fields: ['views'] }])
    assert.match((await json(`${database.url}/_design/app`)).views.all.map, /_id/)
  })

  it('never lets a reader see a view without its index', async () => {
    await fill(1500)
    await push(couch(), [design('emit(doc._id)')])
    let isDone = false
    const seenCounts = []
    const reading = (async () => {
      while (!isDone) {
        const { rows } = await json(`${database.url}/_design/app/_view/all?update=false`)
        seenCounts.push(rows[0]?.value ?? 0)
      }
    })()
    await push(couch(), [design('emit(doc._id); emit(doc.index)')])
    // at least one read after the swap
    seenCounts.push((await json(`${database.url}/_design/app/_view/all?update=false`)).rows[0]?.value ?? 0)
    isDone = true
    await reading
    assert.deepEqual([...new Set(seenCounts)], [1500, 3000], 'the old index whole, then the new one whole')
    assert.deepEqual(await ids(), ['_design/app'])
  })

  it('replaces the staging document of an earlier push that did not end', async () => {
    await push(couch(), [design('emit(doc._id)')])
    await put(`${database.url}/_design/app-staging`,
      { language: 'javascript', views: { all: { map: view('emit(1)') } } })
    await push(couch(), [design('emit(doc.index)')])
    assert.deepEqual(await ids(), ['_design/app'])
  })

  it('cleans up after a push that was killed between the swap and the end', async () => {
    await push(couch(), [design('emit(doc._id)')])
    await put(`${database.url}/_design/app-staging`,
      { language: 'javascript', views: { all: { map: view('emit(doc._id)') } } })
    assert.deepEqual(actions(await push(couch(), [design('emit(doc._id)')])), { '_design/app': 'unchanged' })
    assert.deepEqual(await ids(), ['_design/app'])
  })

  it('succeeds for three concurrent pushes of the same document', async () => {
    await fill(300)
    for (const body of ['emit(doc.index)', 'emit(doc.index + 1)', 'emit(doc.index + 2)']) {
      const pushed = await Promise.all([0, 20, 40].map(async delay => {
        await sleep(delay) // different delays, so that the pushes meet at different steps
        return push(couch(), [design(body)])
      }))
      assert.ok(pushed.flat().some(({ action }) => action !== 'unchanged'))
      assert.equal((await json(`${database.url}/_design/app`)).views.all.map, view(body))
      assert.deepEqual(await ids(), ['_design/app'])
    }
  })

  it('goes on when a concurrent push removes the staging document', async () => {
    await fill(10)
    await push(couch(), [design('emit(1)')])
    for (const step of ['warm', 'remove']) {
      const [slow, body] = [couch(), `emit('${step}')`]
      const originalRequest = slow.request.bind(slow)
      let isFirst = true
      slow.request = async options => {
        const isMeeting = step === 'warm' ? /app-staging\/_view/.test(options.path ?? '')
          : options.method === 'DELETE' && /app-staging/.test(options.path)
        if (isMeeting && isFirst) {
          isFirst = false
          await push(couch(), [design(body)])
        }
        return originalRequest(options)
      }
      await push(slow, [design(body)])
      assert.deepEqual(await ids(), ['_design/app'])
    }
  })

  it('can be stopped while an index is built, and then keeps the old index', async () => {
    await fill(3000)
    await push(couch(), [design('emit(doc._id)')])
    const controller = new AbortController()
    const pushing = push(couch(), [design('for (var i = 0; i < 20; i++) emit(i)')], { signal: controller.signal })
    const stopped = assert.rejects(pushing, { code: 'ABORTED' })
    while (!(await ids()).includes('_design/app-staging')) await sleep(5)
    controller.abort()
    await stopped
    assert.match((await json(`${database.url}/_design/app`)).views.all.map, /_id/)
  })
})

describe('the classic couchapp folders', function () {
  const folder = useFolder()
  const database = useDatabase()

  it('are pushed unchanged by couchdb-push, and become the same design documents', async () => {
    const folders = await composeFolder(folder.dir)
    const docs = await compose()
    for (const source of folders) await pushClassic(database.url, source)
    for (const { _id, couchapp, _attachments = {}, ...expected } of docs) {
      const { _rev, _attachments: pushedFiles = {}, ...stored } = await readWhole(`${database.url}/${_id}`)
      assert.deepEqual(stored, { _id, ...expected })
      assert.deepEqual(bytesOf(pushedFiles), bytesOf(_attachments))
    }
  })

  it('pushed by couchdb-push answer requests, and differ only in signatures and attachments', async () => {
    for (const source of await composeFolder(folder.dir)) await pushClassic(database.url, source)
    const { error } = await json(`${database.url}/_design/tiles/_rewrite/osm/1/5/0.png`)
    assert.equal(error, 'BAD_TILE')
    const pushed = await push(new Couch(database.url), await compose(), { dryRun: true })
    assert.deepEqual(pushed.map(
      ({ fields }) => fields.filter(field => field !== 'couchapp' && field !== '_attachments')
    ).flat(), [], 'only signatures and content types differ')
  })
})

const bytesOf =
  attachments => Object.fromEntries(Object.entries(attachments).map(([name, { data }]) => [name, data]).sort())
