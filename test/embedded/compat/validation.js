// The CouchDB contract for validation functions.
import assert from 'node:assert/strict'
import { answered, freshDatabase } from '../harness.js'

const check = `(function (newDoc, oldDoc, userCtx, secObj) {
  if (newDoc.tell) throw { forbidden: JSON.stringify([newDoc, oldDoc, userCtx, secObj]) }
  if (newDoc.bad) throw { forbidden: "bad" }
  if (newDoc.who) throw { unauthorized: "who" }
  if (newDoc.text) throw "text"
  if (newDoc._deleted && oldDoc && oldDoc.keep) throw { forbidden: "kept" }
  if (newDoc.needs && !newDoc._attachments) throw { forbidden: "needs a tile" }
})`

export const validation = target => describe('validation', () => {
  const db = freshDatabase(target, { open: true })
  const { admin } = db

  before(() => admin('PUT', '/_design/val', { validate_doc_update: check }))

  it('refuses documents with the error that the function throws', async () => {
    await answered(403, admin('PUT', '/x', { bad: 1 }), 'forbidden', 'bad')
    await answered(401, admin('PUT', '/x', { who: 1 }), 'unauthorized', 'who')
    const { json } = await answered(500, admin('PUT', '/x', { text: 1 }), 'unknown_error')
    assert.equal(json.reason, 'text')
  })

  it('passes new document, old document, user and security to the function', async () => {
    const argumentsOf = async (...args) => JSON.parse((await target().writer(...args)).json.reason)
    const [newDoc, oldDoc, userCtx, secObj] =
      await argumentsOf('PUT', `${db.path}/x`,
        { tell: 1, _attachments: { t: { content_type: 'image/png', data: 'YWJj' } } })
    assert.equal(newDoc._id, 'x')
    assert.deepEqual({ ...newDoc._attachments.t }, { content_type: 'image/png', revpos: 0, length: 3, stub: true })
    assert.equal(oldDoc, null)
    assert.deepEqual(userCtx, { db: db.path.slice(1), name: target().writerName, roles: ['tilecouch-writer'] })
    assert.deepEqual(secObj, { members: {}, admins: {} })
    const { rev } = (await admin('PUT', '/y', { n: 1 })).json
    const [changed, previous] = await argumentsOf('PUT', `${db.path}/y`, { n: 2, tell: 1, _rev: rev })
    assert.equal(changed._rev, rev)
    assert.equal(previous.n, 1)
    assert.equal(previous._rev, rev)
    const [, , anonymous] = JSON.parse((await target().anonymous('PUT', `${db.path}/x`, { tell: 1 })).json.reason)
    assert.deepEqual(anonymous, { db: db.path.slice(1), name: null, roles: [] })
  })

  it('judges each document of a batch', async () => {
    const { json } = await answered(201, admin('POST', '/_bulk_docs',
      { docs: [{ _id: 'b1', bad: 1 }, { _id: 'b2' }, { _id: 'b3', who: 1 }, { _id: 'y' }] }))
    assert.deepEqual(json[0], { id: 'b1', error: 'forbidden', reason: 'bad' })
    assert.equal(json[1].ok, true)
    assert.equal(json[2].error, 'unauthorized')
    assert.equal(json[3].error, 'conflict')
  })

  it('comes after the check for conflicts', async () => {
    const { rev } = (await admin('PUT', '/contended', { n: 1 })).json
    await answered(409, admin('PUT', '/contended', { bad: 1 }), 'conflict')
    await admin('PUT', '/contended', { _rev: rev, n: 2 })
    await answered(409, admin('PUT', '/contended', { _rev: rev, bad: 1 }), 'conflict')
    await answered(409, admin('PUT', '/contended', { _rev: '1-abc', bad: 1 }), 'conflict')
    await answered(409, admin('PUT', '/unheard', { _rev: '1-abc', bad: 1 }), 'conflict')
    const { json } = await admin('POST', '/_bulk_docs',
      { docs: [{ _id: 'contended', bad: 1 }, { _id: 'contended', _rev: rev, _deleted: true }] })
    assert.deepEqual(json.map(({ error }) => error), ['conflict', 'conflict'])
  })

  it('judges replicated revisions', async () => {
    const { json } = await admin('POST', '/_bulk_docs',
      { new_edits: false, docs: [{ _id: 'r1', bad: 1, _rev: '1-a' }, { _id: 'r2', _rev: '1-a' }] })
    assert.deepEqual(json, [{ id: 'r1', rev: '1-a', error: 'forbidden', reason: 'bad' }])
    assert.equal((await admin('GET', '/r2')).status, 200)
  })

  it('judges deletions and attachments', async () => {
    const { rev } = (await admin('PUT', '/kept', { keep: 1 })).json
    await answered(403, admin('DELETE', `/kept?rev=${rev}`), 'forbidden', 'kept')
    const created = (
      await admin('PUT', '/tiled', { needs: 1, _attachments: { t: { content_type: 'image/png', data: 'YWJj' } } })
    ).json
    await answered(403, admin('PUT', '/tiled', { needs: 1, _rev: created.rev }), 'forbidden', 'needs a tile')
    const attachments = { t: { stub: true }, u: { content_type: 'image/png', data: 'YWJj' } }
    assert.equal((await admin('PUT', '/tiled', { needs: 1, _rev: created.rev, _attachments: attachments })).status, 201)
  })

  it('skips local and design documents', async () => {
    assert.equal((await admin('PUT', '/_local/x', { bad: 1 })).status, 201)
    assert.equal((await admin('PUT', '/_design/free', { bad: 1 })).status, 201)
  })

  it('follows changes of the function', async () => {
    const ddoc = (await admin('GET', '/_design/val')).json
    await admin('PUT', '/_design/val',
      { ...ddoc, validate_doc_update: '(function (doc) { if (doc.other) throw { forbidden: "other" } })' })
    await answered(403, admin('PUT', '/z', { other: 1 }), 'forbidden', 'other')
    assert.equal((await admin('PUT', '/z', { bad: 1 })).status, 201)
  })
})
