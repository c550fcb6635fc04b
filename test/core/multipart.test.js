import assert from 'node:assert/strict'
import { gunzipSync, gzipSync } from 'node:zlib'
import { CouchClient } from '../../core/couch/client.js'
import { parseBulkGet } from '../../core/couch/multipart.js'

const lines = (...parts) => Buffer.concat(parts.map(part => Buffer.isBuffer(part) ? part : Buffer.from(part + '\r\n')))

/**
 * As CouchDB 3.5 answers POST _bulk_get?attachments=true to Accept: multipart/mixed. The picture ends with a line end
 * of its own.
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

/** A document with attachments, as CouchDB lays it out. */
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
    const limits = []
    const inflate = (packed, most) => {
      limits.push(most)
      return gunzipSync(packed, { maxOutputLength: most })
    }
    const couch = new CouchClient({ url: 'http://here/db', exchange, inflate })
    const [row] = await couch.bulkGet([{ id: 'a' }], { attachments: true })
    assert.deepEqual([row.error, row.doc], ['bad_attachment', undefined])
    assert.match(row.reason, /length/)
    assert.deepEqual(limits, [5])
  })

  it('is refused when it is not valid multipart', () => {
    for (const text of ['', '{"results": []}', '<html>--</html>', '--', '--x', '--x\r\n',
      '--x\r\n\r\n{}', '--x\r\n\r\n{\r\n--x--', '--x\r\nContent-Type: multipart/related; boundary="y"\r\n\r\n--x--']) {
      assert.throws(() => parseBulkGet(Buffer.from(text)), { code: 'BAD_ANSWER' }, JSON.stringify(text))
    }
  })
})
