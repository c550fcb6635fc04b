// Images of tiles: their formats, signs of damage, and their sizes.
import assert from 'node:assert/strict'
import { gunzipSync, gzipSync } from 'node:zlib'
import fc from 'fast-check'
import sharp from 'sharp'
import { imageSize, tileSizeOf } from '../../core/images.js'
import { formats, inspectTile } from '../../core/index.js'
import { codeOf, refusesAll, samples } from '../support/samples.js'

const tools = { gunzip: bytes => gunzipSync(bytes) }
const inspect = bytes => inspectTile(bytes, tools)

const signatures = {
  png: [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a],
  jpeg: [0xff, 0xd8, 0xff],
  webp: [...Buffer.from('RIFF....WEBPVP8 ')],
  avif: [0, 0, 0, 0x1c, ...Buffer.from('ftypavif')],
  mvt: [0x1f, 0x8b, 8]
}

describe('tile images', () => {
  let images
  before(async () => { images = await samples() })

  it('are recognized by their bytes, in a Buffer and in a Uint8Array', () => {
    for (const [name, bytes] of Object.entries(images)) {
      assert.deepEqual(inspect(bytes), formats[name], name)
      assert.deepEqual(inspectTile(new Uint8Array(bytes)), formats[name], `${name} without gunzip`)
    }
  })

  for (const name of Object.keys(formats)) {
    it(`of ${name} are refused when they are cut off at any length`, () => {
      const bytes = images[name]
      for (let length = 1; length < bytes.length; length++) {
        const code = codeOf(() => inspect(bytes.subarray(0, length)))
        assert.ok(code === 'TRUNCATED_IMAGE' || (code === 'UNKNOWN_IMAGE' && length < 16),
          `${length} of ${bytes.length} bytes: ${code}`)
      }
    })
  }

  it('are refused when unpacking fails with an empty message', () => {
    const gunzip = () => { throw new TypeError('') }
    assert.equal(codeOf(() => inspectTile(images.mvt, { gunzip })), 'TRUNCATED_IMAGE')
  })

  it('may have padding behind their end', () => {
    for (const name of ['png', 'jpeg', 'webp']) {
      assert.equal(inspect(Buffer.concat([images[name], Buffer.alloc(3)])), formats[name], name)
    }
  })

  it('of JPEG end with their end marker, not with half of it', () => {
    const cut = images.jpeg.subarray(0, -2)
    for (const end of [[0x12, 0xd9], [0xff, 0xd8], [0xff], [0xd9]]) {
      assert.equal(codeOf(() => inspect(Buffer.concat([cut, Buffer.from(end)]))), 'TRUNCATED_IMAGE', String(end))
    }
  })

  it('without a header or image data are refused', () => {
    const png = images.png
    const empty = Buffer.concat([png.subarray(0, 33), png.subarray(-12)])
    assert.throws(() => inspect(empty), { code: 'TRUNCATED_IMAGE', message: /no image data/ })
    assert.throws(() => inspect(Buffer.from([0xff, 0xd8, 0xff, 0xd9])), { code: 'TRUNCATED_IMAGE' })
    assert.throws(() => inspect(Buffer.concat([png.subarray(0, 8), png.subarray(33)])),
      { code: 'TRUNCATED_IMAGE', message: /no IHDR/ })
  })

  it('of AVIF need their meta and mdat boxes, in any order', () => {
    const boxes = []
    for (let offset = 0; offset < images.avif.length; offset += images.avif.readUInt32BE(offset)) {
      boxes.push(images.avif.subarray(offset, offset + images.avif.readUInt32BE(offset)))
    }
    const [type, meta, pixels] = boxes
    assert.deepEqual(boxes.map(box => box.toString('latin1', 4, 8)), ['ftyp', 'meta', 'mdat'])
    assert.equal(inspect(Buffer.concat([type, pixels, meta])).ext, 'avif')
    assert.equal(codeOf(() => inspect(Buffer.concat([type, pixels]))), 'TRUNCATED_IMAGE', 'cut between two boxes')
    assert.equal(codeOf(() => inspect(Buffer.concat([type, meta]))), 'TRUNCATED_IMAGE')
  })

  it('that are gzipped are refused unless they are vector tiles', () => {
    assert.equal(inspect(gzipSync('')).ext, 'pbf', 'an empty tile is a tile')
    for (
      const text of ['<html></html>', '{"error":"not found"}', '\x1a', '\x1a\x05abc', '\x1a\xff\xff\xff\xff\xff\x01']
    ) {
      assert.equal(codeOf(() => inspect(gzipSync(Buffer.from(text, 'latin1')))),
        'TRUNCATED_IMAGE', JSON.stringify(text))
    }
  })

  it('are refused when they are HTML, text or empty, and the message shows how they start', () => {
    const html = Buffer.from('<!DOCTYPE html><html><body>502 Bad Gateway</body></html>')
    assert.throws(() => inspect(html), { code: 'UNKNOWN_IMAGE', message: /<!DOCTYPE html>/ })
    assert.throws(() => inspect(Buffer.from([0, 1, 2, 255])), { code: 'UNKNOWN_IMAGE', message: /00 01 02 ff/ })
    refusesAll(inspect, [Buffer.alloc(0), new Uint8Array(), null, undefined], 'EMPTY_IMAGE')
    refusesAll(inspect, [Buffer.from('GIF89a..........'), Buffer.from('PK\x03\x04'),
      Buffer.from('{}'), Buffer.alloc(100), images.png.subarray(1)], 'UNKNOWN_IMAGE')
  })

  it('with garbage after a valid signature are recognized or refused without a crash', () => {
    const garbage = fc.tuple(fc.constantFrom([], ...Object.values(signatures)), fc.uint8Array({ maxLength: 200 }))
      .map(([start, tail]) => Uint8Array.from([...start, ...tail]))
    fc.assert(fc.property(garbage, bytes => {
      const code = codeOf(() => inspect(bytes))
      assert.ok([undefined, 'EMPTY_IMAGE', 'UNKNOWN_IMAGE', 'TRUNCATED_IMAGE'].includes(code), code)
    }), { numRuns: 2000 })
  })

  it('with one damaged byte are recognized or refused without a crash', () => {
    fc.assert(fc.property(fc.constantFrom(...Object.keys(formats)), fc.nat(), fc.nat(255), (name, index, value) => {
      const bytes = Buffer.from(images[name])
      bytes[index % bytes.length] = value
      codeOf(() => inspect(bytes))
    }), { numRuns: 1000 })
  })
})

const image = (width, height, channels = 3) =>
  sharp({ create: { width, height, channels, background: channels === 4 ? '#0808' : '#080' } })

describe('the size of an image', () => {
  const kinds = {
    png: ['png', img => img.png()],
    'png with a palette': ['png', img => img.png({ palette: true })],
    jpeg: ['jpg', img => img.jpeg()],
    'progressive jpeg with metadata': ['jpg', img => img.jpeg({ progressive: true }).withMetadata({ density: 300 })],
    webp: ['webp', img => img.webp()],
    'lossless webp': ['webp', img => img.webp({ lossless: true })],
    avif: ['avif', img => img.avif({ effort: 0 })]
  }
  for (const [kind, [ext, encode]] of Object.entries(kinds)) {
    it(`is read from the header of ${kind}`, async () => {
      for (const [width, height] of [[1, 1], [256, 256], [512, 512], [300, 17], [17, 1030]]) {
        for (const channels of [3, 4]) {
          if (channels === 4 && kind.includes('jpeg')) continue
          const bytes = await encode(image(width, height, channels)).toBuffer()
          assert.deepEqual(imageSize(bytes), { width, height }, `${width} x ${height}, ${channels} channels`)
          assert.deepEqual(imageSize(new Uint8Array(bytes)), { width, height })
          assert.equal(inspect(bytes).ext, ext)
        }
      }
    })
  }

  it('of a square tile is a power of two from 128 to 4096, and undefined for any other image', async () => {
    const shapes = [
      [128, 128], [256, 256], [512, 512], [4096, 4096], [1, 1], [64, 64], [300, 300], [256, 512], [8192, 8192]
    ]
    const sizes = await Promise.all(
      shapes.map(async ([width, height]) => tileSizeOf(await image(width, height).png().toBuffer()))
    )
    assert.deepEqual(sizes, [128, 256, 512, 4096, undefined, undefined, undefined, undefined, undefined])
  })

  it('is undefined for vector tiles and other bytes, and right or undefined for a cut-off image', async () => {
    const images = await samples()
    assert.equal(imageSize(images.mvt), undefined)
    for (const [name, bytes] of Object.entries(images)) {
      const fullSize = imageSize(bytes)
      for (let length = 0; length < Math.min(bytes.length, 400); length++) {
        const size = imageSize(bytes.subarray(0, length))
        if (size) assert.deepEqual(size, fullSize, `${name}, its first ${length} bytes`)
      }
    }
    for (const bytes of [Buffer.alloc(0), Buffer.from('<html>'), Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 0]),
      Buffer.from('RIFF....WEBPVP8?')]) assert.equal(imageSize(bytes), undefined)
  })
})
