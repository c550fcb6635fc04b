// Trees that are exported once, and again: their files, hard links and symbolic links.
import assert from 'node:assert/strict'
import { readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { parseArea } from '../../core/index.js'
import { Store, removeEdition } from '../../loader/index.js'
import { exportTree } from '../../loader/export/tree/index.js'
import { until } from '../../bench/wait.js'
import { onEachStore } from '../support/backends.js'
import { png, square } from '../support/tiles.js'
import {
  checkTidy, checkTrees, edition, filesIn, isThere, linkOf, tile, treeOf, treesIn, useTrees
} from '../support/trees.js'
import { noiseTile } from '../../bench/tiles.js'
import { publishFunctions } from '../support/published.js'

const [T1, T2, T3] = ['2022-03-01T00:00:00Z', '2023-06-01T00:00:00Z', '2023-09-01T00:00:00Z']

/** Changes fields of the state that a run stored. */
function changeState (map, fields) {
  const file = path.join(map.to(), '.tilecouch/osm.json')
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), ...fields }))
}

onEachStore('exporting trees', backend => {
  const map = useTrees(backend)
  const { folder } = map

  const threeEditions = async () => {
    await edition(map.store, square({ layer: 'osm', time: T1, side: 10, seed: (x, y) => x * 10 + y }))
    await edition(map.store,
      square({ layer: 'osm', time: T2, side: 10, seed: (x, y) => y === 3 ? 200 + x : x * 10 + y }))
    await edition(map.store, square({ layer: 'osm', time: T3, side: 10, seed: x => x === 3 ? null : undefined }))
  }

  it('writes a tree for each edition and for the newest tiles, and links for periods', async () => {
    await threeEditions()
    const summary = await map.run()
    const { trees, links } = await checkTrees(map.url, map.to())
    assert.deepEqual(trees, ['', T1, T2, T3])
    assert.deepEqual(links, ['2022', '2022-03', '2022-03-01', '2023', '2023-06', '2023-06-01', '2023-09', '2023-09-01'])
    assert.equal(linkOf(map.to(), '2023'), `osm@${T3}`)
    assert.deepEqual([summary.trees.length, summary.links.length, summary.tiles, summary.written, summary.failed],
      [4, 8, 100, 110, 0])
    checkTidy(map.to())
  })

  it('writes only the changed tiles of a new edition, and hard-links the others', async () => {
    await edition(map.store, square({ layer: 'osm', time: T1, side: 10, seed: (x, y) => x * 10 + y }))
    await map.run()
    await edition(map.store,
      square({ layer: 'osm', time: T2, side: 10, seed: (x, y) => y === 3 ? 200 + x : x * 10 + y }))
    const { written, linked } = await map.run()
    assert.equal(written, 10)
    assert.equal(linked, 100, 'the new tree')
    const files = [...filesIn(map.to()).entries()].filter(
      ([name]) => name.endsWith('.png') && !/@\d{4}(-\d\d)?(-\d\d)?\//.test(name)
    )
    assert.equal(files.length, 300)
    assert.equal(new Set(files.map(([, { stat }]) => stat.ino)).size, 110)
  })

  it('writes nothing when nothing changed, also when it compares all tiles', async () => {
    await threeEditions()
    await map.run()
    const inodesBefore = [...filesIn(map.to())].map(([name, { stat }]) => [name, stat.ino])
    const secondRun = await map.run()
    assert.deepEqual([secondRun.tiles, secondRun.written, secondRun.linked, secondRun.removed], [0, 0, 0, 0])
    // after a restart of the machine all files are compared, and correct files stay untouched
    changeState(map, { boot: 'another' })
    const compared = await map.run()
    assert.deepEqual([compared.tiles, compared.written, compared.linked, compared.removed], [100, 0, 0, 0])
    const names = new Map([...filesIn(map.to())].map(([name, { stat }]) => [name, stat.ino]))
    for (const [name, ino] of inodesBefore) if (name.endsWith('.png')) assert.equal(names.get(name), ino, name)
  })

  it('repairs truncated, outdated, missing and superfluous files when it compares', async () => {
    await threeEditions()
    await map.run()
    const pathIn = (time, name) => path.join(treeOf(map.to(), time), name)
    writeFileSync(pathIn('', '5/1/1.png'), 'cut off')
    rmSync(pathIn(T2, '5/1/2.png'))
    utimesSync(pathIn(T1, '5/1/4.png'), new Date(), new Date())
    folder.write(
      {
        'tiles/osm/5/1/31.png': png(1), 'tiles/osm/5/31/1.png': png(1),
        'tiles/osm/7/1/1.png': png(1), 'tiles/osm/5/1/1.jpg': png(1), 'tiles/osm/README': 'a note'
      }
    )
    changeState(map, { whole: false })
    await map.run()
    assert.ok(isThere(pathIn('', 'README')), 'what is no tile is left alone')
    rmSync(pathIn('', 'README'))
    await checkTrees(map.url, map.to())
    assert.ok(!isThere(pathIn('', '7')), 'no empty folder is left')
  })

  it('supports times before 1970, and times that file systems cannot store', async () => {
    const times = ['1066-10-14T00:00:00Z', '1850-01-01T00:00:00Z', '1935-01-01T00:00:00Z', '2500-01-01T00:00:00Z']
    for (const [n, time] of times.entries()) await edition(map.store, [tile(1, 1, time, n), tile(2, n, time, n)])
    for (let round = 0; round < 2; round++) {
      await map.run()
      const shown = times.map(time => readFileSync(path.join(treeOf(map.to(), time), '5/1/1.png')))
      assert.deepEqual(shown, times.map((time, index) => png(index)))
      assert.equal(statSync(path.join(treeOf(map.to(), times[2]), '5/1/1.png')).mtimeMs, Date.parse(times[2]))
      rmSync(path.join(map.to(), '.tilecouch/osm.json'))
      await map.run({ force: true })
    }
    await map.store.write([tile(1, 1, '1900-01-01T00:00:00Z', 77)])
    await edition(map.store, [tile(1, 1, '1890-01-01T00:00:00Z', 78)])
    await map.run()
    assert.deepEqual(readFileSync(path.join(treeOf(map.to(), '1890-01-01T00:00:00Z'), '5/1/1.png')), png(78))
    assert.deepEqual(readFileSync(path.join(treeOf(map.to(), times[2]), '5/1/1.png')), png(2))
  })

  it('exports an area and zooms, and changes the trees when they change', async () => {
    await threeEditions()
    await edition(map.store, [tile(0, 0, T3, 9, 'osm', 0), tile(1, 1, T3, 8, 'osm', 3)], { time: T3 })
    const area = parseArea({ bbox: '-180,60,-100,85' })
    await map.run({ area, zooms: { min: 1, max: 5 } })
    const { tiles } = await checkTrees(map.url, map.to(), { selected: (z, x, y) => z > 0 && area.has(z, x, y) })
    assert.ok(filesIn(treeOf(map.to(), T1)).size < tiles)
    await map.run({ zooms: { min: 4, max: 5 } })
    await checkTrees(map.url, map.to(), { selected: z => z >= 4 })
    await map.run()
    await checkTrees(map.url, map.to())
  })

  it('writes no link for a period with single writes after its last edition', async () => {
    await threeEditions()
    await map.store.write([tile(1, 1, '2023-11-05T10:00:00Z', 300)])
    await map.run()
    const { links } = await checkTrees(map.url, map.to())
    assert.ok(!links.includes('2023') && links.includes('2023-09'))
    await edition(map.store, [tile(1, 1, '2023-12-01T00:00:00Z', 301)])
    await map.run()
    assert.equal(linkOf(map.to(), '2023'), 'osm@2023-12-01T00:00:00Z')
    await checkTrees(map.url, map.to())
  })

  it('writes no tree of an unfinished edition, but keeps a tree whose edition is loaded again', async () => {
    await threeEditions()
    await edition(map.store, [tile(1, 1, '2024-01-01T00:00:00Z', 300)], { finished: false })
    await map.run()
    assert.deepEqual(treesIn(map.to()).trees, ['', T1, T2, T3])
    await edition(map.store, [tile(8, 8, T2, 88)], { finished: false })
    await map.run()
    assert.deepEqual(treesIn(map.to()).trees, ['', T1, T2, T3])
    await checkTrees(map.url, map.to())
  })

  it('removes the tree of an edition that was deleted', async () => {
    await threeEditions()
    await map.run()
    const id = `edition:osm@${T3}`
    const { _rev: rev } = await map.store.couch.get(id)
    await map.store.couch.request({ method: 'DELETE', path: encodeURIComponent(id), qs: { rev } })
    await map.run()
    assert.deepEqual(treesIn(map.to()),
      { trees: ['', T1, T2], links: ['2022', '2022-03', '2022-03-01', '2023-06', '2023-06-01'] })
    checkTidy(map.to())
  })

  it('replaces the files of another store, even if times and sizes are equal', async () => {
    await edition(map.store, square({ layer: 'osm', time: T1, side: 4, seed: (x, y) => x * 10 + y }))
    await map.run()
    const { created } = await map.store.couch.get('tilecouch')
    await map.store.destroy()
    await until(() => new Date().toISOString().slice(0, 19) + 'Z' > created, { what: 'another second' })
    map.store = await Store.create(map.url)
    await map.store.defineLayer('osm', { format: 'png' })
    await publishFunctions(map.store)
    const changedColumn = (x, y) => x ? x * 10 + y : 500 + y
    await edition(map.store,
      square({ layer: 'osm', time: T1, side: 4, seed: (x, y) => y === 3 ? undefined : changedColumn(x, y) }))
    const { written, kept } = await map.run()
    await checkTrees(map.url, map.to(), { moved: true })
    assert.deepEqual([written, kept], [3, 18])
  })

  it('refuses a layer folder with files of others, except with force', async () => {
    await threeEditions()
    folder.write({ 'tiles/osm/5/1/1.png': 'somebody else\'s' })
    await assert.rejects(map.run(), { code: 'TARGET_EXISTS' })
    assert.equal(readFileSync(path.join(map.to(), 'osm/5/1/1.png'), 'utf8'), 'somebody else\'s')
    await map.run({ force: true })
    await checkTrees(map.url, map.to())
  })

  it('refuses a second process on a layer, and lets another layer into the folder', async () => {
    await threeEditions()
    await map.store.defineLayer('osm-x', { format: 'png' })
    await edition(map.store, [tile(1, 1, T1, 1, 'osm-x')])
    await map.follow()
    await assert.rejects(map.run(), { code: 'TARGET_UNWRITABLE' })
    await exportTree(map.store, 'osm-x', map.to())
    await map.end()
    await checkTrees(map.url, map.to())
    await checkTrees(map.url, map.to(), { layer: 'osm-x' })
    checkTidy(map.to())
    checkTidy(map.to(), 'osm-x')
  })

  it('fails for a missing layer, a forbidden export, and a file in place of the folder', async () => {
    await assert.rejects(exportTree(map.store, 'nothing', map.to()), { code: 'LAYER_NOT_FOUND' })
    await map.store.defineLayer('sold', { upstream: { url: 'https://tile.example.org/{z}/{x}/{y}.png', seed: false } })
    await assert.rejects(exportTree(map.store, 'sold', map.to()), { code: 'EXPORT_FORBIDDEN' })
    folder.write({ tiles: 'a file' })
    await assert.rejects(map.run(), { code: 'TARGET_UNWRITABLE' })
  })
})

const SIDE = 4

const tiles = (time, seed) => Array.from({ length: SIDE * SIDE }, (_, index) => (
  { layer: 'osm', z: 5, x: index % SIDE, y: Math.floor(index / SIDE), time, bytes: noiseTile(seed + index, 1000) }))

onEachStore('trees of an edition that is corrected', backend => {
  const map = useTrees(backend, async store => {
    await edition(store, tiles(T1, 0))
    await edition(store, tiles(T2, 100))
  })
  const file = time => map.file('5/1/1.png', time)
  const isShown = (seed, time) =>
    isThere(file(time)) && readFileSync(file(time)).equals(noiseTile(seed + SIDE + 1, 1000))

  for (const [time, when] of [[T1, 'the past'], [T2, 'the present']]) {
    for (const isRunBetween of [false, true]) {
      it(`show the correction in ${when}, ${isRunBetween ? 'with' : 'without'} a run in between`, async () => {
        const shownTrees = time === T2 ? [T2, undefined] : [T1]
        await map.run()
        const mtimes = shownTrees.map(tree => statSync(file(tree)).mtimeMs)
        for (const seed of [200, 300]) {
          await removeEdition(map.store, 'osm', time)
          if (isRunBetween) await map.run()
          await edition(map.store, tiles(time, seed))
          await map.run()
          await checkTrees(map.url, map.to(), { moved: true })
          for (const [index, tree] of shownTrees.entries()) {
            assert.ok(isShown(seed, tree))
            const { mtimeMs } = statSync(file(tree))
            assert.ok(mtimeMs > mtimes[index] && mtimeMs < mtimes[index] + 5000, `${mtimeMs} after ${mtimes[index]}`)
            mtimes[index] = mtimeMs
          }
        }
        const { written, linked, removed } = await map.run()
        assert.deepEqual([written, linked, removed], [0, 0, 0])
        checkTidy(map.to())
      })
    }
  }

  it('show the correction while they follow', async () => {
    await map.follow()
    const mtimeBefore = statSync(file(T1)).mtimeMs
    await removeEdition(map.store, 'osm', T1)
    await edition(map.store, tiles(T1, 200))
    await until(() => isShown(200, T1), { what: 'the correction', timeout: 20000 })
    await map.settles({ moved: true })
    assert.ok(statSync(file(T1)).mtimeMs > mtimeBefore)
  })

  it('show the correction when all files are compared', async () => {
    await map.run()
    await removeEdition(map.store, 'osm', T1)
    await edition(map.store, tiles(T1, 200))
    changeState(map, { boot: 'another' })
    await map.run()
    await checkTrees(map.url, map.to(), { moved: true })
    assert.ok(isShown(200, T1))
  })
})
