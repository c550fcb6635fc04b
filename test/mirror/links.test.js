// Mirrors over lines that are slow, far, lossy, cut or dead: what arrives is right, and the replication knows how it
// is.
import assert from 'node:assert/strict'
import { mirror } from '../../loader/maintain/mirror/index.js'
import { PUBLIC_SECURITY } from '../../loader/store/index.js'
import { TIME_FACTOR, until } from '../../bench/wait.js'
import { random } from '../../bench/tiles.js'
import { json, onEachStore, request } from '../support/backends.js'
import { differences } from './compare.js'
import { startLink } from './link.js'
import { T2, edition, fill, follow, hasty, limits, replication, whileFollowing, write } from '../support/bad-lines.js'

const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const COUNT = 300
const HASTE = 20 // the 30 s that are waited for an answer are 1.5 s
// milliseconds until a line is taken for dead in the middle: three rounds of batches, each tried twice
const DEAD = 9000
const MOMENT = 1 // seconds of lag: half of it is a poll
const POLL = 1000 // milliseconds after which a poll that was to be answered in half a second is given up

onEachStore(`a mirror over a bad line (seed ${SEED})`, backend => {
  let from, to, store, near, far
  before(async () => {
    from = await backend.database()
    store = await fill(from, { count: COUNT })
  })
  beforeEach(async () => {
    to = await backend.database()
    await request(to, { method: 'PUT' })
    near = await startLink(from, { seed: SEED })
    far = await startLink(to, { seed: SEED + 1 })
  })
  afterEach(async () => {
    await near.close()
    await far.close()
  })

  const run = options => replication(near.url, far.url, options).run()
  const same = async () => assert.deepEqual(await differences(from, to), [])
  /** New versions of some tiles, which are not those of before. */
  const change =
    (count, seed) => write(store, edition({ count, time: T2.replace('2022', `${2022 + seed}`), seed: 100 + seed }))

  it('is complete when connections are reset again and again', async () => {
    near.set({ loss: 150e3 })
    far.set({ loss: 150e3 })
    const status = await run({ couch: { ...hasty, retries: 20 } })
    assert.ok(near.counts.resets > 3 && far.counts.resets > 3, `${near.counts.resets} and ${far.counts.resets} resets`)
    assert.equal(status.refused, 0)
    await same()
  })

  it('gets its design documents and its index over connections that are reset', async () => {
    await store.secure(PUBLIC_SECURITY)
    near.set({ loss: 150e3 })
    far.set({ loss: 3e6 }) // the viewer goes in one request
    const status = await mirror(near.url, far.url, { limits })
    assert.ok(near.counts.resets + far.counts.resets > 2)
    assert.equal(status.refused, 0)
    await same()
    const { rows } = await json(`${to}/_design/versions/_view/by_tile?reduce=true&stable=true&update=false`)
    assert.ok(rows[0].value > COUNT, 'the index is there')
  })

  it('is complete over a slow connection with a long delay', async () => {
    near.set({ rate: 400e3, delay: 30 })
    far.set({ rate: 400e3, delay: 30 })
    const began = performance.now()
    const status = await run({ couch: { ...hasty, haste: 4 } })
    assert.ok(performance.now() - began > 2500)
    assert.equal(status.refused + status.absent, 0)
    await same()
  })

  for (const side of ['source', 'target']) {
    it(`continues where it stopped when the connection to the ${side} is cut again and again`, async () => {
      const next = random(SEED)
      const link = side === 'source' ? near : far
      const clean = (await json(from)).doc_count
      let [written, tries] = [0, 0]
      for (let cuts = 0; ; tries++) {
        // from the target come but a few bytes for many
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
      // the last cut may not have come yet, or with the last word
      link.cutAfter(Infinity)
      await link.restore()
      // what was on its way is written again at most: four batches a cut
      assert.ok(written < clean + tries * 4 * 40, `${written} written for ${clean}`)
      await same()
      assert.equal((await run()).missing, 0)
    })

    it(`is away while the connection to the ${side} is cut, and comes back by itself`, async () => {
      const link = side === 'source' ? near : far
      await whileFollowing(near.url, far.url, {}, async following => {
        await until(() => (following.status().lag ?? Infinity) < MOMENT, { what: 'no lag' })
        for (const round of side === 'source' ? [1, 2] : [3, 4]) {
          link.cut()
          await change(30, round)
          await until(() => following.is('away'), { what: 'it to be away' })
          // in the middle of an answer the one, else the other
          assert.ok(['UNREACHABLE', 'BAD_ANSWER'].includes(following.status().error), following.status().error)
          const { lag = Infinity } = following.status()
          await until(() => (following.status().lag ?? 0) > lag, { what: 'the lag to grow' })
          await link.restore()
          await until(() => following.is('following'), { timeout: 20000, what: 'it to follow again' })
          await same()
          await until(() => (following.status().lag ?? Infinity) < MOMENT, { what: 'the lag to be gone' })
        }
      })
    })

    it(`gives up a dead connection to the ${side}, and goes on when it works again`, async () => {
      const link = side === 'source' ? near : far
      const following = follow(near.url, far.url, { couch: { ...hasty, haste: HASTE } })
      try {
        await until(() => following.status().docs > 50, { every: 2, what: 'some documents' })
        link.freeze()
        const frozen = performance.now()
        await until(() => following.is('away'), { timeout: 30000, what: 'it to be away' })
        assert.ok(performance.now() - frozen < Math.max(POLL, DEAD) + 8000 * TIME_FACTOR,
          `found after ${performance.now() - frozen} ms`)
        link.thaw()
        await until(() => following.is('following'), { timeout: 20000, what: 'it to follow' })
        await same()
      } finally {
        await following.stop()
      }
    })

    it(`replaces connections to the ${side} that a router has forgotten`, async () => {
      const link = side === 'source' ? near : far
      await whileFollowing(near.url, far.url, { couch: { ...hasty, haste: HASTE } }, async following => {
        link.strand()
        const round = side === 'source' ? 5 : 6
        await change(10, round)
        const changed = performance.now()
        const last = `${from}/${encodeURIComponent('osm:10:0:9')}`
        const { _rev: rev } = await json(last)
        await until(async () => (await json(last.replace(from, to)))._rev === rev,
          { timeout: 20000, every: 100, what: 'the change to arrive' })
        const lag = performance.now() - changed
        assert.ok(lag < POLL + 5000 * TIME_FACTOR, `there after ${lag} ms`)
        await until(async () => following.is('following') && !(await differences(from, to)).length,
          { what: 'the others' })
      })
    })
  }

  it('stores no byte that was changed on the way', async () => {
    near.set({ flip: 100e3 })
    const errors = []
    await run({ couch: { ...hasty, retries: 20, onRetry: error => errors.push(error.code) } })
    assert.ok(near.counts.flips > 5, `${near.counts.flips} bytes changed`)
    assert.ok(errors.length && errors.every(code => code === 'BAD_ANSWER'), errors.join())
    await same()
  })

  it('stores nothing when every answer arrives changed, and reports it', async () => {
    near.set({ flip: 100 })
    await assert.rejects(run(), { code: 'BAD_ANSWER' })
    const { rows } = await json(`${to}/_all_docs?include_docs=true`)
    assert.deepEqual(rows.filter(({ doc }) => doc.type === 'tile'), [])
    near.set()
    await run()
    await same()
  })
}, { timeout: 60000 })
