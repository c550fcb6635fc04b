// Helpers for tests of verify: valid tiles of every kind, and a check that returns all its findings.
import { gzipSync } from 'node:zlib'
import sharp from 'sharp'
import { random } from '../../bench/tiles.js'
import { check } from '../../loader/check/index.js'
import { varint } from '../sources/archive-writers.js'
import { drawPixels } from './tiles.js'

const palette = Uint8Array.from({ length: 768 }, (_, index) => index % 256)

/**
 * A PNG of 256 x 256 pixels and some hundred bytes, different for each seed.
 * @param {number} seed
 * @param {number} [side]
 */
export const tile = (seed, side = 256) =>
  drawPixels(Uint8Array.from({ length: side * side }, (_, index) => ((index >> 5) * (seed % 97 + 1) + seed) % 61),
    side, palette)

/** @param {'png' | 'jpeg' | 'webp' | 'avif'} format @param {number} [seed] */
export async function image (format, seed = 1, side = 256) {
  const next = random(seed)
  // a slope with noise, so that no format compresses it to a few bytes
  const pixels = Buffer.from(Uint8Array.from({ length: side * side * 3 }, (_, index) => (index >> 10) + next() * 40))
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

/** A copy of the bytes with one flipped bit. @param {Buffer} bytes @param {number} index from the end when negative */
export function flipped (bytes, index) {
  const copy = Buffer.from(bytes)
  copy[index < 0 ? copy.length + index : index] ^= 0x10
  return copy
}

/** A PNG whose frame is valid, but whose compressed pixels cannot be unpacked. */
export async function undecodable (seed) {
  const png = Buffer.from(await tile(seed))
  const idat = png.indexOf('IDAT')
  return flipped(png, idat + 4 + Math.floor(png.readUInt32BE(idat - 4) / 2))
}

/** A tile document as another program might write it. */
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
 * Runs a check, and returns its summary and all its findings.
 * @param {Parameters<typeof check>[0]} target
 * @param {import('../../loader/check/index.js').CheckOptions} [options]
 */
export async function findings (target, options) {
  const collected = []
  const summary = await check(target, { ...options, onFinding: finding => collected.push(finding) })
  return { summary, found: collected, said: collected.map(({ code, where }) => `${code} ${where}`).sort() }
}
