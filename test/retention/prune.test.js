// Pruning on real stores leaves the same as a naive implementation, also when it is killed, or runs during loads and
// other prunes.
import assert from 'node:assert/strict'
import { load } from '../../loader/load/index.js'
import { prune, pruneAll } from '../../loader/maintain/prune/index.js'
import { check } from '../../loader/check/index.js'
import { json, onEachStore } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { png } from '../support/tiles.js'
import { docsOf, dyingStore, interruptedStore } from '../support/removals.js'
import {
  NOW, assertShows, clone, contentOf, historyOf, openStore, plain, prunedOf, writeHistory
} from '../support/prunes.js'

const SEED = +(process.env.TILECOUCH_SEED ?? 2026)
const KILL_STEP = process.env.TILECOUCH_LONG ? 1 : 4 // a prune is killed at each n-th of its writes
const options = { now: () => NOW, compact: /** @type {const} */ ('never') }
const policies = [
  { daily: 3 }, { last: 2, monthly: 3 }, { weekly: 4, editions: true }, { within: 10 * 86400 }, { yearly: 1 }
]

onEachStore(`a layer that is pruned (seed ${SEED})`, backend => {
  /** @type {import('../../loader/store/index.js').Store} */
  let store
  let url
  let layers = 0
  const newLayer = async fields => {
    const layer = `osm${layers++}`
    await clone(store, 'first', layer, fields)
    return { layer, before: await contentOf(store, url, layer) }
  }
  const content = layer => contentOf(store, url, layer)
  const sequence = async () => parseInt((await store.info()).update_seq)
  before(async function () {
    this.timeout(60000)
    url = await backend.database()
    store = await openStore(url)
    await writeHistory(store, 'first', historyOf(SEED))
  })

  it('shows every kept moment unchanged, keeps nothing else, and has nothing to prune again', async () => {
    for (const policy of policies) {
      const { layer, before } = await newLayer({ format: 'png' })
      const expected = prunedOf(before, policy)
      const summary = await prune(store, layer, { policy, ...options })
      const after = await content(layer)
      assert.deepEqual(plain(after), plain(expected), JSON.stringify(policy))
      assertShows(before, after, expected.kept.moments)
      const countOf = ({ tiles }) => [...tiles.values()].flat().length
      assert.deepEqual([summary.versions, summary.editions, summary.changed, summary.refused],
        [countOf(before) - countOf(after), before.editions.length - after.editions.length, 0, 0])
      assert.equal((await store.layer(layer)).pruned, summary.versions ? NOW : undefined)
      const seq = await sequence()
      const second = await prune(store, layer, { policy, ...options })
      assert.deepEqual([second.versions, second.editions, await sequence()], [0, 0, seq])
    }
  })

  it('is left unchanged by a dry run, which lists every moment and all that would go', async () => {
    const { layer } = await newLayer()
    const policy = { daily: 2, yearly: 9 }
    const seq = await sequence()
    const plan = await prune(store, layer, { policy, ...options, dryRun: true, limits: { page: 3 } })
    assert.equal(await sequence(), seq)
    const { moments: { total, kept, going, listed: list } } = plan
    assert.deepEqual([list.length, list.filter(({ by }) => by.length).length,
      list.filter(({ by }) => !by.length).length], [total, kept, going])
    assert.deepEqual(list.map(({ time }) => time), list.map(({ time }) => time).sort().reverse())
    assert.deepEqual([list[0].by, list[1].by.includes('daily'), list.at(-1)?.by],
      [['daily', 'yearly'], list[1].by.length > 0, ['oldest yearly']])
    assert.deepEqual([list.reduce((sum, moment) => sum + moment.going, 0),
      list.reduce((sum, moment) => sum + moment.bytes, 0)], [plan.versions, plan.bytes])
    const shortPlan = await prune(store, layer, { policy, ...options, dryRun: true, limits: { listed: 3 } })
    assert.deepEqual(shortPlan.moments.listed, list.filter(({ by }) => by.length).slice(0, 3),
      'of many only those that are kept')
    const done = await prune(store, layer, { policy, ...options, limits: { page: 1, batch: 1 } })
    assert.deepEqual([done.versions, done.bytes, done.editions, done.tiles],
      [plan.versions, plan.bytes, plan.editions, plan.tiles])
  })

  it('is right as of every kept moment when a prune is killed, and the next prune completes', async () => {
    const policy = { daily: 2, editions: true }
    for (let writes = 0, isDead = true; isDead; writes += KILL_STEP) {
      const { layer, before } = await newLayer()
      const expected = prunedOf(before, policy)
      const { store: dyingCopy, life } = await dyingStore(url, writes)
      await prune(dyingCopy, layer, { policy, ...options, limits: { batch: 2 } })
        .catch(error => assert.equal(life.isDead, true, error.stack))
      isDead = life.isDead
      assertShows(before, await content(layer), expected.kept.moments)
      await prune(store, layer, { policy, ...options })
      assert.deepEqual(plain(await content(layer)), plain(expected), `killed after ${writes} writes`)
    }
  }).timeout(60000)

  it('is the same after two prunes at once as after one', async () => {
    const { layer, before } = await newLayer()
    const policy = { monthly: 2 }
    const runs = await Promise.all([1, 2].map(() => prune(store, layer, { policy, ...options, limits: { batch: 2 } })))
    assert.ok(runs.every(({ refused }) => !refused))
    assert.deepEqual(plain(await content(layer)), plain(prunedOf(before, policy)))
  })

  it('keeps versions that running loads need, and versions that are written meanwhile', async () => {
    const tile = { z: 4, x: 1, y: 0 }
    const day = number => `2024-06-${String(number).padStart(2, '0')}T00:00:00Z`
    const layer = `osm${layers++}`
    await store.defineLayer(layer)
    // writes as a load does
    const write = (number, image, y = 0) => store.write([{ layer, ...tile, y, time: day(number), bytes: png(image) }],
      { stored: NOW, onStored () {} })
    for (const [number, image] of [[1, 1], [10, 2], [20, 3]]) await write(number, image)
    for (const number of [1, 10, 20]) await write(number, number, 1)
    await store.putEdition(layer, day(12), { started: NOW }) // still running
    await store.putEdition(layer, day(2), { started: '2024-06-29T00:00:00Z' }) // given up
    const list = store.listTiles.bind(store)
    store.listTiles = async function * (...args) {
      await store.putEdition(layer, day(5), { started: NOW }) // begins during the prune
      assert.equal((await write(5, 1)).unchanged, 1)
      await write(15, 9, 1) // written during the prune
      yield * list(...args)
    }
    try {
      await prune(store, layer, { policy: { last: 1 }, ...options })
    } finally {
      store.listTiles = list
    }
    const { tiles, editions } = await content(layer)
    assert.deepEqual([...tiles.values()].map(versions => versions.map(({ time }) => +time.slice(8, 10))),
      [[1, 10, 20], [1, 10, 15, 20]])
    assert.deepEqual(editions, [day(5), day(12)])
    await store.putEdition(layer, day(5), { finished: NOW })
    await store.putEdition(layer, day(12), { finished: NOW })
    await prune(store, layer, { policy: { last: 1 }, ...options })
    const remaining = await content(layer)
    assert.deepEqual([[...remaining.tiles.values()].map(versions => versions.length), remaining.editions], [[1, 1], []])
  })

  it('regains a deleted version that an edition found unchanged right before the deletion', async () => {
    const tile = { z: 4, x: 1, y: 0 }
    const day = number => `2024-06-${String(number).padStart(2, '0')}T00:00:00Z`
    const layer = `osm${layers++}`
    await store.defineLayer(layer)
    for (const [number, image] of [[1, 1], [10, 2], [20, 3]]) {
      await store.write([{ layer, ...tile, time: day(number), bytes: png(image) }], { stored: NOW })
    }
    const deletesPast = request => docsOf(request).some(({ _id, _deleted }) => _deleted && _id.includes('@'))
    const { store: pruning } = await interruptedStore(url, deletesPast, async () => {
      await store.putEdition(layer, day(5), { started: NOW })
      assert.equal((await load(store, memorySource({ '4/1/0': 1 }), { layer, time: day(5) })).unchanged, 1)
    })
    await prune(pruning, layer, { policy: { last: 1, editions: true }, ...options })
    assert.ok((await store.at(layer, 4, 1, 0, day(5))).bytes.equals(png(1)))
  })

  it('purges no version that an edition found unchanged right before the deletion', async () => {
    const day = number => `2024-06-${String(number).padStart(2, '0')}T00:00:00Z`
    const layer = `osm${layers++}`
    await store.defineLayer(layer)
    for (const [number, image] of [[1, 1], [10, 2], [20, 3]]) {
      await store.write([{ layer, z: 4, x: 1, y: 0, time: day(number), bytes: png(image) }], { stored: NOW })
    }
    const { store: pruning } = await interruptedStore(url, request => docsOf(request).some(({ _deleted }) => _deleted),
      async () => {
        await store.putEdition(layer, day(5), { started: NOW })
        assert.equal((await load(store, memorySource({ '4/1/0': 1 }), { layer, time: day(5) })).unchanged, 1)
      })
    const { request } = pruning.couch
    const shownAtPurge = []
    pruning.couch.request = async requested => {
      if (requested.path !== '_purge') return request(requested)
      if (Object.keys(requested.body).length) {
        const { bytes } = await store.at(layer, 4, 1, 0, day(5)).catch(() => ({}))
        shownAtPurge.push(bytes?.equals(png(1)))
      }
      return backend.name === 'CouchDB' ? request(requested) : { purged: requested.body } // embedded: simulated
    }
    await prune(pruning, layer,
      { policy: { last: 1, editions: true }, ...options, purge: true, limits: { gather: 1, heard: 0 } })
    assert.deepEqual(shownAtPurge, [true])
    assert.ok((await store.at(layer, 4, 1, 0, day(5))).bytes.equals(png(1)))
  })

  it('is not pruned by an empty or wrong policy', async () => {
    const { layer, before } = await newLayer()
    const assertRefused = (policy, name = layer) => assert.rejects(prune(store, name, { policy, ...options }),
      { code: name === layer ? 'BAD_RETENTION' : 'LAYER_NOT_FOUND' })
    await assertRefused(undefined)
    await assertRefused({})
    await assertRefused({ daily: 3, editions: ['2042'] })
    await assertRefused({ daily: 3 }, 'nothing')
    await store.defineLayer(layer, { retention: { editions: ['2042'] } })
    await assertRefused(undefined)
    await assert.rejects(store.defineLayer(layer, { retention: { daily: 'many' } }),
      { code: 'BAD_RETENTION', message: /daily "many"/ })
    assert.deepEqual(plain(await content(layer)), plain(before))
    await store.defineLayer(layer, { retention: { last: 99, editions: ['2042'] } })
    assert.deepEqual((await prune(store, layer, options)).missing, ['2042'])
  })

  it('passes check afterwards', async () => {
    const layer = `osm${layers++}`
    const images = [1, 2, 1, null, 3, 1, null]
    const editions = images.map((image,
      at) => ({ time: `2024-03-0${at + 1}T00:00:00Z`, images: [image, at + 1, at ? at + 1 : null], edition: true }))
    await writeHistory(store, layer, editions, { tileSize: 64 })
    for (const { time, images: editionImages } of editions) {
      const written = editionImages.length - (time.startsWith('2024-03-01') ? 1 : 0)
      await store.putEdition(layer, time,
        {
          tiles: 3, created: 0, advanced: written, backfilled: 0, unchanged: 3 - written,
          failed: 0, gone: editionImages.filter(image => image === null).length - (3 - written), bytes: 1
        })
    }
    await prune(store, layer,
      { policy: { editions: ['2024-03-01', '2024-03-03', '2024-03-04', '2024-03-07'] }, ...options })
    const { kinds, checked } = await check({ store, layer }, { decode: false })
    assert.deepEqual([kinds, checked.index, checked.editions], [{}, true, 4])
  })

  it('leaves no deleted documents with purge, or refuses it where the store cannot purge', async () => {
    const { layer, before } = await newLayer()
    const policy = { last: 2 }
    if (backend.name === 'embedded') {
      await assert.rejects(prune(store, layer, { policy, ...options, purge: true }), { code: 'PURGE_UNSUPPORTED' })
      assert.deepEqual(plain(await content(layer)), plain(before))
      return
    }
    const { purged, versions, editions } = await prune(store, layer, { policy, ...options, purge: true })
    assert.equal(purged, versions + editions)
    const { results } = await json(`${url}/_changes`)
    assert.deepEqual(
      results.filter(({ id, deleted }) => deleted && (id.includes(`${layer}@`) || id.startsWith(`${layer}:`))), []
    )
    assert.deepEqual(plain(await content(layer)), plain(prunedOf(before, policy)))
  }).timeout(20000)

  it('is pruned with all layers that have a policy, repeatedly, even beside a bad policy', async () => {
    for (const { layer } of await store.layers()) await store.defineLayer(layer, { retention: null })
    const [{ layer: first, before }, { layer: second, before: untouched }, { layer: third }] =
      [await newLayer({ retention: { daily: 1 } }), await newLayer(), await newLayer({ retention: { last: 99 } })]
    await store.couch.update(`layer:${second}`, doc => ({ ...doc, retention: { forever: 1 } }))
    const controller = new AbortController()
    const rounds = []
    const result = await pruneAll(store, {
      ...options,
      live: true,
      every: 0.01,
      signal: controller.signal,
      onRound (round) { if (rounds.push(round) === 2) controller.abort() }
    })
    const resultOf = ({ layers: pruned, failed }) =>
      [pruned.map(({ layer }) => layer), failed.map(({ layer, error }) => [layer, error])]
    assert.deepEqual(rounds.map(resultOf),
      [1, 2].map(() => [[first, third], [[second, 'BAD_RETENTION']]]))
    assert.ok(rounds[0].layers[0].versions > 0)
    assert.deepEqual([rounds[1].layers[0].versions, result], [0, rounds[1]])
    assert.deepEqual(plain(await content(first)), plain(prunedOf(before, { daily: 1 })))
    assert.deepEqual(plain(await content(second)), plain(untouched))
  })
})
