// Figures need a quiet machine. These tests check the rest: all contenders do the same, a wrong answer gives no figure,
// and the figures follow from the measurements.
import assert from 'node:assert/strict'
import { readdir, readFile } from 'node:fs/promises'
import path from 'node:path'
import { buffer } from 'node:stream/consumers'
import { measureLevels } from '../../bench/diskcache.js'
import { clockOf } from '../../bench/diskcache/clients/gateway.js'
import { openFiles } from '../../bench/diskcache/clients/files.js'
import { openMemory } from '../../bench/diskcache/clients/memory.js'
import {
  KEYS, checkSamples, decoded, keys, operationsOf, presets, writeOperations
} from '../../bench/diskcache/operations.js'
import { codeOf, work } from '../../bench/diskcache/worker.js'
import { runWorkers } from '../../bench/diskcache/workers.js'
import { findDiskCache } from '../../bench/programs/diskcache.js'
import { inspectTile } from '../../core/index.js'
import { useFolder } from '../support/folder.js'
import { startServer } from '../support/server.js'
import { skip } from '../support/tools.js'
import { openDocuments } from '../../bench/diskcache/clients/documents.js'

const worker = name => path.join(import.meta.dirname, '../../bench/diskcache', name)
const base = { warmup: 0, limit: 1e6, alone: true }

describe('the benchmark of caches', () => {
  const folder = useFolder()

  describe('gives every process its operations', () => {
    const count = 20_000
    const operations = [...operationsOf(3, count)]

    it('in the proportions of the original, the same each time, of distinct tiles, at advancing times', () => {
      const share = action => operations.filter(operation => operation.action === action).length / count
      assert.ok(Math.abs(share('get') - 0.9) < 0.01 && Math.abs(share('set') - 0.09) < 0.01 &&
        Math.abs(share('delete') - 0.01) < 0.005)
      assert.equal(new Set(operations.map(({ key }) => key)).size, KEYS)
      assert.deepEqual([...operationsOf(3, 500)], operations.slice(0, 500))
      assert.notDeepEqual([...operationsOf(4, 500)], operations.slice(0, 500))
      const values = operations.flatMap(({ value }) => value ?? [])
      for (const value of values.slice(0, 200)) assert.equal(inspectTile(value).type, 'image/png')
      assert.ok(values.every(({ length }) => length > 60 && length < 700))
      assert.equal(new Set(values.map(value => value.toString('hex'))).size, values.length)
      const clocks = [0, 1].map(slot => clockOf({ slot, slots: 2, begun: 1000, now: () => 1005 }))
      const times = [clocks[0](), clocks[1](), clocks[0](), clocks[1]()]
      assert.deepEqual(times,
        ['2000-01-01T00:00:10Z', '2000-01-01T00:00:11Z', '2000-01-01T00:00:12Z', '2000-01-01T00:00:13Z'])
    })

    it('in files that decode to the same operations', async () => {
      const { preset, files, known, bytes } = await writeOperations(folder.dir, { processes: 2, count: 300 })
      assert.deepEqual(decoded(await readFile(files[1])), [...operationsOf(1, 300)])
      assert.deepEqual(decoded(await readFile(preset)), presets())
      assert.equal(presets().length, KEYS)
      assert.ok(bytes > 60 && bytes < 700)
      const sets = [0, 1].flatMap(seed => [...operationsOf(seed, 300)]).filter(({ action }) => action === 'set').length
      assert.equal([...known.values()].reduce((sum, digests) => sum + digests.size, 0), KEYS + sets)
    })
  })

  describe('works', () => {
    const operations = [...operationsOf(0, 3000)]
    const preset = presets()
    const filled = client => {
      for (const { key, value } of preset) client.set(keys[key], value)
      return client
    }

    for (const [name, open] of [['memory', openMemory], ['files', () => openFiles({ dir: folder.dir })]]) {
      it(`on ${name}: reads return the last written value, and miss only after a delete`, async () => {
        const { outcome, timings } = await work(filled(open()), operations, { ...base, preset })
        assert.deepEqual({ ...outcome, ms: 0, samples: [] },
          { done: 3000, ms: 0, behind: 0, longest: 0, errors: {}, samples: [] })
        const storedKeys = new Set(keys.keys())
        const codes = operations.map(({ action, key }) => {
          const missed = action !== 'set' && !storedKeys.has(key)
          if (action === 'set') storedKeys.add(key)
          if (action === 'delete') storedKeys.delete(key)
          return codeOf(action, missed)
        })
        assert.deepEqual([...timings].filter((_, index) => index % 2 === 0), codes)
        assert.ok(codes.includes(codeOf('get', true)) && [...timings].every(time => time >= 0))
      })
    }

    it('and counts outdated answers and their age when no other process writes', async () => {
      const outdated = openMemory()
      const client = { ...filled(openMemory()), get: key => outdated.get(key) }
      filled(outdated)
      const { outcome } = await work(client, operations, { ...base, preset })
      assert.ok(outcome.behind > 500 && outcome.longest > 0)
      assert.ok(outcome.samples.length >= 500, 'each of them can be compared with what was ever written')
      assert.equal((await work(client, operations, { ...base, alone: false, preset })).outcome.behind, 0)
    })

    it('and counts failed operations as misses, by error message; files leave no temporary file', async () => {
      const broken = async () => { throw new Error('no more room\nat all') }
      const { outcome, timings } = await work({ ...filled(openMemory()), set: broken }, operations, { ...base, preset })
      const sets = operations.filter(({ action }) => action === 'set').length
      assert.deepEqual(outcome.errors, { 'no more room': sets })
      assert.equal([...timings].filter((code, index) => index % 2 === 0 && code === codeOf('set', true)).length, sets)
      assert.equal(outcome.behind, 0)
      const files = openFiles({ dir: folder.dir })
      for (const { key, value } of preset) files.set(keys[key], value)
      assert.equal((await readdir(folder.dir)).length, KEYS)
    })

    it('and excludes the warm-up, and stops at the time limit', async () => {
      const { outcome, timings } = await work(filled(openMemory()), operations, { ...base, preset, warmup: 1000 })
      assert.equal(outcome.done, 3000)
      assert.equal(timings.length, 2 * 2000)
      const slow = { ...openMemory(), get: () => new Promise(resolve => { setTimeout(resolve, 5, null) }) }
      const short = await work(slow, operations, { warmup: 10, limit: 40, alone: false })
      assert.ok(short.outcome.done > 10 && short.outcome.done < 100 && short.outcome.ms >= 40)
      assert.equal(short.timings.length, 2 * (short.outcome.done - 10))
    })

    it('in processes, and fails when a process read a value that was never written', async () => {
      const files = await writeOperations(folder.dir, { processes: 2, count: 500 })
      const command = [process.execPath, [worker('worker.js')]]
      const contender = { name: 'x', kind: 'memory', command, apart: true, open: async () => ({}) }
      const options = {
        levels: [2], rounds: 1, operations: 500, warmup: 100, limit: 5,
        dir: folder.dir, work: files, signal: new AbortController().signal, log () {}
      }
      const { x } = await measureLevels([contender], options)
      assert.equal(x[2].asked, 800)
      assert.deepEqual(x[2].done, { median: 800, min: 800, max: 800 })
      assert.deepEqual(Object.keys(x[2].actions), ['get', 'set', 'delete'])
      await assert.rejects(measureLevels([contender], { ...options, work: { ...files, known: new Map() } }),
        /x: \d+ of \d+ answers compared were never written/)
    }).timeout(30_000)

    it('through DiskCache with the same results as in memory', async function () {
      const diskcache = await findDiskCache()
      if (!diskcache) return skip(this, 'DISKCACHE_PYTHON names no Python that has diskcache')
      const { preset: before, files: [file], known } = await writeOperations(folder.dir, { processes: 1, count: 1000 })
      const cacheOptions = { cache: 'Cache', options: {}, dir: folder.path('cache'), keys }
      const task = {
        kind: 'diskcache', where: cacheOptions, operations: file, preset: before,
        ...base, timings: folder.path('timings')
      }
      const [{ samples, timings, ...outcome }] =
        await runWorkers([diskcache.python, [worker('worker.py')]], [task], { signal: new AbortController().signal })
      assert.deepEqual({ ...outcome, ms: 0 }, { done: 1000, ms: 0, behind: 0, longest: 0, errors: {} })
      const reference = await work(filled(openMemory()), decoded(await readFile(file)), { ...base, preset })
      assert.deepEqual(samples, reference.outcome.samples)
      const codes = list => [...list].filter((_, index) => index % 2 === 0)
      assert.deepEqual(codes(timings), codes(reference.timings))
      checkSamples('DiskCache', samples, known)
    }).timeout(30_000)

    it('and reports why a process ended or was stopped', async () => {
      const task = { kind: 'nothing', where: {}, operations: 'x', ...base, timings: 'x' }
      const signal = new AbortController().signal
      await assert.rejects(runWorkers([process.execPath, ['-e', 'console.error("out of luck"); process.exit(3)']],
        [task], { signal: signal }), /ended: out of luck/)
      await assert.rejects(runWorkers(['/nowhere/at-all', []], [task], { signal: signal }), /ENOENT/)
      const controller = new AbortController()
      const pending =
        runWorkers([process.execPath, ['-e', 'setInterval(() => {}, 1000)']], [task], { signal: controller.signal })
      controller.abort(new Error('interrupted'))
      await assert.rejects(pending, /interrupted/)
    }).timeout(30_000)
  })
})

/** A server that answers as CouchDB does for documents with one attachment. `meddle` writes between two requests. */
async function startDatabase () {
  const docs = new Map()
  const requests = []
  const state = { docs, seen: requests, meddle: undefined }
  const { port, close } = await startServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://x')
    const [, , key] = pathname.split('/').map(decodeURIComponent)
    const bytes = await buffer(request)
    const doc = docs.get(key)
    requests.push({ method: request.method, authorization: request.headers.authorization })
    const end = (status, text, headers = {}) => { response.writeHead(status, headers).end(text) }
    if (request.method === 'GET') return doc ? end(200, doc.bytes) : end(404, '{}')
    if (request.method === 'HEAD') {
      if (doc) end(200, '', { etag: `"${doc.rev}"` })
      else end(404, '')
      state.meddle?.()
      return
    }
    if ((searchParams.get('rev') ?? undefined) !== doc?.rev) return end(409, '{"error":"conflict"}')
    if (request.method === 'DELETE') docs.delete(key)
    else docs.set(key, { rev: `${requests.length}-a`, bytes })
    end(201, '{}')
  })
  return Object.assign(state, { db: `http://me:secret@127.0.0.1:${port}/tiles`, close })
}

// Each write needs the current revision, and is repeated if another write came first.
describe('plain documents in the benchmark of caches', () => {
  let database, client
  const methods = () => database.seen.splice(0).map(({ method }) => method)

  beforeEach(async () => {
    database = await startDatabase()
    client = await openDocuments(database)
  })
  afterEach(async () => {
    await client.close()
    await database.close()
  })

  it('are read, overwritten and deleted', async () => {
    const [key, first, second] = ['bench:14:5000:5000', Buffer.from('one'), Buffer.from('two')]
    assert.equal(await client.get(key), null)
    assert.equal(await client.delete(key), false)
    assert.equal(await client.set(key, first), true)
    assert.equal(await client.set(key, second), true)
    assert.deepEqual(await client.get(key), second)
    assert.equal(await client.delete(key), true)
    assert.equal(await client.get(key), null)
    assert.ok(database.seen.every(({ method, authorization }) => method === 'PUT' || method === 'DELETE'
      ? authorization === `Basic ${btoa('me:secret')}` : !authorization))
    assert.deepEqual(methods(), ['GET', 'HEAD', 'HEAD', 'PUT', 'HEAD', 'PUT', 'GET', 'HEAD', 'DELETE', 'GET'])
  })

  it('are written again after conflicts, until there are too many', async () => {
    let conflictsLeft = 2
    database.meddle = () => {
      if (conflictsLeft-- > 0) database.docs.set('a', { rev: `9-${conflictsLeft}`, bytes: Buffer.from('theirs') })
    }
    assert.equal(await client.set('a', Buffer.from('mine')), true)
    assert.deepEqual(methods(), ['HEAD', 'PUT', 'HEAD', 'PUT', 'HEAD', 'PUT'])
    assert.equal(`${await client.get('a')}`, 'mine')
    conflictsLeft = Infinity
    let number = 0
    database.meddle = () => { database.docs.set('a', { rev: `9-${number++}`, bytes: Buffer.from('theirs') }) }
    await assert.rejects(client.set('a', Buffer.from('mine')), /change: 409 .*conflict/)
  })
})
