// Tests checks of folders with tiles, and of files and trees that exports of a store make.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { exportLayer, exportTree } from '../../loader/index.js'
import { useFolder } from '../support/folder.js'
import { findings, image, rawVectorTile, tile, undecodable, vectorTile } from '../support/sample-tiles.js'
import { onEachStore } from '../support/backends.js'
import { skip, tilesPython } from '../support/tools.js'
import { publishFunctions } from '../support/published.js'
import { useStore } from '../support/store.js'

describe('verify of a folder of tiles', () => {
  const folder = useFolder()
  const files = []

  before(async () => {
    for (let x = 0; x < 3; x++) for (let y = 0; y < 3; y++) files.push([`3/${x}/${y}.png`, await tile(x * 3 + y)])
  })

  function make (entries) {
    for (const [name, bytes] of entries) folder.write({ [`tiles/${name}`]: bytes })
    mkdirSync(folder.path('tiles'), { recursive: true })
    return folder.path('tiles')
  }
  const check = async (moreFiles, options) => findings(make([...files, ...moreFiles]), options)

  it('finds nothing in a sound folder of any formats with other files, and reports its progress', async () => {
    const counts = []
    await findings(make(files), { onProgress: ({ tiles }) => counts.push(tiles) })
    assert.deepEqual(counts, [1, 2, 3, 4, 5, 6, 7, 8, 9])
    const metadata = { name: 'City', minzoom: 3, maxzoom: '3', bounds: '-180,-85,180,85', format: 'png' }
    const { said, summary } = await check([['metadata.json', JSON.stringify(metadata)],
      ['3/0/0.kml', '<kml/>'], ['readme.txt', 'hello'], ['3/1/2.jgw', '1']])
    assert.deepEqual([said, summary.kind, summary.tiles, summary.checked.decoded], [[], 'folder', 9, 9])
    const otherFormats = [['3/4/0.jpeg', await image('jpeg')], ['3/4/1.webp', await image('webp')],
      ['3/4/2.pbf', vectorTile()], ['3/4/3.mvt', rawVectorTile()]]
    assert.deepEqual((await check(otherFormats)).said, [])
  })

  it('names each faulty tile with one code, and no others', async () => {
    const { found } = await check([
      ['3/4/0.jpg', await tile(1)], ['3/4/1.png', await undecodable(1)],
      ['3/4/2.png', Buffer.alloc(0)], ['3/4/3.png', Buffer.from('<html>')], ['3/4/4.png', await tile(1, 100)],
      ['3/4/5.png', (await tile(4)).subarray(0, 90)], ['3/4/6.gif', Buffer.from('GIF89a')],
      ['3/4/9.png', await tile(1)], ['3/4/007.png', await tile(1)], ['3/5/0@2x.png', await tile(1)]
    ])
    assert.deepEqual(found.map(({ code, where }) => `${where.replace(/\.png$|\.jpg$/, '')} ${code}`).sort(), [
      '3/4/0 wrong-type', '3/4/007 not-a-tile-name', '3/4/1 undecodable-tile',
      '3/4/2 empty-tile', '3/4/3 unknown-format', '3/4/4 odd-size', '3/4/5 truncated-tile',
      '3/4/6.gif not-a-tile-name', '3/4/9 outside-pyramid', '3/5/0@2x not-a-tile-name'
    ])
  })

  it('compares the metadata with the tiles', async () => {
    for (const [metadata, kinds] of [['{', { 'bad-metadata': 1 }], ['[1]', { 'bad-metadata': 1 }],
      ['{"minzoom":4,"maxzoom":5}', { 'outside-zooms': 9 }], ['{"bounds":[10,10,20,20]}', { 'outside-bounds': 9 }],
      ['{"bounds":"here","format":7}', { 'bad-metadata': 2 }]]) {
      assert.deepEqual((await check([['metadata.json', metadata]])).summary.kinds, kinds, metadata)
    }
  })

  it('reads the list of gone tiles, and finds listed tiles that exist', async () => {
    const { said, summary } = await check([['gone.txt', '3/7/7\n3/7/6\n']])
    assert.deepEqual([said, summary.checked.gone], [[], 2])
    assert.deepEqual((await check([['gone.txt', '3/1/1\n']]))
      .found.map(({ code, where }) => [code, where.replace('.png', '')]), [['unreadable-tile', '3/1/1']])
    assert.deepEqual((await check([['gone.txt', 'nothing here']])).said,
      [`damaged-file ${folder.path('tiles')}`])
  })

  it('reports a folder without tiles, and stops there with ABORTED', async () => {
    const dir = make([['readme.txt', 'hello']])
    assert.deepEqual((await findings(dir)).said, [`no-tiles ${dir}`])
    const stop = new AbortController()
    const stopped = findings(make([['0/0/0.txt', 'x']]), { signal: stop.signal })
    stop.abort()
    await assert.rejects(stopped, { code: 'ABORTED' })
  })

  it('derives the usual size from the tiles, and finds other sizes', async () => {
    const findingsOf = async (...sides) => {
      folder.write(Object.fromEntries(
        await Promise.all(sides.map(async (side, y) => [`${sides}/4/0/${y}.png`, await tile(y, side)]))
      ))
      return (await findings(folder.path(`${sides}`))).said
    }
    assert.deepEqual(await findingsOf(512, 512, 1024), [])
    assert.deepEqual(await findingsOf(100, 256, 512, 1024), ['odd-size 4/0/0.png', 'odd-size 4/0/3.png'])
  })

  it('finds a tile that is there as two files, broken links, and numbers with leading zeros', async () => {
    const dir = make([...files, ['3/1/1.jpg', await image('jpeg')]])
    symlinkSync('/nowhere', path.join(dir, '3/7'))
    symlinkSync('nowhere.png', path.join(dir, '3/0/7.png'))
    mkdirSync(path.join(dir, '3/06'))
    symlinkSync('.', path.join(dir, '3/8'))
    const { said } = await findings(dir)
    assert.deepEqual(said.filter(text => !text.includes(' 3/8/')),
      ['duplicate-tile 3/1/1.png', 'not-a-tile-name 3/06', 'unreadable-tile 3/0/7.png', 'unreadable-tile 3/7'])
  })

  it('counts rows from the south with --scheme tms, and fails for an unknown format or a missing file', async () => {
    const dir = make([...files, ['metadata.json', '{"bounds":[-180,-85,0,-40]}']])
    assert.equal((await findings(dir)).summary.kinds['outside-bounds'], 9)
    assert.deepEqual((await findings(dir, { scheme: 'tms' })).said, [])
    folder.write({ 'a.txt': 'hello' })
    await assert.rejects(findings(folder.path('a.txt')), { code: 'SOURCE_UNKNOWN' })
    await assert.rejects(findings(folder.path('none.mbtiles')), { code: 'SOURCE_NOT_FOUND' })
  })
})

const [T1, T2, T3] = ['2021-06-01T00:00:00Z', '2022-06-01T00:00:00Z', '2022-07-01T00:00:00Z']

onEachStore('verify of exported files', backend => {
  const folder = useFolder()
  let store
  useStore(backend, { once: true, async fill (newStore) {
    store = newStore
    for (const layer of ['osm', 'water', 'mixed']) {
      await store.defineLayer(layer, { minzoom: 2, maxzoom: 4, bounds: [-180, -85, 180, 85] })
    }
    const square = async (layer, time, make) => {
      const versions = []
      for (const [z, side] of [[2, 4], [4, 6]]) for (let x = 0; x < side; x++) {
        for (let y = 0; y < side; y++) versions.push({ layer, z, x, y, time, bytes: await make(x * y) })
      }
      await store.write(versions)
    }
    await square('osm', T1, seed => tile(seed % 7)) // some images are equal
    await square('osm', T2, seed => tile(seed % 7 + (seed % 3)))
    const { advanced } = await store.write([{ layer: 'osm', z: 4, x: 5, y: 5, time: T3, gone: true }])
    assert.equal(advanced, 1)
    await square('water', T1, vectorTile)
    await square('mixed', T1, async seed => seed % 2 ? tile(seed) : image('jpeg', seed + 1, 256))
    await store.defineLayer('water', { format: 'pbf', vector_layers: [{ id: 'water', fields: {} }] })
    await store.defineLayer('osm', { format: 'png' })
    await publishFunctions(store)
  } })

  const TARGETS =
    { 'a.mbtiles': {}, 'cache.mbtiles': { cache: true }, 'a.pmtiles': {}, folder: {}, tms: { scheme: 'tms' } }

  for (const layer of ['osm', 'water']) {
    for (const [name, options] of Object.entries(TARGETS)) {
      it(`finds nothing in ${layer} as ${name}, newest or as of a time`, async () => {
        for (const time of [undefined, '2021']) {
          const target = folder.path(`${time ?? 'now'}-${name}`)
          const { tiles } = await exportLayer(store, layer, target, { time, ...options })
          const { said, summary } = await findings(target, { scheme: options.scheme })
          assert.deepEqual([said, summary.tiles], [[], tiles], target)
          assert.ok(summary.checked.decoded > 0)
        }
      })
    }
  }

  it('warns of a file that claims one format and has two', async () => {
    for (const name of ['a.mbtiles', 'a.pmtiles']) {
      const target = folder.path(name)
      await exportLayer(store, 'mixed', target)
      const { summary } = await findings(target)
      assert.deepEqual([summary.faults, Object.keys(summary.kinds)], [0, ['mixed-formats']], name)
    }
    const target = folder.path('folder')
    await exportLayer(store, 'mixed', target)
    assert.deepEqual((await findings(target)).said, [], 'names say which')
  })

  it('finds nothing in the trees that a web server serves', async () => {
    const { trees, links } = await exportTree(store, 'osm', folder.dir)
    assert.ok(trees.length > 0)
    for (const name of [...trees, ...links]) {
      assert.deepEqual((await findings(folder.path(name))).said, [], name)
    }
  })

  it('finds no fault in the conversions of mb-util and pmtiles-convert', async function () {
    const python = tilesPython()
    if (!python) return skip(this, 'TILES_PYTHON names no Python with pmtiles and mbutil')
    const mbtiles = folder.path('a.mbtiles')
    await exportLayer(store, 'osm', mbtiles)
    const bin = path.dirname(python)
    execFileSync(path.join(bin, 'mb-util'), [mbtiles, folder.path('unpacked'), '--scheme=xyz'],
      { stdio: 'ignore' })
    const unpacked = await findings(folder.path('unpacked'))
    assert.deepEqual([unpacked.summary.faults, unpacked.summary.tiles], [0, 51])
    execFileSync(path.join(bin, 'pmtiles-convert'), [mbtiles, folder.path('b.pmtiles')], { stdio: 'ignore' })
    const { summary, said } = await findings(folder.path('b.pmtiles'))
    assert.deepEqual([summary.faults, summary.tiles], [0, 51], said.join())
  })
})
