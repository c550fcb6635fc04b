// A layer and its editions as files, written once.
import assert from 'node:assert/strict'
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArea } from '../../core/index.js'
import { Store, publish } from '../../loader/index.js'
import { exportTree } from '../../loader/tree/index.js'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { png, square } from '../support/tiles.js'
import { checkTidy, checkTrees, edition, filesIn, isThere, linkOf, tile, treeOf, treesIn } from './helpers.js'

const [T1, T2, T3] = ['2022-03-01T00:00:00Z', '2023-06-01T00:00:00Z', '2023-09-01T00:00:00Z']

onEachStore('exporting trees', backend => {
  const folder = useFolder()
  let url, store
  const to = () => path.join(folder.dir, 'tiles')
  const run = options => exportTree(store, 'osm', to(), options)
  const code = expected => error => {
    assert.equal(error.code, expected, error.stack)
    return true
  }

  beforeEach(async () => {
    url = await backend.database()
    store = await Store.create(url)
    await store.defineLayer('osm', { format: 'png' })
    await publish(store)
  })
  afterEach(() => store.destroy().catch(() => {}))

  const threeEditions = async () => {
    await edition(store, square({ layer: 'osm', time: T1, side: 10, seed: (x, y) => x * 10 + y }))
    await edition(store, square({ layer: 'osm', time: T2, side: 10, seed: (x, y) => y === 3 ? 200 + x : x * 10 + y }))
    await edition(store, square({ layer: 'osm', time: T3, side: 10, seed: x => x === 3 ? null : undefined }))
  }

  it('gives each edition and the present a tree, and each period with an edition a link', async () => {
    await threeEditions()
    const summary = await run()
    const { trees, links } = await checkTrees(url, to())
    assert.deepEqual(trees, ['', T1, T2, T3])
    assert.deepEqual(links, ['2022', '2022-03', '2022-03-01', '2023', '2023-06', '2023-06-01', '2023-09', '2023-09-01'])
    assert.equal(linkOf(to(), '2023'), `osm@${T3}`)
    assert.deepEqual([summary.trees.length, summary.links.length, summary.tiles, summary.written, summary.failed], [4, 8, 100, 110, 0])
    checkTidy(to())
  })

  it('fetches what changed and links the rest: an edition with 10 % changed costs 10 %', async () => {
    await edition(store, square({ layer: 'osm', time: T1, side: 10, seed: (x, y) => x * 10 + y }))
    await run()
    await edition(store, square({ layer: 'osm', time: T2, side: 10, seed: (x, y) => y === 3 ? 200 + x : x * 10 + y }))
    const { written, linked } = await run()
    assert.equal(written, 10)
    assert.equal(linked, 100, 'the new tree')
    const files = [...filesIn(to()).entries()].filter(([name]) => name.endsWith('.png') && !/@\d{4}(-\d\d)?(-\d\d)?\//.test(name))
    assert.equal(files.length, 300)
    assert.equal(new Set(files.map(([, { stat }]) => stat.ino)).size, 110)
  })

  it('has nothing to do when nothing changed, and does not ask for a tile again', async () => {
    await threeEditions()
    await run()
    const before = [...filesIn(to())].map(([name, { stat }]) => [name, stat.ino])
    const again = await run()
    assert.deepEqual([again.tiles, again.written, again.linked, again.removed], [0, 0, 0, 0])
    // a failure of the power may have lost anything: everything is looked at, and what is right is left alone
    const state = path.join(to(), '.tilecouch/osm.json')
    writeFileSync(state, JSON.stringify({ ...JSON.parse(readFileSync(state, 'utf8')), boot: 'another' }))
    const compared = await run()
    assert.deepEqual([compared.tiles, compared.written, compared.linked, compared.removed], [100, 0, 0, 0])
    const names = new Map([...filesIn(to())].map(([name, { stat }]) => [name, stat.ino]))
    for (const [name, ino] of before) if (name.endsWith('.png')) assert.equal(names.get(name), ino, name)
  })

  it('mends what is cut off, of another time, missing or too much when it compares', async () => {
    await threeEditions()
    await run()
    const at = (time, name) => path.join(treeOf(to(), time), name)
    writeFileSync(at('', '5/1/1.png'), 'cut off')
    rmSync(at(T2, '5/1/2.png'))
    utimesSync(at(T1, '5/1/4.png'), new Date(), new Date())
    folder.write({ 'tiles/osm/5/1/31.png': png(1), 'tiles/osm/5/31/1.png': png(1), 'tiles/osm/7/1/1.png': png(1), 'tiles/osm/5/1/1.jpg': png(1), 'tiles/osm/README': 'a note' })
    const state = path.join(to(), '.tilecouch/osm.json')
    writeFileSync(state, JSON.stringify({ ...JSON.parse(readFileSync(state, 'utf8')), whole: false }))
    await run()
    assert.ok(isThere(at('', 'README')), 'what is no tile is left alone')
    rmSync(at('', 'README'))
    await checkTrees(url, to())
    assert.ok(!isThere(at('', '7')), 'no empty folder is left')
  })

  it('holds times that file systems cannot, and those before 1970', async () => {
    const times = ['1066-10-14T00:00:00Z', '1850-01-01T00:00:00Z', '1935-01-01T00:00:00Z', '2500-01-01T00:00:00Z']
    for (const [at, time] of times.entries()) await edition(store, [tile(1, 1, time, at), tile(2, at, time, at)])
    for (let round = 0; round < 2; round++) {
      await run()
      const shown = times.map(time => readFileSync(path.join(treeOf(to(), time), '5/1/1.png')))
      assert.deepEqual(shown, times.map((time, at) => png(at)))
      assert.equal(statSync(path.join(treeOf(to(), times[2]), '5/1/1.png')).mtimeMs, Date.parse(times[2]))
      rmSync(path.join(to(), '.tilecouch/osm.json'))
      await run({ force: true })
    }
    await store.write([tile(1, 1, '1900-01-01T00:00:00Z', 77)])
    await edition(store, [tile(1, 1, '1890-01-01T00:00:00Z', 78)])
    await run()
    assert.deepEqual(readFileSync(path.join(treeOf(to(), '1890-01-01T00:00:00Z'), '5/1/1.png')), png(78))
    assert.deepEqual(readFileSync(path.join(treeOf(to(), times[2]), '5/1/1.png')), png(2))
  })

  it('is of an area and of zooms, and follows them when they change', async () => {
    await threeEditions()
    await edition(store, [tile(0, 0, T3, 9, 'osm', 0), tile(1, 1, T3, 8, 'osm', 3)], { time: T3 })
    const area = parseArea({ bbox: '-180,60,-100,85' })
    await run({ area, zooms: { min: 1, max: 5 } })
    const { tiles } = await checkTrees(url, to(), { selected: (z, x, y) => z > 0 && area.has(z, x, y) })
    assert.ok(filesIn(treeOf(to(), T1)).size < tiles)
    await run({ zooms: { min: 4, max: 5 } })
    await checkTrees(url, to(), { selected: z => z >= 4 })
    await run()
    await checkTrees(url, to())
  })

  it('leaves a period without a link when tiles changed after its last edition that are of none', async () => {
    await threeEditions()
    await store.write([tile(1, 1, '2023-11-05T10:00:00Z', 300)])
    await run()
    const { links } = await checkTrees(url, to())
    assert.ok(!links.includes('2023') && links.includes('2023-09'))
    await edition(store, [tile(1, 1, '2023-12-01T00:00:00Z', 301)])
    await run()
    assert.equal(linkOf(to(), '2023'), 'osm@2023-12-01T00:00:00Z')
    await checkTrees(url, to())
  })

  it('has no tree of an edition that is being loaded, and keeps the tree of one that is loaded again', async () => {
    await threeEditions()
    await edition(store, [tile(1, 1, '2024-01-01T00:00:00Z', 300)], { finished: false })
    await run()
    assert.deepEqual(treesIn(to()).trees, ['', T1, T2, T3])
    await edition(store, [tile(8, 8, T2, 88)], { finished: false })
    await run()
    assert.deepEqual(treesIn(to()).trees, ['', T1, T2, T3])
    await checkTrees(url, to())
  })

  it('removes the tree of an edition that is no more', async () => {
    await threeEditions()
    await run()
    const id = `edition:osm@${T3}`
    const { _rev: rev } = await store.couch.get(id)
    await store.couch.request({ method: 'DELETE', path: encodeURIComponent(id), qs: { rev } })
    await run()
    assert.deepEqual(treesIn(to()), { trees: ['', T1, T2], links: ['2022', '2022-03', '2022-03-01', '2023-06', '2023-06-01'] })
    checkTidy(to())
  })

  it('takes nothing on trust when the store is another one, though times and sizes are the same', async () => {
    await edition(store, square({ layer: 'osm', time: T1, side: 4, seed: (x, y) => x * 10 + y }))
    await run()
    const { created } = await store.couch.get('tilecouch')
    await store.destroy()
    await until(() => new Date().toISOString().slice(0, 19) + 'Z' > created, { what: 'another second' })
    store = await Store.create(url)
    await store.defineLayer('osm', { format: 'png' })
    await publish(store)
    await edition(store, square({ layer: 'osm', time: T1, side: 4, seed: (x, y) => y === 3 ? undefined : x ? x * 10 + y : 500 + y }))
    const { written, kept } = await run()
    await checkTrees(url, to(), { moved: true })
    assert.deepEqual([written, kept], [3, 18])
  })

  it('touches nothing that it has not written, unless it is told to', async () => {
    await threeEditions()
    folder.write({ 'tiles/osm/5/1/1.png': 'somebody else\'s' })
    await assert.rejects(run(), code('TARGET_EXISTS'))
    assert.equal(readFileSync(path.join(to(), 'osm/5/1/1.png'), 'utf8'), 'somebody else\'s')
    await run({ force: true })
    await checkTrees(url, to())
  })

  it('refuses a second process on a layer, and lets another layer into the folder', async () => {
    await threeEditions()
    await store.defineLayer('osm-x', { format: 'png' })
    await edition(store, [tile(1, 1, T1, 1, 'osm-x')])
    const stop = new AbortController()
    const states = /** @type {string[]} */ ([])
    const following = run({ follow: true, signal: stop.signal, onState: ({ state }) => states.push(state) })
    await until(() => states.includes('following'))
    await assert.rejects(run(), code('TARGET_UNWRITABLE'))
    await exportTree(store, 'osm-x', to())
    stop.abort()
    await following
    await checkTrees(url, to())
    await checkTrees(url, to(), { layer: 'osm-x' })
    checkTidy(to())
    checkTidy(to(), 'osm-x')
  })

  it('says what is wrong: no layer, terms, a folder that cannot be', async () => {
    await assert.rejects(exportTree(store, 'nothing', to()), code('LAYER_NOT_FOUND'))
    await store.defineLayer('sold', { upstream: { url: 'https://tile.example.org/{z}/{x}/{y}.png', seed: false } })
    await assert.rejects(exportTree(store, 'sold', to()), code('EXPORT_FORBIDDEN'))
    folder.write({ tiles: 'a file' })
    await assert.rejects(run(), code('TARGET_UNWRITABLE'))
  })
})
