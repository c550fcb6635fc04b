// The checkpoints of a replication, and the sizes of its batches.
import assert from 'node:assert/strict'
import { TilecouchError } from '../../core/index.js'
import { Replication, FailureStreak, RevisionCopier, replicationDefaults } from '../../core/mirror/index.js'
import { FakePeer, filled } from './fake-peer.js'

const copy = (source, target, options = {}) => new Replication(
  { source, target, ...options, limits: { retryDelay: 1, firstDelay: 1, page: 10, checkpoint: 0, ...options.limits } }
).run()
const readOnly = peer => { peer.hook = call => { if (call === 'updateLocal') throw new TilecouchError('READ_ONLY') } }
const add = (peer, from, count) => {
  for (let index = from; index < from + count; index++) peer.put({ _id: `doc${index}`, _rev: '1-a' })
}

describe('core/mirror: checkpoints', () => {
  it('are the same on both sides, with the fields of CouchDB and fields for people', async () => {
    const [source, target] = [filled(25), new FakePeer()]
    await copy(source, target, { about: { from: 'a', to: 'b' } })
    const { session_id: session, source_last_seq: since, history: [entry], from, to, bytes, state } = target.checkpoint
    assert.deepEqual({ since, from, to, bytes, state },
      { since: 25, from: 'a', to: 'b', bytes: 2500, state: 'completed' })
    const { start_time: start, end_time: end, ...counts } = entry
    assert.deepEqual(counts, {
      session_id: session, start_last_seq: 0, end_last_seq: 25, recorded_seq: 25,
      missing_checked: 25, missing_found: 25, docs_read: 25, docs_written: 25, doc_write_failures: 0
    })
    assert.ok(start <= end)
    assert.deepEqual(source.checkpoint.history, target.checkpoint.history)
  })

  it('a second run reads nothing that the first has copied', async () => {
    const [source, target] = [filled(25), new FakePeer()]
    await copy(source, target)
    add(source, 25, 2)
    const { changes, checked } = await copy(source, target)
    assert.deepEqual([changes, checked], [2, 2])
    assert.deepEqual(target.checkpoint.history.map(entry => entry.recorded_seq), [27, 25])
    assert.equal((await copy(source, target)).changes, 0)
  })

  it('a target that is restored to an older state gets everything again', async () => {
    const [source, target] = [filled(20), new FakePeer()]
    await copy(source, target)
    const oldState = target.copy()
    add(source, 20, 20)
    await copy(source, target)
    Object.assign(target, oldState)
    const { changes } = await copy(source, target)
    assert.equal(changes, 20)
    assert.deepEqual(target.ids(), source.ids())
  })

  for (const kind of ['source', 'read-only source']) {
    it(`a ${kind} that is restored to an older state loses no later change`, async () => {
      const [source, target] = [filled(20), new FakePeer()]
      if (kind === 'read-only source') readOnly(source)
      else await copy(source, target)
      const oldState = source.copy()
      add(source, 20, 20)
      await copy(source, target)
      Object.assign(source, oldState)
      add(source, 100, 5) // at sequence numbers that the target has seen
      await copy(source, target)
      for (const id of source.docs.keys()) assert.ok(target.docs.has(id), id)
    })
  }

  it('a run continues at the smaller of the two places of a session', async () => {
    for (const side of ['source', 'target']) {
      const sides = { source: filled(20), target: new FakePeer() }
      await copy(sides.source, sides.target)
      sides[side].checkpoint.history[0].recorded_seq = 12
      assert.equal((await copy(sides.source, sides.target)).changes, 8, side)
    }
  })

  for (const side of ['source', 'target']) {
    it(`a ${side} that is created again is copied from the beginning`, async () => {
      const sides = { source: filled(20), target: new FakePeer() }
      await copy(sides.source, sides.target)
      sides[side] = side === 'source' ? filled(20, 50) : new FakePeer()
      assert.equal((await copy(sides.source, sides.target)).changes, 20)
      for (const id of sides.source.docs.keys()) assert.ok(sides.target.docs.has(id), id)
    })
  }

  it('of a read-only source are kept at the target only', async () => {
    const [source, target] = [filled(20), new FakePeer()]
    readOnly(source)
    await copy(source, target)
    assert.equal(source.local.size, 0)
    add(source, 20, 1)
    assert.equal((await copy(source, target)).changes, 1)
  })

  it('a run continues at the smaller place after a run that was killed between the two writes', async () => {
    const [source, target] = [filled(20), new FakePeer()]
    await copy(source, target)
    add(source, 20, 20)
    target.hook = call => {
      if (call === 'updateLocal' && source.checkpoint.source_last_seq === 40) throw new TilecouchError('INTERNAL')
    }
    await assert.rejects(copy(source, target), { code: 'INTERNAL' })
    assert.deepEqual([source.checkpoint.source_last_seq, target.checkpoint.source_last_seq < 40], [40, true])
    target.hook = () => {}
    await copy(source, target)
    assert.deepEqual(target.ids(), source.ids())
  })

  it('opaque places count only when they are equal on both sides', async () => {
    const [source, target] = [filled(20), new FakePeer()]
    const opaque = seq => seq ? `x${'abcdefghijklmnopqrstuvwxyz'[seq % 26]}${seq}` : 0
    const changes = source.changes.bind(source)
    source.changes = async options => {
      const page = await changes({ ...options, since: Number(String(options.since).replace(/\D/g, '')) })
      return { ...page, last: opaque(page.last) }
    }
    await copy(source, target)
    assert.equal((await copy(source, target)).changes, 0)
    target.local.get([...target.local.keys()].find(id => id.startsWith('tilecouch-mirror-')))
      .history[0].recorded_seq = 'xc2'
    assert.equal((await copy(source, target)).changes, 20)
  })

  it('two mirrors at once do not overwrite each other’s sessions', async () => {
    const [source, target] = [filled(200), new FakePeer()]
    const turn = () => new Promise(resolve => { setImmediate(resolve) })
    target.hook = source.hook = turn
    const limits = { page: 5, pages: 1, concurrency: 1 }
    await Promise.all([copy(source, target, { limits }), copy(source, target, { limits })])
    assert.deepEqual(target.ids(), source.ids())
    assert.equal(target.checkpoint.history.length, 2)
    target.hook = source.hook = () => {}
    assert.equal((await copy(source, target)).changes, 0)
  })

  it('a target that is restored during a fill loses nothing', async () => {
    const [source, target] = [filled(200), new FakePeer()]
    const checkpointSeq = () => target.checkpoint?.source_last_seq ?? 0
    let oldState
    target.hook = call => {
      if (call === 'write' && checkpointSeq() && !oldState) oldState = { ...target.copy(), noted: checkpointSeq() }
      if (call !== 'write' || !oldState?.docs || checkpointSeq() === oldState.noted) return
      Object.assign(target, oldState)
      oldState = {}
    }
    // slow enough for some checkpoints on the way
    source.hook = async call => { if (call === 'changes') await new Promise(resolve => { setTimeout(resolve, 100) }) }
    const { changes } = await copy(source, target, { limits: { pages: 1, concurrency: 1 } })
    assert.ok(changes > 200)
    assert.deepEqual(target.ids(), source.ids())
  })

  it('a dry run writes nothing anywhere', async () => {
    const [source, target] = [filled(20), new FakePeer()]
    const { missing, docs } = await copy(source, target, { dryRun: true })
    assert.deepEqual([missing, docs, source.local.size, target.local.size, target.docs.size], [20, 0, 0, 0, 0])
  })

  it('the timer of a run ends when the run is stopped while a side never answers', async () => {
    const { setInterval: begin, clearInterval: end } = globalThis
    const open = new Set()
    globalThis.setInterval = (...args) => {
      const timer = begin(...args)
      open.add(timer)
      return timer
    }
    globalThis.clearInterval = timer => {
      open.delete(timer)
      end(timer)
    }
    try {
      const stop = new AbortController()
      const target = new FakePeer()
      const writeCall = new Promise(resolve => {
        target.hook = call => call === 'write' && new Promise(() => { resolve() })
      })
      copy(filled(5), target, { signal: stop.signal })
      await writeCall
      assert.equal(open.size, 1)
      stop.abort()
      assert.equal(open.size, 0)
    } finally {
      Object.assign(globalThis, { setInterval: begin, clearInterval: end })
    }
  })
})

const SIZE = 10000 // bytes of a document
const { signal } = new AbortController()

// connections of any kind, simulated with a clock and without a network
describe('batches of a replication', () => {
  const { now } = performance
  let clock
  beforeEach(() => {
    clock = 0
    performance.now = () => clock
  })
  afterEach(() => { performance.now = now })

  /**
   * Copies documents over a simulated connection, one batch at a time.
   * @param {number} count
   * @param {(bytes: number) => number | undefined} timeFor milliseconds that the bytes take; undefined when the
   *   connection breaks before
   * @param {Partial<typeof replicationDefaults>} [limits] by default, batches do not grow with the written documents
   * @returns {Promise<{batches: number[], lost: number}>} documents in each batch, and bytes of the batches that failed
   */
  async function carry (count, timeFor, limits = { batchShare: 0 }) {
    const batches = []
    const writtenIds = new Set()
    let lost = 0
    const source = {
      name: 'source',
      async fetch (revisions) {
        const bytes = revisions.length * SIZE
        const took = timeFor(bytes)
        if (took === undefined) {
          lost += bytes
          throw new TilecouchError('UNREACHABLE', { url: 'http://x', why: 'it broke' })
        }
        clock += took
        batches.push(revisions.length)
        return { docs: revisions.map(({ id, rev }) => ({ _id: id, _rev: rev })), bytes }
      }
    }
    const target = {
      name: 'target', write: async docs => { for (const { _id } of docs) writtenIds.add(_id); return [] }
    }
    const tally = { bytes: 0, docs: 0, deleted: 0, tiles: 0, absent: 0, refused: 0 }
    const failures =
      new FailureStreak({ probe: async () => {}, onFailed: failed => assert.fail(JSON.stringify(failed)) })
    const copier = new RevisionCopier({ source, target, tally, limits: {
      ...replicationDefaults, batchTime: 3000, concurrency: 1, retryDelay: 0, ...limits
    }, failures })
    await copier.copy(Array.from({ length: count }, (_, index) => ({ id: `${1000 + index}`, rev: '1-a' })), signal)
    assert.equal(writtenIds.size, count)
    return { batches, lost }
  }

  it('are as large as allowed over a quick connection', async () => {
    const { batches } = await carry(2000, bytes => bytes / 10000)
    assert.deepEqual([...new Set(batches)], [20, 50, 30])
  })

  it('grow with the number of documents that were written', async () => {
    const { batches } = await carry(12000, bytes => bytes / 10000, {})
    batches.reduce((writtenCount, count) => {
      assert.ok(count <= Math.max(50, writtenCount / 20), `${count} after ${writtenCount}`)
      return writtenCount + count
    }, 0)
    assert.equal(Math.max(...batches), Math.floor(replicationDefaults.batchBytes / SIZE), 'as large as allowed')
  })

  it('take about the configured time over a slow connection', async () => {
    const { batches } = await carry(200, bytes => bytes / 20)
    assert.equal(batches[0], 20, 'before anything is known')
    assert.ok(batches.slice(1, -1).every(count => count === 6), `${batches}`) // 60 kB in 3 s
  })

  it('grow again when the connection gets quicker', async () => {
    let rate = 20
    const { batches } = await carry(3000, bytes => {
      const took = bytes / rate
      if (clock > 60000) rate = 10000
      return took
    })
    assert.equal(Math.max(...batches.slice(-8)), 50, `${batches}`)
  })

  it('get small enough for a connection that keeps breaking', async () => {
    const { batches, lost } = await carry(1000, bytes => bytes > 100e3 ? undefined : 1)
    assert.ok(Math.max(...batches) <= 10, `${batches}`)
    assert.ok(lost < 0.25 * 1000 * SIZE, `${lost} bytes were lost`)
  })
})
