// Tests decoding of images and vector tiles, with damaged, oversized and random bytes.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import { TIME_FACTOR } from '../../bench/wait.js'
import { unpack } from '../../loader/formats/unpack.js'
import { examine } from '../../loader/check/files/decode.js'
import { checkVectorTile, readSourceLayers } from '../../loader/check/files/vector-tile.js'
import { varint } from '../sources/archive-writers.js'
import { random as seeded } from '../../bench/tiles.js'
import { collectGarbage } from '../support/garbage.js'
import {
  field, flipped, image, packed, rawVectorTile, tile, undecodable, varintField, vectorTile
} from '../support/sample-tiles.js'
import { claimingSize } from '../support/tiles.js'
import { encodeTile } from '../support/vector-tile.js'

const codes = ({ problems }) => problems.map(([code]) => code)

describe('decoding a tile', () => {
  for (const format of ['png', 'jpeg', 'webp', 'avif']) {
    it(`finds no problem in a ${format}, and returns its type and size`, async () => {
      const { type, width, height, problems } = await examine(await image(format))
      assert.deepEqual([type, width, height, problems], [`image/${format}`, 256, 256, []])
    })
  }

  it('finds JPEG, AVIF and WebP files whose pixels end early', async () => {
    for (const format of ['jpeg', 'avif']) {
      const bytes = await image(format)
      // the second half of the pixels becomes zeros: every length and end mark stays in place
      const half = bytes.length >> 1
      const holed =
        Buffer.concat([bytes.subarray(0, half), Buffer.alloc(bytes.length - half - 40), bytes.subarray(-40)])
      assert.deepEqual(codes(await examine(holed)), ['undecodable-tile'], format)
    }
    const webp = Buffer.from((await image('webp')).subarray(0, 2000))
    webp.writeUInt32LE(webp.length - 8, 4)
    webp.writeUInt32LE(webp.length - 20, 16)
    assert.deepEqual(codes(await examine(webp)), ['undecodable-tile'], 'webp')
  })

  it('finds a flipped byte anywhere in the pixels of a PNG, but only if it decodes the image', async () => {
    const bytes = await undecodable(3)
    assert.deepEqual(codes(await examine(bytes)), ['undecodable-tile'])
    assert.deepEqual(codes(await examine(bytes, { decode: false })), [], 'it takes decoding')
    const png = await tile(5)
    const start = png.indexOf('IDAT')
    for (let byte = start + 4; byte < start + 4 + png.readUInt32BE(start - 4); byte += 7) {
      assert.deepEqual(codes(await examine(flipped(png, byte))), ['undecodable-tile'], `${byte}`)
    }
  })

  it('names empty, unknown, truncated and damaged bytes; vector tiles may be in gzip, or unpacked', async () => {
    assert.deepEqual(codes(await examine(Buffer.alloc(0))), ['empty-tile'])
    assert.deepEqual(codes(await examine(Buffer.from('<html>'))), ['unknown-format'])
    assert.deepEqual(codes(await examine((await tile(1)).subarray(0, 100))), ['truncated-tile'])
    assert.deepEqual(codes(await examine(gzipSync('not a vector tile'))), ['undecodable-tile'])
    assert.deepEqual(codes(await examine(vectorTile().subarray(0, -9))), ['truncated-tile'])
    assert.deepEqual(codes(await examine(flipped(vectorTile(), -6))), ['truncated-tile'], 'the check sum of gzip')
    assert.deepEqual(await examine(vectorTile()),
      { type: 'application/vnd.mapbox-vector-tile', ext: 'pbf', problems: [] })
    assert.deepEqual(codes(await examine(rawVectorTile(), { unpacked: true })), [])
    assert.deepEqual(codes(await examine(rawVectorTile())), ['unknown-format'])
    assert.deepEqual(codes(await examine(gzipSync(field(3, field(1, 'water'))))),
      ['odd-vector-tile'], 'without a version')
  })

  it('names far too large tiles, without unpacking them, unless the layer states their size', async () => {
    const before = process.memoryUsage().rss
    assert.deepEqual(codes(await examine(claimingSize(await tile(1), 60000))), ['oversized-tile'])
    assert.deepEqual(codes(await examine(gzipSync(Buffer.alloc(70e6, 0x1a)))), ['oversized-tile'])
    assert.deepEqual(codes(await examine(Buffer.alloc(65e6, 1))), ['oversized-tile'])
    assert.ok(process.memoryUsage().rss - before < 400e6)
    const large = await tile(1, 2100)
    assert.deepEqual(codes(await examine(large)), ['oversized-tile'])
    assert.deepEqual(codes(await examine(large, { tileSize: 2100 })), [])
  })

  it('unpacks many gzip bombs at once without holding all of them in memory', async () => {
    const bomb = gzipSync(Buffer.alloc(30e6))
    collectGarbage()
    const before = process.memoryUsage().arrayBuffers
    let peak = 0
    await Promise.all(Array.from({ length: 12 }, async () => {
      await unpack(bomb)
      collectGarbage() // the remaining buffers are in use
      peak = Math.max(peak, process.memoryUsage().arrayBuffers - before)
    }))
    assert.ok(peak < 150e6, `${Math.round(peak / 1e6)} MB`)
  })
})

/** A vector tile with one layer that has these parts. */
const layer = (...parts) => field(3, Buffer.concat([varintField(15, 2), field(1, 'water'), ...parts]))
const feature = (type, ...geometry) => field(2, Buffer.concat([varintField(3, type), field(4, packed(...geometry))]))
const [move, line, close] = [[1 | 1 << 3], [2 | 2 << 3], [7 | 1 << 3]]
const polygon = [...move, 2, 2, ...line, 4, 0, 0, 4, ...close]

const assertSound = bytes => assert.deepEqual(checkVectorTile(bytes), { layers: 1, features: 1, odd: [] })

describe('a vector tile', () => {
  it('is sound with points, lines, polygons, and several of them', () => {
    assertSound(rawVectorTile())
    assertSound(layer(feature(1, 1 | 2 << 3, 5, 5, 7, 7)))
    assertSound(layer(feature(2, ...move, 2, 2, ...line, 4, 0, 0, 4, ...move, 2, 2, ...line, 4, 0, 0, 4)))
    assertSound(layer(feature(3, ...polygon, ...polygon)))
    assert.deepEqual(checkVectorTile(Buffer.alloc(0)), { layers: 0, features: 0, odd: [] }, 'of the open sea')
  })

  it('may have every kind of value, unknown fields, and its keys and values behind its features', () => {
    const values = [field(1, 'text'), Buffer.concat([varint(2 << 3 | 5), Buffer.alloc(4)]),
      Buffer.concat([varint(3 << 3 | 1), Buffer.alloc(8)]), ...[4, 5, 6, 7].map(number => varintField(number, 1))]
    const foreign = [field(99, 'mine'), Buffer.concat([varint(98 << 3 | 1), Buffer.alloc(8)])]
    assertSound(layer(...values.map(value => field(4, value)), field(3, 'key'), ...foreign,
      field(2, Buffer.concat([field(2, packed(0, 6)), varintField(3, 1), field(4, packed(9, 0, 0))]))))
    assertSound(layer(field(2, Buffer.concat([field(2, packed(0, 0)), varintField(3, 1), field(4, packed(9, 0, 0))])),
      field(3, 'a'), field(4, field(1, 'b'))))
  })

  it('lists its source layers with the fields of their features, in any order of encoding', () => {
    const properties = { name: 'a', wet: true, deep: -7, wide: 1.5 }
    const features = [{ id: 1, type: 'Point', lines: [[[1, 1]]], properties }]
    for (const other of [false, true]) {
      const sourceLayers = readSourceLayers(encodeTile({ water: features, land: [] }, { other }))
      assert.deepEqual([...sourceLayers.keys()].sort(), ['land', 'water'])
      assert.deepEqual(Object.fromEntries(sourceLayers.get('water') ?? []),
        { name: 'String', wet: 'Boolean', deep: 'Number', wide: 'Number' })
    }
    const unused = layer(field(3, 'unused'), field(4, field(1, 'b')), feature(1, 9, 0, 0))
    assert.deepEqual([...readSourceLayers(unused)], [['water', new Map()]])
    assert.deepEqual(readSourceLayers(
      layer(field(3, 'a'), field(4, field(1, 'b')), field(2, field(2, packed(0, 0))).subarray(0, -1))
    ), new Map(), 'of a damaged tile nothing')
  })

  const damage = {
    'a layer is cut off': [rawVectorTile().subarray(0, -1), /needs \d+ bytes/],
    'a number never ends': [Buffer.concat([varint(9 << 3), Buffer.alloc(11, 0xff)]), /more than 10 bytes/],
    'a number is cut off': [Buffer.from([0x08, 0x80]), /cut off/],
    'a field has no number': [Buffer.from([0x02, 0x00]), /without a number/],
    'a field has an unknown type': [Buffer.from([0x0f]), /no such type/],
    'a layer is no message': [varintField(3, 7), /written as type 0/],
    'a layer has no name': [field(3, varintField(15, 2)), /without a name/],
    'a name is no text': [field(3, field(1, Buffer.from([0xff, 0xfe]))), /no UTF-8/],
    'an extent is 0': [layer(varintField(5, 0)), /extent of 0/],
    'a tag refers to a missing key': [layer(field(3, 'a'), field(4, field(1, 'b')),
      field(2, Buffer.concat([field(2, packed(1, 0)), field(4, packed(9, 0, 0))]))), /refers to key 1/],
    'a tag has no value': [layer(field(3, 'a'), field(4, field(1, 'b')), field(2, field(2, packed(0)))),
      /without a value/],
    'a value has a wrong wire type': [layer(field(4, varintField(1, 5))), /field 1 of a value/],
    'a geometry has an unknown command': [layer(feature(1, 3 | 1 << 3, 0, 0)), /no such geometry command: 3/],
    'a geometry is cut off': [layer(feature(1, 9, 0)), /geometry is cut off/],
    'a geometry claims a billion points': [layer(feature(1, 1 + 1e9 * 8, 0, 0)), /geometry is cut off/]
  }
  for (const [name, [bytes, why]] of Object.entries(damage)) {
    it(`cannot be decoded when ${name}`, () => assert.match(checkVectorTile(bytes).damage ?? '', why))
  }

  const odd = {
    'a layer without a version': [field(3, field(1, 'a')), /without a version/],
    'two layers of one name': [Buffer.concat([layer(), layer()]), /two layers are called water/],
    'a feature without a geometry': [layer(field(2, varintField(3, 1))), /without a geometry/],
    'a feature of type 9': [layer(feature(9, 9, 0, 0)), /type 9/],
    'a polygon that is not closed': [layer(feature(3, ...move, 2, 2, ...line, 4, 0, 0, 4)), /does not end/],
    'a line of moves': [layer(feature(2, 1 | 2 << 3, 5, 5, 7, 7)), /repeated 2 times/],
    'a point with lines': [layer(feature(1, ...move, 2, 2, ...line, 4, 0, 0, 4)), /order/],
    'a value without a type': [layer(field(4, '')), /value of 0 kinds/]
  }
  for (const [name, [bytes, why]] of Object.entries(odd)) {
    it(`is decoded, but breaks a rule: ${name}`, () => {
      const result = checkVectorTile(bytes)
      assert.equal(result.damage, undefined)
      assert.match(result.odd.join(), why)
    })
  }

  it('is checked without an exception even if its bytes are random, with at most ten remarks', () => {
    const next = seeded(7)
    const tiles = Buffer.concat(Array.from({ length: 20 }, (_, seed) => rawVectorTile(seed)))
    let damaged = 0
    for (let round = 0; round < 3000; round++) {
      const bytes = Buffer.from(tiles.subarray(0, round % 2 ? undefined : Math.floor(next() * tiles.length)))
      for (let change = 0; change < 1 + next() * 4 && bytes.length; change++) {
        bytes[Math.floor(next() * bytes.length)] = next() * 256
      }
      if (checkVectorTile(bytes).damage) damaged++
    }
    assert.ok(damaged > 1000, `${damaged} of 3000 were seen to be damaged`)
    const started = performance.now()
    assert.ok(checkVectorTile(Buffer.alloc(4e6, 0x1a)).damage)
    assert.ok(performance.now() - started < 2000 * TIME_FACTOR)
    const layers = Array.from({ length: 5000 },
      (_, index) => field(3, Buffer.concat([varintField(15, index + 3), field(1, `${index}`)])))
    assert.equal(checkVectorTile(Buffer.concat(layers)).odd.length, 10)
  })
})
