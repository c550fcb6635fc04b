// What only tar files have; the rest is in archives.test.js.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createWriteStream, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { createGzip, gzipSync } from 'node:zlib'
import { useFolder } from '../loader/helpers.js'
import { skip } from '../support/tools.js'
import { paxHeader, tarHeader, writeTar } from './archive-writers.js'
import { contents, openAs, refuses, runMeasured, using } from './helpers.js'

const tile = (name, bytes = name) => ({ name: `${name}.png`, bytes })
const two = [tile('0/0/0'), tile('1/0/0')]
const both = { '0/0/0': '0/0/0', '1/0/0': '1/0/0' }

describe('a tar', () => {
  const folder = useFolder()
  function make (bytes, name = 'city.tar') {
    const file = path.join(folder.dir, name)
    writeFileSync(file, bytes)
    return file
  }
  const read = bytes => using('tar', make(bytes), {}, contents)

  /** What each tile of a file gives: its bytes, or what it is refused with. */
  async function outcomes (bytes) {
    const source = await openAs('tar', make(bytes))
    const found = {}
    for await (const { z, x, y, read: readTile } of source.tiles()) found[`${z}/${x}/${y}`] = await Promise.resolve().then(readTile).then(String, error => `${error.code}: ${error.message}`)
    await source.close()
    return found
  }
  const refused = (bytes, words) => refuses('tar', make(bytes), 'ARCHIVE_INVALID', words)

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

  it('has only files for tiles: no device is read, and what is called as a tile is not passed over', async () => {
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

  it('must have headers that are whole', async () => {
    const whole = writeTar(two)
    for (const at of [0, 50, 124, 148, 1024]) {
      const bytes = Buffer.from(whole)
      bytes[at] ^= 0x15
      await refused(bytes, /checksum|damaged/)
    }
  })

  it('must have the bytes that it says, however many', async () => {
    for (const size of [600, 1e6, 8 ** 11 - 1, 2 ** 40, 2 ** 53 - 1, 2 ** 60]) await refused(writeTar([{ ...tile('0/0/0'), size }]), /damaged/)
    await refused(writeTar([paxHeader({ size: '9007199254740991' }), tile('0/0/0')]), /damaged/)
  })

  it('refuses a tile that is too large, and gives the others', async () => {
    const found = await outcomes(gzipSync(writeTar([tile('0/0/0', Buffer.alloc(65e6)), tile('1/0/0')]), { level: 1 }))
    assert.match(found['0/0/0'], /0\/0\/0 has 65000000 bytes/)
    assert.equal(found['1/0/0'], '1/0/0')
  })

  it('is no bomb: neither what is no tile nor what follows the end takes memory, and the end is the end', async function () {
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
      const { openTar } = await import(${JSON.stringify(new URL('../../loader/sources/archive.js', import.meta.url).href)})
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
