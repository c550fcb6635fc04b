// Zip and tar as sources: what they share, then what only one of them has.
import assert from 'node:assert/strict'
import { createWriteStream, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { createGzip, gzipSync } from 'node:zlib'
import { execFileSync, spawnSync } from 'node:child_process'
import { pipeline } from 'node:stream/promises'
import yazl from 'yazl'
import { openSource } from '../../loader/sources/index.js'
import { recogniseBytes } from '../../loader/formats/recognise.js'
import { tilesOf } from '../loader/helpers.js'
import { paxHeader, tarHeader, writeTar, writeZip } from './archive-writers.js'
import { contents, inOrder, openAs, refuses, runMeasured, useArchive, using } from './helpers.js'
import { skip, tilesPython } from '../support/tools.js'

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
      const other = ['readme.txt', '1/0/1.kml', '1/0/a.png', '1/0/01.png', '1/0/1.png.aux.xml', '1/x/0.png', '01/0/0.png', '1/.DS_Store', '__MACOSX/1/0/1.png', '__MACOSX/1/0/._1.png', '.git/1/0/1.png', 'thumbs/0/0.png', '1/0/-1.png', '1/0/']
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

const tile = (name, bytes = name) => ({ name: `${name}.png`, bytes })
const two = [tile('0/0/0'), tile('1/0/0')]

describe('a zip', () => {
  const { folder, make, refused, outcomes } = useArchive('zip')

  it('of yazl is read, packed and not, with and without descriptors', async () => {
    const zip = new yazl.ZipFile()
    for (const [index, compress] of [true, false].entries()) {
      zip.addBuffer(Buffer.from(`buffer ${index}`), `tiles/5/0/${index}.png`, { compress })
      zip.addReadStream((await import('node:stream')).Readable.from([Buffer.from(`stream ${index}`)]), `tiles/5/1/${index}.png`, { compress })
      zip.addBuffer(Buffer.from(`zip64 ${index}`), `tiles/5/2/${index}.png`, { compress, forceZip64Format: true })
    }
    zip.addEmptyDirectory('tiles/6')
    zip.end()
    const file = path.join(folder.dir, 'a.zip')
    await pipeline(zip.outputStream, createWriteStream(file))
    const expected = Object.fromEntries(['buffer', 'stream', 'zip64'].flatMap((word, x) => [0, 1].map(y => [`5/${x}/${y}`, `${word} ${y}`])))
    assert.deepEqual(await using('zip', file, {}, contents), expected)
  })

  it('of Python is read', function () {
    const python = tilesPython()
    if (!python) skip(this, 'TILES_PYTHON names no Python')
    const file = path.join(folder.dir, 'p.zip')
    execFileSync(/** @type {string} */ (python), ['-c', 'import sys, zipfile\nwith zipfile.ZipFile(sys.argv[1], "w", zipfile.ZIP_DEFLATED) as z:\n for x in range(300): z.writestr(f"t/9/{x}/7.png", f"tile {x}" * 100)', file])
    return using('zip', file, {}, async source => {
      const found = await contents(source)
      assert.equal(Object.keys(found).length, 300)
      for (let x = 0; x < 300; x++) assert.equal(found[`9/${x}/7`], `tile ${x}`.repeat(100))
    })
  })

  it('may have a comment, and backslashes of Windows in its names', async () => {
    assert.deepEqual(await outcomes(writeZip([{ name: 'tiles\\1\\0\\1.png', bytes: 'x' }], { comment: 'made by hand' })), { '1/0/1': 'x' })
  })

  it('with more than 65,535 files is read completely', async () => {
    const many = Array.from({ length: 70000 }, (_, index) => ({ name: `17/${index}/0.png`, bytes: 'x', stored: true }))
    await using('zip', make(writeZip(many, { zip64: true })), {}, source => assert.equal(source.total, 70000))
    await refused(writeZip(many), /goes on after the last file/)
  })

  it('that is encrypted is refused with what to do', async () => {
    await refused(writeZip([{ ...tile('1/0/0'), flags: 0x801, method: 8 }]), /it is encrypted: unpack it with its password/)
    await refused(writeZip([{ ...tile('1/0/0'), flags: 0x841, method: 8 }]), /encryption/)
    assert.deepEqual(await outcomes(writeZip([...two, { name: 'secret.txt', bytes: 'x', flags: 0x801 }])), { '0/0/0': '0/0/0', '1/0/0': '1/0/0' })
  })

  it('packed by another method is refused with its name', async () => {
    for (const method of [9, 12, 14, 93, 99]) await refused(writeZip([{ ...tile('1/0/0'), method }]), new RegExp(`1/0/0.png: it is packed by a method \\(${method}\\)`))
  })

  it('with a tile twice gives neither: either may be right', async () => {
    const found = await outcomes(writeZip([...two, tile('0/0/0', 'another'), { name: '1/0/0.jpg', bytes: 'y' }, tile('1/1/1')]))
    assert.match(found['0/0/0'], /^ARCHIVE_INVALID.*0\/0\/0 is in it 2 times/)
    assert.match(found['1/0/0'], /^ARCHIVE_INVALID/)
    assert.equal(found['1/1/1'], '1/1/1')
  })

  it('whose tile is damaged gives the others', async () => {
    const whole = writeZip([{ ...tile('0/0/0', 'a'.repeat(1000)), stored: true }, tile('1/0/0')])
    for (const [at, words] of [[0, /no file begins/], [50, /check sum is wrong/]]) {
      const bytes = Buffer.from(whole)
      bytes[at] ^= 0xff
      const found = await outcomes(bytes)
      assert.match(found['0/0/0'], words)
      assert.equal(found['1/0/0'], '1/0/0')
    }
    assert.match((await outcomes(writeZip([{ ...tile('0/0/0'), sum: 1 }])))['0/0/0'], /check sum is wrong/)
    assert.match((await outcomes(writeZip([{ ...tile('0/0/0'), stored: true, sum: 1 }])))['0/0/0'], /check sum is wrong/)
  })

  it('is no bomb: nothing is unpacked to more than its size, nor than a tile may have', async () => {
    const zeros = Buffer.alloc(100e6)
    assert.match((await outcomes(writeZip([tile('0/0/0', zeros)])))['0/0/0'], /0\/0\/0 has 100000000 bytes/)
    assert.match((await outcomes(writeZip([{ ...tile('0/0/0', zeros), size: 1000 }])))['0/0/0'], /unpacks to more than 1001 bytes/)
    assert.match((await outcomes(writeZip([{ ...tile('0/0/0'), size: 2 ** 31 }])))['0/0/0'], /has 2147483648 bytes/)
    assert.match((await outcomes(writeZip([{ ...tile('0/0/0'), size: 2 ** 53 }], { zip64: true })))['0/0/0'], /has 9007199254740992 bytes/)
    assert.match((await outcomes(writeZip([{ ...tile('0/0/0'), size: 50 }])))['0/0/0'], /5 bytes, the directory says 50/)
  })

  it('is no bomb: its files lie apart', async () => {
    const big = tile('9/0/0', Buffer.alloc(1e6))
    const { length } = writeZip([big])
    const many = Array.from({ length: 50 }, (_, index) => ({ name: `9/1/${index}.png`, bytes: '', offset: 0, packed: length - 200, size: 1e6 }))
    await refused(writeZip([big, ...many]), /files overlap|behind its end/)
  })

  it('must have its files inside it', async () => {
    for (const offset of [1e6, 2 ** 32 - 2]) await refused(writeZip([{ ...tile('0/0/0'), offset }]), /behind its end/)
    for (const offset of [2 ** 53 - 1, 2 ** 53, 2 ** 60]) await refused(writeZip([{ ...tile('0/0/0'), offset }], { zip64: true }), /behind its end/)
    await refused(writeZip([{ ...tile('0/0/0'), packed: 2 ** 31 }]), /overlap/)
    await refused(writeZip([{ ...tile('0/0/0'), packed: 2 ** 60 }], { zip64: true }), /overlap/)
  })

  it('must have the directory that its end record describes', async () => {
    for (const count of [1, 0]) await refused(writeZip(two, { count }), /goes on after the last file/)
    for (const count of [3, 60000]) await refused(writeZip(two, { count }), /damaged/)
    for (const at of [0, 1, 1e6, 2 ** 32 - 2]) await refused(writeZip(two, { at }), /damaged/)
    for (const at of [2 ** 53, 2 ** 62]) await refused(writeZip(two, { at, zip64: true }), /damaged/)
    await refused(writeZip(two, { count: 2 ** 53, zip64: true }), /damaged/)
  })

  it('that was cut off at the beginning is refused, or its tiles are', async () => {
    const whole = writeZip(two)
    for (const cut of [1, 10, 40]) {
      const found = await outcomes(whole.subarray(cut)).catch(error => ({ all: `${error.code}: ${error.message}` }))
      for (const outcome of Object.values(found)) assert.match(outcome, /^ARCHIVE_INVALID/)
    }
  })
})

const both = { '0/0/0': '0/0/0', '1/0/0': '1/0/0' }

describe('a tar', () => {
  const { folder, read, refused, outcomes } = useArchive('tar')

  it('of the program tar is read', async function () {
    const tiles = path.join(folder.dir, 'tiles')
    for (let x = 0; x < 30; x++) {
      mkdirSync(path.join(tiles, `5/${x}`), { recursive: true })
      for (let y = 0; y < 10; y++) writeFileSync(path.join(tiles, `5/${x}/${y}.png`), `${x} ${y} `.repeat(x * 40))
    }
    const made = [['-cf'], ['-czf'], ['--format=gnu', '-cf'], ['--format=pax', '-cf'], ['--format=v7', '-cf']].map((flags, index) => {
      const file = path.join(folder.dir, `made${index}.tar`)
      return { file, ok: spawnSync('tar', [...flags, file, '-C', folder.dir, './tiles']).status === 0 } // not every tar has every format
    }).filter(({ ok }) => ok)
    if (!made.length) skip(this, 'there is no tar')
    for (const { file } of made) {
      const found = await using('tar', file, {}, contents)
      assert.equal(Object.keys(found).length, 300)
      for (let x = 0; x < 30; x++) for (let y = 0; y < 10; y++) assert.equal(found[`5/${x}/${y}`], `${x} ${y} `.repeat(x * 40))
    }
  })

  it('follows links to a tile in it, and to nothing else', async () => {
    const links = [
      { name: '1/0/1.png', type: '1', link: '1/0/0.png' }, { name: '1/1/1.png', type: '1', link: '1/0/1.png' },
      { name: '2/0/0.png', type: '1', link: '/etc/passwd' }, { name: '2/0/1.png', type: '1', link: '2/3/3.png' }, { name: '2/0/2.png', type: '2', link: '../../1/0/0.png' }, { name: 'readme', type: '2', link: '/etc/passwd' }
    ]
    await refused(writeTar([...two, ...links]), /\/etc\/passwd: it leads out/)
    const found = await outcomes(writeTar([...two, ...links.slice(0, 2), ...links.slice(3)]))
    assert.deepEqual([found['1/0/1'], found['1/1/1']], ['1/0/0', '1/0/0'])
    assert.match(found['2/0/1'], /^ARCHIVE_INVALID.*2\/0\/1 is no file in it, but a Link: unpack it, and load the folder/)
    assert.match(found['2/0/2'], /^ARCHIVE_INVALID.*a SymbolicLink/)
    assert.equal(Object.keys(found).length, 6)
  })

  it('has only files for tiles: devices with the name of a tile fail', async () => {
    const others = ['3', '4', '5', '6', 'S', 'D', 'V', 'M'].map((type, index) => ({ name: `3/0/${index}.png`, type }))
    const found = await outcomes(writeTar([...two, ...others]))
    assert.deepEqual(Object.keys(found).length, 2 + others.length)
    for (const [name, outcome] of Object.entries(found)) assert.match(outcome, name.startsWith('3') ? /^ARCHIVE_INVALID.*is no file in it, but a \w+/ : /^\d/, name)
    assert.deepEqual(await read(writeTar([...two, { name: '1/0/GNUSparseFile.0/1.png', bytes: 'x' }, { name: '1/0', type: '5' }, { name: 'fifo', type: '6' }])), both)
  })

  it('may have long names of pax and of GNU', async () => {
    const long = 'a'.repeat(200)
    assert.deepEqual(await read(writeTar([paxHeader({ path: `${long}/0/0/0.png` }), tile('x', '0/0/0'), { name: '././@LongLink', type: 'L', bytes: `${long}/1/0/0.png\0` }, tile('y', '1/0/0')])), both)
  })

  it('may hold a tile again: the last counts, as when tar brings a file up to date', async () => {
    assert.deepEqual(await read(writeTar([tile('0/0/0', 'old'), ...two])), both)
  })

  it('may be in several parts of gzip', async () => {
    const whole = writeTar(two)
    assert.deepEqual(await read(Buffer.concat([gzipSync(whole.subarray(0, 700)), gzipSync(whole.subarray(700))])), both)
  })

  it('ends at its end mark, whatever follows', async () => {
    assert.deepEqual(await read(Buffer.concat([writeTar(two), Buffer.alloc(1e6)])), both)
    assert.deepEqual(await read(Buffer.concat([writeTar(two), Buffer.from('rubbish'.repeat(1e5))])), both)
    assert.deepEqual(await read(Buffer.concat([writeTar(two), writeTar([tile('2/0/0')])])), both)
  })

  it('without an end mark was cut off between two files', async () => {
    for (const end of [0, 1]) await refused(writeTar(two, { end }), /without an end mark/)
  })

  it('must have headers without damage', async () => {
    const whole = writeTar(two)
    for (const at of [0, 50, 124, 148, 1024]) {
      const bytes = Buffer.from(whole)
      bytes[at] ^= 0x15
      await refused(bytes, /checksum|damaged/)
    }
  })

  it('must have as many bytes as its headers claim', async () => {
    for (const size of [600, 1e6, 8 ** 11 - 1, 2 ** 40, 2 ** 53 - 1, 2 ** 60]) await refused(writeTar([{ ...tile('0/0/0'), size }]), /damaged/)
    await refused(writeTar([paxHeader({ size: '9007199254740991' }), tile('0/0/0')]), /damaged/)
  })

  it('refuses a tile that is too large, and gives the others', async () => {
    const found = await outcomes(gzipSync(writeTar([tile('0/0/0', Buffer.alloc(65e6)), tile('1/0/0')]), { level: 1 }))
    assert.match(found['0/0/0'], /0\/0\/0 has 65000000 bytes/)
    assert.equal(found['1/0/0'], '1/0/0')
  })

  it('is no bomb: other files, and bytes behind its end, take no memory', async function () {
    this.timeout(60000)
    const file = path.join(folder.dir, 'bomb.tgz')
    const gzip = createGzip({ level: 1 })
    const output = gzip.pipe(createWriteStream(file))
    const megabyte = Buffer.alloc(1 << 20)
    const push = bytes => gzip.write(bytes) || new Promise(resolve => { gzip.once('drain', resolve) })
    await push(tarHeader({ name: 'readme.txt', size: 1 << 30 }))
    for (let count = 0; count < 1024; count++) await push(megabyte)
    await push(writeTar(two))
    for (let count = 0; count < 500; count++) await push(megabyte)
    gzip.end()
    await new Promise(resolve => { output.once('finish', resolve) })
    const { total, peak } = await runMeasured(`
      const { openTar } = await import(${JSON.stringify(new URL('../../loader/sources/files.js', import.meta.url).href)})
      const source = await openTar(${JSON.stringify(file)}, { selected: () => true })
      report({ total: source.total })
      await source.close()`, { TMPDIR: folder.dir })
    assert.equal(total, 2)
    assert.ok(peak < 200e6, `${Math.round(peak / 1e6)} MB`)
    assert.deepEqual(readdirSync(folder.dir), ['bomb.tgz'])
  })

  it('may say much of its files, within bounds', async () => {
    assert.deepEqual(await read(writeTar([paxHeader({ comment: 'x'.repeat(5e5) }), ...two])), both)
    assert.deepEqual(await read(writeTar([{ name: 'PaxHeader/x', type: 'x', bytes: Buffer.alloc(5e6, 'x') }, ...two])), both)
  })
})
