// Damaged and malicious PMTiles files: the file is refused, or only its damaged tiles fail.
import assert from 'node:assert/strict'
import { brotliCompressSync, constants, gzipSync } from 'node:zlib'
import { zxyToTileId } from 'pmtiles'
import { pmtilesDefaults } from '../../loader/load/sources/pmtiles.js'
import { parseDirectory } from '../../loader/formats/pmtiles/directory.js'
import { useArchive } from '../support/archives.js'
import { useDefaults } from '../support/memory-source.js'
import { directory, varint, writeArchive } from './archive-writers.js'

const tiles =
  Object.fromEntries(Array.from({ length: 64 }, (_, index) => [`3/${index >> 3}/${index & 7}`, `tile ${index}`]))
const plain = bytes => bytes
const tileIdOf = zxyToTileId

describe('a hostile PMTiles file', () => {
  const { read, refused, outcomes } = useArchive('pmtiles', options => writeArchive({ tiles, ...options }))
  useDefaults(pmtilesDefaults)
  const withRoot =
    (entries, options) => ({ root: directory(entries), pack: plain, header: { addressed: 0, entries: 0 }, ...options })

  it('is refused when it is cut off, at any length', async () => {
    for (const pack of [gzipSync, plain]) {
      const whole = writeArchive({ tiles, leaf: 10, pack })
      for (let length = 0; length < whole.length; length += 1 + (length >> 5)) {
        await refused(whole.subarray(0, length), /cut off|begin as|only \d+ bytes|ends at/)
      }
      await refused(whole.subarray(0, -1), /cut off/)
    }
  })

  it('must begin with the signature of PMTiles version 3', async () => {
    await refused(Buffer.from('<html>not found</html>'.repeat(50)), /does not begin/)
    await refused(Buffer.alloc(0), /does not begin/)
    await refused(Buffer.concat([Buffer.from('PM\x02\0'), Buffer.alloc(1000)]),
      /version 2 of the format; `pmtiles convert`/)
    for (const version of [0, 1, 2, 4, 255]) await refused({ header: { version } }, new RegExp(`version ${version}`))
  })

  it('must have sections that lie inside it and do not overlap', async () => {
    for (const name of ['root', 'metadata', 'leaves', 'data']) {
      for (const value of [2 ** 53, 2 ** 53 - 1, 1e6, 0xffffffffffffffffn]) {
        await refused({ leaf: 10, header: { [`${name}Length`]: value } }, /end at byte|be at byte/)
        await refused({ leaf: 10, header: { [`${name}Offset`]: value } }, /end at byte|be at byte/)
      }
      await refused({ leaf: 10, header: { [`${name}Offset`]: 100 } }, /overlap/)
    }
    await refused({ header: { dataOffset: 127 } }, /overlap/)
  })

  it('must be packed as its header says, in a known way', async () => {
    await refused({ header: { packing: 9 } }, /packed in a way \(9\)/)
    await refused({ header: { tilePacking: 5 } }, /packed in a way \(5\)/)
    await refused({ header: { packing: 3 } }, /cannot be read: it is no brotli/)
    await refused({ pack: plain, header: { packing: 2 } }, /cannot be read: it is no gzip/)
    await refused({ header: { type: 6 } }, /MapLibre tiles/, 'SOURCE_UNREADABLE')
  })

  it('in zstd is refused with the Node version that it needs, or as damaged', async function () {
    const { zstdCompressSync } = await import('node:zlib')
    if (!zstdCompressSync) await refused({ header: { packing: 4 } }, /zstd, which needs Node 22.15/)
    else await refused({ header: { packing: 4 } }, /it is no zstd/)
  })

  it('must have ids that ascend', async () => {
    const entry = { run: 1, offset: 0, length: 5 }
    await refused(withRoot([{ ...entry, id: 5 }, { ...entry, id: 5 }]), /tile id 5: .*within 6/)
    await refused(withRoot([{ ...entry, id: 5, run: 3 }, { ...entry, id: 6 }]), /tile id 6: .*within 8/)
    await refused(withRoot([{ ...entry, id: tileIdOf(26, 0, 0) * 4 + 1 }]), /should lie within/)
    await refused(withRoot([{ ...entry, id: 2 ** 53 - 1 }]), /should lie within/)
    await refused(withRoot([{ ...entry, id: 2 ** 53 - 1 }, { ...entry, id: 2 ** 54 }]),
      /holds a number|should lie within/)
  })

  it('must have tiles with bytes, inside the tile data', async () => {
    await refused(withRoot([{ id: 1, run: 1, offset: 0, length: 0 }]), /tile id 1: it has no bytes/)
    for (const length of [1e6, 2 ** 31, 2 ** 32 + 5, 2 ** 53 - 1]) {
      await refused(withRoot([{ id: 1, run: 1, offset: 0, length }]), /tile id 1: its bytes would end at byte/)
    }
    for (const offset of [1e6, 2 ** 31, 2 ** 52]) {
      await refused(withRoot([{ id: 1, run: 1, offset, length: 5 }]), /tile id 1: its bytes would end at byte/)
    }
    await refused({ ...withRoot([]), root: Buffer.concat([1, 1, 1, 5, 0].map(varint)) }, /follows upon none/)
  })

  it('must not have more entries or tiles than its header claims', async () => {
    await refused({ header: { entries: 10 } }, /10 entries, but it has more/)
    await refused({ header: { addressed: 10 } }, /10 tiles, but it has more/)
    await refused({ root: directory([{ id: 1, run: 2 ** 40, offset: 0, length: 5 }]), pack: plain, header: {
      entries: 1, addressed: 4
    } }, /4 tiles, but it has more/)
  })

  it('must not have more tiles than the limit, even if its header counts them', async () => {
    pmtilesDefaults.uncounted = 64
    const uncounted = { header: { addressed: 0, entries: 0 } }
    assert.deepEqual(await read(uncounted), tiles)
    pmtilesDefaults.uncounted = 63
    await refused(uncounted, /would have more than 63 tiles/)
    pmtilesDefaults.uncounted = 1000
    const root = [{ id: tileIdOf(20, 0, 0), run: 4 ** 20, offset: 0, length: 5 }]
    await refused(withRoot(root), /would have more than 1000 tiles/)
    await refused({ root: directory(root), pack: plain, header: { entries: 1, addressed: 4 ** 20 } },
      /would have more than 1000 tiles: say which of them/)
  })

  it('must not claim more entries than its directory can hold', async () => {
    for (const count of [2, 1000, 2 ** 20 + 1, 2 ** 31, 2 ** 53 - 1]) {
      await refused({ ...withRoot([]), root: Buffer.concat([varint(count), Buffer.from([1, 1, 1])]) },
        /cannot hold \d+ entries/)
    }
  })

  it('must have directories that end where they should', () => {
    const parse = bytes => parseDirectory(bytes, why => { throw new Error(why) })
    const whole =
      directory([{ id: 1, run: 1, offset: 300, length: 500 }, { id: 300, run: 1, offset: 9000, length: 70000 }])
    for (let length = 0; length < whole.length; length++) {
      assert.throws(() => parse(whole.subarray(0, length)), /entries|ends/, `${length}`)
    }
    assert.throws(() => parse(Buffer.concat([whole, Buffer.alloc(3)])), /3 bytes behind its end/)
    assert.throws(() => parse(Buffer.alloc(100, 0xff)), /middle of a number/)
    assert.throws(() => parse(Buffer.concat([varint(1), Buffer.alloc(100, 0xff), Buffer.alloc(10)])), /varint/)
  })

  it('must not have directories that lead to one another', async () => {
    const loop = directory([{ id: 0, run: 0, offset: 0, length: 5 }])
    assert.equal(loop.length, 5)
    await refused({ ...withRoot([]), root: loop, leaves: loop }, /lead to one another/)
    await refused({ ...withRoot([]), root: loop, leaves: Buffer.concat([loop, Buffer.alloc(1000)]) }, /lie 5 deep/)
    const fan = directory(Array.from({ length: 100 }, (_, index) => ({ id: index, run: 0, offset: 0, length: 5 })))
    await refused(
      { ...withRoot([]), root: fan, leaves: Buffer.concat(
        [directory([{ id: 0, run: 1, offset: 0, length: 1 }]), Buffer.alloc(1000)]
      ) }, /should lie within/
    )
  })

  it('must have leaves that hold the ids of their entry in the root', async () => {
    const leaf = directory([{ id: 7, run: 1, offset: 0, length: 5 }])
    await refused({ ...withRoot([{ id: 8, run: 0, offset: 0, length: leaf.length }]), leaves: leaf },
      /tile id 7: .*should lie within/)
    await refused({
      ...withRoot([{ id: 1, run: 0, offset: 0, length: leaf.length }, { id: 5, run: 1, offset: 0, length: 1 }]),
      leaves: leaf
    }, /tile id 7: .*should lie within/)
    await refused({ ...withRoot([{ id: 1, run: 0, offset: 2, length: leaf.length }]), leaves: leaf },
      /tile id 1: its directory would end at byte/)
    await refused({ ...withRoot([{ id: 1, run: 0, offset: 0, length: 2 }]), leaves: leaf }, /cannot hold 1 entries/)
  })

  it('must not unpack to more than the limit of a directory, metadata or a tile', async () => {
    const bomb = (pack, bytes) => pack(Buffer.alloc(bytes), { level: 1 })
    await refused({ root: bomb(gzipSync, 70e6) }, /unpacks to more than 64000000 bytes/)
    const brotli = bytes => brotliCompressSync(bytes, { params: { [constants.BROTLI_PARAM_QUALITY]: 1 } })
    await refused({ root: bomb(brotli, 70e6), pack: brotli, header: { packing: 3 } },
      /unpacks to more than 64000000 bytes/)
    await refused({ root: Buffer.alloc(17e6), pack: plain }, /directory: it has 17000000 bytes/)
    await refused({ pack: bytes => bytes.length < 10 ? bomb(gzipSync, 20e6) : gzipSync(bytes), header: { packing: 2 } },
      /metadata cannot be read: it unpacks to more than 16000000 bytes/)
    await refused({ tiles: { '0/0/0': bomb(gzipSync, 70e6) }, header: { tilePacking: 2 } },
      /0\/0\/0 cannot be read: it unpacks to more than/)
    await refused({ tiles: { '0/0/0': Buffer.alloc(65e6) } }, /0\/0\/0 has 65000000 bytes/)
  })

  it('fails only for the damaged tile when one tile is damaged', async () => {
    const outcomeByTile = await outcomes(
      { tiles: { '0/0/0': gzipSync('right'), '1/0/0': Buffer.from([0x1f, 0x8b, 8, 0, 0]) }, header: { tilePacking: 2 } }
    )
    assert.equal(outcomeByTile['0/0/0'], 'right')
    assert.match(outcomeByTile['1/0/0'], /^ARCHIVE_INVALID/)
  })

  it('is read with a wrong count of contents in its header', async () => {
    assert.deepEqual(await read({ header: { contents: 3, entries: 0, addressed: 0, clustered: 0 } }), tiles)
  })
})
