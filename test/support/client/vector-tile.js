// A vector tile with one square that covers it, whose colour is an attribute.
import { gzipSync } from 'node:zlib'

const varint = value => value < 128 ? [value] : [value & 127 | 128, ...varint(value >> 7)]
const bytes = (field, content) => [...varint(field << 3 | 2), ...varint(content.length), ...content]
const number = (field, value) => [...varint(field << 3), ...varint(value)]
const text = (field, value) => bytes(field, [...Buffer.from(value)])
const zigzag = value => value < 0 ? -2 * value - 1 : 2 * value
const EXTENT = 4096

/** @param {string} colour @param {string} [layer] @returns {Buffer} gzipped MVT */
export function squareTile (colour, layer = 'squares') {
  const side = zigzag(EXTENT)
  const ring = [9, 0, 0, 3 << 3 | 2, side, 0, 0, side, zigzag(-EXTENT), 0, 15]
  const feature = [...bytes(2, [0, 0]), ...number(3, 3), ...bytes(4, ring.flatMap(varint))]
  return gzipSync(Buffer.from(bytes(3, [
    ...text(1, layer), ...bytes(2, feature), ...text(3, 'colour'),
    ...bytes(4, text(1, colour)), ...number(5, EXTENT), ...number(15, 2)
  ])))
}
