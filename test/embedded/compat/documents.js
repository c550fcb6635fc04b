// The CouchDB contract for single documents.
import assert from 'node:assert/strict'
import { answered, freshDatabase } from '../harness.js'

export const documents = target => describe('documents', () => {
  const { admin } = freshDatabase(target)

  it('are written, read and updated', async () => {
    const created = await answered(201, admin('PUT', '/one', { a: 1 }))
    assert.match(created.json.rev, /^1-/)
    assert.equal(created.headers.etag, `"${created.json.rev}"`)
    const read = await admin('GET', '/one')
    assert.deepEqual(read.json, { _id: 'one', _rev: created.json.rev, a: 1 })
    assert.equal(read.headers.etag, `"${created.json.rev}"`)
    assert.match((await admin('PUT', '/one', { ...read.json, a: 2 })).json.rev, /^2-/)
    await answered(409, admin('PUT', '/one', { a: 3 }), 'conflict', 'Document update conflict.')
  })

  it('answer HEAD and If-None-Match', async () => {
    const { headers } = await admin('GET', '/one')
    const head = await answered(200, admin('HEAD', '/one'))
    assert.equal(head.headers.etag, headers.etag)
    assert.equal(head.text, '')
    const notModified = await answered(304, admin('GET', '/one', undefined, { 'If-None-Match': headers.etag }))
    assert.equal(notModified.text, '')
  })

  it('take : and @ in ids, raw and encoded', async () => {
    assert.equal((await admin('PUT', '/osm:10:300:412@2024-03-01T00:00:00Z', { n: 1 })).status, 201)
    for (const id of ['osm:10:300:412@2024-03-01T00:00:00Z', 'osm%3A10%3A300%3A412%402024-03-01T00%3A00%3A00Z']) {
      assert.equal((await admin('GET', `/${id}`)).json.n, 1)
    }
  })

  it('take slashes, spaces and other scripts in ids', async () => {
    for (const id of ['a/b', 'a b', 'Straße', '地図']) {
      assert.equal((await admin('PUT', `/${encodeURIComponent(id)}`, { id })).status, 201)
      assert.equal((await admin('GET', `/${encodeURIComponent(id)}`)).json._id, id)
    }
  })

  it('answer 404 with the reason missing or deleted', async () => {
    await answered(404, admin('GET', '/nope'), 'not_found', 'missing')
    const { rev } = (await admin('PUT', '/doomed', {})).json
    assert.equal((await admin('DELETE', '/doomed')).status, 409)
    const deletion = await answered(200, admin('DELETE', `/doomed?rev=${rev}`))
    assert.match(deletion.json.rev, /^2-/)
    await answered(404, admin('GET', '/doomed'), 'not_found', 'deleted')
    assert.equal((await admin('GET', `/doomed?rev=${deletion.json.rev}`)).json._deleted, true)
    assert.match((await admin('PUT', '/doomed', { back: true })).json.rev, /^3-/)
    assert.equal((await admin('DELETE', '/nope')).status, 404)
    assert.equal((await admin('DELETE', '/nope?rev=1-a')).status, 404)
  })

  it('are read at a revision', async () => {
    const first = (await admin('PUT', '/old', { n: 1 })).json.rev
    await admin('PUT', '/old', { n: 2, _rev: first })
    assert.equal((await admin('GET', `/old?rev=${first}`)).json.n, 1)
    assert.equal((await admin('GET', '/old?rev=1-abc')).status, 404)
    assert.ok((await admin('GET', '/old?rev=1-abc&latest=true')).status < 500) // CouchDB answers the winner
    assert.equal((await admin('GET', `/old?rev=${first}&latest=true`)).json.n, 2)
    const open = async revs => (await admin('GET', `/old?open_revs=${JSON.stringify(revs)}&latest=true`)).json
    assert.deepEqual((await open([first])).map(({ ok }) => ok.n), [2])
    assert.deepEqual(await open(['7-x']), [{ missing: '7-x' }])
    const bad = await answered(400, admin('GET', '/old?rev=zzz'))
    assert.equal(bad.json.reason, 'Invalid rev format')
    const { _revisions: revisions } = (await admin('GET', '/old?revs=true')).json
    assert.equal(revisions.start, 2)
    assert.equal(revisions.ids.length, 2)
  })

  it('show their conflicts and open revisions', async () => {
    const docs =
      ['b', 'c'].map(id => ({ _id: 'fork', _rev: `2-${id}`, _revisions: { start: 2, ids: [id, 'a'] }, v: id }))
    assert.deepEqual((await admin('POST', '/_bulk_docs', { new_edits: false, docs })).json, [])
    assert.deepEqual((await admin('GET', '/fork?conflicts=true')).json,
      { _id: 'fork', _rev: '2-c', v: 'c', _conflicts: ['2-b'] })
    const open = (await admin('GET', '/fork?open_revs=all')).json
    assert.deepEqual(open.map(({ ok }) => ok._rev).sort(), ['2-b', '2-c'])
    const revisions = (await admin('GET', '/fork?open_revs=["2-b","9-z"]&revs=true')).json
    assert.deepEqual(revisions.find(revision => revision.ok).ok._revisions, { start: 2, ids: ['b', 'a'] })
    assert.deepEqual(revisions.find(revision => revision.missing), { missing: '9-z' })
    assert.equal((await admin('GET', '/unknown?open_revs=all')).status, 404)
    assert.deepEqual((await admin('GET', '/unknown?open_revs=["1-a"]')).json, [{ missing: '1-a' }])
  })

  it('are refused when they are malformed', async () => {
    for (const [body, error] of [['{bad', 'bad_request'], [[], 'bad_request'], [{ _foo: 1 }, 'doc_validation'],
      [{ _id: 5 }, 'illegal_docid'], [{ _rev: 'x' }, 'bad_request'], [{ _attachments: [] }, 'doc_validation']]) {
      await answered(400, admin('PUT', '/bad', body), error)
    }
    await answered(400, admin('PUT', '/_foo', {}), 'illegal_docid')
  })

  it('take the id of the URL instead of the id in the body', async () => {
    assert.equal((await admin('PUT', '/url', { _id: 'body' })).json.id, 'url')
  })

  it('are created by POST', async () => {
    const { json } = await answered(201, admin('POST', '', { a: 1 }))
    assert.equal((await admin('GET', `/${json.id}`)).json.a, 1)
    assert.equal((await admin('POST', '', { _id: 'posted' })).json.id, 'posted')
  })

  it('can be local: unlisted and without conflicts', async () => {
    assert.equal((await admin('GET', '/_local/x')).status, 404)
    const created = await answered(201, admin('PUT', '/_local/x', { a: 1 }))
    assert.equal(created.json.id, '_local/x')
    assert.equal((await admin('GET', '/_local/x')).json.a, 1)
    assert.equal((await admin('PUT', '/_local/x', { a: 2, _rev: created.json.rev })).status, 201)
    assert.equal((await admin('GET', '/_all_docs')).json.rows.some(({ id }) => id.startsWith('_local')), false)
    const { _rev: rev } = (await admin('GET', '/_local/x')).json
    assert.equal((await admin('DELETE', `/_local/x?rev=${rev}`)).status, 200)
    assert.equal((await admin('GET', '/_local/x')).status, 404)
    const writes = await Promise.all(Array.from({ length: 20 }, (_, n) => admin('PUT', '/_local/a', { n })))
    assert.deepEqual(writes.map(({ status }) => status), writes.map(() => 201), 'the last one wins')
  })

  it('are written as multipart/related', async () => {
    const doc =
      JSON.stringify({ m: 1, _attachments: { tile: { follows: true, content_type: 'image/png', length: 3 } } })
    const body = ['--b1', 'Content-Type: application/json', '', doc,
      '--b1', 'Content-Disposition: attachment; filename="tile"', 'Content-Type: image/png',
      'Content-Length: 3', '', 'xyz', '--b1--'].join('\r\n')
    await answered(201, admin('PUT', '/multi', body, { 'Content-Type': 'multipart/related; boundary="b1"' }))
    assert.equal((await admin('GET', '/multi/tile')).text, 'xyz')
  })
})
