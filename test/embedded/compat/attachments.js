// The CouchDB contract for attachments.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { answered, freshDatabase } from '../harness.js'

const md5 = bytes => createHash('md5').update(bytes).digest('base64')

export const attachments = target => describe('attachments', () => {
  const { admin } = freshDatabase(target)
  const bytes = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0, 255, 10, 13, 128])

  it('are written in base64 and read as bytes', async () => {
    await answered(201, admin('PUT', '/osm:1:0:1',
      { n: 1, _attachments: { tile: { content_type: 'image/png', data: bytes.toString('base64') } } }))
    const read = await answered(200, admin('GET', '/osm:1:0:1/tile'))
    assert.deepEqual(read.bytes, bytes)
    assert.equal(read.headers['content-type'], 'image/png')
    assert.equal(read.headers['content-length'], String(bytes.length))
    assert.equal(read.headers.etag, `"${md5(bytes)}"`)
    assert.equal(read.headers['cache-control'], 'must-revalidate')
  })

  it('are stubs in their document, and data with attachments=true', async () => {
    const { _attachments: { tile } } = (await admin('GET', '/osm:1:0:1')).json
    assert.deepEqual(tile,
      { content_type: 'image/png', revpos: 1, digest: `md5-${md5(bytes)}`, length: bytes.length, stub: true })
    const { _attachments: { tile: full } } = (await admin('GET', '/osm:1:0:1?attachments=true')).json
    assert.deepEqual(full,
      { content_type: 'image/png', revpos: 1, digest: `md5-${md5(bytes)}`, data: bytes.toString('base64') })
    assert.equal((await admin('GET', '/osm:1:0:1?att_encoding_info=true')).status, 200)
  })

  it('answer HEAD and If-None-Match', async () => {
    const head = await answered(200, admin('HEAD', '/osm:1:0:1/tile'))
    assert.equal(head.headers['content-length'], String(bytes.length))
    assert.equal(head.headers.etag, `"${md5(bytes)}"`)
    assert.equal((await admin('GET', '/osm:1:0:1/tile', undefined, { 'If-None-Match': head.headers.etag })).status, 304)
    assert.equal((await admin('GET', '/osm:1:0:1/tile', undefined, { 'If-None-Match': '"other"' })).status, 200)
  })

  it('stay when the document is written with stubs, and go when it is written without', async () => {
    const doc = (await admin('GET', '/osm:1:0:1')).json
    const { json } = await admin('PUT', '/osm:1:0:1', { ...doc, n: 2 })
    const updated = (await admin('GET', '/osm:1:0:1')).json
    assert.equal(updated._attachments.tile.revpos, 1)
    assert.deepEqual((await admin('GET', `/osm:1:0:1/tile?rev=${json.rev}`)).bytes, bytes)
    assert.equal((await admin('PUT', '/osm:1:0:1', { _rev: json.rev })).status, 201)
    await answered(404, admin('GET', '/osm:1:0:1/tile'), 'not_found', 'Document is missing attachment')
    assert.deepEqual((await admin('GET', `/osm:1:0:1/tile?rev=${json.rev}`)).bytes, bytes)
  })

  it('may be empty', async () => {
    await admin('PUT', '/empty', { _attachments: { nothing: { content_type: 'image/png', data: '' } } })
    const read = await answered(200, admin('GET', '/empty/nothing'))
    assert.equal(read.headers['content-length'], '0')
  })

  it('can belong to design documents and have nested names', async () => {
    const image = { content_type: 'image/png', data: bytes.toString('base64') }
    await answered(201, admin('PUT', '/_design/app', { _attachments: { 'img/deep/a b.png': image } }))
    for (const path of ['img/deep/a%20b.png', 'img%2Fdeep%2Fa%20b.png']) {
      const read = await admin('GET', `/_design/app/${path}`)
      assert.deepEqual(read.bytes, bytes)
      assert.equal(read.headers['content-type'], 'image/png')
    }
    assert.deepEqual(Object.keys((await admin('GET', '/_design/app')).json._attachments), ['img/deep/a b.png'])
  })

  it('are refused when they are malformed', async () => {
    const put = attachment => admin('PUT', '/refused', { _attachments: { t: attachment } })
    await answered(400, put({ content_type: 'image/png', data: '@@@' }), 'bad_request')
    await answered(400, put({ data: 5 }), 'bad_request')
    await answered(412, put({ stub: true }), 'missing_stub')
    assert.equal((await admin('GET', '/nothing/here')).json.reason, 'missing')
  })
})
