// How a load writes batches of tiles: the documents that it reads before a batch, and the size of its batches.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { random as seeded } from '../../bench/tiles.js'
import { compareIds, tileId, versionId } from '../../core/index.js'
import { HeadWriter } from '../../core/store/head-writer.js'
import { Tuner, tunerDefaults } from '../../loader/store/tuner.js'

const T = '2024-01-01T00:00:00Z'

describe('a batch of new tiles', () => {
  it('reads a range of ids that holds the heads and past versions of all its tiles', async () => {
    await fc.assert(fc.asyncProperty(fc.uniqueArray(fc.nat(200), { minLength: 2, maxLength: 8 }), async rows => {
      let range
      const couch = {
        page: async query => { range = query; return [] },
        ranges: async ranges => ranges.map(() => [])
      }
      const send = async docs => docs.map(({ _id }) => ({ id: _id, ok: true, rev: '1-a' }))
      const outcomes = []
      const tiles = rows.map(y => (
        { id: tileId('osm', 8, 0,
          y), layer: 'osm', z: 8, x: 0, y, time: T, digest: 'd', type: 'image/png', bytes: Buffer.from('x') }
      ))
      await new HeadWriter(couch, { stored: T, send, report: (tile, outcome) => outcomes.push(outcome) }).store(tiles)
      assert.deepEqual(outcomes, tiles.map(() => 'create'))
      for (const y of rows) {
        for (const id of [tileId('osm', 8, 0, y), versionId('osm', 8, 0, y, T)]) {
          assert.ok(compareIds(range.startkey, id) <= 0 && compareIds(id, range.endkey) <= 0, id)
        }
      }
    }))
  })
})

describe('a head writer', () => {
  const id = tileId('osm', 8, 0, 1)
  const [BEFORE, AFTER] = ['2024-01-01T00:00:00Z', '2024-02-01T00:00:00Z']
  const tile = bytes => ({
    id, layer: 'osm', z: 8, x: 0, y: 1, time: AFTER, digest: 'md5-new',
    type: 'image/png', bytes: Buffer.alloc(bytes), attempts: 0
  })
  const storeTile = async (bytes, { fields = {}, exists = true, inManifest = true, expectsChanges = true } = {}) => {
    const reads = []
    const sent = []
    const head = { _id: id, _rev: '1-a', type: 'tile', layer: 'osm', z: 8, x: 0, y: 1, current: true, time: BEFORE }
    const couch = {
      docs: async (ids, { attachments = false, base64 = false } = {}) => {
        reads.push({ ids, attachments, base64 })
        if (!exists) return ids.map(docId => ({ id: docId, doc: null, deleted: false }))
        const image =
          { content_type: 'image/png', digest: 'md5-old', ...(attachments ? { data: 'b2xk' } : { stub: true }) }
        return ids.map(docId =>
          ({ id: docId, doc: { ...head, _attachments: { tile: image }, ...fields }, deleted: false }))
      },
      ranges: async ranges => ranges.map(() => [])
    }
    const send = async docs => {
      sent.push(...docs)
      return docs.map(({ _id }) => ({ id: _id, ok: true, rev: '2-a' }))
    }
    const outcomes = []
    await new HeadWriter(
      couch, { stored: AFTER, send, report: (_, outcome) => outcomes.push(outcome), inManifest, expectsChanges }
    ).store([tile(bytes)])
    return { asked: reads, sent, done: outcomes }
  }

  it('reads the head of a changed tile once, with its bytes, and writes these to the past', async () => {
    const { asked: reads, sent, done: outcomes } = await storeTile(100)
    assert.deepEqual([reads, outcomes], [[{ ids: [id], attachments: true, base64: true }], ['advance']])
    assert.deepEqual(sent.map(({ _id }) => _id), [versionId('osm', 8, 0, 1, BEFORE), id])
    assert.equal(sent[0]._attachments.tile.data, 'b2xk')
    assert.equal(sent[1]._rev, '1-a')
  })

  it('reads heads as bytes instead of base64 when the tiles are large', async () => {
    assert.deepEqual((await storeTile(20_000)).asked, [{ ids: [id], attachments: true, base64: false }])
  })

  it('reads nothing but the head of a tile that is written alone', async () => {
    const { asked: reads, done: outcomes } =
      await storeTile(100, { exists: false, inManifest: false, expectsChanges: false })
    assert.deepEqual([reads.flatMap(({ ids }) => ids), outcomes], [[id], ['create']])
  })

  it('reads no bytes of a head that is gone', async () => {
    const { asked: reads, done: outcomes } =
      await storeTile(100, { fields: { _attachments: undefined, gone: true }, expectsChanges: false })
    assert.deepEqual([reads.filter(({ attachments }) => attachments), outcomes], [[], ['advance']])
  })
})

/**
 * A simulated server: returns its documents per second at a setting. Smaller batches than the best cost more requests,
 * and larger ones more memory. The same holds for requests in flight.
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

/** Returns the documents per second at the best fixed setting. It tries all settings. */
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
    { peak: 2000, batch: 200, concurrency: 4 }, // the setting at which the tuner starts
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
        const shares = [1, 2, 3, 4, 5].map(seed => {
          const { tuner, clock } = start()
          simulate(tuner, rate, { seconds: 300, noise, clock, random: seeded(seed) })
          // the settings at which it stays, including its trials
          const settings = []
          simulate(tuner, rate,
            { seconds: 60, noise, clock, random: seeded(seed + 100), onBatch: setting => settings.push(setting) })
          const documents = settings.reduce((sum, { batch }) => sum + batch, 0)
          const time = settings.reduce((sum, setting) => sum + setting.batch / rate(setting), 0)
          return documents / time / best
        })
        assert.ok(shares.every(share => share >= 0.95),
          `${shares.map(share => `${(share * 100).toFixed(1)} %`)} of the best`)
      })
    }
  }

  it('halves the requests in flight after trouble, down to one', () => {
    const { tuner } = start()
    const values = [tuner.concurrency]
    for (let index = 0; index < 4; index++) {
      tuner.trouble()
      values.push(tuner.concurrency)
    }
    assert.deepEqual(values, [8, 4, 2, 1, 1])
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
      const values = { batch: new Set([tuner.batch]), concurrency: new Set([tuner.concurrency]) }
      simulate(tuner, rate, { seconds: 60, noise: 0.05, clock, random, onBatch: setting => {
        values.batch.add(setting.batch); values.concurrency.add(setting.concurrency)
      } })
      for (const name of ['batch', 'concurrency']) {
        if (fixed[name]) assert.deepEqual([...values[name]], [fixed[name]], name)
        else assert.ok(values[name].size > 1, `${name} is free`)
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
