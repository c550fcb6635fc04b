// Figures need a quiet machine. These tests check the rest: all contenders get and write the same, wrong, missing or
// refused answers give no figure, and tables show the measured values.
import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { compareIds, inspectTile, parseTileId, tileRanges } from '../../core/index.js'
import { checkStored } from '../../bench/bulk/database.js'
import { DIGITS, IDS, RANDOM, SERVER, SHUFFLED, SMALL, TILES, documentsOf, smallDocuments, tileDocuments,
  tilesOf } from '../../bench/bulk/documents.js'
import { settingsOf } from '../../bench/bulk/sweep.js'
import { writeBulk, writePuts } from '../../bench/raw.js'
import { openMemcached } from '../../bench/clients/memcached.js'
import { openRedis } from '../../bench/clients/redis.js'
import { perform } from '../../bench/keyspace/perform.js'
import { measureKind } from '../../bench/keyspace/rounds.js'
import { startThreads } from '../../bench/keyspace/threads.js'
import { BATCH, BYTES, MIX, keyOf, stepsOf, valueOf } from '../../bench/keyspace/workload.js'
import { findMemcached, startMemcached } from '../../bench/programs/memcached.js'
import { findRedis, startRedis } from '../../bench/programs/redis.js'
import { interleaveLatencies, percentiles } from '../../bench/measure.js'
import { DEEP, LAYER, STAGES, VIEW, blocksOf, newTiles, versionsOf, viewsOf } from '../../bench/history/data.js'
import { bboxOf, columnsOf } from '../../bench/history/viewport.js'
import { useFolder } from '../support/folder.js'
import { skip } from '../support/tools.js'

/** A database on a Map. `refuse` and `forget` simulate faults of a server. */
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

const docsOf = count => documentsOf(index => ({ number: index }), IDS[DIGITS](count))

describe('the benchmark of bulk loading', () => {
  describe('makes ids', () => {
    it('of every kind: as many as requested, without duplicates, the same in each run, in their order', () => {
      for (const [name, ids] of Object.entries(IDS)) {
        const idList = [...ids(300)]
        assert.equal(idList.length, 300, name)
        assert.deepEqual([...ids(300)], idList, name)
        assert.equal(new Set(idList).size, name === SERVER ? 1 : 300, name)
      }
      assert.equal([...IDS[SERVER](3)][0], undefined)
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
      const [make, makeAgain] = [smallDocuments(), smallDocuments()]
      const docs = [0, 1, 99, 1_899_999].map(make)
      for (const doc of docs) assert.equal(JSON.stringify(doc).length, SMALL)
      assert.equal(new Set(docs.map(({ text }) => text)).size, docs.length)
      assert.deepEqual([0, 1, 99, 1_899_999].map(makeAgain), docs)
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
    it('every document once, in batches, several requests at a time, until the deadline', async () => {
      for (const concurrency of [1, 4]) {
        const couch = mapCouch()
        const writtenDocs = []
        assert.equal(await writeBulk(couch, docsOf(25),
          { batch: 10, concurrency, onWritten: doc => writtenDocs.push(doc) }), 25)
        assert.deepEqual(couch.requests, [10, 10, 5])
        assert.equal(couch.stored.size, 25)
        assert.deepEqual(writtenDocs.map(({ doc }) => doc.number).sort((a, b) => a - b), [0, 10, 20])
      }
      const couch = mapCouch()
      assert.equal(await writePuts(couch, docsOf(25), { concurrency: 4 }), 25)
      assert.equal(couch.stored.size, 25)
      const slow = mapCouch()
      const count = await writeBulk(slow, docsOf(100_000), { batch: 2, deadline: performance.now() + 30 })
      assert.ok(count > 0 && count < 10_000)
      assert.equal(count, slow.stored.size)
    })

    it('documents, and fails when one is refused, missing or differs, or an answer is incomplete', async () => {
      await assert.rejects(writeBulk(mapCouch({ refuse: id => id === '0000000007' }),
        docsOf(20), { batch: 5 }), /0000000007.*conflict/)
      await assert.rejects(writeBulk(mapCouch({ forget: 1 }), docsOf(20), { batch: 5 }), /4 results for 5 documents/)
      const couch = mapCouch()
      const samples = []
      await writeBulk(couch, docsOf(20), { batch: 5, onWritten: doc => samples.push(doc) })
      const store = count => ({ url: 'db', couch, info: async () => ({ doc_count: count }) })
      await checkStored(store(20), 20, samples)
      await assert.rejects(checkStored(store(19), 20, samples), /19 documents, 20 were written/)
      couch.stored.get('0000000006').number = 1000
      await assert.rejects(checkStored(store(20), 20, samples), /0000000006 is not what was written/)
      couch.stored.delete('0000000006')
      await assert.rejects(checkStored(store(20), 20, samples), /0000000006/)
    })
  })

  it('tries only settings that keep the bytes in flight below the limit', () => {
    const settings = settingsOf({ batches: [10, 100], flights: [1, 4], bytes: 100, most: 10_000 })
    assert.deepEqual(settings.map(({ batch, flights }) => [batch, flights]),
      [[1, 1], [10, 1], [100, 1], [1, 4], [10, 4]])
  })
})

/** A client on a Map. */
function mapClient (values = new Map()) {
  const set = async (key, bytes) => { values.set(key, bytes) }
  return { values, set, setMany: async entries => {
    for (const entry of entries) await set(...entry)
  }, get: async key => values.get(key) ?? null }
}

const part = fields => ({ kind: 'mixes', thread: 0, threads: 1, first: 100, count: 20, batch: 1, keys: 7, ...fields })
const writtenNumbers = steps => steps.flatMap(step => step.write ?? [])

describe('the benchmark of values under keys', () => {
  describe('makes values', () => {
    it('that are tiles of one length, no two alike, the same each time, under ids in ascending order', () => {
      const values = Array.from({ length: 100 }, (_, index) => valueOf(index))
      for (const value of values) assert.equal(inspectTile(value).type, 'image/png')
      assert.deepEqual(new Set(values.map(({ length }) => length)), new Set([BYTES]))
      assert.equal(new Set(values.map(value => value.toString('latin1'))).size, 100)
      assert.ok(valueOf(70_001).equals(valueOf(70_001)))
      const keys = [0, 1, 999, 1000, 1001, 250_000].map(keyOf)
      assert.deepEqual([...keys].sort(), keys)
      assert.deepEqual(parseTileId(keys[3]), { layer: 'bench', z: 14, x: 5001, y: 5000 })
    })
  })

  describe('gives threads their work', () => {
    it('every new value once, in consecutive batches', () => {
      const steps =
        [0, 1, 2, 3].map(thread => [...stepsOf(part({ kind: 'writes', thread, threads: 4, count: 400, batch: BATCH }))])
      assert.deepEqual(steps.flatMap(writtenNumbers), Array.from({ length: 400 }, (_, index) => 100 + index))
      for (const list of steps) assert.deepEqual(list.map(step => 'write' in step && step.write.length), [50, 50])
    })

    it('ten writes and a hundred reads of what was written, or endless reads from another start each', () => {
      const steps = [...stepsOf(part({}))]
      assert.equal(steps.length, 2 * (MIX.writes + MIX.reads))
      assert.deepEqual(writtenNumbers(steps.slice(0, 10)), [100, 101, 102, 103, 104, 105, 106, 107, 108, 109])
      assert.deepEqual(steps.slice(10, 24).map(step => step.read),
        [100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 0, 1, 2, 3])
      assert.deepEqual(steps.slice(110, 112).map(step => step.write), [[110], [111]])
      const reads = thread => Array.from({ length: 9 }, (iterator => () => iterator.next().value.read)(
        stepsOf(part({ kind: 'reads', thread, threads: 2, keys: 8 }))
      ))
      assert.deepEqual(reads(0), [0, 1, 2, 3, 4, 5, 6, 7, 0])
      assert.deepEqual(reads(1), [4, 5, 6, 7, 0, 1, 2, 3, 4])
    })
  })

  describe('checks every answer', () => {
    const filled = () => mapClient(new Map(Array.from({ length: 7 }, (_, index) => [keyOf(index), valueOf(index)])))

    it('and counts correct reads and writes, and a batch as all its values, but as one timed call', async () => {
      const { writes, reads, errors, misses, wrong, writeMs, readMs } =
        await perform(filled(), part({}), { seconds: 5 })
      assert.deepEqual({ writes, reads, errors, misses, wrong },
        { writes: 20, reads: 200, errors: 0, misses: 0, wrong: 0 })
      assert.deepEqual([writeMs.length, readMs.length], [20, 200])
      const client = filled()
      const batches = await perform(client, part({ kind: 'writes', count: 20, batch: 8 }), { seconds: 5 })
      assert.deepEqual([batches.writes, batches.writeMs.length, client.values.size], [20, 3, 27])
    })

    it('and counts missing, wrong and failed reads separately', async () => {
      const client = filled()
      client.values.delete(keyOf(1))
      client.values.set(keyOf(2), valueOf(3))
      const get = client.get
      client.get = async key => { if (key === keyOf(4)) throw new Error('broken'); return get(key) }
      const { reads, errors, misses, wrong, error, readMs } =
        await perform(client, part({ count: 10, keys: 5 }), { seconds: 5 })
      assert.deepEqual({ reads, errors, misses, wrong, error },
        { reads: 10 + 36, errors: 18, misses: 18, wrong: 18, error: 'broken' })
      assert.equal(readMs.length, 82, 'the time of a call that failed says nothing')
    })

    it('and ends at the time limit', async () => {
      const { reads, cut } = await perform(filled(), part({ kind: 'reads' }), { seconds: 0.02 })
      assert.ok(reads > 0 && !cut)
      const late = await perform(filled(), part({}), { seconds: 0 })
      assert.deepEqual([late.cut, late.writes + late.reads < 220], [true, true])
    })
  })

  describe('measures', () => {
    const partOf = fields => ({
      writes: 0, reads: 4, errors: 0, misses: 0, wrong: 0, writeMs: [],
      readMs: [1, 2, 3, 4], begin: 1000, end: 3000, ...fields
    })
    const contender = { name: 'a', kinds: ['reads'], batch: 1, space: 's' }
    const scale = { keys: 5, levels: [1, 2], rounds: 2, seconds: 1, timeout: 1, counts: {} }
    const measure = run => measureKind(
      { kind: 'reads', contenders: [contender], generator: { run }, spaces: { s: { next: 5 } }, scale, log () {} }
    )

    it('from the first start to the last end of all threads', async () => {
      const { a } = await measure(async (_, { threads }) =>
        Array.from({ length: threads }, (__, index) => partOf({ begin: 1000 + index * 500, end: 3000 + index * 500 })))
      assert.deepEqual(a[1].rates, [2, 2])
      assert.deepEqual(a[2].rates, [3, 3]) // 8 in 2.5 s
      assert.deepEqual(a[1].ms, { read: { p50: 2, p90: 4, p99: 4, max: 4 } })
    })

    it('nothing and fails when a value was wrong',
      () => assert.rejects(measure(async () => [partOf({ wrong: 1 })]), /a: 1 values were not those/))
  })

  describe('drives real servers', () => {
    const folder = useFolder()
    for (const [name, program, start, open] of [
      ['memcached', findMemcached(), startMemcached, openMemcached],
      ['Redis', findRedis(), startRedis, openRedis]
    ]) {
      it(`as ${name}, with threads`, async function () {
        if (!program) return skip(this, `${name} is not installed`)
        const controller = new AbortController()
        const server = await start(program, { dir: folder.dir, memory: 100 })
        const threads = startThreads(2, controller.signal)
        try {
          const client = await open(server)
          for (let index = 0; index < 7; index++) await client.set(keyOf(index), valueOf(index))
          const target = { name, opener: name.toLowerCase(), at: { port: server.port } }
          const parts = await threads.run(target, part({ threads: 2, count: 40 }), 5)
          assert.deepEqual(parts.map(
            ({ writes, reads, misses, wrong, errors }) => [writes, reads, misses, wrong, errors]
          ), [[20, 200, 0, 0, 0], [20, 200, 0, 0, 0]])
          assert.equal(await client.get(keyOf(5000)), null)
          assert.deepEqual([await client.delete(keyOf(1)), await client.delete(keyOf(1))], [true, false])
          await client.close()
          controller.abort()
          await assert.rejects(threads.run(target, part({}), 5))
        } finally {
          await threads.close()
          await server.close()
        }
        await assert.rejects(open(server), undefined, 'it has ended')
      })
    }
  })
})

describe('the benchmark of histories', () => {
  it('starts each round with another contender, and reports percentiles that are measured values', async () => {
    const order = []
    const contender =
      (name, every) => ({ name, every, run: async round => { order.push(`${name}${round}`); return { round } } })
    const results = await interleaveLatencies([contender('a'), contender('b'), contender('c', 2)], 3)
    assert.deepEqual(order, ['a0', 'b0', 'c0', 'b1', 'a1', 'c2', 'a2', 'b2'])
    assert.deepEqual([results.a.ms.count, results.c.round.count, results.b.round.max], [3, 2, 2])
    const values = Array.from({ length: 200 }, (_, index) => 200 - index)
    assert.deepEqual(percentiles(values), { count: 200, p50: 100, p90: 180, p99: 198, max: 200 })
    assert.deepEqual(percentiles([7]), { count: 1, p50: 7, p90: 7, p99: 7, max: 7 })
  })

  it('grows to exactly its named sizes, without duplicates, in the order of ids', () => {
    const seenIds = new Set()
    STAGES.slice(0, 2).forEach((stage, index) => {
      let previousId = ''
      for (const tile of newTiles(stage, STAGES[index - 1])) {
        for (const { _id: id, current } of versionsOf(tile)) {
          assert.ok(compareIds(previousId, id) < 0, `${previousId} before ${id}`)
          assert.equal(current, !id.includes('@'))
          previousId = id
          seenIds.add(id)
        }
      }
      assert.equal(seenIds.size, stage.versions)
    })
    const counts = STAGES.map(stage => blocksOf(stage)
      .reduce((sum, { layer, columns, rows }) => sum + columns * rows * { [LAYER]: 10, [DEEP]: 100 }[layer], 0))
    assert.deepEqual(counts, STAGES.map(({ versions }) => versions))
  })

  it('has heads newer than their past, distinct images, and views of 10 x 8 tiles inside the data', () => {
    const [head, ...past] = versionsOf({ layer: LAYER, z: 10, x: 300, y: 300 })
    assert.ok(past.every(({ time }) => time < head.time))
    assert.equal(new Set([head, ...past].map(doc => doc._attachments.tile.data.toString('hex'))).size, 10)
    const blocks = blocksOf(STAGES[1])
    for (const view of viewsOf(blocks, 500, 1)) {
      const { x, y, columns, rows } = blocks.find(({ layer, z }) => layer === view.layer && z === view.z)
      assert.ok(view.x >= x && view.x + VIEW.columns <= x + columns && view.y >= y && view.y + VIEW.rows <= y + rows)
      assert.deepEqual(tileRanges(bboxOf(view), view.z), [{ x0: view.x, x1: view.x + 9, y0: view.y, y1: view.y + 7 }])
      assert.equal(columnsOf(view).length, VIEW.columns)
    }
  })
})
