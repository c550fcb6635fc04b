// Replication: the order of its writes, its failures, live mirrors, and refused documents.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { TilecouchError } from '../../core/index.js'
import { PageTracker, Replication, ReplicationStatus } from '../../core/mirror/replication.js'
import { until } from '../../bench/wait.js'
import { FakePeer, filled } from './fake-peer.js'

const QUICK = { retryDelay: 1, firstDelay: 1, longestDelay: 5, lastWrite: 200 }
const copy = (source, target, options = {}) => new Replication(
  { source, target, ...options, limits: { ...QUICK, page: 10, batch: 3, smallBytes: 1, ...options.limits } }
)
const unreachable = url => new TilecouchError('UNREACHABLE', { url, why: 'cut' })
/** A source with `count` documents, and an empty target. @returns {[FakePeer, FakePeer]} */
const pairOf = count => [filled(count), new FakePeer()]
const nextTurn = () => new Promise(resolve => { setImmediate(resolve) })

describe('core/mirror: order', () => {
  it('the place is the start of the first unfinished page, in any order of their ends', () => {
    fc.assert(fc.property(fc.array(fc.nat(), { minLength: 1, maxLength: 30 }), fc.nat(30), (keys, count) => {
      const tracker = new PageTracker(0)
      const parts = keys.map((_, index) => ({ done: tracker.begin(index + 1), index }))
      const endedParts = new Set()
      for (const { done, index } of [...parts].sort((a, b) => keys[a.index] - keys[b.index]).slice(0, count)) {
        done()
        endedParts.add(index)
        const firstOpen = parts.findIndex(({ index: partIndex }) => !endedParts.has(partIndex))
        assert.equal(tracker.since, firstOpen < 0 ? parts.length : firstOpen)
      }
    }))
  })

  it('a checkpoint never passes a document that the target lacks, in any order of batches', async () => {
    await fc.assert(fc.asyncProperty(fc.integer({ min: 1, max: 60 }), fc.array(fc.nat(6), {
      minLength: 1, maxLength: 40
    }), fc.option(fc.nat(15)), async (count, delays, breaks) => {
      const [source, target] = pairOf(count)
      let writes = 0
      target.hook = async (call, id) => {
        for (let left = delays[writes % delays.length]; left > 0; left--) await nextTurn()
        if (call === 'write' && writes++ === breaks) throw unreachable('target')
        if (call !== 'updateLocal' || !id.startsWith('tilecouch-mirror-')) return
        const since = target.checkpoint?.source_last_seq ?? 0
        for (const [doc, seq] of source.order) if (seq <= since) {
          assert.ok(target.docs.has(doc), `${doc} is not there, but ${since} is noted`)
        }
      }
      await copy(source, target, { limits: { checkpoint: 0 } }).run()
        .catch(error => assert.equal(error.code, 'UNREACHABLE'))
      const lastSeq = target.checkpoint?.source_last_seq ?? 0
      for (const [doc, seq] of source.order) if (seq <= lastSeq) assert.ok(target.docs.has(doc))
      target.hook = () => {}
      await copy(source, target).run()
      assert.deepEqual(target.ids(), source.ids())
      assert.equal(target.checkpoint.source_last_seq, count)
    }), { numRuns: 60 })
  })
})

describe('core/mirror: failures', () => {
  it('a batch that fails while a page is read ends the run with the first error', async () => {
    const [source, target] = pairOf(100)
    const signals = []
    source.hook = async (call, options) => {
      if (call !== 'changes') return
      signals.push(options.signal)
      if (options.since) {
        await new Promise(
          (resolve, reject) => options.signal.addEventListener('abort', () => reject(new TilecouchError('ABORTED')))
        )
      }
    }
    target.hook = call => { if (call === 'write') throw unreachable('target') }
    await assert.rejects(copy(source, target).run(), { code: 'UNREACHABLE' })
    assert.ok(signals.every(({ aborted }) => aborted))
    assert.equal(target.checkpoint?.source_last_seq ?? 0, 0)
  })

  it('a stopped run throws ABORTED with its status, writes it, and continues from there', async () => {
    const [source, target] = pairOf(100)
    const stop = new AbortController()
    target.hook = call => { if (call === 'write' && target.docs.size >= 40) stop.abort() }
    const error = await copy(source, target, { signal: stop.signal, limits: { pages: 1, concurrency: 1 } })
      .run().catch(reason => reason)
    assert.equal(error.code, 'ABORTED')
    assert.equal(error.status.since, target.checkpoint.source_last_seq)
    assert.ok(error.status.since >= 30 && error.status.since < 100)
    target.hook = () => {}
    const secondRun = await copy(source, target).run()
    assert.equal(secondRun.changes, 100 - error.status.since)
    assert.deepEqual(target.ids(), source.ids())
  })

  it('a stopped run does not wait for the last write to a side that does not answer', async () => {
    const [source, target] = pairOf(20)
    const stop = new AbortController()
    target.hook = async (call, id, signal) => {
      if (call === 'write') stop.abort()
      if (stop.signal.aborted && call === 'updateLocal') {
        await new Promise((resolve, reject) => signal.addEventListener('abort', reject))
      }
    }
    await assert.rejects(copy(source, target, { signal: stop.signal, limits: { lastWrite: 20, concurrency: 1 } }).run(),
      { code: 'ABORTED' })
  })

  it('a document that fails at the target is tried again, alone, until it is written', async () => {
    const [source, target] = pairOf(6)
    const tries = []
    target.hook = (call, docs) => {
      if (call !== 'write') return
      tries.push(docs.map(({ _id: id }) => id))
      if (docs.some(({ _id: id }) => id === 'doc1') && tries.length < 4) {
        return [{ id: 'doc1', rev: '1-a', error: 'internal_server_error', reason: 'busy' }]
      }
    }
    const { docs, refused } = await copy(source, target, { limits: { concurrency: 1 } }).run()
    assert.deepEqual([docs, refused], [6, 0])
    assert.deepEqual(tries.slice(0, 4), [['doc0', 'doc1', 'doc2'], ['doc1'], ['doc1'], ['doc1']])
  })

  for (const status of [400, 413]) {
    it(`the bad document of a batch that is answered with ${status} is found and left out`, async () => {
      const [source, target] = pairOf(20)
      let writes = 0
      target.hook = (call, docs) => {
        if (call === 'write' && ++writes && docs.some(({ _id: id }) => id === 'doc13')) {
          throw new TilecouchError('COUCHDB_ERROR', { url: 'target', status, reason: 'doc13' })
        }
      }
      const { docs, refused } = await copy(source, target, { limits: { page: 20, batch: 20 } }).run()
      assert.deepEqual([docs, refused], [19, 1])
      assert.ok(writes < 12, `${writes} requests`)
    })
  }

  it('a refusal is counted, even if its batch then needs the bytes of an omitted attachment', async () => {
    const [source, target] = pairOf(2)
    const refusedIds = []
    let writes = 0
    target.hook = call => {
      if (call !== 'write') return
      writes++
      const busy = { id: 'doc1', rev: '1-a', error: 'internal_server_error', reason: 'busy' }
      if (writes === 1) return [{ id: 'doc0', rev: '1-a', error: 'forbidden', reason: 'no' }, busy]
      const details = { url: 'target', status: 412, reason: 'missing_stub' }
      if (writes === 2) throw new TilecouchError('COUCHDB_ERROR', details)
    }
    const { docs, refused } = await copy(source, target, { onRefused: ({ id }) => refusedIds.push(id) }).run()
    assert.deepEqual([docs, refused, refusedIds], [1, 1, ['doc0']])
    assert.deepEqual(target.ids(), ['doc1 1-a'])
  })

  const whole = {
    'is written after the source has failed for a moment': [2, 'internal_fabric_error', { docs: 1, absent: 0 }],
    'fails the copy if the source keeps failing': [Infinity, 'internal_fabric_error', { code: 'NO_ANSWER' }],
    'is absent if the source no longer has it': [Infinity, 'not_found', { docs: 0, absent: 1 }]
  }
  for (const [name, [failures, error, expected]] of Object.entries(whole)) {
    it(`a document that needs the bytes of an omitted attachment ${name}`, async () => {
      const [source, target] = pairOf(1)
      let [fetches, writes] = [0, 0]
      source.hook = (call, revisions) => {
        if (call !== 'fetch' || ++fetches === 1 || fetches > failures + 1) return
        return { docs: [], bytes: 10, failed: revisions.map(revision => ({ ...revision, error, reason: 'no' })) }
      }
      target.hook = call => {
        const details = { url: 'target', status: 412, reason: 'missing_stub' }
        if (call === 'write' && ++writes === 1) throw new TilecouchError('COUCHDB_ERROR', details)
      }
      const { docs, absent, code } = await copy(source, target).run().catch(reason => reason)
      assert.deepEqual(code ? { code } : { docs, absent }, expected)
      assert.equal(target.docs.size, docs ?? 0)
    })
  }

  it('a source that cannot read some documents for a moment is asked for those again', async () => {
    const [source, target] = pairOf(6)
    let fetches = 0
    source.hook = (call, revisions) => {
      if (call !== 'fetch' || ++fetches > 2) return
      return { docs: [], bytes: 10, failed: revisions.map(
        ({ id, rev }) => ({ id, rev, error: 'internal_fabric_error', reason: 'timeout' })
      ) }
    }
    const { docs, absent } = await copy(source, target, { limits: { concurrency: 1 } }).run()
    assert.deepEqual([docs, absent], [6, 0])
  })

  const lasting = {
    'a document that keeps failing at the target': ['target', 'write',
      docs => docs.some(({ _id: id }) => id === 'doc1') &&
        [{ id: 'doc1', rev: '1-a', error: 'timeout', reason: 'busy' }],
      { code: 'COUCHDB_ERROR', message: /doc1: busy/ }],
    'a source that keeps answering 200 with errors': ['source', 'fetch',
      ([{ id }]) => ({ docs: [], bytes: 10, failed: [{ id, error: 'internal_fabric_error', reason: 'timeout' }] }),
      { code: 'NO_ANSWER', message: /timeout/ }],
    'an answer that omits a document': ['source', 'fetch',
      revisions => revisions.some(({ id }) => id === 'doc3') && { docs: [], bytes: 10, failed: revisions
        .filter(({ id }) => id !== 'doc3').map(({ id, rev }) => ({ id, rev, error: 'not_found', reason: 'missing' })) },
      { code: 'NO_ANSWER', message: /doc3.*does not name it/ }]
  }
  for (const [title, [side, call, answer, expected]] of Object.entries(lasting)) {
    it(`${title} fails the run, whose checkpoint stays`, async () => {
      const [source, target] = pairOf(6)
      const peer = side === 'source' ? source : target
      peer.hook = (name, argument) => name === call ? answer(argument) || undefined : undefined
      await assert.rejects(copy(source, target).run(), expected)
      assert.equal(target.checkpoint?.source_last_seq ?? 0, 0)
    })
  }

  it('a document that the source has lost is requested twice, and counted', async () => {
    const source = filled(6)
    let requests = 0
    source.hook = (call, revisions) => {
      if (call === 'fetch' && revisions.some(({ id }) => id === 'doc2')) requests++
      if (call === 'fetch') source.docs.delete('doc2')
    }
    const { docs, absent } = await copy(source, new FakePeer(), { limits: { concurrency: 1 } }).run()
    assert.deepEqual([docs, absent, requests], [5, 1, 2])
  })

  it('an answer that is too large is requested in halves, and a document that is too large is left out', async () => {
    const source = filled(20)
    source.hook = (call, revisions) => {
      if (call === 'fetch' && revisions.some(({ id }) => id === 'doc7')) {
        throw new TilecouchError('ANSWER_TOO_LARGE', { host: 'source', most: 1 })
      }
    }
    const target = new FakePeer()
    const { docs, refused } = await copy(source, target, { limits: { page: 20, batch: 20 } }).run()
    assert.deepEqual([docs, refused, target.docs.has('doc7')], [19, 1, false])
  })

  it('batches without an answer in time are halved, and the next ones are smaller', async () => {
    const source = filled(200)
    const sizes = []
    source.hook = (call, batch) => {
      if (call !== 'fetch') return
      sizes.push(batch.length)
      if (batch.length > 4) throw new TilecouchError('UNREACHABLE', { url: 'source', why: 'no answer', silent: true })
    }
    const { docs } =
      await copy(source, new FakePeer(), { limits: { page: 200, batch: 16, smallBytes: 1600, concurrency: 1 } }).run()
    assert.equal(docs, 200)
    assert.ok(sizes.filter(size => size > 4).length < sizes.length / 2, sizes.join(' '))
  })

  it('a page without rows moves the place', async () => {
    const source = filled(0)
    source.hook = call => call === 'changes' ? { rows: [], last: '17-opaque', pending: 0 } : undefined
    const target = new FakePeer()
    assert.equal((await copy(source, target).run()).since, '17-opaque')
    assert.equal(target.checkpoint.source_last_seq, '17-opaque')
  })
})

/** Live mirrors, which are stopped after each test. */
function useLive () {
  const runs = []
  afterEach(async () => {
    for (const { stop, running } of runs.splice(0)) {
      stop.abort()
      await assert.rejects(running, { code: 'ABORTED' })
    }
  })
  return (source, target, options) => {
    const stop = new AbortController()
    const replication = copy(source, target, { live: true, signal: stop.signal, ...options })
    runs.push({ stop, running: replication.run() })
    return replication
  }
}

describe('core/mirror: live', () => {
  const follow = useLive()

  it('a mirror copies changes, waits for a source that is away, and reports its lag', async () => {
    const [source, target] = pairOf(10)
    const states = []
    const replication =
      follow(source, target, { onState: ({ state, error }) => states.push(error ?? state), limits: { poll: 50 } })
    await until(() => replication.status().state === 'following' && replication.status().lag === 0)
    source.put({ _id: 'new', _rev: '1-a' })
    await until(() => target.docs.has('new'))
    source.hook = call => { if (call === 'changes' || call === 'getLocal') throw unreachable('source') }
    await until(() => replication.status().state === 'away')
    await until(() => (replication.status().lag ?? 0) > 0.05)
    assert.equal(replication.status().error, 'UNREACHABLE')
    source.put({ _id: 'meanwhile', _rev: '1-a' })
    source.hook = () => {}
    await until(() => replication.status().state === 'following' && target.docs.has('meanwhile'))
    await until(() => replication.status().lag === 0)
    assert.deepEqual(states, ['following', 'UNREACHABLE', 'following'])
  })

  it('a source that is silent for longer than a poll counts as behind', async () => {
    const status = new ReplicationStatus(100, () => {})
    status.hear(false)
    status.complete(true)
    assert.equal(status.value().lag, 0)
    await until(() => (status.value().lag ?? 0) > 0.15)
    status.hear(false)
    assert.equal(status.value().lag, 0)
  })

  it('the lag grows while changes are under way', async () => {
    const [source, target] = pairOf(3)
    const replication = follow(source, target, { limits: { poll: 1000 } })
    await until(() => replication.status().state === 'following')
    let release = () => {}
    target.hook = call => call === 'write' ? new Promise(resolve => { release = () => resolve(undefined) }) : undefined
    source.put({ _id: 'slow', _rev: '1-a' })
    await until(() => (replication.status().lag ?? 0) > 0.03)
    assert.equal(replication.status().state, 'following')
    release()
    await until(() => replication.status().lag === 0)
  })

  it('a target that is created again while nothing happens is filled again', async () => {
    const [source, target] = pairOf(10)
    follow(source, target, { limits: { poll: 50, checkpoint: 0, heartbeat: 0 } })
    await until(() => target.checkpoint?.source_last_seq === 10)
    Object.assign(target, new FakePeer().copy())
    await until(() => target.docs.size === 10)
  })
})

describe('core/mirror: refusals', () => {
  const follow = useLive()

  const forbids = refused => (call, docs) => call === 'write' ? docs.filter(({ _id: id }) => refused.has(id))
    .map(({ _id: id, _rev: rev }) => ({ id, rev, error: 'forbidden', reason: 'no' })) : undefined

  it('are counted, kept beside the checkpoint, and tried again with every run', async () => {
    const [source, target] = pairOf(6)
    const refused = new Set(['doc1', 'doc2'])
    target.hook = forbids(refused)
    for (let run = 0; run < 3; run++) {
      const refusedIds = []
      const { docs, refused: count, lacking, refusals, changes } =
        await copy(source, target, { onRefused: ({ id }) => refusedIds.push(id) }).run()
      assert.deepEqual([docs, count, refusedIds], [run ? 0 : 4, 2, ['doc1', 'doc2']])
      assert.equal(target.checkpoint.history[0].doc_write_failures, 2)
      assert.deepEqual([lacking, refusals.map(({ id, reason }) => `${id} ${reason}`), changes],
        [2, ['doc1 no', 'doc2 no'], run ? 0 : 6])
      assert.equal(target.checkpoint.lacking, 2)
    }
    assert.equal((await copy(source, target, { dryRun: true }).run()).lacking, 2)
    refused.delete('doc1')
    assert.deepEqual((await copy(source, target).run()).refusals.map(({ id }) => id), ['doc2'])
    assert.ok(target.docs.has('doc1'))
    // a newer revision of a refused document settles the refusal
    refused.clear()
    source.put({ _id: 'doc2', _rev: '2-b', _revisions: { start: 2, ids: ['b', 'a'] } })
    assert.deepEqual([(await copy(source, target).run()).lacking, target.checkpoint.refused], [0, []])
    assert.deepEqual([...target.docs.get('doc2').keys()], ['2-b'])
  })

  it('are tried again by a live mirror while it follows', async () => {
    const [source, target] = pairOf(6)
    const refused = new Set(['doc1'])
    target.hook = forbids(refused)
    const mirror = follow(source, target, { limits: { poll: 5, retryRefused: 20 } })
    await until(() => mirror.status().refused > 2, { what: 'tries' })
    assert.deepEqual([mirror.status().lacking, mirror.status().state], [1, 'following'])
    refused.clear()
    await until(() => mirror.status().lacking === 0, { what: 'what was refused' })
    assert.ok(target.docs.has('doc1'))
  })

  it('a checkpoint does not pass more refusals than it remembers', async () => {
    const [source, target] = pairOf(500)
    const refused = new Set(Array.from({ length: 500 }, (_, index) => `doc${index}`))
    target.hook = forbids(refused)
    const { lacking, refusals, since } = await copy(source, target).run()
    assert.deepEqual([lacking, refusals.length], [500, 200])
    assert.ok(Number(since) <= 200, `${since}`)
    refused.clear()
    const status = await copy(source, target).run()
    assert.deepEqual([status.docs, status.lacking], [500, 0])
  })
})
