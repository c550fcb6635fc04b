import assert from 'node:assert/strict'
import { symlinkSync } from 'node:fs'
import path from 'node:path'
import { openSource } from '../../loader/load/sources/index.js'
import { tilesOf, useFolder } from '../support/answering-server.js'

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

  it('names the path that it cannot read', async () => {
    folder.write({ '1/0/0.png': 'x' })
    symlinkSync(path.join(folder.dir, 'nowhere'), path.join(folder.dir, '2'))
    await assert.rejects(tilesOf(await openSource(folder.dir)), { code: 'SOURCE_UNREADABLE', message: /[/\\]2/ })
  })
})

describe('a source', () => {
  const folder = useFolder()
  it('is refused when it does not exist, is of an unknown kind, or gets a bad scheme', async () => {
    folder.write({ 'a.txt': 'x' })
    await assert.rejects(openSource(path.join(folder.dir, 'none')), { code: 'SOURCE_NOT_FOUND' })
    await assert.rejects(openSource(path.join(folder.dir, 'a.txt')), { code: 'SOURCE_UNKNOWN' })
    await assert.rejects(openSource(path.join(folder.dir, 'a.txt', 'b')), { code: 'SOURCE_UNREADABLE' })
    await assert.rejects(openSource(folder.dir, { scheme: 'zyx' }), { code: 'BAD_OPTION' })
  })
})
