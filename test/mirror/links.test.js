// Mirrors over lines that are slow, far, lossy, cut or dead: what arrives is right, and the replication knows how it is.
import assert from 'node:assert/strict'
import { until } from '../../bench/wait.js'
import { random } from '../../bench/tiles.js'
import { json, onEachStore, request } from '../support/backends.js'
import { differences } from './compare.js'
import { startLink } from './link.js'
import { T2, edition, fill, follow, hasty, limits, replication, write } from './stage.js'

const SEED = +(process.env.TILECOUCH_SEED ?? Date.now() % 1e6)
const COUNT = 400
const HASTE = 20 // the 30 s that are waited for an answer are 1.5 s
const SILENCE = 1500 // milliseconds
const MOMENT = 1 // seconds of lag: half of it is a poll
const POLL = 10500 // milliseconds after which a poll that was to be answered in half a second is given up

onEachStore(`a mirror over a bad line (seed ${SEED})`, backend => {
  let from, to, store, near, far
  before(async function () {
    this.timeout(60000)
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
    await request(to, { method: 'DELETE' })
  })

  const run = options => replication(near.url, far.url, options).run()
  const same = async () => assert.deepEqual(await differences(from, to), [])
  /** New versions of some tiles, which are not those of before. */
  const change = (count, seed) => write(store, edition({ count, time: T2.replace('2022', `${2022 + seed}`), seed: 100 + seed }))

  it('arrives whole when connections are reset time and again', async function () {
    this.timeout(60000)
    near.set({ loss: 150e3 })
    far.set({ loss: 150e3 })
    const status = await run({ couch: { ...hasty, retries: 20 } })
    assert.ok(near.counts.resets > 3 && far.counts.resets > 3, `${near.counts.resets} and ${far.counts.resets} resets`)
    assert.equal(status.refused, 0)
    await same()
  })

  it('arrives over a line that is slow and far, where every request takes longer than a dead one is waited for', async function () {
    this.timeout(60000)
    near.set({ rate: 300e3, delay: 20 })
    far.set({ rate: 400e3, delay: 20 })
    const errors = []
    const began = performance.now()
    await run({ couch: { ...hasty, haste: HASTE, onRetry: error => errors.push(error.message) }, limits: { ...limits, batchBytes: 512 * 1024 } })
    assert.ok(performance.now() - began > 3 * SILENCE)
    assert.deepEqual(errors, [])
    await same()
  })

  for (const side of ['source', 'target']) {
    it(`goes on where it stopped when the line to the ${side} is cut in the middle, again and again`, async function () {
      this.timeout(60000)
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
      // what was on its way is written again at most: four batches a cut
      assert.ok(written < clean + tries * 4 * 40, `${written} written for ${clean}`)
      await same()
      assert.equal((await run()).missing, 0)
    })

    it(`is away while the line to the ${side} is cut, and comes back by itself`, async function () {
      this.timeout(60000)
      const link = side === 'source' ? near : far
      const mirror = follow(near.url, far.url)
      try {
        await until(() => mirror.is('following'), { timeout: 30000, what: 'it to follow' })
        const atRest = mirror.status().lag ?? Infinity
        assert.ok(atRest < MOMENT, `a lag of ${atRest} s`)
        for (const round of side === 'source' ? [1, 2] : [3, 4]) {
          link.cut()
          await change(30, round)
          await until(() => mirror.is('away'), { what: 'it to be away' })
          assert.ok(['UNREACHABLE', 'BAD_ANSWER'].includes(mirror.status().error), mirror.status().error) // in the middle of an answer the one, else the other
          const { lag = Infinity } = mirror.status()
          await until(() => (mirror.status().lag ?? 0) > lag, { what: 'the lag to grow' })
          await link.restore()
          await until(() => mirror.is('following'), { timeout: 20000, what: 'it to follow again' })
          await same()
          await until(() => (mirror.status().lag ?? Infinity) < MOMENT, { what: 'the lag to be gone' })
        }
      } finally {
        await mirror.stop()
      }
    })

    it(`does not wait for a line to the ${side} that went dead in the middle`, async function () {
      this.timeout(60000)
      const link = side === 'source' ? near : far
      const mirror = follow(near.url, far.url, { couch: { ...hasty, haste: HASTE } })
      try {
        await until(() => mirror.status().docs > 50, { every: 2, what: 'some documents' })
        link.freeze()
        const frozen = performance.now()
        await until(() => mirror.is('away'), { timeout: 20000, what: 'it to be away' })
        // three tries, or one poll
        assert.ok(performance.now() - frozen < Math.max(POLL, 3 * SILENCE) + 5000, `found after ${performance.now() - frozen} ms`)
        link.thaw()
        await until(() => mirror.is('following'), { timeout: 20000, what: 'it to follow' })
        await same()
      } finally {
        await mirror.stop()
      }
    })

    it(`finds out that its connections to the ${side} have been forgotten on the way, and makes new ones`, async function () {
      this.timeout(60000)
      const link = side === 'source' ? near : far
      const mirror = follow(near.url, far.url, { couch: { ...hasty, haste: HASTE } })
      try {
        await until(() => mirror.is('following'), { timeout: 30000, what: 'it to follow' })
        link.strand()
        const round = side === 'source' ? 5 : 6
        await change(10, round)
        const changed = performance.now()
        const last = `${from}/${encodeURIComponent('osm:10:0:9')}`
        const { _rev: rev } = await json(last)
        await until(async () => (await json(last.replace(from, to)))._rev === rev, { timeout: 20000, every: 100, what: 'the change to arrive' })
        assert.ok(performance.now() - changed < POLL + 5000, `there after ${performance.now() - changed} ms`)
        await until(() => mirror.is('following'), { what: 'it to follow' })
        await same()
      } finally {
        await mirror.stop()
      }
    })
  }

  it('stores no byte that was changed on the way', async function () {
    this.timeout(60000)
    near.set({ flip: 100e3 })
    const errors = []
    await run({ couch: { ...hasty, retries: 20, onRetry: error => errors.push(error.code) } })
    assert.ok(near.counts.flips > 5, `${near.counts.flips} bytes changed`)
    assert.ok(errors.length && errors.every(code => code === 'BAD_ANSWER'), errors.join())
    await same()
  })

  it('stores nothing at all over a line that changes every answer, and says so', async () => {
    near.set({ flip: 100 })
    await assert.rejects(run(), { code: 'BAD_ANSWER' })
    const { rows } = await json(`${to}/_all_docs?include_docs=true`)
    assert.deepEqual(rows.filter(({ doc }) => doc.type === 'tile'), [])
    near.set()
    await run()
    await same()
  })
})
