// Examines tiles of files and stores: reads and decodes each tile, and compares it with its container. Several tiles
// are examined at once, and reported in their order.
import { LRUCache } from 'lru-cache'
import { pMapIterable } from 'p-map'
import { isTileSize } from '../../../core/images.js'
import { TilecouchError } from '../../errors.js'
import { decodeDefaults, examine } from './decode.js'

export const tilesDefaults = {
  concurrency: 4, // tiles decoded at once: as many as libuv has threads
  contents: 1000 // remembered contents of several tiles, so that each is decoded once
}

const USUAL = 256 // pixels

/**
 * @typedef {object} Job
 * @property {string} where
 * @property {number} [size] bytes, when known before they are read
 * @property {string} [content] jobs with the same content have the same bytes
 * @property {() => Promise<Buffer | undefined> | Buffer | undefined} read throws the reason if
 *   the tile is unreadable; returns nothing if it no longer exists
 * @property {(tile: {type?: string, ext?: string, bytes: Buffer}) => import('./decode.js').Problems} [compare] compares
 *   the tile with its container
 */

/**
 * @param {AsyncIterable<Job> | Iterable<Job>} jobs
 * @param {{report: import('./report.js').Report, decode?: boolean, tileSize?: number, unpacked?: boolean,
 *   signal?: AbortSignal, onTile?: (done: {tiles: number, bytes: number}) => void}} options
 *   tileSize: pixels, else that of the images; unpacked: vector tiles need not be gzipped
 * @returns {Promise<{tiles: number, bytes: number, decoded: number, types: Record<string, number>}>}
 */
export async function examineAll (jobs, { report, decode = true, tileSize, unpacked, signal, onTile }) {
  const done = { tiles: 0, bytes: 0, decoded: 0, types: /** @type {Record<string, number>} */ ({}) }
  let side = tileSize // if unknown, the side of the first image that has the size of a tile
  const { concurrency } = tilesDefaults
  /** Results of contents that several tiles show, such as the ocean. @type {LRUCache<string, Examined>} */
  const contents = new LRUCache({ max: tilesDefaults.contents })
  const examined = pMapIterable(jobs, job => examineJob(job, contents, { decode, tileSize, unpacked }), { concurrency })
  for await (const tile of examined) {
    const { where, missing, width, height, problems } = tile
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    if (missing) continue
    report.addAll(where, problems)
    if (width && isTileSize(width, height)) side ??= width
    const sizeProblem = sizeProblemOf(width, height, side)
    if (sizeProblem) report.add('odd-size', where, sizeProblem)
    countTile(done, tile, decode)
    onTile?.(done)
  }
  if (signal?.aborted) throw new TilecouchError('ABORTED')
  return done
}

const UNDECODED = new Set(['truncated-tile', 'undecodable-tile', 'oversized-tile'])

/** Counts an examined tile. */
function countTile (done, /** @type {Examined} */ { size, type, problems }, decode) {
  done.tiles++
  done.bytes += size
  if (type) done.types[type] = (done.types[type] ?? 0) + 1
  if (decode && type && !problems.some(([code]) => UNDECODED.has(code))) done.decoded++
}

/** The problem of an image that has not the size of the tiles, nor twice that size, for sharp screens. */
function sizeProblemOf (width, height, side = USUAL) {
  if (!width || (width === height && [side, 2 * side].includes(width))) return undefined
  return `${width} x ${height} pixels, tiles are ${side} x ${side}`
}

/**
 * @typedef {{size: number, type?: string, width?: number, height?: number, problems: any}} Examined
 * @param {Job} job
 * @param {LRUCache<string, Examined>} contents
 * @param {{decode: boolean, tileSize?: number, unpacked?: boolean}} options
 * @returns {Promise<{where: string, missing?: boolean, size: number, type?: string, width?: number, height?: number,
 *   problems: import('./decode.js').Problems}>}
 */
async function examineJob ({ where, size = 0, content, read, compare }, contents, options) {
  const examined = content && contents.get(content)
  if (examined) return { where, ...examined }
  if (size > decodeDefaults.bytes) return { where, size: 0, problems: [['oversized-tile', `${size} bytes`]] }
  let bytes
  try {
    bytes = await read()
  } catch (error) {
    if (error.code === 'ABORTED') throw error
    return { where, size: 0, problems: [['unreadable-tile', error.message]] }
  }
  if (!bytes) return { where, missing: true, size: 0, problems: [] }
  const { problems, ...properties } = await examine(bytes, options)
  const containerProblems = compare?.({ ...properties, bytes }) ?? []
  const result = { size: bytes.length, ...properties, problems: [...problems, ...containerProblems] }
  if (content) contents.set(content, result)
  return { where, ...result }
}
