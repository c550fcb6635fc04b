import assert from 'node:assert/strict'
import { rmSync, symlinkSync } from 'node:fs'
import path from 'node:path'
import { compareIds, tileId } from '../../core/index.js'
import { openSource } from '../../loader/load/sources/index.js'
import { tilesOf, useFolder } from '../support/answering-server.js'

const files = (tiles, ext = 'png') => Object.fromEntries(tiles.map(tile => [`${tile}.${ext}`, tile]))
const sorted =
  tiles => [...tiles].sort((a, b) => compareIds(tileId('l', ...a.split('/')), tileId('l', ...b.split('/'))))

describe('a folder of tiles', () => {
  const folder = useFolder()
  const open = (contents, options) => openSource(folder.write(contents), options)

  it('gives its tiles and their bytes', async () => {
    const source = await open(files(['0/0/0', '1/0/1']))
    const found = []
    for await (const { z, x, y, read } of source.tiles()) found.push([z, x, y, String(await read())])
    assert.deepEqual(found, [[0, 0, 0, '0/0/0'], [1, 0, 1, '1/0/1']])
    assert.equal(source.name, path.basename(folder.dir))
    source.close()
  })

  it('gives them in the order of their ids, and again when asked again', async () => {
    const tiles = ['0/0/0', '1/1/0', '2/1/3', '10/2/1', '10/2/10',
      '10/2/2', '10/100/5', '10/10/5', '10/1/11', '10/1/1', '10/1/2', '12/9/9', '11/9/90', '11/9/9']
    const source = await open(files(tiles))
    assert.deepEqual(await tilesOf(source), sorted(tiles))
    assert.deepEqual(await tilesOf(source), sorted(tiles))
  })

  it('counts rows from the south when it is TMS, in order all the same', async () => {
    const source = await open(files(['4/3/0', '4/3/1', '4/3/10', '4/3/15', '4/3/2']), { scheme: 'tms' })
    const found = []
    for await (const { z, x, y, read } of source.tiles()) found.push([`${z}/${x}/${y}`, String(await read())])
    assert.deepEqual(found,
      [['4/3/0', '4/3/15'], ['4/3/13', '4/3/2'], ['4/3/14', '4/3/1'], ['4/3/15', '4/3/0'], ['4/3/5', '4/3/10']])
  })

  it('passes over what is no tile', async () => {
    const source = await open({
      ...files(['1/0/0']), 'readme.txt': 'x', '1/0/1.kml': 'x', '1/0/a.png': 'x',
      '1/0/01.png': 'x', '1/0/1.png.aux.xml': 'x', '1/x/0.png': 'x', '01/0/0.png': 'x',
      '1/0/2.PNG.part': 'x', '1/.DS_Store': 'x', '2': 'a file called 2', 'thumbs/0/0.png': 'x', '1/0/-1.png': 'x'
    })
    assert.deepEqual(await tilesOf(source), ['1/0/0'])
  })

  it('takes every extension of a tile, in capitals too', async () => {
    const extensions = ['png', 'jpg', 'jpeg', 'webp', 'avif', 'pbf', 'mvt', 'PNG']
    const source = await open(Object.fromEntries(extensions.map((ext, index) => [`3/0/${index}.${ext}`, 'x'])))
    assert.equal((await tilesOf(source)).length, extensions.length)
  })

  it('hides no tile that lies there twice: the load says which of them it refuses', async () => {
    assert.deepEqual(await tilesOf(await open({ '1/0/0.png': 'a', '1/0/0.jpg': 'b' })), ['1/0/0', '1/0/0'])
  })

  it('does not take for missing what says what it is, and cannot be read', async () => {
    for (const name of ['metadata.json', 'gone.txt', '.tilecouch.json']) {
      const dir = folder.write(files(['1/0/0']))
      const file = path.join(dir, name)
      symlinkSync(name, file) // which leads to itself
      await assert.rejects(openSource(dir), { code: 'SOURCE_UNREADABLE' }, name)
      rmSync(file)
      assert.deepEqual(await tilesOf(await openSource(dir)), ['1/0/0'])
    }
    await assert.rejects(open({ ...files(['1/0/0']), '.tilecouch.json': '{"diff": {' }), { code: 'SOURCE_UNREADABLE' })
  })

  it('gives only the zooms and the box that were asked for', async () => {
    const tiles = ['0/0/0', '1/0/0', '1/0/1', '1/1/0', '1/1/1', '2/0/0', '2/3/3', '3/4/4']
    const contents = files(tiles)
    assert.deepEqual(await tilesOf(await open(contents, { zooms: { min: 1, max: 2 } })),
      ['1/0/0', '1/0/1', '1/1/0', '1/1/1', '2/0/0', '2/3/3'])
    assert.deepEqual(await tilesOf(await open(contents, { bbox: [1, -10, 10, -1] })), ['0/0/0', '1/1/1', '3/4/4'])
    assert.deepEqual(await tilesOf(await open(contents, { bbox: [1, -10, 10, -1], zooms: { min: 1, max: 2 } })),
      ['1/1/1'])
    assert.deepEqual(await tilesOf(
      await open(contents, { scheme: 'tms', bbox: [1, -10, 10, -1], zooms: { min: 1, max: 1 } })
    ), ['1/1/1'])
  })

  it('says of itself what its metadata.json says', async () => {
    const metadata = {
      name: 'City', description: 'd', attribution: '©', version: 2,
      format: 'jpeg', minzoom: '0', maxzoom: 14, bounds: '5,45,10,48', center: '7,46,10',
      json: '{"vector_layers": [{"id": "water"}]}', type: 'baselayer', scheme: 'tms', id: 'x'
    }
    assert.deepEqual((await open({ 'metadata.json': JSON.stringify(metadata) })).fields, {
      name: 'City', description: 'd', attribution: '©', version: '2', format: 'jpg',
      minzoom: 0, maxzoom: 14, bounds: [5, 45, 10, 48], center: [7, 46, 10], vector_layers: [{ id: 'water' }]
    })
  })

  it('is as good without metadata, or with another program’s', async () => {
    for (const text of ['', '{', 'null', '[]', '5',
      '{"minzoom": "low", "bounds": "here", "center": "1,2", "json": "{", "format": 5, "vector_layers": "x"}']) {
      assert.deepEqual((await open({ 'metadata.json': text })).fields, {}, text)
    }
  })

  it('says what it cannot read', async () => {
    folder.write(files(['1/0/0']))
    symlinkSync(path.join(folder.dir, 'nowhere'), path.join(folder.dir, '2'))
    await assert.rejects(tilesOf(await openSource(folder.dir)), error => {
      assert.equal(error.code, 'SOURCE_UNREADABLE')
      assert.match(error.message, /[/\\]2/)
      return true
    })
  })
})

describe('a source', () => {
  const folder = useFolder()
  it('must be there, and be known', async () => {
    folder.write({ 'a.txt': 'x' })
    await assert.rejects(openSource(path.join(folder.dir, 'none')), { code: 'SOURCE_NOT_FOUND' })
    await assert.rejects(openSource(path.join(folder.dir, 'a.txt')), { code: 'SOURCE_UNKNOWN' })
    await assert.rejects(openSource(path.join(folder.dir, 'a.txt', 'b')), { code: 'SOURCE_UNREADABLE' })
    await assert.rejects(openSource(folder.dir, { scheme: 'zyx' }), { code: 'BAD_OPTION' })
  })
})
