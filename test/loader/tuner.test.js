import assert from 'node:assert/strict'
import { Tuner, tunerDefaults } from '../../loader/store/tuner.js'
import { seeded } from '../support/answering-server.js'

/**
 * A server in numbers: documents a second at a setting. Below its best batch the cost of a request weighs, above it
 * memory;
 * the same for requests in flight.
 */
const serverOf = ({ peak, batch, concurrency }) => setting =>
  peak / (1 + 0.25 * Math.log2(setting.batch / batch) ** 2) / (
    1 + 0.3 * Math.log2(setting.concurrency / concurrency) ** 2
  )

/** Lets a tuner load documents into a simulated server for some simulated seconds. */
function simulate (tuner, rate, { seconds, noise, clock, random, onBatch }) {
  const end = clock.now + seconds * 1000
  while (clock.now < end) {
    const { batch, concurrency } = tuner
    // the mean time between two batches that come back, with noise
    clock.now += batch / rate({ batch, concurrency }) * 1000 * (1 + noise * (random() * 2 - 1))
    tuner.record(batch)
    onBatch?.({ batch, concurrency })
  }
}

/** The best fixed setting there is, found by trying all. */
function bestRate (rate) {
  let best = 0
  for (let concurrency = 1; concurrency <= tunerDefaults.maxConcurrency; concurrency++) {
    for (let batch = tunerDefaults.minBatch; batch <= tunerDefaults.maxBatch; batch += 5) {
      best = Math.max(best, rate({ batch, concurrency }))
    }
  }
  return best
}

const start = options => {
  const clock = { now: 1 }
  return { clock, tuner: new Tuner({ clock: () => clock.now, ...options }), random: seeded(1) }
}

describe('the tuner', () => {
  const servers = [
    { peak: 2000, batch: 200, concurrency: 4 }, // where it starts
    { peak: 2000, batch: 800, concurrency: 4 },
    { peak: 2000, batch: 60, concurrency: 4 },
    { peak: 2000, batch: 200, concurrency: 1 },
    { peak: 2000, batch: 200, concurrency: 8 },
    { peak: 5000, batch: 1500, concurrency: 7 },
    { peak: 800, batch: 50, concurrency: 2 },
    { peak: 300, batch: 100, concurrency: 1 }
  ]
  for (const server of servers) {
    for (const noise of [0, 0.05]) {
      it(`ends within 5 % of the best fixed setting: ${server.batch} documents, ${server.concurrency} in ` +
        `flight${noise ? ', with noise' : ''}`, () => {
        const rate = serverOf(server)
        const best = bestRate(rate)
        const ends = [1, 2, 3, 4, 5].map(seed => {
          const { tuner, clock } = start()
          simulate(tuner, rate, { seconds: 300, noise, clock, random: seeded(seed) })
          // where it stays, trials included
          const seen = []
          simulate(tuner, rate,
            { seconds: 60, noise, clock, random: seeded(seed + 100), onBatch: setting => seen.push(setting) })
          const documents = seen.reduce((sum, { batch }) => sum + batch, 0)
          const time = seen.reduce((sum, setting) => sum + setting.batch / rate(setting), 0)
          return documents / time / best
        })
        assert.ok(ends.every(part => part >= 0.95), `${ends.map(part => `${(part * 100).toFixed(1)} %`)} of the best`)
      })
    }
  }

  it('halves the requests in flight after trouble, down to one', () => {
    const { tuner } = start()
    const seen = [tuner.concurrency]
    for (let index = 0; index < 4; index++) {
      tuner.trouble()
      seen.push(tuner.concurrency)
    }
    assert.deepEqual(seen, [8, 4, 2, 1, 1])
  })

  it('returns to a good setting when the trouble is over', () => {
    const rate = serverOf({ peak: 2000, batch: 200, concurrency: 6 })
    const { tuner, clock, random } = start()
    simulate(tuner, rate, { seconds: 120, noise: 0, clock, random })
    for (let index = 0; index < 5; index++) tuner.trouble()
    assert.equal(tuner.concurrency, 1)
    simulate(tuner, rate, { seconds: 300, noise: 0, clock, random })
    assert.ok(rate(tuner) >= 0.9 * bestRate(rate), `${tuner.batch} x ${tuner.concurrency}`)
  })

  it('does not change fixed values', () => {
    const rate = serverOf({ peak: 2000, batch: 1000, concurrency: 8 })
    for (const fixed of [{ batch: 50, concurrency: 2 }, { batch: 50 }, { concurrency: 2 }]) {
      const { tuner, clock, random } = start(fixed)
      tuner.seed(100)
      tuner.trouble()
      const seen = { batch: new Set([tuner.batch]), concurrency: new Set([tuner.concurrency]) }
      simulate(tuner, rate, { seconds: 60, noise: 0.05, clock, random, onBatch: setting => {
        seen.batch.add(setting.batch); seen.concurrency.add(setting.concurrency)
      } })
      for (const name of ['batch', 'concurrency']) {
        if (fixed[name]) assert.deepEqual([...seen[name]], [fixed[name]], name)
        else assert.ok(seen[name].size > 1, `${name} is free`)
      }
    }
  })

  it('stays within its bounds, whatever the server does', () => {
    for (let seed = 0; seed < 20; seed++) {
      const { tuner, clock } = start()
      const random = seeded(seed)
      for (let index = 0; index < 2000; index++) {
        clock.now += random() * 500
        if (random() < 0.02) tuner.trouble()
        else tuner.record(tuner.batch)
        assert.ok(Number.isInteger(tuner.batch) && tuner.batch >= tunerDefaults.minBatch &&
          tuner.batch <= tunerDefaults.maxBatch)
        assert.ok(Number.isInteger(tuner.concurrency) && tuner.concurrency >= 1 &&
          tuner.concurrency <= tunerDefaults.maxConcurrency)
      }
    }
  })

  it('limits a batch by documents and by bytes', () => {
    const { tuner } = start()
    assert.equal(tuner.isFull(199, 1000), false)
    assert.equal(tuner.isFull(200, 1000), true)
    assert.equal(tuner.isFull(1, tunerDefaults.maxBatchBytes), true)
  })

  it('begins with larger batches for smaller tiles', () => {
    const batches = [200, 2000, 10_000, 100_000, 5e6].map(average => {
      const { tuner } = start()
      tuner.seed(average)
      return tuner.batch
    })
    assert.deepEqual(batches, [1000, 1000, 200, 20, 20])
  })
})
