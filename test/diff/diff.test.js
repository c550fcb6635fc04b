// Diffs of a layer, compared with a model. Diffs by manifests equal those that read every version.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { diff, load, parseArea, removeEdition, removeTiles } from '../../loader/index.js'
import { compareDefaults } from '../../loader/export/diff/changes.js'
import { manifestDiffDefaults } from '../../loader/export/diff/manifests.js'
import { onEachStore } from '../support/backends.js'
import { png } from '../support/tiles.js'
import { TIMES, histories, lineOf, modelDiff, openStore, remember, shownAt } from '../support/diff-model.js'
import { memorySource } from '../support/memory-source.js'

const [T1, T2, T3, T4] = TIMES
const sum = counts => counts.added + counts.removed + counts.changed

/** A diff with its changes as lines. */
async function compare (store, from, to, options = {}) {
  const changes = []
  const summary = await diff(store, from, to, { ...options, onTile: change => { changes.push(change) } })
  return { summary, changes, lines: changes.map(lineOf) }
}

onEachStore('a diff', backend => {
  let store
  before(async () => { store = await openStore(backend) })

  it('agrees with a model for any two times of any history, in the order of ids', async () => {
    let run = 0
    await fc.assert(fc.asyncProperty(histories, async steps => {
      const layer = `model${run++}`
      await remember(store, layer, steps)
      for (const [from, to] of [[T1, T2], [T2, T4], [T4, T1], [T3, T3], ['2020', T3], [T1, undefined],
        [undefined, T2]]) {
        const { lines, summary } =
          await compare(store, from ? `${layer}@${from}` : layer, to ? `${layer}@${to}` : layer)
        const model = modelDiff(shownAt(steps, from), shownAt(steps, to))
        assert.deepEqual(lines, model.lines, `${from} to ${to}`)
        assert.equal(summary.tiles.same, model.same)
        assert.equal(sum(summary.tiles), model.lines.length)
        assert.equal(summary.missing, 0)
      }
    }), { numRuns: 12 })
  }).timeout(120000)

  it('agrees with a model for two layers at any times', async () => {
    let run = 0
    await fc.assert(fc.asyncProperty(histories, histories, async (fromSteps, toSteps) => {
      const [a, b] = [`one${run}`, `other${run++}`]
      await remember(store, a, fromSteps)
      await remember(store, b, toSteps)
      for (const [from, to] of [[T2, T3], [undefined, undefined], [T4, undefined]]) {
        const { lines, summary } = await compare(store, from ? `${a}@${from}` : a, to ? `${b}@${to}` : b)
        const model = modelDiff(shownAt(fromSteps, from), shownAt(toSteps, to))
        assert.deepEqual(lines, model.lines, `${from} to ${to}`)
        assert.equal(summary.tiles.same, model.same)
      }
    }), { numRuns: 8 })
  }).timeout(120000)

  it('treats tiles that changed back as the same, and does not rely on equal sizes', async () => {
    const tiles = Array.from({ length: 40 }, (_, y) => ({ z: 8, x: 3, y }))
    await remember(store, 'back', [
      ...tiles.map(tile => ({ ...tile, time: T1, seed: 1 })), ...tiles.map(tile => ({ ...tile, time: T2, seed: 2 })),
      ...tiles.map(tile => ({ ...tile, time: T3, seed: tile.y % 2 ? 1 : 3 }))
    ])
    assert.equal(new Set([1, 2, 3].map(seed => png(seed).length)).size < 3, true, 'sizes alone do not tell')
    const { summary } = await compare(store, `back@${T1}`, `back@${T3}`)
    assert.deepEqual(summary.tiles, { added: 0, removed: 0, changed: 20, same: 20 })
  })

  it('counts tiles and bytes by zoom, with the later bytes of changed tiles, and gives the times of both', async () => {
    await remember(store, 'count', [
      { z: 2, x: 0, y: 0, time: T1, seed: 11 }, { z: 2, x: 0, y: 1, time: T1, seed: 12 },
      { z: 11, x: 0, y: 0, time: T1, seed: 13 },
      { z: 2, x: 0, y: 0, time: T2, seed: 14 }, { z: 2, x: 0, y: 1, time: T2, seed: null },
      { z: 11, x: 5, y: 0, time: T2, seed: 15 }
    ])
    const { summary } = await compare(store, 'count@2021', 'count@2022')
    assert.deepEqual(summary, {
      from: { name: 'count@2021', layer: 'count', time: '2021-12-31T23:59:59Z' },
      to: { name: 'count@2022', layer: 'count', time: '2022-12-31T23:59:59Z' },
      tiles: { added: 1, removed: 1, changed: 1, same: 1 },
      bytes: { added: png(15).length, removed: png(12).length, changed: png(14).length },
      missing: 0,
      zooms: [
        { z: 2, tiles: { added: 0, removed: 1, changed: 1, same: 0 },
          bytes: { added: 0, removed: png(12).length, changed: png(14).length } },
        { z: 11, tiles: { added: 1, removed: 0, changed: 0, same: 1 },
          bytes: { added: png(15).length, removed: 0, changed: 0 } }
      ]
    })
    const { changes } = await compare(store, 'count@2021', 'count')
    const [, , gone] = changes
    assert.deepEqual(changes.map(({ from, to }) => [from?.time, to?.time]),
      [[undefined, T2], [T1, T2], [T1, undefined]])
    assert.deepEqual([gone.change, gone.since], ['removed', T2])
  })

  it('compares only the given area and zooms, and finds every tile after a time without tiles', async () => {
    const steps = []
    for (let x = 0; x < 16; x++) for (let y = 0; y < 16; y++) {
      steps.push({ z: 4, x, y, time: T1, seed: 1 }, { z: 4, x, y, time: T2, seed: 2 })
    }
    steps.push({ z: 5, x: 0, y: 0, time: T2, seed: 1 })
    await remember(store, 'area', steps)
    const area = parseArea({ bbox: [-10, -10, 40, 30] })
    const { lines } = await compare(store, 'area@2021', 'area@2022', { area })
    assert.equal(lines.length, area.count({ min: 4, max: 4 }))
    assert.ok(lines.every(line => { const [z, x, y] = line.split(/[: ]/); return area.has(+z, +x, +y) }))
    assert.deepEqual((await compare(store, 'area@2021', 'area@2022', { zooms: { min: 5, max: 9 } })).lines,
      ['5:0:0 added'])
    const empty = await compare(store, 'area@2021', 'area@2022', { zooms: { min: 5, max: 9 }, area })
    assert.deepEqual([empty.lines, empty.summary.zooms], [[], []])
    assert.equal(sum((await compare(store, 'area', 'area')).summary.tiles), 0)
    assert.equal(sum((await compare(store, 'area@2022', 'area@2022')).summary.tiles), 0)
    assert.deepEqual((await compare(store, 'area@1066', 'area')).summary.tiles,
      { added: 257, removed: 0, changed: 0, same: 0 })
    assert.deepEqual((await compare(store, 'area', 'area@1066')).summary.tiles,
      { added: 0, removed: 257, changed: 0, same: 0 })
    assert.deepEqual((await compare(store, 'area@1066', 'area@1067')).summary.zooms, [])
  })

  it('fails for a missing layer, an invalid layer name and an invalid time', async () => {
    await assert.rejects(diff(store, 'area', 'nowhere'), { code: 'LAYER_NOT_FOUND', message: /nowhere/ })
    await assert.rejects(diff(store, 'Area', 'area'), { code: 'BAD_LAYER' })
    await assert.rejects(diff(store, 'area@soon', 'area'), { code: 'BAD_TIME' })
    await assert.rejects(diff(store, 'area@', 'area'), { code: 'BAD_TIME' })
    await assert.rejects(diff(store, './nothing.mbtiles', 'area'), { code: 'BAD_LAYER' })
  })

  it('stops when its signal aborts, with the summary so far; awaits onTile, and fails with it', async () => {
    const stop = new AbortController()
    let changeCount = 0
    const error = await diff(store, 'area@2021', 'area@2022',
      { signal: stop.signal, onTile: () => { if (++changeCount === 10) stop.abort() } }).catch(reason => reason)
    assert.equal(error.code, 'ABORTED')
    assert.equal(changeCount, 10)
    assert.equal(sum(error.summary.tiles), 10)
    stop.abort()
    await assert.rejects(diff(store, 'area@2021', 'area@2022', { signal: stop.signal }), { code: 'ABORTED' })
    let running = 0
    await diff(store, 'area@2021', 'area@2022',
      { onTile: async () => { assert.equal(++running, 1); await null; running-- } })
    await assert.rejects(diff(store, 'area@2021', 'area@2022', { onTile: () => { throw new Error('full') } }), /full/)
  })

  it('of two times is correct while a later edition is loaded, and reads digests in batches', async () => {
    const steps = []
    for (let x = 0; x < 20; x++) for (let y = 0; y < 20; y++) {
      steps.push({ z: 6, x, y, time: T1, seed: 1 }, { z: 6, x, y, time: T2, seed: (x + y) % 3 ? 1 : 2 })
    }
    steps.push(...steps.filter(({ time }) => time === T2).map(step => ({ ...step, time: T3, seed: 3 })))
    await remember(store, 'busy', steps)
    // The versions have equal sizes, so that every digest is read, also of heads that become past versions.
    const model = modelDiff(shownAt(steps, T1), shownAt(steps, T3))
    const loading =
      remember(store, 'busy', steps.filter(({ time }) => time === T3).map(step => ({ ...step, time: T4, seed: 4 })))
    const runs = []
    while (runs.length < 3) runs.push((await compare(store, `busy@${T1}`, `busy@${T3}`)))
    await loading
    for (const { lines, summary } of runs) {
      assert.deepEqual(lines, model.lines)
      assert.equal(summary.missing, 0)
    }
    const batchSizes = []
    const countingStore = new Proxy(store, {
      get (target, name) {
        if (name !== 'versionsById') {
          return typeof target[name] === 'function' ? target[name].bind(target) : target[name]
        }
        return (ids, options) => { batchSizes.push(ids.length); return target.versionsById(ids, options) }
      }
    })
    await compare(countingStore, 'busy@2021', 'busy@2022')
    assert.ok(batchSizes.length > 0 && batchSizes.length <= 1 + Math.ceil(400 / compareDefaults.batch), `${batchSizes}`)
    assert.ok(Math.max(...batchSizes) <= 2 * compareDefaults.batch)
  }).timeout(60000)
})

const PLACES =
  ['0/0/0', '4/1/9', '4/10/2', '4/10/10', '4/2/1', '10/1/1', '10/100/12', '10/100/2', '10/63/63', '10/64/63']
const contents =
  fc.dictionary(fc.constantFrom(...PLACES), fc.option(fc.integer({ min: 1, max: 3 }), { freq: 5 }), { minKeys: 1 })
const edition = fc.record({
  time: fc.constantFrom(...TIMES), tiles: contents, complete: fc.boolean(),
  zooms: fc.option(fc.constant({ min: 0, max: 4 }))
})
/** Loads in any order, a single write and a removal. */
const randomHistories = fc.record({
  editions: fc.uniqueArray(edition, { selector: ({ time }) => time, minLength: 2, maxLength: 4 }),
  write: fc.option(fc.record({
    place: fc.constantFrom(...PLACES), time: fc.constantFrom(...TIMES, '2022-06-01T00:00:00Z'),
    seed: fc.integer({ min: 1, max: 3 })
  }), { freq: 3 }),
  remove: fc.option(fc.constantFrom(...TIMES), { freq: 2 })
})

onEachStore('a diff by manifests', backend => {
  const { versions } = manifestDiffDefaults
  let store
  before(async () => { store = await openStore(backend) })
  afterEach(() => { manifestDiffDefaults.versions = versions })
  after(() => store.destroy())

  /** @returns {Promise<{isWalk: boolean, said: any}>} */
  async function compareBoth (from, to, options = {}) {
    const { listTiles } = store
    let isWalk = false
    store.listTiles = (...parameters) => { isWalk = true; return listTiles.apply(store, parameters) }
    try {
      const changes = []
      const summary =
        await diff(store, from, to, { ...options, onTile: ({ versions: _, ...change }) => { changes.push(change) } })
      return { isWalk, said: { changes, summary } }
    } finally {
      delete store.listTiles
    }
  }

  async function checkBothWays (layer, isPlain) {
    for (const [from, to] of [[T1, T2], [T4, T1], [T2, T3], ['2020', T3], [undefined, T2], ['2022-06', undefined]]) {
      for (const options of [{}, { zooms: { min: 4, max: 4 } }]) {
        const names = [from, to].map(time => time ? `${layer}@${time}` : layer)
        manifestDiffDefaults.versions = Infinity
        const byVersions = await compareBoth(...names, options)
        manifestDiffDefaults.versions = 0
        const quick = await compareBoth(...names, options)
        assert.deepEqual(quick.said, byVersions.said, names.join(' -> '))
        if (isPlain && from !== '2020') assert.equal(quick.isWalk, false, `${names.join(' -> ')} is told by manifests`)
      }
    }
  }

  it('equals a diff that reads all versions, for random histories', async () => {
    let run = 0
    await fc.assert(fc.asyncProperty(randomHistories, async ({ editions, write, remove }) => {
      const layer = `life${run++}`
      await store.defineLayer(layer)
      for (const { time, tiles: tiles, complete, zooms } of editions) {
        const isDiff = Object.values(tiles).includes(null)
        await load(store, memorySource(tiles), { layer, time, complete: complete && !isDiff, ...(zooms && { zooms }) })
      }
      if (write) {
        const [z, x, y] = write.place.split('/').map(Number)
        await store.write([{ layer, z, x, y, time: write.time, bytes: png(write.seed) }])
      }
      if (remove) await removeEdition(store, layer, remove)
      await checkBothWays(layer)
    }), { numRuns: 10, seed: 16 })
  }).timeout(180000)

  it('uses manifests if only editions were loaded, and is correct after a removal of tiles', async () => {
    const tiles = Object.fromEntries(PLACES.map(place => [place, 1]))
    await load(store, memorySource({ ...tiles, '4/2/1': 3 }), { layer: 'plain', time: T1 })
    await load(store, memorySource(tiles), { layer: 'plain', time: T2 })
    await load(store, memorySource({ ...tiles, '10/100/2': 2 }), { layer: 'plain', time: T3 })
    await load(store, memorySource({ '0/0/0': 1, '4/2/1': 1, '10/1/1': 3 }),
      { layer: 'plain', time: T4, complete: true })
    await checkBothWays('plain', true)
    await removeTiles(store, 'plain', { zooms: { min: 10, max: 10 }, since: T3, until: T3 })
    await checkBothWays('plain')
  }).timeout(60000)

  it('reads all versions if a single write has the time of an edition, and no blocks that editions share', async () => {
    await load(store, memorySource({ '2/1/1': 1 }), { layer: 'one', time: T1 })
    await load(store, memorySource({ '2/1/1': 2 }), { layer: 'one', time: T2 })
    await store.write([{ layer: 'one', z: 2, x: 3, y: 3, time: T2, bytes: png(3) }])
    await checkBothWays('one')
    manifestDiffDefaults.versions = 0
    assert.equal((await compareBoth(`one@${T1}`, `one@${T2}`)).isWalk, true)
    const places = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`6/${index}/3`, index % 3 + 1]))
    for (const time of TIMES) await load(store, memorySource(places), { layer: 'same', time })
    manifestDiffDefaults.versions = 20
    const { isWalk, said } = await compareBoth(`same@${T1}`, `same@${T4}`)
    assert.deepEqual([isWalk, said.summary.tiles.same, said.changes], [false, 40, []])
  })
})
