// Diffs that manifests tell: the same as those that walk over every version.
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { diff } from '../../loader/export/diff/index.js'
import { manifestDiffDefaults } from '../../loader/export/diff/manifests.js'
import { load } from '../../loader/load/index.js'
import { removeEdition, removeTiles } from '../../loader/maintain/remove/index.js'
import { onEachStore } from '../support/backends.js'
import { memorySource } from '../support/memory-source.js'
import { png } from '../support/tiles.js'
import { TIMES, openStore } from '../support/diff-model.js'

const PLACES =
  ['0/0/0', '4/1/9', '4/10/2', '4/10/10', '4/2/1', '10/1/1', '10/100/12', '10/100/2', '10/63/63', '10/64/63']
const tiles =
  fc.dictionary(fc.constantFrom(...PLACES), fc.option(fc.integer({ min: 1, max: 3 }), { freq: 5 }), { minKeys: 1 })
const edition = fc.record(
  { time: fc.constantFrom(...TIMES), tiles, complete: fc.boolean(), zooms: fc.option(fc.constant({ min: 0, max: 4 })) }
)
/** Loads in any order, what else may happen to a layer, and what is compared then. */
const lives = fc.record({
  editions: fc.uniqueArray(edition, { selector: ({ time }) => time, minLength: 2, maxLength: 4 }),
  write: fc.option(
    fc.record(
      { place: fc.constantFrom(...PLACES), time: fc.constantFrom(...TIMES,
        '2022-06-01T00:00:00Z'), seed: fc.integer({ min: 1, max: 3 }) }
    ), { freq: 3 }
  ),
  remove: fc.option(fc.constantFrom(...TIMES), { freq: 2 })
})
const [T1, T2, T3, T4] = TIMES

onEachStore('a diff by manifests', backend => {
  const { versions } = manifestDiffDefaults
  let store
  before(async () => { store = await openStore(backend) })
  afterEach(() => { manifestDiffDefaults.versions = versions })
  after(() => store.destroy())

  /** @returns {Promise<{isWalk: boolean, said: any}>} */
  async function compare (from, to, options = {}) {
    const { listTiles } = store
    let isWalk = false
    store.listTiles = (...of) => { isWalk = true; return listTiles.apply(store, of) }
    try {
      const changes = []
      const summary =
        await diff(store, from, to, { ...options, onTile: ({ versions: _, ...change }) => { changes.push(change) } })
      return { isWalk, said: { changes, summary } }
    } finally {
      delete store.listTiles
    }
  }

  async function bothWays (layer, isPlain) {
    for (const [from, to] of [[T1, T2], [T4, T1], [T2, T3], ['2020', T3], [undefined, T2], ['2022-06', undefined]]) {
      for (const options of [{}, { zooms: { min: 4, max: 4 } }]) {
        const names = [from, to].map(time => time ? `${layer}@${time}` : layer)
        manifestDiffDefaults.versions = Infinity
        const walked = await compare(...names, options)
        manifestDiffDefaults.versions = 0
        const told = await compare(...names, options)
        assert.deepEqual(told.said, walked.said, names.join(' -> '))
        if (isPlain && from !== '2020') assert.equal(told.isWalk, false, `${names.join(' -> ')} is told by manifests`)
      }
    }
  }

  it('equals a diff that reads all versions, for random histories', async function () {
    this.timeout(180000)
    let run = 0
    await fc.assert(fc.asyncProperty(lives, async ({ editions, write, remove }) => {
      const layer = `life${run++}`
      await store.defineLayer(layer)
      for (const { time, tiles: some, complete, zooms } of editions) {
        const isDiff = Object.values(some).includes(null)
        await load(store, memorySource(some), { layer, time, complete: complete && !isDiff, ...(zooms && { zooms }) })
      }
      if (write) {
        const [z, x, y] = write.place.split('/').map(Number)
        await store.write([{ layer, z, x, y, time: write.time, bytes: png(write.seed) }])
      }
      if (remove) await removeEdition(store, layer, remove)
      await bothWays(layer)
    }), { numRuns: 10, seed: 16 })
  })

  it('uses manifests if only editions were loaded, and is correct after a removal of tiles', async function () {
    this.timeout(60000)
    const all = Object.fromEntries(PLACES.map(place => [place, 1]))
    await load(store, memorySource({ ...all, '4/2/1': 3 }), { layer: 'plain', time: T1 })
    await load(store, memorySource(all), { layer: 'plain', time: T2 })
    await load(store, memorySource({ ...all, '10/100/2': 2 }), { layer: 'plain', time: T3 })
    await load(store, memorySource({ '0/0/0': 1, '4/2/1': 1, '10/1/1': 3 }),
      { layer: 'plain', time: T4, complete: true })
    await bothWays('plain', true)
    await removeTiles(store, 'plain', { zooms: { min: 10, max: 10 }, since: T3, until: T3 })
    await bothWays('plain')
  })

  it('reads all versions if a single write has the time of an edition', async () => {
    await load(store, memorySource({ '2/1/1': 1 }), { layer: 'one', time: T1 })
    await load(store, memorySource({ '2/1/1': 2 }), { layer: 'one', time: T2 })
    await store.write([{ layer: 'one', z: 2, x: 3, y: 3, time: T2, bytes: png(3) }])
    await bothWays('one')
    manifestDiffDefaults.versions = 0
    assert.equal((await compare(`one@${T1}`, `one@${T2}`)).isWalk, true)
  })

  it('does not read blocks that the editions share', async () => {
    const places = Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`6/${index}/3`, index % 3 + 1]))
    for (const time of TIMES) await load(store, memorySource(places), { layer: 'same', time })
    manifestDiffDefaults.versions = 20
    const { isWalk, said } = await compare(`same@${T1}`, `same@${T4}`)
    assert.deepEqual([isWalk, said.summary.tiles.same, said.changes], [false, 40, []])
  })
})
