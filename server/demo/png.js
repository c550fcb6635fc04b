// A small encoder of indexed PNGs. The palette is cut to the colours a tile uses, and the depth to what the palette
// needs: a tile of open sea at noon has one colour and about a hundred bytes. sharp, with which the map is drawn, takes
// twice as long for the same colours, and 8 % more bytes.
import { promisify } from 'node:util'
import zlib, { crc32 } from 'node:zlib'

const deflate = promisify(zlib.deflate)

const LEVEL = 6 // of zlib: 9 takes twice the time for 3 % less

const SIGNATURE = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a])
const INDEXED = 3 // colour type

/**
 * @param {Uint8Array} pixels an index into the palette each, row by row
 * @param {Uint8Array} palette red, green and blue of each index
 */
export async function encodeIndexed (pixels, width, palette) {
  const height = pixels.length / width
  const { indices, colours } = cutPalette(usedColours(pixels), palette)
  const depth = [1, 2, 4].find(bits => colours.length / 3 <= 2 ** bits) ?? 8
  const header = Buffer.alloc(13)
  header.writeUInt32BE(width, 0)
  header.writeUInt32BE(height, 4)
  header[8] = depth
  header[9] = INDEXED
  const data = await deflate(scanlines(pixels, width, depth, indices), { level: LEVEL })
  const chunks = { IHDR: header, PLTE: colours, IDAT: data, IEND: Buffer.alloc(0) }
  return Buffer.concat([SIGNATURE, ...Object.entries(chunks).map(([type, bytes]) => chunk(type, bytes))])
}

/** One flag for each index. */
function usedColours (pixels) {
  const used = new Uint8Array(256)
  for (let at = 0; at < pixels.length; at++) used[pixels[at]] = 1
  return used
}

/** New indices, in the order of the old ones, so that neighbours in the palette stay neighbours. */
function cutPalette (used, palette) {
  const indices = new Uint8Array(used.length)
  const colours = []
  for (let index = 0; index < used.length; index++) {
    if (!used[index]) continue
    indices[index] = colours.length / 3
    colours.push(palette[index * 3], palette[index * 3 + 1], palette[index * 3 + 2])
  }
  return { indices, colours: Buffer.from(colours) }
}

/** Rows of packed pixels, each behind a zero: the filters of PNG do not help indices. */
function scanlines (pixels, width, depth, indices) {
  const perByte = 8 / depth
  const stride = Math.ceil(width / perByte)
  const lines = Buffer.alloc((stride + 1) * pixels.length / width)
  for (let from = 0, to = 1; from < pixels.length; from += width, to += stride + 1) {
    for (let x = 0; x < width; x++) {
      lines[to + Math.floor(x / perByte)] |= indices[pixels[from + x]] << (8 - depth * (x % perByte + 1))
    }
  }
  return lines
}

function chunk (type, data) {
  const bytes = Buffer.alloc(12 + data.length)
  bytes.writeUInt32BE(data.length, 0)
  bytes.write(type, 4, 'latin1')
  data.copy(bytes, 8)
  bytes.writeUInt32BE(crc32(bytes.subarray(4, 8 + data.length)), 8 + data.length)
  return bytes
}
