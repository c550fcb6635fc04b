// What the gateway keeps in memory: the cache itself, the entries, and what is checked before a read is kept.
import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import http from 'node:http'
import fc from 'fast-check'
import { headId } from '../../core/index.js'
import { entryOf } from '../../server/gateway/tiles/entry.js'
import { Memory } from '../../server/gateway/tiles/memory.js'
import { RecentChanges, timelineKey } from '../../server/gateway/tiles/recent-changes.js'
import { png } from '../support/tiles.js'

const plain = { overhead: 0, largestPart: 1 }

/** What a memory does, said without any cleverness: a list with the oldest use first. */
class Model {
  constructor (maxBytes, overhead, largestPart) {
    Object.assign(this, { maxBytes, overhead, largest: maxBytes * largestPart, list: [] })
  }

  get bytes () { return this.list.reduce((sum, { cost }) => sum + cost, 0) }

  get (key) {
    const found = this.list.find(entry => entry.key === key)
    if (found) this.list = [...this.list.filter(entry => entry !== found), found]
    return found?.value
  }

  peek (key) { return this.list.find(entry => entry.key === key)?.value }

  set (key, value, bytes) {
    this.delete(key)
    const cost = bytes + key.length + this.overhead
    if (cost > this.largest) return
    while (this.bytes + cost > this.maxBytes) this.list.shift()
    this.list.push({ key, value, cost })
  }

  delete (key) { this.list = this.list.filter(entry => entry.key !== key) }
  clear () { this.list = [] }
}

describe('the memory of a gateway', () => {
  it('holds what was used last, within its bytes', () => {
    const memory = new Memory(30, plain)
    for (const key of ['a', 'b', 'c']) memory.keep(key, key.toUpperCase(), 9)
    assert.equal(memory.get('a'), 'A')
    memory.keep('d', 'D', 9)
    assert.deepEqual(['a', 'b', 'c', 'd'].map(key => memory.get(key)), ['A', undefined, 'C', 'D'])
    assert.deepEqual([memory.bytes, memory.size, memory.counts.evicted], [30, 3, 1])
  })

  it('looks at an entry without using it', () => {
    const memory = new Memory(20, plain)
    memory.keep('a', 1, 9)
    memory.keep('b', 2, 9)
    assert.equal(memory.peek('a'), 1)
    memory.keep('c', 3, 9)
    assert.equal(memory.peek('a'), undefined, 'it was the oldest still')
    assert.equal(memory.peek('b'), 2)
  })

  it('does not keep what would push out too much, nor what it had of it before', () => {
    const memory = new Memory(1000, { overhead: 100, largestPart: 1 / 4 })
    assert.equal(memory.keep('a', 'small', 149), true)
    assert.equal(memory.keep('a', 'large', 150), false)
    assert.equal(memory.get('a'), undefined)
    assert.deepEqual([memory.bytes, memory.size], [0, 0])
  })

  it('counts names and what an entry costs besides its bytes, so that many small ones are bounded, too', () => {
    const memory = new Memory(1e6)
    for (let i = 0; i < 10000; i++) memory.keep(`osm:14:${i}:${i}`, i, 0)
    assert.ok(memory.size < 1000, `${memory.size} entries`)
    assert.ok(memory.bytes <= 1e6)
  })

  it('of no bytes keeps nothing', () => {
    const memory = new Memory(0)
    assert.equal(memory.keep('a', 1, 0), false)
    assert.equal(memory.get('a'), undefined)
  })

  it('does what a plain list would do, whatever is put in, taken out and looked for', () => {
    const keys = ['a', 'bb', 'c', 'd', 'e', 'f']
    const key = fc.constantFrom(...keys)
    const step = fc.oneof(
      fc.tuple(fc.constant('set'), key, fc.nat(60)),
      fc.tuple(fc.constant('get'), key),
      fc.tuple(fc.constant('delete'), key),
      fc.tuple(fc.constant('clear'), key)
    )
    fc.assert(fc.property(fc.array(step, { maxLength: 60 }), fc.integer({ min: 0, max: 150 }), (steps, limit) => {
      const memory = new Memory(limit, { overhead: 5, largestPart: 0.5 })
      const model = new Model(limit, 5, 0.5)
      steps.forEach(([what, name, bytes], index) => {
        if (what === 'set') {
          memory.keep(name, index, bytes)
          model.set(name, index, bytes)
        } else if (what === 'get') assert.equal(memory.get(name), model.get(name))
        else {
          memory[what](name)
          model[what](name)
        }
        assert.deepEqual([memory.bytes, memory.size], [model.bytes, model.list.length])
        assert.ok(memory.bytes <= limit)
        assert.deepEqual(keys.map(each => memory.peek(each)), keys.map(each => model.peek(each)))
      })
    }), { numRuns: 500 })
  })
})

// Tiles as others may have written them: nothing of a document reaches a header unchecked.

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
  it('has what its answers need', () => {
    const { etag, lastModified, type, bytes, hit, ...entry } = entryOf(doc()).fit({ ttl: 60 }, upstream)
    assert.deepEqual([etag, lastModified, type, bytes],
      [`"${md5(png(1))}"`, 'Wed, 01 Jun 2022 00:00:00 GMT', 'image/png', png(1)])
    assert.deepEqual([entry.expires, entry.expiresAt, entry.freshUntil],
      ['2022-06-01T00:01:00Z', Date.UTC(2022, 5, 1, 0, 1), Date.UTC(2022, 5, 1, 0, 1)])
    assert.deepEqual([hit.outcome, hit.entry.bytes], ['hit', bytes])
  })

  it('expires by its own word before its layer’s, and not at all in the past', () => {
    assert.equal(entryOf(doc({ expires: '2030-01-01T00:00:00Z' })).fit({ ttl: 60 }, null).expires,
      '2030-01-01T00:00:00Z')
    assert.equal(entryOf(doc()).fit({ ttl: 60 }, null).freshUntil, Infinity, 'nobody can be asked')
    assert.equal(entryOf(doc()).fit(undefined, null).expires, null)
    assert.equal(entryOf(doc({ _id: 'osm:1:0:0@2021-06-01T00:00:00Z', expires: '2022-01-01T00:00:00Z' }))
      .fit({ ttl: 60 }, upstream).expires, null)
  })

  it('of another program, or of somebody who means harm, makes headers all the same', () => {
    const strange = [
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

// What is made of a read, by what was reported before, during and after it.

const ID = 'osm:1:0:0'

describe('a read, checked against the reported changes', () => {
  it('is true when nothing was said of the document, or that very thing', () => {
    const changes = new RecentChanges()
    const begun = changes.beginRead()
    assert.equal(changes.check(ID, '1-a', begun), 'current')
    changes.add(ID, '2-b', false)
    changes.add('osm:1:0:1', '1-z', true)
    assert.equal(changes.check(ID, '2-b', begun), 'current')
    assert.equal(changes.check('osm:1:0:1', null, begun), 'current')
    assert.equal(changes.check('osm:1:1:1', '1-a', begun), 'current')
  })

  it('is old when the document changed meanwhile, also to what looks older', () => {
    const changes = new RecentChanges()
    const begun = changes.beginRead()
    changes.add(ID, '3-c', false)
    for (const rev of ['2-b', '3-d', '5-e', null]) assert.equal(changes.check(ID, rev, begun), 'outdated', String(rev))
    changes.add(ID, '4-x', true)
    assert.equal(changes.check(ID, '3-c', begun), 'outdated')
  })

  it('is behind when it began after the change and brings what was before it: a copy of a shard that lags', () => {
    const changes = new RecentChanges()
    changes.add(ID, '3-c', false)
    changes.add('osm:1:0:1', '3-c', true)
    const begun = changes.beginRead()
    assert.equal(changes.check(ID, '2-b', begun), 'behind')
    assert.equal(changes.check(ID, null, begun), 'behind')
    assert.equal(changes.check(ID, '4-d', begun), 'current', 'newer than what we have heard of')
    assert.equal(changes.check('osm:1:0:1', '2-b', begun), 'behind')
    assert.equal(changes.check('osm:1:0:1', '4-d', begun), 'current', 'made again')
  })

  it('of a timeline is old when any version of the tile changed meanwhile', () => {
    const changes = new RecentChanges()
    const before = changes.beginRead()
    changes.add(`${ID}@2021-01-01T00:00:00Z`, '1-a', false)
    assert.equal(changes.checkTimeline(ID, before), 'outdated')
    assert.equal(changes.checkTimeline('osm:1:0:1', before), 'current')
    assert.equal(changes.checkTimeline(ID, changes.beginRead()), 'current')
    assert.equal(changes.check(ID, '1-a', before), 'current', 'the head is another document')
    assert.deepEqual([headId(ID), headId(`${ID}@2021`), timelineKey(ID)], [ID, ID, `${ID}@`])
  })

  it('that began before everything became doubtful is old', () => {
    const changes = new RecentChanges()
    const begun = changes.beginRead()
    changes.reset()
    assert.equal(changes.check(ID, '1-a', begun), 'outdated')
    assert.equal(changes.checkTimeline(ID, begun), 'outdated')
    assert.equal(changes.check(ID, '1-a', changes.beginRead()), 'current')
  })

  it('that took so long that what was reported meanwhile is forgotten is old', () => {
    const changes = new RecentChanges({ most: 10 })
    const begun = changes.beginRead()
    changes.add(ID, '2-b', false)
    for (let i = 0; i < 4; i++) changes.add(`osm:9:0:${i}`, '1-a', false)
    assert.equal(changes.check(ID, '1-a', begun), 'outdated')
    for (let i = 0; i < 100; i++) changes.add(`osm:9:1:${i}`, '1-a', false)
    assert.equal(changes.check(ID, '1-a', begun), 'outdated')
    assert.equal(changes.check('osm:9:9:9', '1-a', begun), 'outdated', 'nobody knows')
    assert.equal(changes.check(ID, '1-a', changes.beginRead()), 'current')
  })

  it('is judged by what is ten seconds old, but not for ever', () => {
    const clock = { time: 1e6, now: () => clock.time }
    const changes = new RecentChanges({ clock })
    changes.add(ID, '3-c', false)
    clock.time += 9999
    changes.add('osm:9:0:0', '1-a', false)
    assert.equal(changes.check(ID, '2-b', changes.beginRead()), 'behind')
    for (let i = 1; i < 4; i++) {
      clock.time += 10001
      changes.add(`osm:9:0:${i}`, '1-a', false)
    }
    assert.equal(changes.check(ID, '2-b', changes.beginRead()), 'current')
  })
})
