// The CouchDB contract for the requests that only replicators send.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { parseBulkGet } from '../../../core/couch/multipart.js'
import { png } from '../../support/tiles.js'
import { answered, freshDatabase } from '../harness.js'

const revisions = (start, ...ids) => ({ _rev: `${start}-${ids[0]}`, _revisions: { start, ids } })

export const replication = target => describe('requests of replicators', () => {
  const { admin } = freshDatabase(target)
  const image = { content_type: 'image/png', data: png(1).toString('base64') }
  const thumbnail = { content_type: 'image/png', data: png(2).toString('base64') }

  before(async () => {
    const write =
      async doc => assert.deepEqual((await admin('POST', '/_bulk_docs', { new_edits: false, docs: [doc] })).json, [])
    await write({ _id: 'tile', n: 1, ...revisions(1, 'a'), _attachments: { tile: { ...image, revpos: 1 } } })
    const { tile } = (await admin('GET', '/tile')).json._attachments
    await write(
      { _id: 'tile', n: 2, ...revisions(2, 'b', 'a'), _attachments: { tile, thumb: { ...thumbnail, revpos: 2 } } }
    )
  })

  const read = async (rev, knownRevs) => {
    const { json } = await admin('POST', '/_bulk_get?revs=true&attachments=true',
      { docs: [{ id: 'tile', rev, atts_since: knownRevs }] })
    const [{ ok, error }] = json.results[0].docs
    return ok
      ? Object.fromEntries(Object.entries(ok._attachments).map(([name, { data, stub }]) => [name, data ?? stub]))
        : error.error
  }

  it('attachments that came with a known revision, or before it, are left out', async () => {
    assert.deepEqual(await read('2-b', ['1-a']), { tile: true, thumb: thumbnail.data })
    assert.deepEqual(await read('2-b', ['2-b']), { tile: true, thumb: true })
    assert.deepEqual(await read('2-b', []), { tile: image.data, thumb: thumbnail.data })
    assert.deepEqual(await read('2-b', ['1-x']), { tile: image.data, thumb: thumbnail.data },
      'a revision of another branch')
    assert.equal(await read('2-b', 'x'), 'bad_request')
    await answered(400, admin('GET', '/tile?open_revs=all&attachments=true&atts_since=all'))
  })

  it('open revisions come as multipart/mixed, with the bytes of their attachments', async () => {
    const { headers, bytes } = await answered(200, admin('GET',
      '/tile?revs=true&open_revs=["2-b","7-z"]&atts_since=["1-a"]', undefined, { Accept: 'multipart/mixed' }))
    assert.match(headers['content-type'], /^multipart\/mixed; boundary=/)
    const missing = []
    const [doc] = parseBulkGet(bytes, error => missing.push(error))
    assert.deepEqual(missing, [{ missing: '7-z' }])
    assert.equal(doc._attachments.tile.stub, true)
    const { data } = doc._attachments.thumb
    assert.deepEqual(typeof data === 'string' ? Buffer.from(data, 'base64') : Buffer.from(data), png(2))
  })

  it('a compressed text is stored uncompressed', async () => {
    const text = 'tiles '.repeat(100)
    const packed = gzipSync(text)
    const doc = {
      _id: 'text', ...revisions(1, 'a'),
      _attachments: {
        note: {
          follows: true, content_type: 'text/plain', encoding: 'gzip',
          revpos: 1, length: text.length, encoded_length: packed.length
        }
      }
    }
    const body = Buffer.concat(
      [Buffer.from(`--b\r\nContent-Type: application/json\r\n\r\n${JSON.stringify(doc)}\r\n--b\r\n\r\n`),
        packed, Buffer.from('\r\n--b--')]
    )
    const headers = { 'Content-Type': 'multipart/related; boundary="b"' }
    await answered(201, admin('PUT', '/text?new_edits=false', body, headers))
    const { json } = await admin('GET', '/text?attachments=true')
    assert.equal(Buffer.from(json._attachments.note.data, 'base64').toString(), text)
  })
})
