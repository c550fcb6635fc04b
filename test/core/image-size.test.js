import assert from 'node:assert/strict'
import sharp from 'sharp'
import { imageSize, tileSizeOf } from '../../core/images.js'
import { samples } from '../support/samples.js'

const image = (width, height, channels = /** @type {3 | 4} */ (3)) =>
  sharp({ create: { width, height, channels, background: channels === 4 ? '#0808' : '#080' } })

describe('the size of an image', () => {
  const kinds = {
    png: one => one.png(),
    'png with a palette': one => one.png({ palette: true }),
    jpeg: one => one.jpeg(),
    'progressive jpeg with metadata': one => one.jpeg({ progressive: true }).withMetadata({ density: 300 }),
    webp: one => one.webp(),
    'lossless webp': one => one.webp({ lossless: true }),
    avif: one => one.avif({ effort: 0 })
  }
  for (const [kind, encode] of Object.entries(kinds)) {
    it(`is in the header of ${kind}`, async () => {
      for (const [width, height] of [[1, 1], [256, 256], [512, 512], [300, 17], [17, 1030]]) {
        for (const channels of /** @type {const} */ ([3, 4])) {
          if (channels === 4 && kind.includes('jpeg')) continue
          const bytes = await encode(image(width, height, channels)).toBuffer()
          assert.deepEqual(imageSize(bytes), { width, height }, `${width} x ${height}, ${channels} channels`)
          assert.deepEqual(imageSize(new Uint8Array(bytes)), { width, height })
        }
      }
    })
  }

  it('of a tile is a square of 128, 256, 512 and so on: a blank pixel says nothing of the others', async () => {
    const shapes = [
      [128, 128], [256, 256], [512, 512], [4096, 4096], [1, 1], [64, 64], [300, 300], [256, 512], [8192, 8192]
    ]
    const sizes = await Promise.all(
      shapes.map(async ([width, height]) => tileSizeOf(await image(width, height).png().toBuffer()))
    )
    assert.deepEqual(sizes, [128, 256, 512, 4096, undefined, undefined, undefined, undefined, undefined])
  })

  it('is unknown of vector tiles, of what is cut off, and of anything else', async () => {
    const all = await samples()
    assert.equal(imageSize(all.mvt), undefined)
    for (const bytes of Object.values(all)) for (let length = 0; length < Math.min(bytes.length, 400); length++) {
      imageSize(bytes.subarray(0, length))
    }
    for (const bytes of [Buffer.alloc(0), Buffer.from('<html>'), Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0]),
      Buffer.from('RIFF....WEBPVP8?')]) assert.equal(imageSize(bytes), undefined)
  })
})
