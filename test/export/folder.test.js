// Exports into a folder: which files they write, keep and remove in later runs.
import assert from 'node:assert/strict'
import {
  existsSync, lstatSync, mkdirSync, readFileSync, readdirSync, rmSync, statSync, symlinkSync, utimesSync, writeFileSync
} from 'node:fs'
import path from 'node:path'
import { exportLayer } from '../../loader/export/index.js'
import { onEachStore } from '../support/backends.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'
import {
  EDITIONS, assertSameTiles, contentsOf, expected, filesBelow, shownAt, useLayer, withStore
} from '../support/exports.js'
import { publishFunctions } from '../support/published.js'

onEachStore('an export into a folder', backend => {
  const folder = useFolder()
  const context = useLayer(backend)
  const out = () => folder.path('out')
  const run = options => exportLayer(context.store, 'osm', out(), options)
  const tilesIn = () => filesBelow(out()).filter(name => /^\d+\//.test(name))

  it('changes nothing when it is run again, but repairs files that were emptied, touched or deleted', async () => {
    await run()
    const inodes = new Map(tilesIn().map(name => [name, statSync(path.join(out(), name)).ino]))
    const { tiles, written, kept, removed } = await run()
    assert.deepEqual([tiles, written, kept, removed], [inodes.size, 0, inodes.size, 0])
    for (const [name, inode] of inodes) assert.equal(statSync(path.join(out(), name)).ino, inode, name)
    const [cut, touched, lost] = tilesIn()
    writeFileSync(path.join(out(), cut), '')
    utimesSync(path.join(out(), touched), new Date(), new Date())
    rmSync(path.join(out(), lost))
    assert.equal((await run()).written, 3)
    assertSameTiles(await contentsOf(out()), expected())
  })

  it('changes the folder to any other time: writes changed tiles with their times, removes gone ones', async () => {
    let previousTiles = new Map()
    for (const time of ['2021', '2022', undefined, EDITIONS[0], '2022', '2021']) {
      const { written, kept, removed } = await run({ time })
      assertSameTiles(await contentsOf(out()), expected(time), `as of ${time}`)
      const currentTiles = shownAt(time)
      const unchanged = [...currentTiles].filter(([name, tile]) => previousTiles.get(name)?.time === tile.time)
      const goneNames = [...previousTiles.keys()].filter(name => !currentTiles.has(name))
      assert.deepEqual([kept, written, removed],
        [unchanged.length, currentTiles.size - unchanged.length, goneNames.length], `as of ${time}`)
      for (const [name, tile] of currentTiles) {
        assert.equal(statSync(path.join(out(), `${name}.png`)).mtimeMs, Date.parse(tile.time), name)
      }
      previousTiles = currentTiles
    }
  }).timeout(60000)

  it('keeps files that are not an exported version of a tile', async () => {
    await run({ time: '2021' })
    // the second edition makes 5/0/0 gone: one file there is its old version, the other files are foreign
    assert.ok(expected('2021').has('5/0/0') && !expected('2022').has('5/0/0'))
    const foreign = {
      'out/5/0/0.jpg': 'a drawing', 'out/5/0/notes.txt': 'x', 'out/5/0/0.png.bak': 'x',
      'out/9/1/1.png': 'elsewhere', 'out/index.html': 'x', 'out/5/99/7.png': png(1)
    }
    folder.write(foreign)
    await run({ time: '2022' })
    assert.ok(!existsSync(path.join(out(), '5/0/0.png')))
    for (const [name, content] of Object.entries(foreign)) {
      assert.deepEqual(readFileSync(folder.path(name)), Buffer.from(content), name)
    }
    // a file that replaced an old version is kept too
    await run({ time: '2021' })
    writeFileSync(path.join(out(), '5/0/0.png'), 'my own now')
    const { removed } = await run({ time: '2022' })
    assert.equal(readFileSync(path.join(out(), '5/0/0.png'), 'utf8'), 'my own now')
    assert.equal(removed, [...expected('2021').keys()].filter(name => !expected('2022').has(name)).length - 1)
  })

  it('refuses a folder with other files unless forced, and then keeps these files', async () => {
    folder.write({ 'out/5/0/1.png': 'somebody’s', 'out/readme.txt': 'x' })
    await assert.rejects(run(), { code: 'TARGET_EXISTS', message: /not empty/ })
    assert.deepEqual(filesBelow(out()), ['5/0/1.png', 'readme.txt'])
    await run({ force: true, zooms: { min: 0, max: 3 } })
    assert.equal(readFileSync(path.join(out(), '5/0/1.png'), 'utf8'), 'somebody’s')
    assert.equal(readFileSync(path.join(out(), 'readme.txt'), 'utf8'), 'x')
  })

  it('accepts a folder that has only hidden files, and adds zooms to those of an earlier export', async () => {
    folder.write({ 'out/.DS_Store': 'x' })
    await run({ zooms: { min: 0, max: 2 } })
    await run({ zooms: { min: 3, max: 5 } })
    assertSameTiles(await contentsOf(out()), expected())
  })

  it('refuses a folder with another layer, or with rows counted from the other side', async () => {
    await run()
    await assert.rejects(run({ scheme: 'tms', force: true }),
      { code: 'TARGET_EXISTS', message: /the layer osm, with rows from the north \(xyz\)/ })
    await context.store.write([{ layer: 'other', z: 0, x: 0, y: 0, time: EDITIONS[0], bytes: png(1) }])
    await context.store.defineLayer('other', {})
    await assert.rejects(exportLayer(context.store, 'other', out(), { force: true }),
      { code: 'TARGET_EXISTS', message: /osm/ })
    assertSameTiles(await contentsOf(out()), expected())
  })

  it('refuses a target that is a file, even when forced', async () => {
    folder.write({ out: 'a file' })
    for (const force of [false, true]) await assert.rejects(run({ force, format: 'folder' }), { code: 'TARGET_EXISTS' })
    assert.equal(readFileSync(out(), 'utf8'), 'a file')
  })

  it('refuses a folder with links in place of its own folders and files', async () => {
    const outside = folder.path('outside')
    const links = { '3': outside, '3/1': outside, '.tilecouch.json': path.join(outside, 'mark.json') }
    for (const [name, linkTarget] of Object.entries(links)) {
      for (const isOld of [false, true]) {
        rmSync(out(), { recursive: true, force: true })
        if (isOld) await run()
        folder.write({ 'outside/1/0.png': png(1), 'outside/0.png': png(1) })
        rmSync(path.join(out(), name), { recursive: true, force: true })
        mkdirSync(path.dirname(path.join(out(), name)), { recursive: true })
        symlinkSync(linkTarget, path.join(out(), name))
        const namesBefore = readdirSync(outside, { recursive: true }).sort()
        await assert.rejects(run({ force: true }), { code: 'TARGET_UNWRITABLE' }, `${name} ${isOld}`)
        assert.deepEqual(readdirSync(outside, { recursive: true }).sort(), namesBefore, `${name} ${isOld}`)
      }
    }
  })

  it('replaces a link by a file, and keeps the target of the link', async () => {
    await run()
    const [name, content] = ['3/1/1.png', 'theirs']
    folder.write({ theirs: content })
    rmSync(path.join(out(), name))
    symlinkSync(folder.path('theirs'), path.join(out(), name))
    await run()
    assertSameTiles(await contentsOf(out()), expected())
    assert.equal(readFileSync(folder.path('theirs'), 'utf8'), content)
    assert.ok(lstatSync(path.join(out(), name)).isFile())
  })

  it('removes the old file when the type of a tile has changed', () => withStore(backend, async store => {
    const jpeg =
      Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, 0xda, 0, 2]), Buffer.alloc(300, 7), Buffer.from([0xff, 0xd9])])
    await store.defineLayer('osm', {})
    await store.write([{ layer: 'osm', z: 1, x: 0, y: 0, time: EDITIONS[0], bytes: png(1) },
      { layer: 'osm', z: 1, x: 0, y: 1, time: EDITIONS[0], bytes: png(2) }])
    await publishFunctions(store)
    await exportLayer(store, 'osm', out())
    await store.write([{ layer: 'osm', z: 1, x: 0, y: 0, time: EDITIONS[1], bytes: jpeg }])
    const { removed } = await exportLayer(store, 'osm', out())
    assert.deepEqual([tilesIn(), removed], [['1/0/0.jpg', '1/0/1.png'], 1])
  }))

  it('exports versions from before 1970, and removes files of gone tiles', () => withStore(backend, async store => {
    await store.defineLayer('osm', {})
    const tiles = [['1850-01-01T00:00:00Z', 1], ['1901-01-01T00:00:00Z', 2], ['1960-01-01T00:00:00Z', 3]]
    for (const [index, [time, seed]] of tiles.entries()) {
      await store.write([{ layer: 'osm', z: 2, x: index, y: 0, time, bytes: png(seed) }])
    }
    await store.write([{ layer: 'osm', z: 2, x: 0, y: 0, time: '1870-01-01T00:00:00Z', gone: true },
      { layer: 'osm', z: 2, x: 2, y: 0, time: '1970-01-01T00:00:00Z', gone: true }])
    await publishFunctions(store)
    await exportLayer(store, 'osm', out(), { time: '1850' })
    assert.deepEqual(tilesIn(), ['2/0/0.png'])
    await exportLayer(store, 'osm', out(), { time: '1960' })
    assert.deepEqual(tilesIn(), ['2/1/0.png', '2/2/0.png'])
    await exportLayer(store, 'osm', out())
    assert.deepEqual(tilesIn(), ['2/1/0.png'])
  }))
})
