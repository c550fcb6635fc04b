// Reads tiles from the body of an answer, and cuts metatiles. The type is taken from the bytes, not from the headers.
import pMap from 'p-map'
import { gridOf } from '../../../core/index.js'
import { Semaphore } from '../../../core/promises.js'
import { TilecouchError } from '../../errors.js'
import { inspectWhole, isGzip, pack, unpack } from '../../formats/unpack.js'
import { exceptionText } from '../../../core/upstream-address.js'
import { headerOf } from './freshness.js'

const SEARCHED = 10000 // bytes of an answer without an image that are searched for an error message
const SHOWN = 60 // characters of it in our error
const MOST_CODINGS = 2 // of a body, one inside the other
const CODINGS = { gzip: 'gzip', 'x-gzip': 'gzip', deflate: 'deflate', br: 'brotli' }

/**
 * @param {{headers: import('./freshness.js').Headers, bytes: Buffer}} answer
 * @param {object} options
 * @param {boolean} options.vector the layer has vector tiles, which are stored gzipped
 * @param {(text: string) => string} options.conceal removes secrets, which servers may repeat
 * @param {number} [options.limit] bytes, unpacked
 * @returns {Promise<{bytes: Buffer, type: string} | {why: string}>}
 */
export async function tileFrom ({ headers, bytes }, { vector, conceal, limit }) {
  let body = bytes
  try {
    body = await decode(bytes, headerOf(headers, 'content-encoding'), { vector, limit })
    return { bytes: body, type: (await inspectWhole(body)).type }
  } catch (error) {
    if (error.code === 'EMPTY_IMAGE') return { why: 'its answer was empty' }
    if (error.code === 'TRUNCATED_IMAGE') return { why: error.message }
    return { why: error.code === 'UNKNOWN_IMAGE' ? excerptOf(body, headers, conceal) : 'its answer cannot be unpacked' }
  }
}

/** Describes an answer that is no image. Secrets are removed before it is cut, so that no part of one is shown. */
function excerptOf (body, headers, conceal) {
  const text = conceal(body.subarray(0, SEARCHED).toString())
  const exception = exceptionText(text)
  if (exception) return `it says ${exception}`
  const type = conceal(headerOf(headers, 'content-type') ?? 'of no type').slice(0, 80)
  const beginning = text.slice(0, SHOWN)
  return `no image, but ${type}${/^[\t\r\n -~]*$/.test(beginning) ? `: ${JSON.stringify(beginning)}` : ''}`
}

async function decode (bytes, encoding, { vector, limit }) {
  // vector tiles are stored gzipped
  if (vector && isGzip(bytes)) return bytes
  const stated = (encoding ?? '').toLowerCase().split(',').map(name => name.trim())
  const names = stated.filter(name => Object.hasOwn(CODINGS, name))
  if (names.length > MOST_CODINGS) throw new Error('packed too often')
  let body = bytes
  for (const name of names.reverse()) {
    const coding = CODINGS[name]
    // some servers say gzip and send plain bytes
    if (coding !== 'gzip' || isGzip(body)) body = await unpack(body, { coding, limit })
  }
  return vector && body.length && !isGzip(body) ? pack(body, { level: 9 }) : body
}

// Metatiles: several tiles in one picture, so that labels are complete where tiles meet, and there are fewer requests.

const ENCODERS = 2 // tiles encoded at once: all share the thread pool
const MOST_SIDE = 6144 // pixels of a picture, with four bytes each when it is cut
const cutting = new Semaphore(2) // pictures at once, of all upstreams: each may take a hundred megabytes

/** Tiles a side of a picture. @param {number} metatile @param {number} tileSize @param {number} buffer pixels */
export const sideOf = (metatile, tileSize, buffer) =>
  Math.max(1, Math.min(metatile, Math.floor((MOST_SIDE - 2 * buffer) / tileSize)))

/** @typedef {{z: number, x0: number, y0: number, x1: number, y1: number}} Block inclusive */

/**
 * The block that a tile is fetched with: a square of tiles, within the world and the boxes.
 * @param {{z: number, x: number, y: number}} tile
 * @param {number} side tiles
 * @param {import('../../../core/grid.js').Bbox[]} boxes
 * @param {import('../../../core/grids/grid.js').Grid} [grid]
 * @returns {Block}
 */
export function blockOf ({ z, x, y }, side, boxes, grid = gridOf()) {
  const { columns, rows } = grid.has(z, x, y) ? grid.matrix(z) : { columns: x + 1, rows: y + 1 }
  const [left, top] = [x - x % side, y - y % side]
  const block = { z, x0: left, y0: top, x1: Math.min(left + side, columns) - 1, y1: Math.min(top + side, rows) - 1 }
  for (const box of boxes) {
    const range = grid.ranges(box, z).find(({ x0, x1, y0, y1 }) => x >= x0 && x <= x1 && y >= y0 && y <= y1)
    if (!range) return { z, x0: x, y0: y, x1: x, y1: y } // outside: the tile is not fetched
    block.x0 = Math.max(block.x0, range.x0)
    block.y0 = Math.max(block.y0, range.y0)
    block.x1 = Math.min(block.x1, range.x1)
    block.y1 = Math.min(block.y1, range.y1)
  }
  return block
}

/** @param {Block} block */
export function tilesOf ({ z, x0, y0, x1, y1 }) {
  const tiles = []
  for (let x = x0; x <= x1; x++) {
    for (let y = y0; y <= y1; y++) tiles.push({ z, x, y })
  }
  return tiles
}

/**
 * The pixels to request: the block and a margin, within the world.
 * @param {Block} block
 * @param {number} tileSize @param {number} buffer pixels
 * @param {import('../../../core/grids/grid.js').Grid} [grid]
 * @returns {import('../../../core/upstream-address.js').Rectangle}
 */
export function rectangleOf ({ z, x0, y0, x1, y1 }, tileSize, buffer, grid = gridOf()) {
  const { columns, rows } = grid.matrix(z)
  const [left, top] = [x0, y0].map(first => Math.max(0, first * tileSize - buffer))
  const [right, bottom] = [[x1, columns], [y1, rows]].map(([last, count]) =>
    Math.min(count * tileSize, (last + 1) * tileSize + buffer))
  return { z, left, top, width: right - left, height: bottom - top }
}

/** @type {typeof cutOne} */
export const cut = (bytes, options) => cutting.run(() => cutOne(bytes, options))

/**
 * @param {Buffer} bytes the picture
 * @typedef {import('../../../core/upstream-address.js').Rectangle} Rectangle
 * @param {{block: Block, rectangle: Rectangle, tileSize: number, type: string}} options
 * @returns {Promise<{z: number, x: number, y: number, bytes: Buffer, type: string}[]>}
 */
async function cutOne (bytes, { block, rectangle, tileSize, type }) {
  const { default: sharp } = await import('sharp') // only metatiles need it
  sharp.cache(false) // no picture comes twice
  const { width, height } = rectangle
  let picture
  try {
    // for a truncated JPEG with an end mark, sharp only warns, and half of it would be grey
    const image = sharp(bytes, { failOn: 'warning', limitInputPixels: width * height })
    const metadata = await image.metadata()
    if (metadata.width !== width || metadata.height !== height) {
      throw new Error(`it is ${metadata.width} x ${metadata.height} pixels, not ${width} x ${height}`)
    }
    const raw = await image.toColourspace('srgb').raw().toBuffer({ resolveWithObject: true })
    picture = { ...raw, palette: Boolean(metadata.isPalette) }
  } catch (error) {
    throw new TilecouchError('TRUNCATED_IMAGE', { type, why: error.message.split('\n')[0] })
  }
  const { data, info: { channels }, palette } = picture
  return pMap(tilesOf(block), async ({ z, x, y }) => {
    const [left, top] = [x * tileSize - rectangle.left, y * tileSize - rectangle.top]
    const raw = { width, height, channels }
    const tile = sharp(data, { raw }).extract({ left, top, width: tileSize, height: tileSize })
    return { z, x, y, type, bytes: await encode(tile, type, palette) }
  }, { concurrency: ENCODERS })
}

// tiles of a picture with a palette get a palette: a third of the size, and the same pixels
function encode (tile, type, palette) {
  if (type === 'image/jpeg') return tile.flatten({ background: '#ffffff' }).jpeg({ quality: 90 }).toBuffer()
  if (type === 'image/webp') return tile.webp({ quality: 90 }).toBuffer()
  return tile.png(palette ? { palette: true, dither: 0, quality: 100 } : { compressionLevel: 9 }).toBuffer()
}
