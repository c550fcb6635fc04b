// The way of every tile through the check, whatever it comes from: read, examined, compared with what its container says
// of it. Several at once, reported in the order in which they came.
import { pMapIterable } from 'p-map'
import { TilecouchError } from '../../core/index.js'
import { decodeDefaults, examine } from './decode.js'

export const tilesDefaults = {
  concurrency: 4 // tiles decoded at once: as many as libuv has threads
}

/**
 * @typedef {object} Job
 * @property {string} where
 * @property {number} [size] bytes, when known before they are read
 * @property {() => Promise<Buffer | undefined> | Buffer | undefined} read throws what makes it unreadable; nothing: it is not there after all
 * @property {(found: {type?: string, ext?: string, bytes: Buffer}) => import('./decode.js').Problems} [compare] with what the container says
 */

/**
 * @typedef {object} TileOptions
 * @property {import('./report.js').Report} report
 * @property {boolean} [decode]
 * @property {number} [tileSize] pixels; nothing: that of the first image
 * @property {boolean} [unpacked] vector tiles need not be gzipped
 * @property {AbortSignal} [signal]
 * @property {(done: {tiles: number, bytes: number}) => void} [onTile]
 */

/**
 * @param {AsyncIterable<Job> | Iterable<Job>} jobs
 * @param {TileOptions} options
 * @returns {Promise<{tiles: number, bytes: number, decoded: number, types: Record<string, number>}>}
 */
export async function examineAll (jobs, { report, decode = true, tileSize, unpacked, signal, onTile }) {
  const done = { tiles: 0, bytes: 0, decoded: 0, types: /** @type {Record<string, number>} */ ({}) }
  let usual = tileSize
  const examined = pMapIterable(jobs, job => examineJob(job, { decode, tileSize, unpacked }), { concurrency: tilesDefaults.concurrency })
  for await (const { where, missing, size, type, width, height, problems } of examined) {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    if (missing) continue
    report.addAll(where, problems)
    if (width) {
      const expected = usual ??= width
      if (width !== height || (width !== expected && width !== 2 * expected)) report.add('odd-size', where, `${width} x ${height} pixels, tiles are ${expected} x ${expected}`)
    }
    done.tiles++
    done.bytes += size
    if (type) done.types[type] = (done.types[type] ?? 0) + 1
    if (decode && type && !problems.some(([code]) => UNDECODED.has(code))) done.decoded++
    onTile?.(done)
  }
  return done
}

const UNDECODED = new Set(['truncated-tile', 'undecodable-tile', 'oversized-tile'])

/**
 * @param {Job} job
 * @param {{decode: boolean, tileSize?: number, unpacked?: boolean}} options
 * @returns {Promise<{where: string, missing?: boolean, size: number, type?: string, width?: number, height?: number, problems: import('./decode.js').Problems}>}
 */
async function examineJob ({ where, size = 0, read, compare }, options) {
  if (size > decodeDefaults.bytes) return { where, size: 0, problems: [['oversized-tile', `${size} bytes`]] }
  let bytes
  try {
    bytes = await read()
  } catch (error) {
    if (error.code === 'ABORTED') throw error
    return { where, size: 0, problems: [['unreadable-tile', error.message]] }
  }
  if (!bytes) return { where, missing: true, size: 0, problems: [] }
  const { problems, ...found } = await examine(bytes, options)
  return { where, size: bytes.length, ...found, problems: [...problems, ...(compare?.({ ...found, bytes }) ?? [])] }
}
