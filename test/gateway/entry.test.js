// Tiles as others may have written them: nothing of a document reaches a header unchecked.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import http from 'node:http'
import { entryOf } from '../../server/gateway/entry.js'
import { png } from '../support/tiles.js'

const md5 = bytes => createHash('md5').update(bytes).digest('base64')
const upstream = { covers: () => true }

function doc ({ tile = {}, ...fields } = {}) {
  const data = png(1)
  return {
    _id: 'osm:1:0:0', _rev: '1-a', type: 'tile', layer: 'osm', time: '2021-06-01T00:00:00Z', stored: '2022-06-01T00:00:00Z',
    _attachments: { tile: { content_type: 'image/png', digest: `md5-${md5(data)}`, data, ...tile } },
    ...fields
  }
}

describe('a tile in memory', () => {
  it('has what its answers need', () => {
    const { etag, lastModified, type, bytes, hit, ...entry } = entryOf(doc()).fit({ ttl: 60 }, upstream)
    assert.deepEqual([etag, lastModified, type, bytes], [`"${md5(png(1))}"`, 'Wed, 01 Jun 2022 00:00:00 GMT', 'image/png', png(1)])
    assert.deepEqual([entry.expires, entry.expiresAt, entry.freshUntil], ['2022-06-01T00:01:00Z', Date.UTC(2022, 5, 1, 0, 1), Date.UTC(2022, 5, 1, 0, 1)])
    assert.deepEqual([hit.outcome, hit.entry.bytes], ['hit', bytes])
  })

  it('expires by its own word before its layer’s, and not at all in the past', () => {
    assert.equal(entryOf(doc({ expires: '2030-01-01T00:00:00Z' })).fit({ ttl: 60 }, null).expires, '2030-01-01T00:00:00Z')
    assert.equal(entryOf(doc()).fit({ ttl: 60 }, null).freshUntil, Infinity, 'nobody can be asked')
    assert.equal(entryOf(doc()).fit(undefined, null).expires, null)
    assert.equal(entryOf(doc({ _id: 'osm:1:0:0@2021-06-01T00:00:00Z', expires: '2022-01-01T00:00:00Z' })).fit({ ttl: 60 }, upstream).expires, null)
  })

  it('of another program, or of somebody who means harm, makes headers all the same', () => {
    const strange = [
      { time: undefined, stored: undefined }, { time: 'yesterday', stored: 7 }, { time: '9999-12-31T23:59:59Z', stored: '9999-12-31T23:59:59Z' },
      { expires: 'never' }, { expires: 12 }, { expires: '2021-02-30T00:00:00Z' }, { stored: 'x\r\nSet-Cookie: a=b' }, { time: { a: 1 } },
      { tile: { content_type: 'text/html\r\nSet-Cookie: a=b' } }, { tile: { content_type: undefined } }, { tile: { content_type: 'größe' } },
      { tile: { content_type: 'x'.repeat(5000) } }, { tile: { digest: 'md5-"\r\n' } }, { tile: { digest: undefined } }, { origin: 'text' }
    ]
    const response = new http.ServerResponse(new http.IncomingMessage(/** @type {any} */ (null)))
    for (const fields of strange) {
      const entry = entryOf(doc(fields)).fit({ ttl: 60 }, upstream)
      for (const value of [entry.etag, entry.lastModified, entry.time, entry.type]) {
        assert.equal(typeof value, 'string', JSON.stringify(fields))
        response.setHeader('x', value)
      }
      assert.ok(Date.parse(entry.lastModified) <= Date.now(), JSON.stringify(fields))
      assert.ok(entry.expires === null || entry.expiresAt > 0, JSON.stringify(fields))
      assert.match(entry.etag, /^"[A-Za-z0-9+/]{22}=="$/)
    }
  })

  it('that is gone has no bytes, and one whose bytes did not come is none', () => {
    assert.equal(entryOf(doc({ _attachments: undefined, gone: true })).bytes, null)
    assert.equal(entryOf(doc({ _attachments: { other: {} } })).bytes, null)
    assert.throws(() => entryOf(doc({ tile: { data: undefined, stub: true } })), { code: 'BAD_ANSWER' })
  })

  it('keeps its own bytes only', () => {
    const answer = Buffer.concat([Buffer.alloc(100000), png(3), Buffer.alloc(100000)])
    const { bytes } = entryOf(doc({ tile: { data: answer.subarray(100000, 100000 + png(3).length) } }))
    assert.deepEqual(bytes, png(3))
    assert.equal(bytes?.buffer.byteLength, png(3).length)
  })
})
