// Malicious folders: a load reads only regular files inside the folder, up to the limits of size and number. The
// second part tests folders of tiles in general.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdirSync, rmSync, symlinkSync, truncateSync } from 'node:fs'
import path from 'node:path'
import { check, openSet, openSource } from '../../loader/index.js'
import { sourceLimits } from '../../loader/formats/reading.js'
import { tilesOf, useDefaults } from '../support/memory-source.js'
import { useFolder } from '../support/folder.js'
import { png } from '../support/tiles.js'

describe('a hostile folder', () => {
  const folder = useFolder()
  useDefaults(sourceLimits)
  const tiles = () => folder.path('tiles')

  beforeEach(function () {
    if (process.platform === 'win32') this.skip() // Windows has no named pipes
    folder.write(
      { 'tiles/1/0/0.png': png(1), 'secret/1/0/1.png': png(2), 'secret/metadata.json': '{"name": "secret"}' }
    )
  })

  /** Returns the size or the error of each tile. */
  async function readAll (name = tiles()) {
    const source = await openSource(name)
    const outcomeByTile = {}
    for await (const { z, x, y, read } of source.tiles()) {
      outcomeByTile[`${z}/${x}/${y}`] = await Promise.resolve(read())
        .then(bytes => bytes.length, error => `${error.code}: ${error.details.why}`)
    }
    await source.close()
    return outcomeByTile
  }

  const OUT = 'SOURCE_UNREADABLE: it is a link that leads out of the folder'
  const harm = {
    'a pipe': [file => execFileSync('mkfifo', [file]), 'SOURCE_UNREADABLE: it is no regular file'],
    'a folder': [file => mkdirSync(file), 'SOURCE_UNREADABLE: it is no regular file'],
    'a link to a pipe': [file => {
      execFileSync('mkfifo', [folder.path('tiles/pipe')])
      symlinkSync('../../pipe', file)
    }, 'SOURCE_UNREADABLE: it is no regular file'],
    'a link to a device without an end': [file => symlinkSync('/dev/zero', file), OUT],
    'a link to a file elsewhere': [file => symlinkSync(folder.path('secret/1/0/1.png'), file), OUT],
    'a link to a file elsewhere, by a way from here': [file => symlinkSync('../../../secret/1/0/1.png', file), OUT],
    'a link to a link to a file elsewhere': [
      file => { symlinkSync('../secret/1/0/1.png', folder.path('tiles/away')); symlinkSync('../../away', file) }, OUT
    ],
    'a file of more bytes than a tile may have': [file => {
      folder.write({ [path.relative(folder.dir, file)]: '' }); truncateSync(file, sourceLimits.tile + 1)
    }, `SOURCE_UNREADABLE: it has ${sourceLimits.tile + 1} bytes, more than ${sourceLimits.tile}`]
  }
  for (const [title, [make, why]] of Object.entries(harm)) {
    it(`has ${title} for a tile: that tile fails, and the other tiles are read`, async () => {
      make(folder.path('tiles/1/0/1.png'))
      assert.deepEqual(await readAll(), { '1/0/0': png(1).length, '1/0/1': why })
      const { kinds, examples } = await check(tiles())
      assert.deepEqual([kinds['unreadable-tile'], examples['unreadable-tile'].where], [1, '1/0/1.png'])
    })
  }

  it('may have links that stay inside it, and may be reached through a link', async () => {
    mkdirSync(folder.path('tiles/2'))
    symlinkSync('0.png', folder.path('tiles/1/0/1.png'))
    symlinkSync('../1/0', folder.path('tiles/2/3'))
    symlinkSync(folder.path('tiles/1/0/0.png'), folder.path('tiles/1/0/2.png'))
    symlinkSync('tiles', folder.path('link'))
    for (const name of [tiles(), folder.path('link'), `${folder.path('link')}/`]) {
      assert.deepEqual(Object.entries(await readAll(name)).map(([tile, size]) => size === png(1).length && tile).sort(),
        ['1/0/0', '1/0/1', '1/0/2', '2/3/0', '2/3/1', '2/3/2'])
      assert.deepEqual((await check(name)).kinds['unreadable-tile'], undefined)
    }
  })

  it('is refused when a folder in it is a link that leads out of it', async () => {
    for (const name of ['2', '1/3']) {
      symlinkSync(folder.path('secret/1'), folder.path(`tiles/${name}`))
      await assert.rejects(readAll(), { code: 'SOURCE_UNREADABLE', message: /leads out of the folder/ })
      assert.deepEqual((await check(tiles())).examples['unreadable-tile'].where, name)
      rmSync(folder.path(`tiles/${name}`))
    }
  })

  it('is read once when it links to itself', async () => {
    symlinkSync('.', folder.path('tiles/2'))
    symlinkSync('..', folder.path('tiles/1/1'))
    assert.deepEqual(Object.keys(await readAll()), ['1/0/0'])
  })

  for (const name of ['metadata.json', 'gone.txt', '.tilecouch.json']) {
    it(`is refused when ${name} is not a regular file in it, or is too long`, async () => {
      for (const make of [file => execFileSync('mkfifo', [file]), file => symlinkSync('/dev/zero', file),
        file => symlinkSync('../secret/metadata.json', file), file => symlinkSync(name, file)]) {
        make(folder.path(`tiles/${name}`))
        await assert.rejects(openSource(tiles()), { code: 'SOURCE_UNREADABLE' })
        assert.ok((await check(tiles())).faults || name === '.tilecouch.json')
        rmSync(folder.path(`tiles/${name}`))
      }
      assert.deepEqual(await tilesOf(await openSource(tiles())), ['1/0/0'])
      if (name === 'gone.txt') return // gone.txt is read line by line
      folder.write({ [`tiles/${name}`]: '' })
      truncateSync(folder.path(`tiles/${name}`), 1e9)
      await assert.rejects(openSource(tiles()), { code: 'SOURCE_UNREADABLE', message: /more than 16000000/ })
    })
  }

  it('is refused when it has more files than the limit', async () => {
    sourceLimits.names = 20
    folder.write(Object.fromEntries(Array.from({ length: 30 }, (_, index) => [`tiles/5/0/${index}.png`, png(1)])))
    await assert.rejects(readAll(), { code: 'SOURCE_UNREADABLE', message: /more than 20 files/ })
    assert.equal((await check(tiles())).kinds['unreadable-tile'], 1)
  })

  it('skips and lists members of a dated set that lead out of it or are no files', async () => {
    folder.write({ 'set/2023/1/0/0.png': png(1) })
    symlinkSync('../secret', folder.path('set/2024'))
    symlinkSync('2023', folder.path('set/2025'))
    symlinkSync('/dev/zero', folder.path('set/2026.mbtiles'))
    execFileSync('mkfifo', [folder.path('set/2027.pmtiles')])
    const { members, passedOver } = await openSet([folder.path('set')])
    assert.deepEqual(members.map(({ name }) => name), ['2023', '2025'])
    assert.deepEqual(passedOver, ['set/2024', 'set/2026.mbtiles', 'set/2027.pmtiles'].map(name => folder.path(name)))
  })

  it('is refused when it is a pipe or a device', async () => {
    execFileSync('mkfifo', [folder.path('city.mbtiles')])
    for (const name of [folder.path('city.mbtiles'), '/dev/zero']) {
      await assert.rejects(openSource(name), { code: 'SOURCE_UNKNOWN' })
      await assert.rejects(check(name), { code: 'SOURCE_UNKNOWN' })
    }
  })
})

describe('a folder of tiles', () => {
  const folder = useFolder()
  const open = (contents, options) => openSource(folder.write(contents), options)

  it('ignores files and folders that are not tiles', async () => {
    const source = await open({
      '1/0/0.png': 'x', 'readme.txt': 'x', '1/0/1.kml': 'x', '1/0/a.png': 'x',
      '1/0/01.png': 'x', '1/0/1.png.aux.xml': 'x', '1/x/0.png': 'x', '01/0/0.png': 'x',
      '1/0/2.PNG.part': 'x', '1/.DS_Store': 'x', '2': 'a file called 2', 'thumbs/0/0.png': 'x', '1/0/-1.png': 'x'
    })
    assert.deepEqual(await tilesOf(source), ['1/0/0'])
  })

  it('reads tiles with every extension of a tile format, also in capitals', async () => {
    const extensions = ['png', 'jpg', 'jpeg', 'webp', 'avif', 'pbf', 'mvt', 'PNG']
    const source = await open(Object.fromEntries(extensions.map((ext, index) => [`3/0/${index}.${ext}`, 'x'])))
    assert.equal((await tilesOf(source)).length, extensions.length)
    assert.equal(source.name, path.basename(folder.dir))
  })

  it('lists a tile twice when it has two files for it', async () => {
    assert.deepEqual(await tilesOf(await open({ '1/0/0.png': 'a', '1/0/0.jpg': 'b' })), ['1/0/0', '1/0/0'])
  })

  it('has no layer fields when its metadata are invalid', async () => {
    for (const text of ['', '{', 'null', '[]', '5', '{"format": 5, "vector_layers": "x"}']) {
      assert.deepEqual((await open({ 'metadata.json': text })).fields, {}, text)
    }
  })

  it('may have metadata that begin with a byte order mark', async () => {
    assert.deepEqual((await open({ 'metadata.json': '\ufeff{"name":"Map"}' })).fields, { name: 'Map' })
  })

  it('names the path that it cannot read', async () => {
    folder.write({ '1/0/0.png': 'x' })
    symlinkSync(folder.path('nowhere'), folder.path('2'))
    const source = await openSource(folder.dir) // its files are listed later
    await assert.rejects(tilesOf(source), { code: 'SOURCE_UNREADABLE', message: /[/\\]2/ })
    await assert.rejects(openSource(folder.path('1/0/0.png/b')), { code: 'SOURCE_UNREADABLE' })
  })

  it('is one beside files of another kind, also when it has the deepest zoom alone', async () => {
    assert.deepEqual(await tilesOf(await open({ '30/0/0.png': 'x', 'a.zip': 'PK\x03\x04' })), ['30/0/0'])
  })
})

describe('a source', () => {
  const folder = useFolder()

  it('is refused when it does not exist, is of an unknown kind, or gets a bad scheme', async () => {
    folder.write({ 'a.txt': 'x' })
    await assert.rejects(openSource(folder.path('none')), { code: 'SOURCE_NOT_FOUND' })
    await assert.rejects(openSource(folder.path('a.txt')), { code: 'SOURCE_UNKNOWN' })
    await assert.rejects(openSource(folder.path('a.txt/b')), { code: 'SOURCE_UNREADABLE' })
    await assert.rejects(openSource(folder.dir, { scheme: 'zyx' }), { code: 'BAD_OPTION' })
  })
})
