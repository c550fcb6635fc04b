// Answers of CouchDB for many documents, of which some may be missing, in JSON and as multipart.
import assert from 'node:assert/strict'
import { gunzipSync, gzipSync } from 'node:zlib'
import { askAll, askEach, bulkGetRows } from '../../core/couch/answers.js'
import { CouchClient } from '../../core/couch/client.js'
import { askQueries } from '../../core/couch/queries.js'
import { parseBulkGet } from '../../core/couch/multipart.js'

const limits = { firstDelay: 1, longestDelay: 2 }
const TROUBLE = { error: 'internal_server_error', reason: 'a shard is away' }

/** Gives answers one after the other, and records the requests. */
function answering (...answers) {
  const requests = []
  return {
    asked: requests,
    ask: async ids => {
      requests.push(ids)
      return answers.length > 1 ? answers.shift() : answers[0]
    }
  }
}

describe('a bulk answer', () => {
  it('is requested again only for ids with an error or without a row', async () => {
    const { asked: requests, ask } = answering(
      [{ id: 'a', doc: 1 }, { id: 'b', ...TROUBLE }, { id: 'd', error: 'not_found' }, { id: 'x', doc: 9 }],
      [{ id: 'c', doc: 3 }, { id: 'b', ...TROUBLE }], [{ id: 'b', doc: 2 }])
    const rows = await askAll('here', ['a', 'b', 'c', 'd'], ask, { limits })
    assert.deepEqual(Object.fromEntries(rows), {
      a: [{ id: 'a', doc: 1 }], b: [{ id: 'b', doc: 2 }], c: [{ id: 'c', doc: 3 }], d: [{ id: 'd', error: 'not_found' }]
    })
    assert.deepEqual(requests, [['a', 'b', 'c', 'd'], ['b', 'c'], ['b']])
  })

  it('leads to NO_ANSWER with the ids that lack a row, when their errors last', async () => {
    const { asked: requests, ask } = answering([{ id: 'a', doc: 1 }, { id: 'b', ...TROUBLE }])
    await assert.rejects(askAll('here', ['a', 'b', 'c'], ask, { limits: { ...limits, tries: 3 } }), error => {
      assert.deepEqual([error.code, error.details.ids, error.details.reason], ['NO_ANSWER', ['b', 'c'], TROUBLE.reason])
      assert.match(error.message, /^here gave no answer for b, c: a shard is away$/)
      return true
    })
    assert.equal(requests.length, 3)
  })

  it('gives askEach the good rows beside the errors of the other ids', async () => {
    const { rows, failed } = await askEach(['a', 'b'], async () => [{ id: 'a', doc: 1 }, { id: 'b', ...TROUBLE }],
      { limits: { ...limits, tries: 2 } })
    assert.deepEqual([[...rows.keys()], Object.fromEntries(failed)], [['a'], { b: TROUBLE }])
  })

  it('is requested again for an id when one of the rows of its leaves has an error', async () => {
    const { ask } =
      answering([{ id: 'a', doc: 1 }, { id: 'a', ...TROUBLE }], [{ id: 'a', doc: 1 }, { id: 'a', doc: 2 }])
    assert.deepEqual([...(await askAll('here', ['a'], ask, { limits })).values()].flat().map(({ doc }) => doc), [1, 2])
  })

  it('is not requested again after the signal was aborted', async () => {
    const stop = new AbortController()
    const asking = askAll('here', ['a'], async () => { stop.abort(); return [] },
      { signal: stop.signal, limits: { firstDelay: 60000, longestDelay: 60000 } })
    await assert.rejects(asking, { code: 'ABORTED' })
  })

  it('of _bulk_get becomes a row for each leaf and each error, as JSON or as multipart', async () => {
    const answer = {
      results: [{ id: 'a', docs: [{ ok: { _id: 'a', _rev: '1-x' } }, { ok: { _id: 'a', _rev: '1-y' } }] }, {
        id: 'b', docs: [{ error: { id: 'b', rev: 'undefined', error: 'not_found', reason: 'missing' } }]
      }, { id: 'c', docs: [] }]
    }
    for (const form of [answer, Buffer.from(JSON.stringify(answer))]) {
      assert.deepEqual(bulkGetRows(form).map(({ id, doc, error }) => [id, doc?._rev ?? error]),
        [['a', '1-x'], ['a', '1-y'], ['b', 'not_found']])
    }
    const multipart = ['--x', 'content-type: application/json', '',
      '{"_id":"a","_rev":"1-x"}', '--x', 'content-type: application/json; error="true"',
      '', '{"id":"b","rev":"undefined","error":"timeout","reason":"r"}', '--x--'].join('\r\n')
    assert.deepEqual(bulkGetRows(Buffer.from(multipart)),
      [{ id: 'a', doc: { _id: 'a', _rev: '1-x' } }, { id: 'b', rev: 'undefined', error: 'timeout', reason: 'r' }])
    assert.throws(() => bulkGetRows(Buffer.from('{"results":[')), { code: 'BAD_ANSWER' })
    assert.throws(() => bulkGetRows({ error: 'x' }), { code: 'BAD_ANSWER' })
    const lastAnswer = { results: [{ id: 'c', docs: [{ ok: { _id: 'c', _rev: '1-z' } }] }] }
    const exchange = async ({ body }) =>
      ({ status: 200, bytes: Buffer.from(JSON.stringify(JSON.parse(body).docs.length > 1 ? answer : lastAnswer)) })
    const leaves = await new CouchClient({ url: 'http://here/db', exchange }).leaves(['a', 'b', 'c'], { limits })
    assert.deepEqual([...leaves].map(([id, docs]) => [id, docs.length]), [['a', 2], ['b', 0], ['c', 1]])
  })
})

describe('an answer to many queries', () => {
  const run = async (queries, ...answers) => {
    const { asked: requests, ask } = answering(...answers.map(results => ({ results })))
    const rows = await askQueries({ url: 'here', request: ({ body }) => ask(body.queries) },
      '_all_docs', queries, { limits: { ...limits, tries: 3 } })
    return { rows, asked: requests }
  }
  const range = { startkey: 'a', endkey: 'b' }
  const keys = { keys: ['k', 'l'] }
  const row = key => ({ id: key, key, value: { rev: '1-a' } })

  it('is requested again for queries with an error, without rows, or without one of several keys', async () => {
    const { rows, asked: requests } = await run([range, keys, { keys: ['one'] }, range],
      [TROUBLE, { rows: [row('k')] }, { rows: [] }],
      [{ rows: [row('a')] }, { rows: [row('k'), { key: 'l', ...TROUBLE }] }, {}],
      [{ rows: [row('k'), { key: 'l', error: 'not_found' }] }, { rows: [] }])
    assert.deepEqual(rows.map(list => list.map(({ key, error }) => error ?? key)), [['a'], ['k', 'not_found'], [], []])
    assert.deepEqual(requests, [[range, keys, { keys: ['one'] }, range], [range, keys, range], [keys, range]])
  })

  it('leads to NO_ANSWER with the name of the query, when its error lasts', async () => {
    await assert.rejects(run([range, keys], [{ rows: [] }, { rows: [row('l')] }]),
      { code: 'NO_ANSWER', message: /query 1 \(\["k","l"\]\): k: no row/ })
    await assert.rejects(run([range], []), { code: 'NO_ANSWER' })
    await assert.rejects(askQueries({ request: async () => ({ error: 'x' }) }, '_all_docs', [range]),
      { code: 'BAD_ANSWER' })
  })

  it('of a view may lack keys for which the view emitted nothing', async () => {
    const rows = await askQueries({ request: async () => ({ results: [{ rows: [] }] }) },
      '_design/versions/_view/by_tile', [keys], { limits })
    assert.deepEqual(rows, [[]])
  })

  it('is requested once more when the index was just deleted, and fails when it is missing', async () => {
    const client = (...answers) => new CouchClient({
      url: 'http://here/db', retries: 0,
      exchange: async () => (
        { status: 200, headers: {}, bytes: Buffer.from('{"results":[{"rows":[]}]}'), ...answers.shift() }
      )
    })
    const missing = reason => ({ status: 404, bytes: Buffer.from(JSON.stringify({ error: 'not_found', reason })) })
    assert.deepEqual(await client(missing('deleted')).view('_design/a/_view/b', {}), [])
    assert.deepEqual(await client(missing('Design document was updated or deleted.')).view('_design/a/_view/b', {}), [])
    await assert.rejects(client(missing('deleted'), missing('deleted')).view('_design/a/_view/b', {}),
      { code: 'INDEX_MISSING' })
    await assert.rejects(client(missing('missing')).view('_design/a/_view/b', {}), { code: 'INDEX_MISSING' })
  })
})

const lines = (...parts) => Buffer.concat(parts.map(part => Buffer.isBuffer(part) ? part : Buffer.from(part + '\r\n')))

/**
 * An answer of CouchDB 3.5 to POST _bulk_get?attachments=true with Accept: multipart/mixed. The picture ends with a
 * line end of its own.
 */
const golden = lines(
  '',
  '----aa839909f61d8b43',
  'X-Doc-Id: osm:0:0:0',
  'X-Rev-Id: 1-be896a6b49c99d6e',
  'Content-Type: multipart/related; boundary=--fe721d8e5d6412d4',
  '',
  '----fe721d8e5d6412d4',
  'Content-Type: application/json',
  '',
  '{"_id":"osm:0:0:0","_rev":"1-be896a6b49c99d6e","_attachments":{"tile":{"content_type":"image/png","revpos":1,' +
    '"digest":"md5-x","length":5,"follows":true}}}',
  '----fe721d8e5d6412d4',
  'Content-Disposition: attachment; filename="tile"',
  'Content-Type: image/png',
  'Content-Length: 5',
  '',
  'PNG',
  '',
  '----fe721d8e5d6412d4--',
  '----aa839909f61d8b43',
  'Content-Type: application/json; error="true"',
  '',
  '{"rev":"undefined","reason":"missing","id":"osm:1:0:0","error":"not_found"}',
  '----aa839909f61d8b43',
  'Content-Type: application/json',
  '',
  '{"_id":"osm:2:0:0","_rev":"2-b","_deleted":true}',
  '----aa839909f61d8b43--'
)

/** A document with attachments, as CouchDB writes it in multipart. */
const related = (attachments, declared = attachments.map(({ length }) => length)) => lines(
  '--outer', 'Content-Type: multipart/related; boundary="inner"', '',
  '--inner', 'Content-Type: application/json', '',
  JSON.stringify(
    { _id: 'x', _attachments: Object.fromEntries(
      attachments.map((_, index) => [`a${index}`, { follows: true, length: declared[index] }])
    ) }
  ),
  ...attachments.flatMap(bytes => ['--inner', `Content-Length: ${bytes.length}`, '', bytes, '']),
  '--inner--', '--outer--'
)

describe('a multipart answer of CouchDB', () => {
  it('becomes documents with the bytes of their attachments, errors left out', () => {
    const docs = parseBulkGet(golden)
    assert.deepEqual(docs.map(({ _id }) => _id), ['osm:0:0:0', 'osm:2:0:0'])
    const { data, ...facts } = docs[0]._attachments.tile
    assert.deepEqual(facts, { content_type: 'image/png', revpos: 1, digest: 'md5-x', length: 5 })
    assert.equal(data.toString(), 'PNG\r\n')
    assert.equal(docs[1]._deleted, true)
  })

  it('reports the documents that could not be read to a callback', () => {
    const errors = []
    parseBulkGet(golden, error => errors.push(error))
    assert.deepEqual(errors, [{ rev: 'undefined', reason: 'missing', id: 'osm:1:0:0', error: 'not_found' }])
  })

  it('is refused when it is cut off at any length', () => {
    // the last line end may be missing: nothing is lost with it
    for (let length = 0; length < golden.length - 2; length++) {
      assert.throws(() => parseBulkGet(golden.subarray(0, length)),
        { code: 'BAD_ANSWER' }, `${length} of ${golden.length} bytes`)
    }
    assert.equal(parseBulkGet(golden.subarray(0, -2)).length, 2)
  })

  it('may hold bytes that look like its own delimiters', () => {
    const inner = Buffer.from('\r\n--inner\r\nContent-Type: x\r\n\r\n--inner--', 'latin1')
    const [doc] = parseBulkGet(related([inner, Buffer.alloc(0), Buffer.from([0, 255, 13, 10])]))
    assert.deepEqual(Object.values(doc._attachments).map(({ data }) => data),
      [inner, Buffer.alloc(0), Buffer.from([0, 255, 13, 10])])
  })

  it('leaves out a document whose attachments are not as long as it says, and names it', () => {
    const errors = []
    assert.deepEqual(parseBulkGet(related([Buffer.from('abcd')], [5]), error => errors.push(error)), [])
    assert.deepEqual(errors.map(({ id, error }) => [id, error]), [['x', 'bad_attachment']])
  })

  it('that lacks an attachment is refused', () => {
    const missing = related([Buffer.from('abc')]).toString().replace(/--inner\r\nContent-Length[^]*?abc\r\n/, '')
    assert.throws(() => parseBulkGet(Buffer.from(missing)), { code: 'BAD_ANSWER' })
  })

  it('has compressed attachments with their encoded length', () => {
    const body = related([Buffer.from('zip')]).toString()
      .replace('"length":3', '"length":90,"encoding":"gzip","encoded_length":3')
    assert.equal(parseBulkGet(Buffer.from(body))[0]._attachments.a0.data.toString(), 'zip')
  })

  it('has attachments that are unpacked to their stated length, and no further', async () => {
    const zip = gzipSync(Buffer.alloc(1e6))
    const length = `"length":5,"encoding":"gzip","encoded_length":${zip.length}`
    const bytes = Buffer.from(related([zip]).toString('latin1').replace(`"length":${zip.length}`, length), 'latin1')
    const exchange = async () => ({ status: 200, bytes })
    const allowed = []
    const inflate = (packed, maxLength) => {
      allowed.push(maxLength)
      return gunzipSync(packed, { maxOutputLength: maxLength })
    }
    const couch = new CouchClient({ url: 'http://here/db', exchange, inflate })
    const [row] = await couch.bulkGet([{ id: 'a' }], { attachments: true })
    assert.deepEqual([row.error, row.doc], ['bad_attachment', undefined])
    assert.match(row.reason, /length/)
    assert.deepEqual(allowed, [5])
  })

  it('is refused when it is not valid multipart', () => {
    for (const text of ['', '{"results": []}', '<html>--</html>', '--', '--x', '--x\r\n',
      '--x\r\n\r\n{}', '--x\r\n\r\n{\r\n--x--', '--x\r\nContent-Type: multipart/related; boundary="y"\r\n\r\n--x--']) {
      assert.throws(() => parseBulkGet(Buffer.from(text)), { code: 'BAD_ANSWER' }, JSON.stringify(text))
    }
  })
})
