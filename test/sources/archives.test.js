// Zip and tar as sources: what they share. What only one of them has is in zip-tar.test.js.
import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { gzipSync } from 'node:zlib'
import { openSource } from '../../loader/sources/index.js'
import { recogniseBytes } from '../../loader/formats/recognise.js'
import { tilesOf } from '../loader/helpers.js'
import { writeTar, writeZip } from './archive-writers.js'
import { contents, inOrder, openAs, refuses, useArchive, using } from './helpers.js'

const names = ['0/0/0', '1/0/1', '2/3/0', '2/3/3', '10/2/1', '10/2/10', '10/2/2', '10/100/5', '10/10/5']
const files = (tiles = names, prefix = '') => Object.fromEntries(tiles.map(name => [`${prefix}${name}.png`, name]))

const formats = [
  { title: 'a zip', ending: '.zip', pack: writeZip },
  { title: 'a zip that is not packed', ending: '.zip', pack: entries => writeZip(entries.map(entry => ({ ...entry, stored: true }))) },
  { title: 'a zip64', ending: '.zip', pack: entries => writeZip(entries, { zip64: true }) },
  { title: 'a tar', ending: '.tar', pack: writeTar },
  { title: 'a tar in gzip', ending: '.tar.gz', pack: entries => gzipSync(writeTar(entries)) }
]

for (const { title, ending, pack } of formats) {
  const kind = ending === '.zip' ? 'zip' : 'tar'
  describe(`${title} of tiles`, () => {
    const entriesOf = content => Array.isArray(content) ? content : Object.entries(content).map(([name, bytes]) => ({ name, bytes }))
    const { folder, make: write, read, refused } = useArchive(kind, content => pack(entriesOf(content)), `city${ending}`)
    const make = (content = files(), name = undefined) => write(content, name)

    it('gives its tiles and their bytes in the order of their ids, again and to several at once', () => using(kind, make(), {}, async source => {
      const [found, ...walks] = await Promise.all([contents(source), tilesOf(source), tilesOf(source)])
      assert.deepEqual(found, Object.fromEntries(names.map(name => [name, name])))
      for (const walk of [Object.keys(found), ...walks]) assert.deepEqual(walk, inOrder(names))
      assert.deepEqual(await tilesOf(source), inOrder(names))
      assert.equal(source.total, names.length)
      assert.equal(source.name, `city${ending}`)
    }))

    it('has them below any folder, one for all', async () => {
      for (const prefix of ['', './', 'tiles/', './a b/ü/2024/', '7/']) assert.deepEqual(Object.keys(await read(files(names, prefix))), inOrder(names), prefix)
      await refused({ ...files(['1/0/0'], 'a/'), ...files(['1/0/1'], 'b/') }, /b: tiles lie in two places, here and in a/)
    })

    it('counts rows from the south when it is TMS', async () => {
      assert.deepEqual(await read(files(['4/3/0', '4/3/1', '4/3/10']), { scheme: 'tms' }), { '4/3/14': '4/3/1', '4/3/15': '4/3/0', '4/3/5': '4/3/10' })
    })

    it('skips other files, and those of macOS', async () => {
      const other = ['readme.txt', '1/0/1.kml', '1/0/1.constructor', '1/0/a.png', '1/0/01.png', '1/0/1.png.aux.xml', '1/x/0.png', '01/0/0.png', '1/.DS_Store', '__MACOSX/1/0/1.png', '__MACOSX/1/0/._1.png', '.git/1/0/1.png', 'thumbs/0/0.png', '1/0/-1.png', '1/0/']
      assert.deepEqual(await read({ ...files(['1/0/0']), ...Object.fromEntries(other.map(name => [name, ''])) }), { '1/0/0': '1/0/0' })
    })

    it('takes every extension of a tile, in capitals too', async () => {
      const extensions = ['png', 'jpg', 'jpeg', 'webp', 'avif', 'pbf', 'mvt', 'PNG']
      assert.equal(Object.keys(await read(Object.fromEntries(extensions.map((extension, index) => [`3/0/${index}.${extension}`, 'x'])))).length, extensions.length)
    })

    it('gives only the zooms and the box that were asked for', async () => {
      const tiles = ['0/0/0', '1/0/0', '1/0/1', '1/1/0', '1/1/1', '2/0/0', '2/3/3', '3/4/4']
      const file = make(files(tiles))
      for (const [options, expected] of [[{ zooms: { min: 1, max: 1 } }, ['1/0/0', '1/0/1', '1/1/0', '1/1/1']], [{ bbox: [1, -10, 10, -1] }, ['0/0/0', '1/1/1', '3/4/4']]]) {
        await using(kind, file, options, async source => {
          assert.deepEqual(await tilesOf(source), expected)
          assert.equal(source.total, expected.length)
        })
      }
    })

    it('lists tiles outside of the pyramid, which the load then refuses', async () => {
      const outside = ['31/0/0', '1/2/0', '1/0/2', '0/0/4294967295', '9999999999/0/0']
      for (const scheme of [undefined, 'tms']) {
        const found = await using(kind, make(files(outside)), { scheme }, tilesOf)
        assert.equal(found.length, outside.length, found.join())
      }
      assert.deepEqual(await read(files(outside), { bbox: [-180, -85, 180, 85] }), {}, 'no area holds it')
    })

    it('reads the metadata.json beside its tiles', async () => {
      const content = { 'metadata.json': '{"name": "other"}', ...files(names, 'a/b/'), 'a/b/metadata.json': '{"name": "City", "minzoom": "0", "bounds": "5,45,10,48", "tilecouch:time": "2024-03-01T00:00:00Z"}' }
      await using(kind, make(content), {}, source => {
        assert.deepEqual(source.fields, { name: 'City', minzoom: 0, bounds: [5, 45, 10, 48] })
        assert.equal(source.time, '2024-03-01T00:00:00Z')
      })
      for (const text of ['', '{', 'null', '5', 'x'.repeat(17e6)]) await using(kind, make({ ...files(), 'metadata.json': text }), {}, source => assert.deepEqual(source.fields, {}))
    })

    it('lists what is gone, when it is a diff', async () => {
      const content = { ...files(['2/3/0'], 'd/'), 'd/gone.txt': '2/3/1\n1/0/0\n', 'gone.txt': '0/0/0\n' }
      assert.deepEqual(await read(content), { '1/0/0': 'gone', '2/3/0': '2/3/0', '2/3/1': 'gone' })
      assert.deepEqual(await read(content, { scheme: 'tms' }), { '1/0/1': 'gone', '2/3/2': 'gone', '2/3/3': '2/3/0' })
      await using(kind, make({ 'x/gone.txt': '1/0/0\n' }), {}, async source => {
        assert.ok(source.diff)
        assert.deepEqual(await contents(source), { '1/0/0': 'gone' })
      })
      await refused({ ...files(), 'gone.txt': 'nothing\n' }, /gone.txt.*line 1/)
    })

    it('is known by what it holds, or by its name', () => {
      const is = (name, begin) => recogniseBytes(name, begin) === kind
      const begin = pack(entriesOf(files())).subarray(0, 512)
      assert.ok(is('tiles.dat', begin))
      assert.ok(is('tiles.mbtiles', begin))
      assert.ok(is(`tiles${ending}`.toUpperCase(), Buffer.from('<html>')))
      assert.ok(!is('tiles.dat', Buffer.from('<html>')))
      assert.ok(!is(`tiles${ending}`, Buffer.from('SQLite format 3\0')))
      assert.equal(is('tiles.dat', gzipSync('no tar'.repeat(200))), false)
    })

    it('may be called anything', async () => {
      for (const name of ['a b', 'a#b?c=d', '100%', 'ü', 'x.mbtiles']) {
        const source = await openSource(make(files(['0/0/0']), name))
        assert.deepEqual(await tilesOf(source), ['0/0/0'], name)
        await source.close()
      }
    })

    it('must not have names that lead out of it', async () => {
      for (const name of ['../1/0/0.png', '/1/0/0.png', 'a/../../1/0/0.png', '/etc/passwd', 'C:/1/0/0.png']) {
        await refused([{ name, bytes: 'x' }, ...entriesOf(files())], /leads out|absolute path|relative path/)
      }
    })

    it('writes nothing of its names on a terminal but letters', async () => {
      const name = `../\u001b[2J\u0007${'a'.repeat(60)}\u009b31m.png`
      await refused([{ name, bytes: 'x' }], /^[^\p{Cc}]{50,500}$/u)
    })

    it('is refused wherever it was cut off', async () => {
      const whole = pack(entriesOf(files()))
      // the end mark of a tar is two blocks, and gzip has its check sum behind it
      const last = ending === '.tar' ? whole.length - 512 : whole.length - 1
      for (let length = 0; length < last; length += 1 + (length >> 5)) await refused(whole.subarray(0, length), /damaged/)
      await refused(whole.subarray(0, last), /damaged/)
    })

    it('must be one', async () => {
      for (const content of [Buffer.alloc(0), Buffer.from('<html>not found</html>'.repeat(100)), Buffer.alloc(5000, 0xff)]) await refused(content, /damaged/)
      await refuses(kind, path.join(folder.dir, 'none'), 'SOURCE_UNREADABLE', /none/)
    })

    it('leaves no temporary file, nor when it is stopped', async () => {
      const source = await openAs(kind, make())
      await tilesOf(source)
      await source.close()
      const stop = new AbortController()
      stop.abort()
      const many = Object.fromEntries(Array.from({ length: 10000 }, (_, index) => [`14/0/${index}.png`, '']))
      await refused(many, /stopped/, 'ABORTED', { signal: stop.signal })
      assert.deepEqual(readdirSync(tmpdir()).filter(name => name.startsWith(`tilecouch-spool-${process.pid}-`)), [])
      assert.deepEqual(readdirSync(folder.dir), [`city${ending}`])
    })
  })
}
