// The CouchDB contract for the server and its databases.
import assert from 'node:assert/strict'
import { answered, freshDatabase } from '../harness.js'

export const databases = target => describe('server and databases', () => {
  const db = freshDatabase(target)
  const admin = (...args) => target().admin(...args)

  it('answers GET / with Welcome and its version', async () => {
    const { json } = await answered(200, admin('GET', '/'))
    assert.equal(json.couchdb, 'Welcome')
    assert.match(json.version, /^3\.\d+\.\d+/)
    assert.equal(typeof json.vendor.name, 'string')
  })

  it('answers ok at /_up', async () => {
    assert.equal((await admin('GET', '/_up')).json.status, 'ok')
  })

  it('lists databases', async () => assert.ok((await admin('GET', '/_all_dbs')).json.includes(db.path.slice(1))))

  it('describes a database', async () => {
    const { json } = await answered(200, admin('GET', db.path))
    assert.equal(json.db_name, db.path.slice(1))
    assert.equal(json.doc_count, 0)
    assert.equal(typeof json.update_seq, 'string')
    assert.equal((await admin('HEAD', db.path)).status, 200)
  })

  it('creates a database with ?q= and refuses to create it twice', async () => {
    const path = `/${target().unique()}`
    assert.equal((await admin('PUT', `${path}?q=1`)).status, 201)
    await answered(412, admin('PUT', path), 'file_exists')
    assert.deepEqual((await admin('DELETE', path)).json, { ok: true })
    assert.deepEqual((await admin('GET', path)).json, { error: 'not_found', reason: 'Database does not exist.' })
    assert.equal((await admin('DELETE', path)).status, 404)
  })

  it('refuses bad database names', async () => {
    await answered(400, admin('PUT', '/Bad'), 'illegal_database_name')
  })

  it('accepts database names with a slash', async () => {
    const path = `/${target().unique()}%2Fsub`
    assert.equal((await admin('PUT', path)).status, 201)
    assert.equal((await admin('GET', path)).json.db_name, decodeURIComponent(path.slice(1)))
    assert.equal((await admin('PUT', `${path}/a`, { b: 1 })).status, 201)
    assert.equal((await admin('GET', `${path}/a`)).json.b, 1)
    assert.equal((await admin('DELETE', path)).status, 200)
  })

  it('refuses to delete a database with ?rev=', () => answered(400, admin('DELETE', `${db.path}?rev=1-a`)))

  it('accepts requests for compaction, cleanup and full commit', async () => {
    assert.equal((await admin('POST', `${db.path}/_compact`)).status, 202)
    assert.equal((await admin('POST', `${db.path}/_view_cleanup`)).status, 202)
    assert.equal((await admin('POST', `${db.path}/_ensure_full_commit`)).status, 201)
  })

  it('says how large a database and an index are', async () => {
    await admin('PUT', `${db.path}/_design/sized`, { views: { v: { map: '(function (doc) { emit(doc._id) })' } } })
    await admin('PUT', `${db.path}/sized`, { text: 'x'.repeat(1000) })
    await admin('GET', `${db.path}/_design/sized/_view/v`)
    const valuesOf = sizes => [sizes.file, sizes.external, sizes.active]
    for (const size of valuesOf((await admin('GET', db.path)).json.sizes)) assert.ok(size > 0)
    const { name, view_index: index } = (await admin('GET', `${db.path}/_design/sized/_info`)).json
    assert.equal(name, 'sized')
    for (const size of valuesOf(index.sizes)) assert.ok(size > 0)
    assert.deepEqual([index.updater_running, index.compact_running], [false, false])
  })

  it('lists active tasks to admins only', async () => {
    assert.ok(Array.isArray((await admin('GET', '/_active_tasks')).json))
    assert.equal((await target().anonymous('GET', '/_active_tasks')).status, 401)
  })

  it('refuses a POST that is not JSON', async () => {
    await answered(415, admin('POST', `${db.path}/_bulk_docs`, '{"docs":[]}', { 'Content-Type': 'text/plain' }),
      'bad_content_type')
  })

  it('names the allowed methods when it answers 405', async () => {
    const { headers } = await answered(405, admin('PUT', `${db.path}/_all_docs`, '{}'), 'method_not_allowed')
    assert.equal(headers.allow, 'GET,HEAD,POST')
  })

  it('answers 404 for unknown special paths', async () => {
    assert.deepEqual((await admin('GET', `${db.path}/_nope`)).json, { error: 'not_found', reason: 'missing' })
    assert.equal((await admin('GET', '/_nope')).status, 404)
    assert.equal((await admin('GET', `${db.path}/%zz`)).status, 400)
  })
})
