// Decodes one tile for a check: the pixels of an image, the features of a vector tile. A hostile tile cannot take
// unlimited memory. Images are limited by pixels before they are decoded, vector tiles by unpacked bytes. Large vector
// tiles are unpacked one after the other.
import { formats, inspectTile } from '../../../core/index.js'
import { isRawVectorTile, unpack, unpackDefaults } from '../../formats/unpack.js'
import { checkVectorTile } from './vector-tile.js'

export const decodeDefaults = {
  bytes: unpackDefaults.bytes, // a larger tile, packed or unpacked, is not decoded; the limit of a load
  side: 2048 // pixels: images up to this are decoded whatever the tile size is
}

let sharp // loaded on first use: other commands need not wait for it

/** @typedef {[code: string, why?: string][]} Problems */

/** The problems of some checks: `[isWrong, code, why]`. @param {any[][]} checks @returns {Problems} */
export const problemsOf = checks => checks.filter(([isWrong]) => isWrong).map(([, code, why]) => [code, why])

/**
 * @param {Buffer} bytes
 * @param {{decode?: boolean, tileSize?: number, unpacked?: boolean}} [options] tileSize: pixels; unpacked: a vector
 *   tile need not be gzipped
 * @returns {Promise<{type?: string, ext?: string, width?: number, height?: number, problems: Problems}>}
 */
export async function examine (bytes, { decode = true, tileSize = 0, unpacked = false } = {}) {
  if (!bytes?.length) return { problems: [['empty-tile']] }
  if (bytes.length > decodeDefaults.bytes) return { problems: [['oversized-tile', `${bytes.length} bytes`]] }
  const isRaw = unpacked && isRawVectorTile(bytes)
  let format
  try {
    format = isRaw ? formats.mvt : inspectTile(bytes)
  } catch (error) {
    return { problems: [[CODES[error.code] ?? 'truncated-tile', error.details?.why ?? error.message]] }
  }
  if (format === formats.mvt) return { ...format, problems: await vectorProblems(bytes, isRaw, decode) }
  return decode ? { ...format, ...await decodeImage(bytes, format, tileSize) } : { ...format, problems: [] }
}

const CODES = { EMPTY_IMAGE: 'empty-tile', UNKNOWN_IMAGE: 'unknown-format', TRUNCATED_IMAGE: 'truncated-tile' }

/** @returns {Promise<Problems>} */
async function vectorProblems (bytes, isRaw, decode) {
  let content = bytes
  try {
    if (!isRaw) content = await unpack(bytes)
  } catch (error) {
    return [error.code === 'ERR_BUFFER_TOO_LARGE'
      ? ['oversized-tile', `more than ${decodeDefaults.bytes} bytes unpacked`]
      : ['truncated-tile', error.message]]
  }
  if (!decode) return []
  const { damage, odd } = checkVectorTile(content)
  return [
    ...(damage ? [/** @type {[string, string]} */ (['undecodable-tile', damage])] : []),
    ...odd.map(why => /** @type {[string, string]} */ (['odd-vector-tile', why]))
  ]
}

async function decodeImage (bytes, format, tileSize) {
  sharp ??= (await import('sharp')).default
  const side = Math.max(2 * tileSize, decodeDefaults.side)
  try {
    // one channel is enough to have every pixel decoded, and a third of the memory
    const { info } = await sharp(bytes, {
      // libjpeg warns about damage; libpng mostly warns about colour profiles
      failOn: format === formats.jpeg ? 'warning' : 'error', limitInputPixels: side * side, sequentialRead: true
    }).extractChannel(0).raw().toBuffer({ resolveWithObject: true })
    return { width: info.width, height: info.height, problems: [] }
  } catch (error) {
    const isLarge = /exceeds pixel limit/i.test(error.message)
    const why = error.message.replace(/^unknown error$/i, 'the decoder does not say why')
    /** @type {Problems} */
    const problems = [[isLarge ? 'oversized-tile' : 'undecodable-tile', why]]
    return { problems }
  }
}
