// The CouchDB contract for requests with many documents: _bulk_docs, _all_docs, _bulk_get and _revs_diff.
import assert from 'node:assert/strict'
import { png } from '../../support/tiles.js'
import { answered, freshDatabase } from '../harness.js'

export const bulk = target => describe('many documents at once', () => {
  const { admin } = freshDatabase(target)
  const tile = (id, seed) =>
    ({ _id: id, _attachments: { tile: { content_type: 'image/png', data: png(seed).toString('base64') } } })
  const rows = async (path, body) => (await admin(body ? 'POST' : 'GET', path, body)).json.rows
  const ids = async (path, body) => (await rows(path, body)).map(({ id, key }) => id ?? key)

  before(async () => {
    const { json } = await answered(201, admin('POST', '/_bulk_docs',
      { docs: [tile('m:1:0:0', 1), tile('m:1:0:1', 2), tile('m:1:1:0@2024', 3), { _id: 'z' }] }))
    assert.deepEqual(json.map(({ ok, id }) => [ok, id]),
      [[true, 'm:1:0:0'], [true, 'm:1:0:1'], [true, 'm:1:1:0@2024'], [true, 'z']])
  })

  it('stores documents without a conflict and reports the others', async () => {
    const { json } =
      await answered(201, admin('POST', '/_bulk_docs', { docs: [{ _id: 'z' }, { _id: 'y' }, {}, { _id: 'y' }] }))
    assert.deepEqual(json[0], { id: 'z', error: 'conflict', reason: 'Document update conflict.' })
    assert.equal(json[1].ok, true)
    assert.match(json[2].id, /^[0-9a-f]{32}$/)
    assert.equal(json[3].error, 'conflict')
    const { _rev: rev } = (await admin('GET', '/y')).json
    await admin('POST', '/_bulk_docs',
      { docs: [{ _id: 'y', _rev: rev, _deleted: true }, { _id: json[2].id, _rev: json[2].rev, _deleted: true }] })
  })

  it('stores local documents among others, without conflicts', async () => {
    const write = () => admin('POST', '/_bulk_docs',
      { docs: [{ _id: 'z' }, { _id: '_local/a', n: 1 }, { _id: '_local/b' }, { _id: 'z' }] })
    for (const { status, json } of await Promise.all(Array.from({ length: 10 }, write))) {
      assert.equal(status, 201)
      assert.deepEqual(json.map(({ id, error, ok }) => [id, error ?? ok]).sort(),
        [['_local/a', true], ['_local/b', true], ['z', 'conflict'], ['z', 'conflict']])
    }
    assert.equal((await admin('GET', '/_local/a')).json.n, 1)
  })

  it('refuses malformed lists of documents', async () => {
    const write = body => admin('POST', '/_bulk_docs', body)
    for (const body of [{}, [], { docs: {} }, { docs: [5] }, 'x', { docs: [{ _id: '_x' }] },
      { docs: [{ _id: 'q', _zz: 1 }] }, { new_edits: false, docs: [{ _id: 'norev' }] }]) {
      await answered(400, write(body))
    }
    await answered(412, write({ docs: [{ _id: 'q2', _attachments: { t: { stub: true } } }] }))
  })

  it('lists documents by range', async () => {
    const range = '/_all_docs?startkey="m"&endkey="n"'
    assert.deepEqual(await ids(range), ['m:1:0:0', 'm:1:0:1', 'm:1:1:0@2024'])
    assert.deepEqual(await ids('/_all_docs?start_key="m:1:0:1"&end_key="m:1:1:0@2024"&inclusive_end=false'),
      ['m:1:0:1'])
    assert.deepEqual(await ids(`${range}&limit=1&skip=1`), ['m:1:0:1'])
    assert.deepEqual(await ids('/_all_docs?descending=true&startkey="n"&endkey="m:1:0:1"'), ['m:1:1:0@2024', 'm:1:0:1'])
    assert.deepEqual(await ids('/_all_docs?key="z"'), ['z'])
    assert.deepEqual(await ids('/_all_docs?startkey="n"&endkey="m"'), [])
    assert.deepEqual(await ids('/_all_docs?limit=0'), [])
    assert.deepEqual(await ids('/_all_docs', { startkey: 'm', endkey: 'n', limit: 1 }), ['m:1:0:0'])
    assert.equal((await admin('GET', '/_all_docs')).json.total_rows, 4)
  })

  it('lists documents by keys, in the order of the keys', async () => {
    const listedRows = await rows('/_all_docs?include_docs=true', { keys: ['z', 'y', 'nope', 'm:1:0:0', 'z'] })
    assert.deepEqual(listedRows.map(({ key }) => key), ['z', 'y', 'nope', 'm:1:0:0', 'z'])
    assert.equal(listedRows[0].doc._id, 'z')
    assert.deepEqual({ ...listedRows[1], value: { deleted: listedRows[1].value.deleted } },
      { id: 'y', key: 'y', value: { deleted: true }, doc: null })
    assert.match(listedRows[1].value.rev, /^2-/)
    assert.deepEqual(listedRows[2], { key: 'nope', error: 'not_found' })
    assert.equal(listedRows[3].doc._attachments.tile.stub, true)
    assert.deepEqual(await ids('/_all_docs?keys=["z"]'), ['z'])
    assert.deepEqual(await ids('/_all_docs', { keys: [] }), [])
    assert.deepEqual(await ids('/_all_docs?limit=1&skip=1', { keys: ['z', 'm:1:0:0', 'nope'] }), ['m:1:0:0'])
  })

  it('lists documents with their attachments and conflicts', async () => {
    const [row] = await rows('/_all_docs?include_docs=true&attachments=true', { keys: ['m:1:0:1'] })
    assert.equal(row.doc._attachments.tile.data, png(2).toString('base64'))
    assert.equal(row.doc._attachments.tile.stub, undefined)
    const [ranged] = await rows('/_all_docs?include_docs=true&attachments=true&startkey="m:1:0:1"&limit=1')
    assert.equal(ranged.doc._attachments.tile.data, png(2).toString('base64'))
    await admin('POST', '/_bulk_docs',
      { new_edits: false, docs: [{ _id: 'f', _rev: '1-a' }, { _id: 'f', _rev: '1-b' }] })
    const withConflicts = '/_all_docs?include_docs=true&conflicts=true'
    assert.deepEqual((await rows(withConflicts, { keys: ['f'] }))[0].doc._conflicts, ['1-a'])
    assert.deepEqual((await rows(`${withConflicts}&key="f"`))[0].doc._conflicts, ['1-a'])
    await admin('DELETE', '/f?rev=1-b')
    await admin('DELETE', '/f?rev=1-a')
  })

  it('answers several queries in one request', async () => {
    const { json } =
      await admin('POST', '/_all_docs/queries', { queries: [{ keys: ['z'] }, { startkey: 'm', limit: 1 }] })
    assert.deepEqual(json.results.map(result => result.rows.map(({ id }) => id)), [['z'], ['m:1:0:0']])
  })

  it('refuses bad parameters', async () => {
    for (const query of ['limit=x', 'limit=-1', 'descending=foo', 'startkey=n', 'skip=x']) {
      assert.equal((await admin('GET', `/_all_docs?${query}`)).status, 400, query)
    }
    assert.equal((await admin('POST', '/_all_docs', { keys: 5 })).status, 400)
    assert.equal((await admin('POST', '/_all_docs/queries', {})).status, 400)
  })

  it('gives documents with their history to a replicator', async () => {
    const { _rev: rev } = (await admin('GET', '/z')).json
    const { json } = await admin('POST', '/_bulk_get?revs=true&attachments=true',
      { docs: [{ id: 'z', rev }, { id: 'nope' }, { id: 'z', rev: '1-x' }, { id: 'm:1:0:0' }] })
    const [existing, unknown, missing, tiled] = json.results
    assert.deepEqual(existing.docs[0].ok, { _id: 'z', _rev: rev, _revisions: { start: 1, ids: [rev.slice(2)] } })
    assert.deepEqual(unknown.docs[0].error, { id: 'nope', rev: 'undefined', error: 'not_found', reason: 'missing' })
    assert.deepEqual(missing.docs[0].error, { id: 'z', rev: '1-x', error: 'not_found', reason: 'missing' })
    assert.equal(tiled.docs[0].ok._attachments.tile.data, png(1).toString('base64'))
    assert.equal((await admin('POST', '/_bulk_get', {})).status, 400)
  })

  it('tells a replicator which revisions are missing', async () => {
    const { _rev: rev } = (await admin('GET', '/z')).json
    const { json } = await admin('POST', '/_revs_diff', { z: [rev, '2-x'], new: ['1-a'] })
    assert.deepEqual(json, { z: { missing: ['2-x'], possible_ancestors: [rev] }, new: { missing: ['1-a'] } })
  })

  it('stores replicated revisions unchanged', async () => {
    const docs = [{ ...tile('copied', 9), _rev: '3-c', _revisions: { start: 3, ids: ['c', 'b', 'a'] } }]
    assert.deepEqual((await admin('POST', '/_bulk_docs', { new_edits: false, docs })).json, [])
    assert.deepEqual((await admin('POST', '/_bulk_docs', { new_edits: false, docs })).json, [])
    assert.equal((await admin('GET', '/copied')).json._rev, '3-c')
    const diff = await admin('POST', '/_revs_diff', { copied: ['1-a', '2-b', '3-c'] })
    assert.deepEqual(diff.json, {}, 'its ancestors are known, although their bodies are not here')
    assert.deepEqual((await admin('GET', '/copied/tile')).bytes, png(9))
  })
})
