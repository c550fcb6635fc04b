// Mirrors over links that are slow, distant, lossy, cut or dead: the copies are correct, and the replication reports
// its state.
import assert from 'node:assert/strict'
import { mirror } from '../../loader/maintain/mirror/index.js'
import { PUBLIC_SECURITY } from '../../loader/store/index.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { random } from '../../bench/tiles.js'
import { json, onEachStore, request } from '../support/backends.js'
import { differences } from './compare.js'
import { startLink } from './link.js'
import {
  T2, createLargeOrigin, edition, follow, hasty, limits, replication, whileFollowing, write
} from '../support/bad-lines.js'

const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const COUNT = 300
const HASTE = 20 // divides the timeouts: 30 s for an answer become 1.5 s
// milliseconds until a link counts as dead during a copy: three rounds of batches, each tried twice
const DEAD = 9000
const MOMENT = 1 // seconds of lag: half of it is a poll
const POLL = 1000 // milliseconds until the mirror gives up a poll that takes half a second

onEachStore(`a mirror over a bad line (seed ${SEED})`, backend => {
  let from, to, store, sourceLink, targetLink
  before(async () => {
    from = await backend.database()
    store = await createLargeOrigin(from, { count: COUNT })
  })
  beforeEach(async () => {
    to = await backend.database()
    await request(to, { method: 'PUT' })
    sourceLink = await startLink(from, { seed: SEED })
    targetLink = await startLink(to, { seed: SEED + 1 })
  })
  afterEach(async () => {
    await sourceLink.close()
    await targetLink.close()
  })

  const run = options => replication(sourceLink.url, targetLink.url, options).run()
  const assertSame = async () => assert.deepEqual(await differences(from, to), [])
  /** Writes new versions of some tiles, with other images for each seed. */
  const change =
    (count, seed) => write(store, edition({ count, time: T2.replace('2022', `${2022 + seed}`), seed: 100 + seed }))

  it('is complete when connections are reset again and again', async () => {
    sourceLink.set({ loss: 150e3 })
    targetLink.set({ loss: 150e3 })
    const status = await run({ couch: { ...hasty, retries: 20 } })
    assert.ok(sourceLink.counts.resets > 3 && targetLink.counts.resets > 3,
      `${sourceLink.counts.resets} and ${targetLink.counts.resets} resets`)
    assert.equal(status.refused, 0)
    await assertSame()
  })

  it('gets its design documents and its index over connections that are reset', async () => {
    await store.secure(PUBLIC_SECURITY)
    sourceLink.set({ loss: 150e3 })
    targetLink.set({ loss: 3e6 }) // the viewer is sent in one request
    const status = await mirror(sourceLink.url, targetLink.url, { limits })
    assert.ok(sourceLink.counts.resets + targetLink.counts.resets > 2)
    assert.equal(status.refused, 0)
    await assertSame()
    const { rows } = await json(`${to}/_design/versions/_view/by_tile?reduce=true&stable=true&update=false`)
    assert.ok(rows[0].value > COUNT, 'the index is there')
  })

  it('is complete over a slow connection with a long delay', async () => {
    sourceLink.set({ rate: 400e3, delay: 30 })
    targetLink.set({ rate: 400e3, delay: 30 })
    const began = performance.now()
    const status = await run({ couch: { ...hasty, haste: 4 } })
    assert.ok(performance.now() - began > 2500)
    assert.equal(status.refused + status.absent, 0)
    await assertSame()
  })

  for (const side of ['source', 'target']) {
    it(`continues where it stopped when the connection to the ${side} is cut again and again`, async () => {
      const next = random(SEED)
      const link = side === 'source' ? sourceLink : targetLink
      const docCount = (await json(from)).doc_count
      let [written, tries] = [0, 0]
      for (let cuts = 0; ; tries++) {
        // the target answers with few bytes
        link.cutAfter((side === 'source' ? 200e3 + next() * 400e3 : 10e3 + next() * 10e3) * (cuts < 6 ? 1 : Infinity))
        try {
          written += (await run()).docs
          break
        } catch (error) {
          assert.equal(error.code, 'UNREACHABLE', error.stack)
          written += error.replication.docs
          cuts++
          await link.restore()
        }
      }
      assert.ok(tries >= 2, `cut ${tries} times`)
      // the last cut may still be pending, or have happened after the last answer
      link.cutAfter(Infinity)
      await link.restore()
      // at most the batches in flight are written again: four batches of 40 per cut
      assert.ok(written < docCount + tries * 4 * 40, `${written} written for ${docCount}`)
      await assertSame()
      assert.equal((await run()).missing, 0)
    })

    it(`is away while the connection to the ${side} is cut, and comes back by itself`, async () => {
      const link = side === 'source' ? sourceLink : targetLink
      await whileFollowing(sourceLink.url, targetLink.url, {}, async following => {
        await until(() => (following.status().lag ?? Infinity) < MOMENT, { what: 'no lag' })
        for (const round of side === 'source' ? [1, 2] : [3, 4]) {
          link.cut()
          await change(30, round)
          await until(() => following.is('away'), { what: 'it to be away' })
          // BAD_ANSWER if the cut happened during an answer, else UNREACHABLE
          assert.ok(['UNREACHABLE', 'BAD_ANSWER'].includes(following.status().error), following.status().error)
          const { lag = Infinity } = following.status()
          await until(() => (following.status().lag ?? 0) > lag, { what: 'the lag to grow' })
          await link.restore()
          await until(() => following.is('following'), { timeout: 20000, what: 'it to follow again' })
          await assertSame()
          await until(() => (following.status().lag ?? Infinity) < MOMENT, { what: 'the lag to be gone' })
        }
      })
    })

    it(`gives up a dead connection to the ${side}, and goes on when it works again`, async () => {
      const link = side === 'source' ? sourceLink : targetLink
      const following = follow(sourceLink.url, targetLink.url, { couch: { ...hasty, haste: HASTE } })
      try {
        await until(() => following.status().docs > 50, { every: 2, what: 'some documents' })
        link.freeze()
        const frozenAt = performance.now()
        await until(() => following.is('away'), { timeout: 30000, what: 'it to be away' })
        assert.ok(performance.now() - frozenAt < Math.max(POLL, DEAD) + 8000 * TIME_FACTOR,
          `found after ${performance.now() - frozenAt} ms`)
        link.thaw()
        await until(() => following.is('following'), { timeout: 20000, what: 'it to follow' })
        await assertSame()
      } finally {
        await following.stop()
      }
    })

    it(`replaces connections to the ${side} that a router has forgotten`, async () => {
      const link = side === 'source' ? sourceLink : targetLink
      await whileFollowing(sourceLink.url, targetLink.url, { couch: { ...hasty, haste: HASTE } }, async following => {
        link.strand()
        const round = side === 'source' ? 5 : 6
        await change(10, round)
        const changedAt = performance.now()
        const lastTileUrl = `${from}/${encodeURIComponent('osm:10:0:9')}`
        const { _rev: rev } = await json(lastTileUrl)
        await until(async () => (await json(lastTileUrl.replace(from, to)))._rev === rev,
          { timeout: 20000, every: 100, what: 'the change to arrive' })
        const lag = performance.now() - changedAt
        assert.ok(lag < POLL + 5000 * TIME_FACTOR, `there after ${lag} ms`)
        await until(async () => following.is('following') && !(await differences(from, to)).length,
          { what: 'the others' })
      })
    })
  }

  it('stores no byte that was changed on the way', async () => {
    sourceLink.set({ flip: 100e3 })
    const errors = []
    await run({ couch: { ...hasty, retries: 20, onRetry: error => errors.push(error.code) } })
    assert.ok(sourceLink.counts.flips > 5, `${sourceLink.counts.flips} bytes changed`)
    assert.ok(errors.length && errors.every(code => code === 'BAD_ANSWER'), errors.join())
    await assertSame()
  })

  it('stores nothing when every answer arrives changed, and reports it', async () => {
    sourceLink.set({ flip: 100 })
    await assert.rejects(run(), { code: 'BAD_ANSWER' })
    const { rows } = await json(`${to}/_all_docs?include_docs=true`)
    assert.deepEqual(rows.filter(({ doc }) => doc.type === 'tile'), [])
    sourceLink.set()
    await run()
    await assertSame()
  })
}, { timeout: 60000 })
