import assert from 'node:assert/strict'
import { freshDatabase } from '../harness.js'

export const security = target => describe('security', () => {
  const db = freshDatabase(target)
  const { admin } = db
  const refused = (answer, status, error, reason) => {
    assert.equal(answer.status, status, answer.text)
    assert.deepEqual(answer.json, { error, reason })
  }

  it('knows who asks', async () => {
    assert.deepEqual((await target().admin('GET', '/_session')).json.userCtx, { name: 'admin', roles: ['_admin'] })
    assert.deepEqual((await target().anonymous('GET', '/_session')).json.userCtx, { name: null, roles: [] })
    assert.deepEqual((await target().writer('GET', '/_session')).json.userCtx, { name: target().writerName, roles: ['tilecouch-writer'] })
    refused(await target().wrong('GET', '/'), 401, 'unauthorized', 'Name or password is incorrect.')
  })

  it('keeps new databases for admins', async () => {
    assert.deepEqual((await admin('GET', '/_security')).json, { members: { roles: ['_admin'] }, admins: { roles: ['_admin'] } })
    refused(await target().anonymous('GET', db.path), 401, 'unauthorized', 'You are not authorized to access this db.')
    refused(await target().writer('GET', db.path), 403, 'forbidden', 'You are not allowed to access this db.')
    refused(await target().anonymous('GET', `${db.path}/_changes`), 401, 'unauthorized', 'You are not authorized to access this db.')
  })

  it('lets only admins make, list and delete databases', async () => {
    refused(await target().anonymous('PUT', `/${target().unique()}`), 401, 'unauthorized', 'You are not a server admin.')
    refused(await target().anonymous('DELETE', db.path), 401, 'unauthorized', 'You are not a server admin.')
    refused(await target().anonymous('GET', '/_all_dbs'), 401, 'unauthorized', 'You are not a server admin.')
  })

  it('opens a database with empty members', async () => {
    assert.equal((await admin('PUT', '/_security', { admins: { names: [], roles: [] }, members: { names: [], roles: [] } })).status, 200)
    assert.equal((await target().anonymous('GET', db.path)).status, 200)
    assert.equal((await target().anonymous('PUT', `${db.path}/a`, {})).status, 201)
    refused(await target().anonymous('PUT', `${db.path}/_design/x`, {}), 401, 'unauthorized', 'You are not a db or server admin.')
    refused(await target().writer('PUT', `${db.path}/_design/x`, {}), 403, 'forbidden', 'You are not a db or server admin.')
    assert.notEqual((await target().anonymous('PUT', `${db.path}/_security`, {})).status, 200) // CouchDB: 500 no_majority
    assert.equal((await target().anonymous('POST', `${db.path}/_compact`)).status, 401)
    const { json } = await target().anonymous('POST', `${db.path}/_bulk_docs`, { docs: [{ _id: '_design/z' }, { _id: 'b' }] })
    assert.equal(json[0].error, 'unauthorized')
    assert.equal(json[1].ok, true)
  })

  it('knows members and database admins by role and name', async () => {
    await admin('PUT', '/_security', { members: { roles: ['tilecouch-writer'] } })
    assert.equal((await target().writer('GET', db.path)).status, 200)
    assert.equal((await target().anonymous('GET', db.path)).status, 401)
    assert.equal((await target().writer('PUT', `${db.path}/_design/y`, {})).status, 403)
    await admin('PUT', '/_security', { admins: { names: [target().writerName] }, members: { names: ['somebody'] } })
    assert.equal((await target().writer('PUT', `${db.path}/_design/y`, {})).status, 201)
    assert.equal((await target().writer('PUT', `${db.path}/_security`, { admins: { names: [target().writerName] } })).status, 200)
    assert.equal((await target().writer('DELETE', db.path)).status, 401)
  })
})
