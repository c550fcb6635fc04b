import assert from 'node:assert/strict'
import { mkdirSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { useFolder } from '../support/folder.js'
import { findings, image, rawVectorTile, tile, undecodable, vectorTile } from '../support/sample-tiles.js'

/** @typedef {[name: string, bytes: Buffer, options?: object]} File */

describe('verify of a folder of tiles', () => {
  const folder = useFolder()
  /** @type {File[]} */
  let files

  before(async () => {
    files = []
    for (let x = 0; x < 3; x++) for (let y = 0; y < 3; y++) files.push([`3/${x}/${y}.png`, await tile(x * 3 + y)])
  })

  /** @param {File[]} given */
  function make (given) {
    for (const [name, bytes] of given) folder.write({ [`tiles/${name}`]: bytes })
    mkdirSync(path.join(folder.dir, 'tiles'), { recursive: true })
    return path.join(folder.dir, 'tiles')
  }
  const check = async (given, options) => findings(make([...files, ...given]), options)

  it('finds nothing in a sound folder with other files beside the tiles', async () => {
    const metadata =
      Buffer.from(JSON.stringify({ name: 'City', minzoom: 3, maxzoom: '3', bounds: '-180,-85,180,85', format: 'png' }))
    const { said, summary } = await check([['metadata.json', metadata],
      ['3/0/0.kml', Buffer.from('<kml/>')], ['readme.txt', Buffer.from('hello')], ['3/1/2.jgw', Buffer.from('1')]])
    assert.deepEqual([said, summary.kind, summary.tiles, summary.checked.decoded], [[], 'folder', 9, 9])
  })

  it('reports its progress after each tile', async () => {
    const given = make(files)
    const seen = []
    await findings(given, { onProgress: ({ tiles }) => seen.push(tiles) })
    assert.deepEqual(seen, [1, 2, 3, 4, 5, 6, 7, 8, 9])
  })

  it('accepts every format, and vector tiles with or without gzip', async () => {
    const others = [['3/4/0.jpeg', await image('jpeg')], ['3/4/1.webp', await image('webp')],
      ['3/4/2.pbf', vectorTile()], ['3/4/3.mvt', rawVectorTile()]]
    assert.deepEqual((await check(others)).said, [])
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
    const saying = async metadata => (
      await check([['metadata.json', Buffer.from(typeof metadata === 'string' ? metadata : JSON.stringify(metadata))]])
    ).summary.kinds
    assert.deepEqual(await saying('{'), { 'bad-metadata': 1 })
    assert.deepEqual(await saying([1]), { 'bad-metadata': 1 })
    assert.deepEqual(await saying({ minzoom: 4, maxzoom: 5 }), { 'outside-zooms': 9 })
    assert.deepEqual(await saying({ bounds: [10, 10, 20, 20] }), { 'outside-bounds': 9 })
    assert.deepEqual(await saying({ bounds: 'here', format: 7 }), { 'bad-metadata': 2 })
  })

  it('reads the list of gone tiles, and finds listed tiles that exist', async () => {
    const { said, summary } = await check([['gone.txt', Buffer.from('3/7/7\n3/7/6\n')]])
    assert.deepEqual([said, summary.checked.gone], [[], 2])
    assert.deepEqual((await check([['gone.txt', Buffer.from('3/1/1\n')]]))
      .found.map(({ code, where }) => [code, where.replace('.png', '')]), [['unreadable-tile', '3/1/1']])
    assert.deepEqual((await check([['gone.txt', Buffer.from('nothing here')]])).said,
      [`damaged-file ${path.join(folder.dir, 'tiles')}`])
  })

  it('reports a folder without tiles', async () => {
    const { said } = await findings(make([['readme.txt', Buffer.from('hello')]]))
    assert.equal(said.length, 1)
    assert.match(said[0], /^no-tiles /)
  })

  it('derives the usual size from the tiles, and finds other sizes', async () => {
    const sized = async (...sides) => {
      folder.write(Object.fromEntries(
        await Promise.all(sides.map(async (side, y) => [`${sides}/4/0/${y}.png`, await tile(y, side)]))
      ))
      return (await findings(path.join(folder.dir, `${sides}`))).said
    }
    assert.deepEqual(await sized(512, 512, 1024), [])
    assert.deepEqual(await sized(100, 256, 512, 1024), ['odd-size 4/0/0.png', 'odd-size 4/0/3.png'])
  })

  it('finds a tile that is in a folder as two files', async () => {
    const { said } = await findings(make([...files, ['3/1/1.jpg', await image('jpeg')]]))
    assert.deepEqual(said, ['duplicate-tile 3/1/1.png'])
  })

  it('finds broken links, and numbers with leading zeros', async () => {
    const dir = make(files)
    symlinkSync('/nowhere', path.join(dir, '3/7'))
    symlinkSync('nowhere.png', path.join(dir, '3/0/7.png'))
    mkdirSync(path.join(dir, '3/06'))
    symlinkSync('.', path.join(dir, '3/8'))
    const { said } = await findings(dir)
    assert.deepEqual(said.filter(text => !text.includes(' 3/8/')),
      ['not-a-tile-name 3/06', 'unreadable-tile 3/0/7.png', 'unreadable-tile 3/7'])
  })

  it('counts rows from the south with --scheme tms', async () => {
    const metadata = Buffer.from(JSON.stringify({ bounds: [-180, -85, 0, -40] }))
    const made = make([...files, ['metadata.json', metadata]])
    assert.equal((await findings(made)).summary.kinds['outside-bounds'], 9)
    assert.deepEqual((await findings(made, { scheme: 'tms' })).said, [])
  })

  it('stops with ABORTED in a folder without tiles', async () => {
    const stop = new AbortController()
    const stopped = findings(make([['0/0/0.txt', Buffer.alloc(1)]]), { signal: stop.signal })
    stop.abort()
    await assert.rejects(stopped, { code: 'ABORTED' })
  })

  it('fails for a file of an unknown format, and for a missing file', async () => {
    folder.write({ 'a.txt': 'hello' })
    await assert.rejects(findings(path.join(folder.dir, 'a.txt')), { code: 'SOURCE_UNKNOWN' })
    await assert.rejects(findings(path.join(folder.dir, 'none.mbtiles')), { code: 'SOURCE_NOT_FOUND' })
  })
})
