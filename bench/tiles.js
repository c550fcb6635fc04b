// Seeded tiles for measurements: real PNGs that do not compress, so that their size is the same in every store.
import { crc32, deflateSync } from 'node:zlib'

/** A small generator of random numbers: the same seed gives the same tiles on every machine. */
export function random (seed) {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

/** A part of a PNG. @param {string} type @param {Buffer} data */
export function chunk (type, data) {
  const body = Buffer.concat([Buffer.from(type), data])
  const length = Buffer.alloc(4)
  const checksum = Buffer.alloc(4)
  length.writeUInt32BE(data.length)
  checksum.writeUInt32BE(crc32(body))
  return Buffer.concat([length, body, checksum])
}

/**
 * A PNG that is not compressed.
 * @param {Buffer} rows of pixels, each after a zero: no filter
 * @param {object} layout
 * @param {number} layout.width pixels
 * @param {number} layout.height
 * @param {boolean} [layout.isGrey] else red, green and blue
 * @param {Buffer[]} [layout.more] chunks before the pixels
 */
export function storedPng (rows, { width, height, isGrey = false, more = [] }) {
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = 8 // bits of each channel
  header[9] = isGrey ? 0 : 2
  return Buffer.concat([
    Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]), chunk('IHDR', header), ...more,
    chunk('IDAT', deflateSync(rows, { level: 0 })), chunk('IEND', Buffer.alloc(0))
  ])
}

/** A grey PNG of approximately `size` bytes. @param {number} [size] bytes */
export function noiseTile (seed, size = 10000) {
  const width = Math.max(4, Math.round(Math.sqrt(size)))
  const next = random(seed)
  const pixels = Buffer.alloc(width * (width + 1))
  for (let index = 0; index + 4 <= pixels.length; index += 4) pixels.writeUInt32LE((next() * 4294967296) >>> 0, index)
  for (let row = 0; row < width; row++) pixels[row * (width + 1)] = 0 // no filter
  return storedPng(pixels, { width, height: width, isGrey: true })
}

const EMPTY = 12 // bytes of an empty chunk, such as the last one

/**
 * A grey PNG of exactly `length` bytes. A chunk of an unknown type, which readers skip, fills the rest.
 * @param {number} length bytes, some hundred at least
 */
export function tileOfLength (seed, length) {
  const tile = noiseTile(seed, length - 3 * Math.sqrt(length) - 100) // slightly shorter than `length`
  const next = random(seed)
  const noise = Array.from({ length: length - tile.length - EMPTY }, () => next() * 256)
  return Buffer.concat([tile.subarray(0, -EMPTY), chunk('fiLl', Buffer.from(noise)), tile.subarray(-EMPTY)])
}
