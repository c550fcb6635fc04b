// What only zip or only tar files have; the rest is in archives.test.js.
import assert from 'node:assert/strict'
import { createWriteStream, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createGzip, gzipSync } from 'node:zlib'
import { execFileSync, spawnSync } from 'node:child_process'
import { pipeline } from 'node:stream/promises'
import yazl from 'yazl'
import { paxHeader, tarHeader, writeTar, writeZip } from './archive-writers.js'
import { contents, runMeasured, useArchive, using } from './helpers.js'
import { skip, tilesPython } from '../support/tools.js'

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
