// Helpers for tests of core/: random tiles and times, sample images, and assertions about error codes.
import assert from 'node:assert/strict'
import { gzipSync } from 'node:zlib'
import fc from 'fast-check'
import sharp from 'sharp'
import { RESERVED } from '../../core/ids.js'

/** The code of the error that a call throws. An error that is not from the catalogue fails the test. */
export function codeOf (call) {
  try {
    call()
  } catch (error) {
    assert.equal(error.name, 'TilecouchError', error.stack)
    return error.code
  }
  return undefined
}

/** Asserts that a call throws an error with this code for every value. */
export function refusesAll (call, values, code) {
  for (const value of values) assert.equal(codeOf(() => call(value)), code, `${JSON.stringify(value)} must be ${code}`)
}

export const layer = fc.stringMatching(/^[a-z0-9][a-z0-9_-]{0,8}$/).filter(name => !RESERVED.has(name))

/** [z, x, y] of any tile; all zooms are equally likely. */
export const tile = fc.integer({ min: 0, max: 30 })
  .chain(
    z => fc.tuple(fc.constant(z), fc.integer({ min: 0, max: 2 ** z - 1 }), fc.integer({ min: 0, max: 2 ** z - 1 }))
  )

/** Whole seconds from year 1 to 9998. */
export const seconds = fc.integer({ min: Date.UTC(2000, 0) / 1000 - 62e9, max: Date.UTC(9998, 11) / 1000 })

export const iso = value => new Date(value * 1000).toISOString().slice(0, 19) + 'Z'

export const time = seconds.map(iso)

/** A tile matrix set of a town, as a user writes it: with named matrices whose cell sizes do not halve. */
export const townGrid = (matrices = [[100, 3, 2], [40, 7, 5]]) => ({
  id: 'Town',
  crs: 'http://www.opengis.net/def/crs/EPSG/0/28992',
  tileMatrices: matrices.map(([cellSize, matrixWidth, matrixHeight], index) => ({
    id: `t${index}`, scaleDenominator: cellSize / 0.00028, cellSize,
    pointOfOrigin: [120000, 490000], tileWidth: 256, tileHeight: 256, matrixWidth, matrixHeight
  }))
})

const gradient = () => {
  const size = 32
  const data = Buffer.alloc(size * size * 3)
  for (let index = 0; index < data.length; index++) data[index] = (index * 7 + (index >> 5) * 13) % 256
  return sharp(data, { raw: { width: size, height: size, channels: 3 } })
}

/** An unpacked vector tile: one layer "a" of version 2, extent 4096. */
const layerOfVectorTile = Buffer.from([0x1a, 0x08, 0x78, 0x02, 0x0a, 0x01, 0x61, 0x28, 0x80, 0x20])

/** One small tile of each format, as real encoders write them. */
export async function samples () {
  return {
    png: await gradient().png({ palette: false }).toBuffer(),
    jpeg: await gradient().jpeg().toBuffer(),
    webp: await gradient().webp().toBuffer(),
    avif: await gradient().avif({ effort: 0 }).toBuffer(),
    mvt: gzipSync(layerOfVectorTile)
  }
}
