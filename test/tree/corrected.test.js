// Editions that are removed and loaded again, corrected: images of the same size for the same time. The files become the new ones, and
// carry times that tell web servers and those behind them that they are others.
import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { Store, publish, removeEdition } from '../../loader/index.js'
import { exportTree } from '../../loader/tree/index.js'
import { noiseTile } from '../../bench/tiles.js'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { checkTidy, checkTrees, edition, isThere, treeOf } from './helpers.js'

const [T1, T2] = ['2022-03-01T00:00:00Z', '2023-06-01T00:00:00Z']
const SIDE = 4

const tiles = (time, seed) => Array.from({ length: SIDE * SIDE }, (_, at) => (
  { layer: 'osm', z: 5, x: at % SIDE, y: Math.floor(at / SIDE), time, bytes: noiseTile(seed + at, 1000) }))

onEachStore('trees of an edition that is corrected', backend => {
  const folder = useFolder()
  let url, store, after
  const to = () => path.join(folder.dir, 'tiles')
  const run = options => exportTree(store, 'osm', to(), options)
  const file = time => path.join(treeOf(to(), time), '5/1/1.png')
  const shows = (seed, time) => isThere(file(time)) && readFileSync(file(time)).equals(noiseTile(seed + SIDE + 1, 1000))

  beforeEach(async () => {
    url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', { format: 'png' })
    await publish(store)
    await edition(store, tiles(T1, 0))
    await edition(store, tiles(T2, 100))
  })
  afterEach(async () => {
    await after?.()
    after = undefined
    await store.destroy()
  })

  for (const [time, where] of [[T1, 'the past'], [T2, 'the present']]) {
    for (const between of [false, true]) {
      it(`in ${where}, ${between ? 'with' : 'without'} a look in between`, async () => {
        const shown = time === T2 ? [T2, undefined] : [T1]
        await run()
        const before = shown.map(tree => statSync(file(tree)).mtimeMs)
        for (const seed of [200, 300]) {
          await removeEdition(store, 'osm', time)
          if (between) await run()
          await edition(store, tiles(time, seed))
          await run()
          await checkTrees(url, to(), { moved: true })
          for (const [at, tree] of shown.entries()) {
            assert.ok(shows(seed, tree))
            const { mtimeMs } = statSync(file(tree))
            assert.ok(mtimeMs > before[at] && mtimeMs < before[at] + 5000, `${mtimeMs} after ${before[at]}`)
            before[at] = mtimeMs
          }
        }
        const { written, linked, removed } = await run()
        assert.deepEqual([written, linked, removed], [0, 0, 0])
        checkTidy(to())
      })
    }
  }

  it('while they follow', async () => {
    const stop = new AbortController()
    const states = []
    const following = run({ follow: true, signal: stop.signal, onState: ({ state }) => states.push(state) })
    following.catch(() => {})
    after = () => { stop.abort(); return following }
    await until(() => states.includes('following'), { what: 'following' })
    const before = statSync(file(T1)).mtimeMs
    await removeEdition(store, 'osm', T1)
    await edition(store, tiles(T1, 200))
    await until(() => shows(200, T1), { what: 'the correction', timeout: 20000 })
    await until(() => checkTrees(url, to(), { moved: true }).then(() => true, () => false), { timeout: 20000 })
    assert.ok(statSync(file(T1)).mtimeMs > before)
    await after() // before its folder is removed
  })

  it('also when everything has to be compared, since nobody knows what changed', async () => {
    await run()
    const state = path.join(to(), '.tilecouch', 'osm.json')
    const kept = JSON.parse(readFileSync(state, 'utf8'))
    await removeEdition(store, 'osm', T1)
    await edition(store, tiles(T1, 200))
    writeFileSync(state, JSON.stringify({ ...kept, boot: 'another' }))
    await run()
    await checkTrees(url, to(), { moved: true })
    assert.ok(shows(200, T1))
  })
})
