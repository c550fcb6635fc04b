// Repeated pruning of a layer. The next run reads only tiles that may have changed, and leaves the same versions as a
// run that reads all tiles.
import assert from 'node:assert/strict'
import { random } from '../../bench/tiles.js'
import { addSeconds } from '../../core/index.js'
import { spansLost } from '../../loader/maintain/prune/last.js'
import { prune } from '../../loader/maintain/prune/index.js'
import { onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { dyingStore } from '../support/removals.js'
import { assertShows, contentOf, drawImage, openStore, plain, prunedOf } from '../support/prunes.js'

const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const LIVES = process.env.TILECOUCH_LONG ? 60 : 2
const FIRST = '2024-01-01T06:00:00Z'
const TILES = 5
const policies = [
  { daily: 2 }, { daily: 4, monthly: 2 }, { last: 1 }, { last: 3, editions: true },
  { within: 5 * 86400 }, { within: 86400, weekly: 2 },
  { within: 20 * 86400, last: 2 }
]

/** Draws the time of a load: mostly the next one, sometimes an earlier one or one in the future. */
function drawLoadTime (time, next) {
  if (next() < 0.2) return addSeconds(time, -86400 * Math.floor(next() * 20))
  return next() < 0.1 ? addSeconds(time, 40 * 86400) : time
}

onEachStore(`repeated pruning of a layer (seed ${SEED})`, backend => {
  /** @type {import('../../loader/store/index.js').Store} */
  let store
  let url
  let layers = 0
  const newLayer = async () => {
    const layer = `osm${layers++}`
    await store.defineLayer(layer)
    return layer
  }
  const write = (layer, time, images) => store.write(images.flatMap((image, y) => image === undefined
    ? []
    : [{ layer, z: 4, x: 1, y, time, ...(image === null ? { gone: true } : { bytes: png(image) }) }]), { stored: time })
  const content = layer => contentOf(store, url, layer)
  const now = '2024-07-01T00:00:00Z'
  const pruned =
    (layer, policy, settings = {}) => prune(store, layer, { policy, now: () => now, compact: 'never', ...settings })

  /** Prunes, and counts the versions that were read. */
  async function pruneAndCount (layer, policy, settings = {}) {
    let versions = 0
    const summary = await pruned(layer, policy, { ...settings, onProgress: done => { versions = done.looked } })
    return { versions, summary }
  }

  before(async function () {
    this.timeout(60000)
    url = await backend.database()
    store = await openStore(url)
  })

  it('leaves exactly the versions that kept moments need, even after killed runs', async () => {
    const next = random(SEED)
    const pick = list => list[Math.floor(next() * list.length)]
    for (let life = 0; life < LIVES; life++) {
      const layer = await newLayer()
      let [time, clockTime] = [FIRST, FIRST]
      for (let step = 0; step < 14; step++) {
        for (let loads = Math.floor(next() * 3); loads > 0; loads--) {
          time = addSeconds(time, 43200 * (1 + Math.floor(next() * 6)))
          const loadTime = drawLoadTime(time, next)
          const images = Array.from({ length: TILES }, () => drawImage(next))
          if (next() < 0.5) await store.putEdition(layer, loadTime, { title: 'one', finished: loadTime })
          await write(layer, loadTime, images)
          for (const [y, image] of images.entries()) if (image && next() < 0.1) {
            await store.write([{ layer, z: 5, x: 10, y, time: loadTime, bytes: png(image) }], { stored: loadTime })
          }
        }
        clockTime = addSeconds(time, next() < 0.1 ? -86400 : 3600) // sometimes a clock that was put back
        const clock = { now: () => clockTime, compact: /** @type {const} */ ('never'), limits: { batch: 2, page: 2 } }
        const policy = pick(policies)
        const before = await content(layer)
        const expected = prunedOf(before, policy, { now: clockTime })
        if (next() < 0.2) {
          const { store: dying, life: left } = await dyingStore(url, Math.floor(next() * 8))
          await prune(dying, layer, { policy, ...clock }).catch(error => assert.equal(left.isDead, true, error.stack))
          assertShows(before, await content(layer), expected.kept.moments)
          if (next() < 0.5) continue
        }
        await prune(store, layer, { policy, ...clock })
        assert.deepEqual(plain(await content(layer)), plain(expected),
          `life ${life}, step ${step}: ${JSON.stringify(policy)}`)
      }
    }
  }).timeout(120000)

  it('reads no tile when nothing has changed', async () => {
    const layer = await newLayer()
    for (let day = 1; day < 8; day++) await write(layer, `2024-03-0${day}T00:00:00Z`, [day, day, 1])
    const policy = { daily: 3 }
    assert.equal((await pruneAndCount(layer, policy)).versions, 15)
    const second = await pruneAndCount(layer, policy)
    assert.deepEqual([second.versions, second.summary.versions], [0, 0])
    const third = await pruneAndCount(layer, policy)
    assert.deepEqual([third.versions, third.summary.moments.kept, third.summary.moments.total],
      [0, second.summary.moments.kept, second.summary.moments.total])
    assert.equal((await pruneAndCount(layer, { daily: 3, yearly: 1 })).versions, 0, 'nothing is kept no longer')
  })

  it('reads tiles that were written, and tiles that dropped moments showed', async () => {
    const layer = await newLayer()
    const policy = { last: 2 }
    await write(layer, '2024-03-01T00:00:00Z', [1, 1, 1, 1, 1])
    await write(layer, '2024-03-02T00:00:00Z', [2, 2])
    await pruned(layer, policy)
    await write(layer, '2024-03-03T00:00:00Z', [undefined, undefined, 3])
    const { versions, summary } = await pruneAndCount(layer, policy)
    assert.deepEqual([versions, summary.versions], [6, 2])
    assert.deepEqual([...(await content(layer)).tiles.values()].map(({ length }) => length), [1, 1, 2, 1, 1])
  })

  it('removes versions when the clock passes a moment or an edition is given up', async () => {
    const layer = await newLayer()
    const clockAt = time => ({ now: () => time })
    const policy = { within: 86400 }
    await write(layer, '2024-03-01T00:00:00Z', [1])
    await write(layer, '2024-03-02T00:00:00Z', [2])
    await write(layer, '2024-03-09T00:00:00Z', [3])
    assert.equal((await pruned(layer, policy, clockAt('2024-03-02T12:00:00Z'))).versions, 0)
    assert.equal((await pruned(layer, policy, clockAt('2024-03-08T12:00:00Z'))).versions, 0)
    assert.equal((await pruned(layer, policy, clockAt('2024-03-09T12:00:00Z'))).versions, 1)
    await store.putEdition(layer, '2024-03-08T00:00:00Z', { started: '2024-03-09T12:00:00Z' })
    assert.equal((await pruned(layer, { last: 1 }, clockAt('2024-03-09T13:00:00Z'))).versions, 0)
    assert.equal((await pruned(layer, { last: 1 }, clockAt('2024-03-10T11:00:00Z'))).versions, 0)
    assert.equal((await pruned(layer, { last: 1 }, clockAt('2024-03-10T12:00:00Z'))).versions, 1)
  })

  it('reads all tiles when the notes of the last run are damaged', async () => {
    const layer = await newLayer()
    const policy = { last: 2 }
    await write(layer, '2024-03-01T00:00:00Z', [1, 1])
    const id = `_local/tilecouch-prune-${layer}`
    const notes = [
      doc => ({ ...doc, identity: 'another database' }), doc => ({ ...doc, kept: 5 }),
      doc => ({ ...doc, since: undefined }),
      doc => ({ ...doc, purged: '7' }), doc => ({ ...doc, since: '99999999-x' }), doc => ({ ...doc, idle: { at: 5 } })
    ]
    for (const damage of notes) {
      await pruned(layer, policy)
      assert.equal((await pruneAndCount(layer, policy)).versions, 0)
      await store.couch.update(id, damage)
      assert.equal((await pruneAndCount(layer, policy)).versions, 2, damage.toString())
    }
    await store.couch.update(`removed:${layer}:20240301T000000000-aaaa`, () => (
      { type: 'removed', layer, run: '20240301T000000000-aaaa', since: '2023-01-01T00:00:00Z' }
    ))
    assert.equal((await pruneAndCount(layer, policy)).versions, 2, 'after a removal')
  })
})

describe('the spans of time in which versions may have lost their last moment', () => {
  it('reach from each dropped moment to the next kept one', () => {
    const spansOf =
      (before, after) => spansLost({ from: null, moments: [], ...before }, { from: null, moments: [], ...after })
    assert.deepEqual(spansOf({ moments: ['1', '3', '5'] }, { moments: ['1', '3', '5', '7'] }), [])
    assert.deepEqual(spansOf({ moments: ['1', '3', '5'] }, { moments: ['1', '5'] }), [['3', '5']])
    assert.deepEqual(spansOf({ moments: ['1', '2', '3', '5', '6'] }, { moments: ['4', '5'] }),
      [['1', '4'], ['6', '\ufff0']])
    assert.deepEqual(spansOf({ moments: ['1'], from: '3' }, { moments: ['1', '4'], from: '6' }), [['3', '6']])
    assert.deepEqual(spansOf({ moments: ['1'], from: '3' }, { moments: ['3'] }), [['1', '\ufff0']])
    assert.deepEqual(spansOf({ moments: ['1'], from: '6' }, { from: '3' }), [['1', '3']])
    assert.deepEqual(spansOf({ moments: ['1'] }, { from: '0' }), [])
  })
})
