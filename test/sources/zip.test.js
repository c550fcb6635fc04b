// What only zip files have; the rest is in archives.test.js.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { createWriteStream, writeFileSync } from 'node:fs'
import path from 'node:path'
import { pipeline } from 'node:stream/promises'
import yazl from 'yazl'
import { useFolder } from '../loader/helpers.js'
import { skip, tilesPython } from '../support/tools.js'
import { writeZip } from './archive-writers.js'
import { contents, openAs, refuses, using } from './helpers.js'

const tile = (name, bytes = name) => ({ name: `${name}.png`, bytes })
const two = [tile('0/0/0'), tile('1/0/0')]

describe('a zip', () => {
  const folder = useFolder()
  function make (bytes, name = 'city.zip') {
    const file = path.join(folder.dir, name)
    writeFileSync(file, bytes)
    return file
  }
  const refused = (bytes, words, code = 'ARCHIVE_INVALID') => refuses('zip', make(bytes), code, words)

  /** What each tile of a file gives: its bytes, or what it is refused with. */
  async function outcomes (bytes) {
    const source = await openAs('zip', make(bytes))
    const found = {}
    for await (const { z, x, y, read } of source.tiles()) found[`${z}/${x}/${y}`] = await read().then(String, error => `${error.code}: ${error.message}`)
    await source.close()
    return found
  }

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

  it('with more than 65,535 files is read whole', async () => {
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

  it('with a tile twice gives neither: which of them is right, nobody knows', async () => {
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

  it('is no bomb: nothing is unpacked to more than it says, nor than a tile may have', async () => {
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

  it('must have the directory that its end says it has', async () => {
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
