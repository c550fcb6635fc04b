import assert from 'node:assert/strict'
import { crc32, gzipSync } from 'node:zlib'
import { unpack } from '../../loader/formats/unpack.js'
import { examine } from '../../loader/check/files/decode.js'
import { collectGarbage } from '../support/garbage.js'
import { field, flipped, image, rawVectorTile, tile, undecodable, vectorTile } from '../support/sample-tiles.js'

const codes = ({ problems }) => problems.map(([code]) => code)

/** A PNG that claims to be so large. */
async function claiming (width, height) {
  const png = Buffer.from(await tile(1))
  png.writeUInt32BE(width, 16)
  png.writeUInt32BE(height, 20)
  png.writeUInt32BE(crc32(png.subarray(12, 29)), 29)
  return png
}

describe('decoding a tile', () => {
  for (const [format, type] of /** @type {const} */ (
    [['png', 'image/png'], ['jpeg', 'image/jpeg'], ['webp', 'image/webp'], ['avif', 'image/avif']]
  )) {
    it(`finds no problem in a ${format}, and returns its type and size`, async () => {
      const found = await examine(await image(format))
      assert.deepEqual([found.type, found.width, found.height, found.problems], [type, 256, 256, []])
    })
  }

  it('finds JPEG, AVIF and WebP files whose pixels end early', async () => {
    for (const format of /** @type {const} */ (['jpeg', 'avif'])) {
      const bytes = await image(format)
      // the second half of the pixels becomes zeros: every length and end mark stays where it was
      const from = bytes.length >> 1
      const holed =
        Buffer.concat([bytes.subarray(0, from), Buffer.alloc(bytes.length - from - 40), bytes.subarray(-40)])
      assert.deepEqual(codes(await examine(holed)), ['undecodable-tile'], format)
    }
    const webp = Buffer.from((await image('webp')).subarray(0, 2000))
    webp.writeUInt32LE(webp.length - 8, 4)
    webp.writeUInt32LE(webp.length - 20, 16)
    assert.deepEqual(codes(await examine(webp)), ['undecodable-tile'], 'webp')
  })

  it('finds a flipped byte in the pixels of a PNG only if it decodes the image', async () => {
    const bytes = await undecodable(3)
    assert.deepEqual(codes(await examine(bytes)), ['undecodable-tile'])
    assert.deepEqual(codes(await examine(bytes, { decode: false })), [], 'it takes decoding')
  })

  it('finds a flipped byte anywhere in the pixels of a PNG', async () => {
    const png = await tile(5)
    const at = png.indexOf('IDAT')
    for (let byte = at + 4; byte < at + 4 + png.readUInt32BE(at - 4); byte += 7) {
      assert.deepEqual(codes(await examine(flipped(png, byte))), ['undecodable-tile'], `${byte}`)
    }
  })

  it('names empty, unknown, truncated and damaged bytes by a code', async () => {
    assert.deepEqual(codes(await examine(Buffer.alloc(0))), ['empty-tile'])
    assert.deepEqual(codes(await examine(Buffer.from('<html>'))), ['unknown-format'])
    assert.deepEqual(codes(await examine((await tile(1)).subarray(0, 100))), ['truncated-tile'])
    assert.deepEqual(codes(await examine(gzipSync('not a vector tile'))), ['undecodable-tile'])
    assert.deepEqual(codes(await examine(vectorTile().subarray(0, -9))), ['truncated-tile'])
    assert.deepEqual(codes(await examine(flipped(vectorTile(), -6))), ['truncated-tile'], 'the check sum of gzip')
  })

  it('accepts vector tiles in gzip, and unpacked ones only where they are allowed', async () => {
    assert.deepEqual(await examine(vectorTile()),
      { type: 'application/vnd.mapbox-vector-tile', ext: 'pbf', problems: [] })
    assert.deepEqual(codes(await examine(rawVectorTile(), { unpacked: true })), [])
    assert.deepEqual(codes(await examine(rawVectorTile())), ['unknown-format'])
    assert.deepEqual(codes(await examine(gzipSync(field(3, field(1, 'water'))))),
      ['odd-vector-tile'], 'without a version')
  })

  it('names far too large tiles, without unpacking or decoding them', async () => {
    const before = process.memoryUsage().rss
    assert.deepEqual(codes(await examine(await claiming(60000, 60000))), ['oversized-tile'])
    assert.deepEqual(codes(await examine(gzipSync(Buffer.alloc(70e6, 0x1a)))), ['oversized-tile'])
    assert.deepEqual(codes(await examine(Buffer.alloc(65e6, 1))), ['oversized-tile'])
    assert.ok(process.memoryUsage().rss - before < 400e6)
  })

  it('accepts large tiles of the size that the layer states', async () => {
    const large = await tile(1, 2100)
    assert.deepEqual(codes(await examine(large)), ['oversized-tile'])
    assert.deepEqual(codes(await examine(large, { tileSize: 2100 })), [])
  })

  it('unpacks many gzip bombs at once without holding all of them in memory', async () => {
    const bomb = gzipSync(Buffer.alloc(30e6))
    collectGarbage()
    const before = process.memoryUsage().arrayBuffers
    let most = 0
    await Promise.all(Array.from({ length: 12 }, async () => {
      await unpack(bomb)
      collectGarbage() // what is left is in use
      most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    }))
    assert.ok(most < 150e6, `${Math.round(most / 1e6)} MB`)
  })
})
