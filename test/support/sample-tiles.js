// What the tests of verify share: real tiles of every kind, and a check that tells everything it found.
import { gzipSync } from 'node:zlib'
import sharp from 'sharp'
import { random } from '../../bench/tiles.js'
import { check } from '../../loader/check/index.js'
import { varint } from '../sources/archive-writers.js'
import { drawPixels } from './tiles.js'

const palette = Uint8Array.from({ length: 768 }, (_, index) => index % 256)

/**
 * A PNG of 256 x 256 pixels and some hundred bytes, told apart by a number.
 * @param {number} seed
 * @param {number} [side]
 */
export const tile = (seed, side = 256) =>
  drawPixels(Uint8Array.from({ length: side * side }, (_, at) => ((at >> 5) * (seed % 97 + 1) + seed) % 61),
    side, palette)

/** @param {'png' | 'jpeg' | 'webp' | 'avif'} format @param {number} [seed] */
export async function image (format, seed = 1, side = 256) {
  const next = random(seed)
  // a slope with some noise on it, so that no format makes it a few bytes
  const pixels = Buffer.from(Uint8Array.from({ length: side * side * 3 }, (_, at) => (at >> 10) + next() * 40))
  return sharp(pixels, { raw: { width: side, height: side, channels: 3 } }).toFormat(format).toBuffer()
}

/** A gzipped vector tile of one layer with a point of its own. @param {number} [seed] */
export const vectorTile = (seed = 1) => gzipSync(rawVectorTile(seed))

export const rawVectorTile = (seed = 1) => field(3, Buffer.concat([
  varintField(15, 2), field(1, 'water'), field(3, 'name'), field(4, field(1, `lake ${seed}`)), varintField(5, 4096),
  field(2,
    Buffer.concat([varintField(1, seed), field(2, packed(0, 0)), varintField(3, 1), field(4, packed(9, 50, 34))]))
]))

/** A field of bytes. @param {number} number @param {Buffer | string} content */
export const field = (number, content) =>
  Buffer.concat([varint(number * 8 + 2), varint(Buffer.from(content).length), Buffer.from(content)])
export const varintField = (number, value) => Buffer.concat([varint(number * 8), varint(value)])
export const packed = (...values) => Buffer.concat(values.map(varint))

/** The same bytes but for one. @param {Buffer} bytes @param {number} at from the end when negative */
export function flipped (bytes, at) {
  const copy = Buffer.from(bytes)
  copy[at < 0 ? copy.length + at : at] ^= 0x10
  return copy
}

/** A PNG whose frame is whole and whose pixels are not: its check sums hold, but the packed data does not. */
export async function undecodable (seed) {
  const png = Buffer.from(await tile(seed))
  const at = png.indexOf('IDAT')
  return flipped(png, at + 4 + Math.floor(png.readUInt32BE(at - 4) / 2))
}

/** A tile document as somebody else might write it. */
export async function document (id, fields = {}, bytes = tile(1)) {
  const [, layer, z, x, y, past] = /^([^:]+):(\d+):(\d+):(\d+)(?:@(.*))?$/.exec(id) ?? []
  const data = bytes && (await bytes).toString('base64')
  return {
    _id: id, type: 'tile', layer, z: +z, x: +x, y: +y, current: past === undefined,
    time: past ?? '2022-06-01T00:00:00Z', stored: '2023-06-01T12:30:00Z',
    ...(data && { _attachments: { tile: { content_type: 'image/png', data } } }), ...fields
  }
}

/**
 * Everything that is found, beside the summary.
 * @param {Parameters<typeof check>[0]} what
 * @param {import('../../loader/check/index.js').CheckOptions} [options]
 */
export async function findings (what, options) {
  const found = []
  const summary = await check(what, { ...options, onFinding: finding => found.push(finding) })
  return { summary, found, said: found.map(({ code, where }) => `${code} ${where}`).sort() }
}
