// What a target refuses is remembered, shown, and tried again: a checkpoint passes nothing in silence.
import assert from 'node:assert/strict'
import { Replication } from '../../core/mirror/index.js'
import { until } from '../../bench/wait.js'
import { FakePeer, filled } from './fake-peer.js'

const QUICK = { retryDelay: 1, firstDelay: 1, longestDelay: 5, lastWrite: 200, page: 10, batch: 3, smallBytes: 1 }
const copy = (source, target, options = {}) =>
  new Replication({ source, target, ...options, limits: { ...QUICK, ...options.limits } })

describe('core/mirror: refusals', () => {
  const forbids = refused => (call, docs) => call === 'write' ? docs.filter(({ _id: id }) => refused.has(id))
    .map(({ _id: id, _rev: rev }) => ({ id, rev, error: 'forbidden', reason: 'no' })) : undefined

  it('are kept beside the checkpoint, and tried again with every run', async () => {
    const [source, target, refused] = [filled(6), new FakePeer(), new Set(['doc1', 'doc2'])]
    target.hook = forbids(refused)
    for (let run = 0; run < 3; run++) {
      const { lacking, refusals, changes } = await copy(source, target).run()
      assert.deepEqual([lacking, refusals.map(({ id, reason }) => `${id} ${reason}`), changes],
        [2, ['doc1 no', 'doc2 no'], run ? 0 : 6])
      assert.equal(target.checkpoint.lacking, 2)
    }
    assert.equal((await copy(source, target, { dryRun: true }).run()).lacking, 2)
    refused.delete('doc1')
    assert.deepEqual((await copy(source, target).run()).refusals.map(({ id }) => id), ['doc2'])
    assert.ok(target.docs.has('doc1'))
    // what follows what was refused settles it
    refused.clear()
    source.put({ _id: 'doc2', _rev: '2-b', _revisions: { start: 2, ids: ['b', 'a'] } })
    assert.deepEqual([(await copy(source, target).run()).lacking, target.checkpoint.refused], [0, []])
    assert.deepEqual([...target.docs.get('doc2').keys()], ['2-b'])
  })

  it('a live one tries again while it follows', async () => {
    const [source, target, refused] = [filled(6), new FakePeer(), new Set(['doc1'])]
    target.hook = forbids(refused)
    const stop = new AbortController()
    const running = copy(source, target, { live: true, signal: stop.signal, limits: { poll: 5, retryRefused: 20 } })
    const ended = running.run().catch(error => error)
    await until(() => running.status().refused > 2, { what: 'tries' })
    assert.deepEqual([running.status().lacking, running.status().state], [1, 'following'])
    refused.clear()
    await until(() => running.status().lacking === 0, { what: 'what was refused' })
    assert.ok(target.docs.has('doc1'))
    stop.abort()
    assert.equal((await ended).code, 'ABORTED')
  })

  it('a checkpoint does not pass more refusals than it remembers', async () => {
    const [source, target, refused] =
      [filled(500), new FakePeer(), new Set(Array.from({ length: 500 }, (_, at) => `doc${at}`))]
    target.hook = forbids(refused)
    const { lacking, refusals, since } = await copy(source, target).run()
    assert.deepEqual([lacking, refusals.length], [500, 200])
    assert.ok(Number(since) <= 200, `${since}`)
    refused.clear()
    const status = await copy(source, target).run()
    assert.deepEqual([status.docs, status.lacking], [500, 0])
  })
})
