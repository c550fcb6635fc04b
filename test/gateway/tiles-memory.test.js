// Tests of the memory of a gateway: the cache, its entries, and the checks of a read before it is kept.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import http from 'node:http'
import { mock } from 'node:test'
import { headId } from '../../core/index.js'
import { entryOf } from '../../server/gateway/tiles/entry.js'
import { Memory } from '../../server/gateway/tiles/memory.js'
import { RecentChanges, timelineKey } from '../../server/gateway/tiles/recent-changes.js'
import { png } from '../support/tiles.js'

describe('the memory of a gateway', () => {
  it('keeps what was used last within its bytes, of which keys and an overhead are a part', () => {
    const memory = new Memory(1000, { overhead: 100, largestPart: 1 / 4 })
    const state = () => [memory.bytes, memory.size, memory.counts.evicted]
    for (const [index, key] of ['a', 'b', 'c', 'd'].entries()) assert.equal(memory.keep(key, index, 149), true)
    assert.deepEqual([state(), memory.maxBytes], [[1000, 4, 0], 1000])
    assert.equal(memory.get('a'), 0)
    assert.equal(memory.peek('b'), 1, 'a look is no use')
    assert.equal(memory.keep('e', 4, 149), true)
    assert.deepEqual(['a', 'b', 'c', 'd', 'e'].map(key => memory.peek(key)), [0, undefined, 2, 3, 4])
    assert.deepEqual(state(), [1000, 4, 1])
    assert.equal(memory.keep('a', 'too large', 150), false)
    assert.deepEqual([memory.peek('a'), ...state()], [undefined, 750, 3, 1], 'nor is the older value kept')
    assert.equal(memory.keep('c', 'smaller', 0), true)
    assert.deepEqual([memory.get('c'), ...state()], ['smaller', 601, 3, 1])
    memory.delete('d')
    assert.deepEqual(state(), [351, 2, 1])
    const emptyMemory = new Memory(0)
    assert.deepEqual([emptyMemory.keep('a', 1, 0), emptyMemory.size], [false, 0])
  })

  it('limits many small entries', () => {
    const memory = new Memory(1e6)
    for (let i = 0; i < 10000; i++) memory.keep(`osm:14:${i}:${i}`, i, 0)
    assert.ok(memory.size < 1000, `${memory.size} entries`)
    assert.ok(memory.bytes <= 1e6)
  })
})

// Other programs may have written a tile, so each field of a document is checked before it becomes a header.

const md5 = bytes => createHash('md5').update(bytes).digest('base64')
const upstream = { covers: () => true }

function doc ({ tile = {}, ...fields } = {}) {
  const data = png(1)
  return {
    _id: 'osm:1:0:0', _rev: '1-a', type: 'tile', layer: 'osm', time: '2021-06-01T00:00:00Z',
    stored: '2022-06-01T00:00:00Z',
    _attachments: { tile: { content_type: 'image/png', digest: `md5-${md5(data)}`, data, ...tile } },
    ...fields
  }
}

describe('a tile in memory', () => {
  it('has the fields that answers need', () => {
    const { etag, lastModified, type, bytes, hit, ...entry } = entryOf(doc()).fit({ ttl: 60 }, upstream)
    assert.deepEqual([etag, lastModified, type, bytes],
      [`"${md5(png(1))}"`, 'Wed, 01 Jun 2022 00:00:00 GMT', 'image/png', png(1)])
    assert.deepEqual([entry.expires, entry.expiresAt, entry.freshUntil],
      ['2022-06-01T00:01:00Z', Date.UTC(2022, 5, 1, 0, 1), Date.UTC(2022, 5, 1, 0, 1)])
    assert.deepEqual([hit.outcome, hit.entry.bytes], ['hit', bytes])
  })

  it('expires at its own time, or else by the ttl of its layer; past versions never expire', () => {
    assert.equal(entryOf(doc({ expires: '2030-01-01T00:00:00Z' })).fit({ ttl: 60 }, null).expires,
      '2030-01-01T00:00:00Z')
    assert.equal(entryOf(doc()).fit({ ttl: 60 }, null).freshUntil, Infinity, 'nobody can be asked')
    assert.equal(entryOf(doc()).fit(undefined, null).expires, null)
    assert.equal(entryOf(doc({ _id: 'osm:1:0:0@2021-06-01T00:00:00Z', expires: '2022-01-01T00:00:00Z' }))
      .fit({ ttl: 60 }, upstream).expires, null)
  })

  it('gets valid headers from any document, also from a hostile one', () => {
    const strangeFields = [
      { time: undefined, stored: undefined }, { time: 'yesterday', stored: 7 },
      { time: '9999-12-31T23:59:59Z', stored: '9999-12-31T23:59:59Z' },
      { expires: 'never' }, { expires: 12 }, { expires: '2021-02-30T00:00:00Z' },
      { stored: 'x\r\nSet-Cookie: a=b' }, { time: { a: 1 } },
      { tile: { content_type: 'text/html\r\nSet-Cookie: a=b' } }, { tile: { content_type: undefined } },
      { tile: { content_type: 'größe' } },
      { tile: { content_type: 'x'.repeat(5000) } }, { tile: { digest: 'md5-"\r\n' } },
      { tile: { digest: undefined } }, { origin: 'text' }
    ]
    const response = new http.ServerResponse(new http.IncomingMessage(/** @type {any} */ (null)))
    for (const fields of strangeFields) {
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

  it('has no bytes when it is gone, and is refused when only a stub of it came', () => {
    assert.equal(entryOf(doc({ _attachments: undefined, gone: true })).bytes, null)
    assert.equal(entryOf(doc({ _attachments: { other: {} } })).bytes, null)
    assert.throws(() => entryOf(doc({ tile: { data: undefined, stub: true } })), { code: 'BAD_ANSWER' })
  })

  it('copies its bytes out of a larger answer', () => {
    const answer = Buffer.concat([Buffer.alloc(100000), png(3), Buffer.alloc(100000)])
    const { bytes } = entryOf(doc({ tile: { data: answer.subarray(100000, 100000 + png(3).length) } }))
    assert.deepEqual(bytes, png(3))
    assert.equal(bytes?.buffer.byteLength, png(3).length)
  })
})

const ID = 'osm:1:0:0'
const OTHER = 'osm:1:0:1'

describe('a read, checked against the reported changes', () => {
  /** Returns a function that reports a change of a document. */
  const change = (rev, id = ID, deleted = false) => changes => changes.add(id, rev, deleted)
  const reset = changes => changes.reset()

  /** Checks a read of a document revision against changes that were reported before and after it began. */
  const verdictOf = ({ before = [], after = [], id = ID, rev }) => {
    const changes = new RecentChanges()
    for (const report of before) report(changes)
    const readStart = changes.beginRead()
    for (const report of after) report(changes)
    return changes.check(id, rev, readStart)
  }

  /** @type {[string, string, Parameters<typeof verdictOf>[0][]][]} */
  const cases = [
    ['current', 'no other revision of the document was reported', [
      { rev: '1-a' }, { after: [change('2-b')], rev: '2-b' }, { after: [change('2-b')], id: 'osm:1:1:1', rev: '1-a' },
      { after: [change('1-z', OTHER, true)], id: OTHER, rev: null }
    ]],
    ['outdated', 'another revision was reported after it began, even one that looks older', [
      ...['2-b', '3-d', '5-e', null].map(rev => ({ after: [change('3-c')], rev })),
      { after: [change('3-c'), change('4-x', ID, true)], rev: '3-c' }
    ]],
    ['behind', 'it brings an older revision than was reported before it began', [
      { before: [change('3-c')], rev: '2-b' }, { before: [change('3-c')], rev: null },
      { before: [change('3-c', ID, true)], rev: '2-b' }
    ]],
    ['current', 'it brings a newer revision than was reported before it began', [
      { before: [change('3-c')], rev: '4-d' }, { before: [change('3-c', ID, true)], rev: '4-d' }
    ]],
    ['outdated', 'a reset was reported after it began', [{ after: [reset], rev: '1-a' }]],
    ['current', 'a reset was reported before it began', [{ before: [change('3-c'), reset], rev: '1-a' }]]
  ]
  for (const [verdict, reason, reads] of cases) {
    it(`is ${verdict} when ${reason}`, () => {
      for (const read of reads) assert.equal(verdictOf(read), verdict, JSON.stringify(read))
    })
  }

  it('is outdated for a timeline when any version of the tile changed after it began', () => {
    const changes = new RecentChanges()
    const readStart = changes.beginRead()
    changes.add(`${ID}@2021-01-01T00:00:00Z`, '1-a', false)
    assert.deepEqual([changes.checkTimeline(ID, readStart), changes.checkTimeline(OTHER, readStart),
      changes.checkTimeline(ID, changes.beginRead())], ['outdated', 'current', 'current'])
    assert.equal(changes.check(ID, '1-a', readStart), 'current', 'the head is another document')
    changes.reset()
    assert.equal(changes.checkTimeline(OTHER, readStart), 'outdated')
    assert.deepEqual([headId(ID), headId(`${ID}@2021`), timelineKey(ID)], [ID, ID, `${ID}@`])
  })

  it('is outdated when it took so long that changes were forgotten', () => {
    const changes = new RecentChanges({ most: 10 })
    const readStart = changes.beginRead()
    changes.add(ID, '2-b', false)
    for (let i = 0; i < 4; i++) changes.add(`osm:9:0:${i}`, '1-a', false)
    assert.equal(changes.check(ID, '1-a', readStart), 'outdated')
    for (let i = 0; i < 100; i++) changes.add(`osm:9:1:${i}`, '1-a', false)
    for (const id of [ID, 'osm:9:9:9']) assert.equal(changes.check(id, '1-a', readStart), 'outdated', id)
    assert.equal(changes.check(ID, '1-a', changes.beginRead()), 'current')
  })

  it('is behind for ten seconds after a change, and current afterwards', () => {
    mock.timers.enable({ apis: ['Date'] })
    try {
      const changes = new RecentChanges()
      changes.add(ID, '3-c', false)
      mock.timers.tick(9999)
      assert.equal(changes.check(ID, '2-b', changes.beginRead()), 'behind')
      mock.timers.tick(2)
      assert.equal(changes.check(ID, '2-b', changes.beginRead()), 'current')
    } finally {
      mock.timers.reset()
    }
  })
})
