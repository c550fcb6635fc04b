// The figures need a quiet machine; that everybody is given the same work, that a wrong answer makes no figure, and that tables say
// what was measured, does not.
import assert from 'node:assert/strict'
import { createServer } from 'node:net'
import { openMemcached } from '../../bench/clients/memcached.js'
import { openRedis } from '../../bench/clients/redis.js'
import { ATTACHMENT, BATCHES, GATEWAY, SINGLE, contendersOf } from '../../bench/keyspace/contenders.js'
import { plots, tables } from '../../bench/keyspace/page.js'
import { perform } from '../../bench/keyspace/perform.js'
import { figuresOf, measureKind } from '../../bench/keyspace/rounds.js'
import { startThreads } from '../../bench/keyspace/threads.js'
import { BATCH, BYTES, MIX, keyOf, stepsOf, valueOf } from '../../bench/keyspace/workload.js'
import { table } from '../../bench/plots/words.js'
import { findMemcached, startMemcached } from '../../bench/programs/memcached.js'
import { findRedis, startRedis } from '../../bench/programs/redis.js'
import { listenerOf, listeningSocket, ticksOf, usageOf } from '../../bench/usage.js'
import { inspectTile, parseTileId } from '../../core/index.js'
import { useFolder } from '../support/folder.js'
import { skip } from '../support/tools.js'

/** A client on a Map, with what a server may do wrong. */
function mapClient (values = new Map()) {
  const set = async (key, bytes) => { values.set(key, bytes) }
  return { values, set, setMany: async entries => { for (const entry of entries) await set(...entry) }, get: async key => values.get(key) ?? null }
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
    it('every new value once, in stretches, in batches', () => {
      const steps = [0, 1, 2, 3].map(thread => [...stepsOf(part({ kind: 'writes', thread, threads: 4, count: 400, batch: BATCH }))])
      assert.deepEqual(steps.flatMap(written), Array.from({ length: 400 }, (_, at) => 100 + at))
      for (const own of steps) assert.deepEqual(own.map(step => 'write' in step && step.write.length), [50, 50])
    })

    it('ten writes and a hundred reads, first of what was just written', () => {
      const steps = /** @type {any[]} */ ([...stepsOf(part({}))])
      assert.equal(steps.length, 2 * (MIX.writes + MIX.reads))
      assert.deepEqual(written(steps.slice(0, 10)), [100, 101, 102, 103, 104, 105, 106, 107, 108, 109])
      assert.deepEqual(steps.slice(10, 24).map(step => step.read), [100, 101, 102, 103, 104, 105, 106, 107, 108, 109, 0, 1, 2, 3])
      assert.deepEqual(steps.slice(110, 112).map(step => step.write), [[110], [111]])
    })

    it('reads in turns without an end, each thread beginning elsewhere', () => {
      const reads = thread => Array.from({ length: 9 }, (steps => () => /** @type {any} */ (steps.next().value).read)(stepsOf(part({ kind: 'reads', thread, threads: 2, keys: 8 }))))
      assert.deepEqual(reads(0), [0, 1, 2, 3, 4, 5, 6, 7, 0])
      assert.deepEqual(reads(1), [4, 5, 6, 7, 0, 1, 2, 3, 4])
    })
  })

  describe('looks at every answer', () => {
    const filled = () => mapClient(new Map(Array.from({ length: 7 }, (_, index) => [keyOf(index), valueOf(index)])))

    it('and counts what was right', async () => {
      const { writes, reads, errors, misses, wrong, writeMs, readMs } = await perform(filled(), part({}), { seconds: 5 })
      assert.deepEqual({ writes, reads, errors, misses, wrong }, { writes: 20, reads: 200, errors: 0, misses: 0, wrong: 0 })
      assert.deepEqual([writeMs.length, readMs.length], [20, 200])
    })

    it('and counts a batch as its values, and as one call', async () => {
      const client = filled()
      const { writes, writeMs } = await perform(client, part({ kind: 'writes', count: 20, batch: 8 }), { seconds: 5 })
      assert.deepEqual([writes, writeMs.length, client.values.size], [20, 3, 27])
    })

    it('and tells missing, wrong and failed ones apart', async () => {
      const client = filled()
      client.values.delete(keyOf(1))
      client.values.set(keyOf(2), valueOf(3))
      const get = client.get
      client.get = async key => { if (key === keyOf(4)) throw new Error('broken'); return get(key) }
      const { reads, errors, misses, wrong, error, readMs } = await perform(client, part({ count: 10, keys: 5 }), { seconds: 5 })
      assert.deepEqual({ reads, errors, misses, wrong, error }, { reads: 10 + 36, errors: 18, misses: 18, wrong: 18, error: 'broken' })
      assert.equal(readMs.length, 82, 'the time of a call that failed says nothing')
    })

    it('and ends when the time is up', async () => {
      const { reads, cut } = await perform(filled(), part({ kind: 'reads' }), { seconds: 0.02 })
      assert.ok(reads > 0 && !cut)
      const late = await perform(filled(), part({}), { seconds: 0 })
      assert.deepEqual([late.cut, late.writes + late.reads < 220], [true, true])
    })
  })

  describe('measures', () => {
    const done = fields => ({ writes: 0, reads: 4, errors: 0, misses: 0, wrong: 0, writeMs: [], readMs: [1, 2, 3, 4], begin: 1000, end: 3000, ...fields })
    const contender = /** @type {any} */ ({ name: 'a', kinds: ['reads'], batch: 1, space: 's', servers: [{ pid: process.pid }] })
    const scale = { keys: 5, levels: [1, 2], rounds: 2, seconds: 1, patience: 1, counts: {} }
    const measure = run => measureKind({ kind: 'reads', contenders: [contender], generator: /** @type {any} */ ({ run }), spaces: { s: { next: 5, held: 5 } }, scale, log () {} })

    it('from the first beginning to the last end', async () => {
      const { a } = await measure(async (_, { threads }) => Array.from({ length: threads }, (__, at) => done({ begin: 1000 + at * 500, end: 3000 + at * 500 })))
      assert.deepEqual(a[1].rates, [2, 2])
      assert.deepEqual(a[2].rates, [3, 3]) // 8 in 2.5 s
      assert.deepEqual(a[1].ms, { read: { p50: 2, p90: 4, p99: 4, max: 4 } })
    })

    it('nothing when a value was wrong', () => assert.rejects(measure(async () => [done({ wrong: 1 })]), /a: 1 values were not those/))

    it('errors and misses of all rounds, and nothing of processors that cannot be seen', () => {
      const sample = { requests: 100, writes: 0, seconds: 1, ms: {}, errors: 1, misses: 2, cut: false, cpu: { servers: 0.01, generator: 0.5 } }
      const figures = figuresOf([sample, sample], 2)
      assert.deepEqual([figures.errors, figures.misses, figures.requests], [2, 4, 200])
      assert.deepEqual(figures.cpu, { servers: 100, generator: 5000, serversShare: 1, generatorShare: 25 })
      assert.equal(figuresOf([sample, { ...sample, cpu: { servers: null, generator: 1 } }], 2).cpu.servers, null)
    })
  })

  describe('reads what Linux says of processes', () => {
    it('from lines of its files', () => {
      assert.equal(ticksOf('12 (a (b) c) S 1 1 1 0 -1 4194560 100 0 0 0 7 5 3 1 20 0 8 0 99 1000 50'), 16)
      const line = (port, state) => `   0: 0100007F:${port} 00000000:0000 ${state} 00000000:00000000 00:00000000 00000000     0        0 4242 1 0000000000000000 100 0 0 10 0`
      assert.equal(listeningSocket(line('1F90', '0A'), 8080), 'socket:[4242]')
      assert.equal(listeningSocket(line('1F90', '01'), 8080), null)
      assert.equal(listeningSocket(line('1F91', '0A'), 8080), null)
    })

    it('of this very process', async function () {
      if (process.platform !== 'linux') return skip(this, 'only Linux counts')
      const server = createServer()
      await new Promise(resolve => { server.listen(0, '127.0.0.1', () => resolve(undefined)) })
      try {
        assert.equal(await listenerOf(/** @type {import('node:net').AddressInfo} */ (server.address()).port), process.pid)
      } finally {
        server.close()
      }
      const { cpu = 0, rss = 0 } = await usageOf(process.pid) ?? {}
      assert.ok(cpu > 0 && rss > 10e6)
      assert.equal(await usageOf(2 ** 22 + 1), null)
    })
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
          assert.deepEqual(parts.map(({ writes, reads, misses, wrong, errors }) => [writes, reads, misses, wrong, errors]), [[20, 200, 0, 0, 0], [20, 200, 0, 0, 0]])
          const { values, evictions, bytes } = await server.memory()
          assert.deepEqual([values, evictions, bytes > 47 * BYTES], [47, 0, true])
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

  describe('tells', () => {
    const figure = (median, [servers, generator] = [10, 20], fields = {}) => ({
      requests: 1000, rates: [median], rate: { median, min: median - 1, max: median + 1 }, ms: { read: { p50: 1, p90: 2, p99: 3, max: 4.25 } }, errors: 0, misses: 0, cut: 0,
      cpu: { servers, generator, serversShare: 30, generatorShare: 60 }, ...fields
    })
    const both = (median, cpu, fields) => ({ 1: figure(median, cpu, fields), 8: figure(median * 2, cpu, fields) })
    const result = {
      quick: false, machine: { couchdb: '3.5.0', node: 'v20', cpu: 'x', cores: 2, memory: '4 GiB', date: '2026-01-01' },
      keys: 1000, bytes: BYTES, levels: [1, 8], rounds: 5, patience: 30, seconds: 1, counts: { writes: 2400, mixes: 480 }, mix: MIX,
      results: {
        writes: { [SINGLE]: both(100, [900, 300]), [BATCHES]: both(1000), Redis: both(5000, [null, 20]) },
        reads: { [SINGLE]: both(500), [ATTACHMENT]: both(1000), [GATEWAY]: both(5000), Redis: both(10_000) },
        mixes: { [SINGLE]: both(300, undefined, { misses: 3, cut: 1 }), Redis: both(9000) }
      },
      memory: {
        before: [{ name: 'CouchDB', values: 1000, rss: 60e6, says: 50e6 }, { name: 'Redis', values: 1000, rss: null, says: 10e6 }],
        after: [{ name: 'CouchDB', values: 4000, rss: 123e6, says: 80e6, disk: 44e6 }, { name: 'Redis', values: 4000, rss: null, says: 40e6 }]
      },
      programs: { Redis: { version: '7', settings: 'appendonly yes' } }, missing: { memcached: 'not installed' }
    }
    const made = tables(result, table)

    it('rates with their spread, by threads', () => {
      assert.match(made.keyspaceReads, /^\| gateway \| 5,000 \(4,999–5,001\) \| 10,000 \(9,999–10,001\) \|$/m)
      assert.match(made.keyspaceLatencies, /\| Redis, read of a mix \| 1.0 \/ 2.0 \/ 3.0 \/ 4.3 \|/)
    })

    it('whose rate is that of the load generator', () => {
      assert.match(made.keyspaceLimit, /gateway, reads \(20 to 10 µs a value\)/)
      assert.doesNotMatch(made.keyspaceLimit, /CouchDB, tile by tile, writes|Redis, writes/)
      assert.match(made.keyspaceCpu, /\| Redis, writes \| not to be seen \| 20 \|/)
    })

    it('what was missing, and how much memory was taken', () => {
      assert.equal(made.keyspaceErrors, 'Of 18,000 values that were written or read, CouchDB, tile by tile, mixes: 0 calls failed and 6 values were missing. Nothing was thrown out to make room. After 30 s a run ends although it is not through, so that its proportions are others: CouchDB, tile by tile, mixes, 2 rounds.')
      assert.match(made.keyspaceMemory, /\| CouchDB \| 4,000 \| 33 MB \| 123 MB \| 60 MB \| 80 MB \| 44 MB \|/)
      assert.match(made.keyspacePrograms, /memcached \|\s+\| \*\*not measured\*\*: not installed/)
    })

    it('how they compare, of those that were measured', () => {
      assert.match(made.keyspaceMeaning, /gateway answered 10,000 reads a second, 10 times as many as CouchDB through the store and 5 times/)
      assert.match(made.keyspaceMeaning, /Redis answered 2 times as many reads as the gateway, and stored 50 times/)
      assert.doesNotMatch(made.keyspaceMeaning, /memcached/)
    })

    it('in plots, too', () => assert.deepEqual(Object.keys(plots(result)), ['writes', 'reads', 'mixes', 'latencies', 'cpu', 'memory'].map(name => `keyspace-${name}`)))

    it('of contenders that are there: without memcached and Redis only ours', () => {
      const servers = { couchdb: { store: { url: 'http://c/d' }, pid: 1, memory () {} }, gateway: { url: 'http://g', pid: 2, memory () {} }, caches: {} }
      assert.deepEqual(contendersOf({ url: 'http://a:b@c/d', servers: /** @type {any} */ (servers) }).map(({ name, kinds }) => [name, kinds.length]), [[SINGLE, 3], [BATCHES, 2], [ATTACHMENT, 1], [GATEWAY, 2]])
    })
  })
})
