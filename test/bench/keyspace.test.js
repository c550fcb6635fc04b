// The figures need a quiet machine; that everybody is given the same work, that a wrong answer makes no figure, and
// that tables say what was measured, does not.
import assert from 'node:assert/strict'
import { openMemcached } from '../../bench/clients/memcached.js'
import { openRedis } from '../../bench/clients/redis.js'
import { perform } from '../../bench/keyspace/perform.js'
import { measureKind } from '../../bench/keyspace/rounds.js'
import { startThreads } from '../../bench/keyspace/threads.js'
import { BATCH, BYTES, MIX, keyOf, stepsOf, valueOf } from '../../bench/keyspace/workload.js'
import { findMemcached, startMemcached } from '../../bench/programs/memcached.js'
import { findRedis, startRedis } from '../../bench/programs/redis.js'
import { inspectTile, parseTileId } from '../../core/index.js'
import { useFolder } from '../support/folder.js'
import { skip } from '../support/tools.js'

/** A client on a Map, with what a server may do wrong. */
function mapClient (values = new Map()) {
  const set = async (key, bytes) => { values.set(key, bytes) }
  return { values, set, setMany: async entries => {
    for (const entry of entries) await set(...entry)
  }, get: async key => values.get(key) ?? null }
}

const part = fields => ({ kind: 'mixes', thread: 0, threads: 1, first: 100, count: 20, batch: 1, keys: 7, ...fields })
const written = steps => steps.flatMap(step => step.write ?? [])

describe('the benchmark of values under keys', () => {
  describe('makes values', () => {
    it('that are tiles of one length, no two alike, the same each time', () => {
      const values = Array.from({ length: 100 }, (_, index) => valueOf(index))
      for (const value of values) assert.equal(inspectTile(value).type, 'image/png')
      assert.deepEqual(new Set(values.map(({ length }) => length)), new Set([BYTES]))
      assert.equal(new Set(values.map(value => value.toString('latin1'))).size, 100)
      assert.ok(valueOf(70_001).equals(valueOf(70_001)))
    })

    it('under ids of tiles in ascending order', () => {
      const keys = [0, 1, 999, 1000, 1001, 250_000].map(keyOf)
      assert.deepEqual([...keys].sort(), keys)
      assert.deepEqual(parseTileId(keys[3]), { layer: 'bench', z: 14, x: 5001, y: 5000 })
    })
  })

  describe('gives threads their work', () => {
    it('every new value once, in consecutive batches', () => {
      const steps =
        [0, 1, 2, 3].map(thread => [...stepsOf(part({ kind: 'writes', thread, threads: 4, count: 400, batch: BATCH }))])
      assert.deepEqual(steps.flatMap(written), Array.from({ length: 400 }, (_, at) => 100 + at))
      for (const own of steps) assert.deepEqual(own.map(step => 'write' in step && step.write.length), [50, 50])
    })

    it('ten writes, then a hundred reads that begin with the values just written', () => {
      const steps = /** @type {any[]} */ ([...stepsOf(part({}))])
      assert.equal(steps.length, 2 * (MIX.writes + MIX.reads))
      assert.deepEqual(written(steps.slice(0, 10)), [100, 101, 102, 103, 104, 105, 106, 107, 108, 109])
      assert.deepEqual(steps.slice(10, 24).map(step => step.read),
        [100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 0, 1, 2, 3])
      assert.deepEqual(steps.slice(110, 112).map(step => step.write), [[110], [111]])
    })

    it('endless reads in rotation, each thread from another start', () => {
      const reads = thread => Array.from({ length: 9 }, (steps => () => /** @type {any} */ (steps.next().value).read)(
        stepsOf(part({ kind: 'reads', thread, threads: 2, keys: 8 }))
      ))
      assert.deepEqual(reads(0), [0, 1, 2, 3, 4, 5, 6, 7, 0])
      assert.deepEqual(reads(1), [4, 5, 6, 7, 0, 1, 2, 3, 4])
    })
  })

  describe('checks every answer', () => {
    const filled = () => mapClient(new Map(Array.from({ length: 7 }, (_, index) => [keyOf(index), valueOf(index)])))

    it('and counts correct reads and writes', async () => {
      const { writes, reads, errors, misses, wrong, writeMs, readMs } =
        await perform(filled(), part({}), { seconds: 5 })
      assert.deepEqual({ writes, reads, errors, misses, wrong },
        { writes: 20, reads: 200, errors: 0, misses: 0, wrong: 0 })
      assert.deepEqual([writeMs.length, readMs.length], [20, 200])
    })

    it('and counts a batch as all its values, but as one timed call', async () => {
      const client = filled()
      const { writes, writeMs } = await perform(client, part({ kind: 'writes', count: 20, batch: 8 }), { seconds: 5 })
      assert.deepEqual([writes, writeMs.length, client.values.size], [20, 3, 27])
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
    const done = fields => (
      {
        writes: 0, reads: 4, errors: 0, misses: 0, wrong: 0, writeMs: [],
        readMs: [1, 2, 3, 4], begin: 1000, end: 3000, ...fields
      }
    )
    const contender = /** @type {any} */ ({ name: 'a', kinds: ['reads'], batch: 1, space: 's' })
    const scale = { keys: 5, levels: [1, 2], rounds: 2, seconds: 1, timeout: 1, counts: {} }
    const measure = run => measureKind(
      { kind: 'reads', contenders: [contender], generator: /** @type {any} */ ({ run }), spaces: {
        s: { next: 5 }
      }, scale, log () {} }
    )

    it('from the first start to the last end of all threads', async () => {
      const { a } = await measure(async (_, { threads }) =>
        Array.from({ length: threads }, (__, at) => done({ begin: 1000 + at * 500, end: 3000 + at * 500 })))
      assert.deepEqual(a[1].rates, [2, 2])
      assert.deepEqual(a[2].rates, [3, 3]) // 8 in 2.5 s
      assert.deepEqual(a[1].ms, { read: { p50: 2, p90: 4, p99: 4, max: 4 } })
    })

    it('nothing and fails when a value was wrong',
      () => assert.rejects(measure(async () => [done({ wrong: 1 })]), /a: 1 values were not those/))
  })

  describe('drives real servers', () => {
    const folder = useFolder()
    for (const [name, found, start, open] of /** @type {const} */ ([
      ['memcached', findMemcached(), startMemcached, openMemcached],
      ['Redis', findRedis(), startRedis, openRedis]
    ])) {
      it(`as ${name}, with threads`, async function () {
        if (!found) return skip(this, `${name} is not installed`)
        const stop = new AbortController()
        const server = await start(found, { dir: folder.dir, memory: 100 })
        const threads = startThreads(2, stop.signal)
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
          stop.abort()
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
