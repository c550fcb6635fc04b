import assert from 'node:assert/strict'
import sharp from 'sharp'
import { inspectTile } from '../../core/index.js'
import { encodeIndexed } from '../../server/demo/png.js'

const palette = Uint8Array.from({ length: 256 * 3 }, (_, at) => (at * 37 + (at >> 3)) % 256)

async function assertRoundTrip (pixels, width) {
  const png = await encodeIndexed(pixels, width, palette)
  assert.equal(inspectTile(png).type, 'image/png')
  const { data, info } = await sharp(png).removeAlpha().toColourspace('srgb').raw().toBuffer({ resolveWithObject: true })
  assert.deepEqual([info.width, info.height, info.channels], [width, pixels.length / width, 3])
  const expected = Buffer.from(Array.from(pixels).flatMap(index => [...palette.subarray(index * 3, index * 3 + 3)]))
  assert.ok(data.equals(expected), 'another decoder sees the same pixels')
  return png
}

describe('indexed PNGs', () => {
  for (const colours of [1, 2, 3, 4, 5, 16, 17, 255, 256]) {
    it(`of ${colours} colours come back as they were`, async () => {
      await assertRoundTrip(Uint8Array.from({ length: 64 * 48 }, (_, at) => 255 - at * 7 % colours), 64)
    })
  }

  it('have the smallest depth that holds their colours', async () => {
    const depthOf = async colours => (await encodeIndexed(Uint8Array.from({ length: 4096 }, (_, at) => at % colours), 64, palette))[24]
    assert.deepEqual(await Promise.all([1, 2, 3, 4, 5, 16, 17].map(depthOf)), [1, 1, 2, 2, 4, 4, 8])
  })

  it('of widths that leave bits over are right too', async () => {
    for (const width of [1, 3, 7, 13]) await assertRoundTrip(Uint8Array.from({ length: width * 5 }, (_, at) => at % 3), width)
  })

  it('are about a hundred bytes when they are of one colour', async () => {
    const png = await encodeIndexed(new Uint8Array(65536).fill(7), 256, palette)
    assert.ok(png.length < 150, `${png.length} bytes`)
  })
})
