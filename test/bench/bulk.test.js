// The figures need a quiet machine; that everybody writes the same documents, that what is missing or refused makes no
// figure, and that tables say what was measured, does not.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { checkStored } from '../../bench/bulk/database.js'
import { DIGITS, IDS, RANDOM, SERVER, SHUFFLED, SMALL, TILES,
  documentsOf, smallDocuments, tileDocuments, tilesOf } from '../../bench/bulk/documents.js'
import { settingsOf } from '../../bench/bulk/sweep.js'
import { writeBulk, writePuts } from '../../bench/raw.js'
import { parseTileId } from '../../core/index.js'

/** A database on a Map, with what a server may do wrong. */
function mapCouch ({ refuse = () => false, forget = 0 } = {}) {
  const stored = new Map()
  const requests = []
  const put = async doc => {
    await sleep(1)
    stored.set(doc._id, { ...doc, _rev: '1-x' })
  }
  return {
    stored,
    requests,
    put,
    bulk: async docs => {
      requests.push(docs.length)
      for (const doc of docs) await put(doc)
      const results = docs.map(({ _id: id }) => refuse(id) ? { id, error: 'conflict' } : { id, ok: true })
      return results.slice(forget)
    },
    docs: async ids => ids.map(id => ({ id, doc: stored.get(id) }))
  }
}

const numbered = count => documentsOf(index => ({ number: index }), IDS[DIGITS](count))

describe('the benchmark of bulk loading', () => {
  describe('makes ids', () => {
    it('of every kind: as many as requested, without duplicates, the same in each run', () => {
      for (const [name, ids] of Object.entries(IDS)) {
        const made = [...ids(300)]
        assert.equal(made.length, 300, name)
        assert.deepEqual([...ids(300)], made, name)
        assert.equal(new Set(made).size, name === SERVER ? 1 : 300, name)
      }
      assert.equal([...IDS[SERVER](3)][0], undefined)
    })

    it('in ascending order for digits and tiles, and not for random and shuffled ids', () => {
      for (const name of [DIGITS, TILES]) assert.deepEqual([...IDS[name](300)].sort(), [...IDS[name](300)], name)
      for (const name of [RANDOM, SHUFFLED]) assert.notDeepEqual([...IDS[name](300)].sort(), [...IDS[name](300)], name)
      assert.deepEqual([...IDS[SHUFFLED](300)].sort(), [...IDS[TILES](300)])
      assert.match(String([...IDS[DIGITS](7)][6]), /^0{9}7$/)
      assert.match(String([...IDS[RANDOM](1)][0]), /^[0-9a-f]{32}$/)
      assert.equal(parseTileId(String([...IDS[TILES](9)][8])).z, 14)
    })
  })

  describe('makes documents', () => {
    it('of 256 bytes, no two alike, the same each time', () => {
      const [make, again] = [smallDocuments(), smallDocuments()]
      const docs = [0, 1, 99, 1_899_999].map(make)
      for (const doc of docs) assert.equal(JSON.stringify(doc).length, SMALL)
      assert.equal(new Set(docs.map(({ text }) => text)).size, docs.length)
      assert.deepEqual([0, 1, 99, 1_899_999].map(again), docs)
    })

    it('of tiles with the complete image, even when made twice', async () => {
      const tiles = tilesOf(3, 500)
      const make = await tileDocuments(tiles)
      make(2)
      assert.ok(Buffer.from(make(2)._attachments.tile.data, 'base64').equals(tiles[2].bytes))
      assert.equal(make(0)._id, undefined)
      assert.deepEqual([...documentsOf(make, IDS[TILES](3))].map(({ _id }) => _id),
        tiles.map(({ layer, z, x, y }) => `${layer}:${z}:${x}:${y}`))
    })
  })

  describe('writes', () => {
    it('every document once, in batches, several requests at a time', async () => {
      for (const concurrency of [1, 4]) {
        const couch = mapCouch()
        /** @type {any[]} */
        const told = []
        assert.equal(await writeBulk(/** @type {any} */ (couch), numbered(25),
          { batch: 10, concurrency, onWritten: one => told.push(one) }), 25)
        assert.deepEqual(couch.requests, [10, 10, 5])
        assert.equal(couch.stored.size, 25)
        assert.deepEqual(told.map(({ doc }) => doc.number).sort((a, b) => a - b), [0, 10, 20])
      }
      const couch = mapCouch()
      assert.equal(await writePuts(/** @type {any} */ (couch), numbered(25), { concurrency: 4 }), 25)
      assert.equal(couch.stored.size, 25)
    })

    it('until the deadline, and counts the stored documents', async () => {
      const couch = mapCouch()
      const count =
        await writeBulk(/** @type {any} */ (couch), numbered(100_000), { batch: 2, deadline: performance.now() + 30 })
      assert.ok(count > 0 && count < 10_000)
      assert.equal(count, couch.stored.size)
    })

    it('documents, and fails when one is refused or an answer is incomplete', async () => {
      await assert.rejects(writeBulk(/** @type {any} */ (mapCouch({ refuse: id => id === '0000000007' })),
        numbered(20), { batch: 5 }), /0000000007.*conflict/)
      await assert.rejects(writeBulk(/** @type {any} */ (mapCouch({ forget: 1 })), numbered(20), { batch: 5 }),
        /4 results for 5 documents/)
    })

    it('documents, and fails when stored ones are missing or differ', async () => {
      const couch = mapCouch()
      /** @type {any[]} */
      const written = []
      await writeBulk(/** @type {any} */ (couch), numbered(20), { batch: 5, onWritten: one => written.push(one) })
      const store = count => /** @type {any} */ ({ url: 'db', couch, info: async () => ({ doc_count: count }) })
      await checkStored(store(20), 20, written)
      await assert.rejects(checkStored(store(19), 20, written), /19 documents, 20 were written/)
      couch.stored.get('0000000006').number = 1000
      await assert.rejects(checkStored(store(20), 20, written), /0000000006 is not what was written/)
      couch.stored.delete('0000000006')
      await assert.rejects(checkStored(store(20), 20, written), /0000000006/)
    })
  })

  it('tries only settings that keep the bytes in flight below the limit', () => {
    assert.deepEqual(settingsOf({ batches: [10, 100], flights: [1, 4], bytes: 100, most: 10_000 }), [
      { batch: 1, flights: 1 }, { batch: 10, flights: 1 }, { batch: 100, flights: 1 },
      { batch: 1, flights: 4 }, { batch: 10, flights: 4 }
    ])
  })
})
