// What tiles can be loaded from. Every source is the same small thing:
//
//   name      what it is called in the edition
//   fields    what it says of itself, as fields of a layer document
//   tiles()   its tiles in ascending order of their ids, each with a read() that fetches the bytes; may be walked again
//   close()
//
// To add a source: a module with `recognises(path, stat)` and `open(path, options)`, and its name in the list below.
import { stat } from 'node:fs/promises'
import { TilecouchError } from '../../core/index.js'
import * as folder from './folder.js'
import * as mbtiles from './mbtiles.js'

const kinds = [folder, mbtiles]

export const schemes = ['xyz', 'tms']

/**
 * @typedef {{z: number, x: number, y: number, read: () => Promise<Uint8Array> | Uint8Array}} SourceTile
 * @typedef {{bbox?: import('../../core/grid.js').Bbox, zooms?: import('../../core/grid.js').Zooms}} Selection
 * @typedef {object} Source
 * @property {string} name
 * @property {Record<string, any>} fields
 * @property {() => AsyncIterable<SourceTile>} tiles
 * @property {() => void} close
 */

/**
 * @param {string} path
 * @param {Selection & {scheme?: string}} [options] scheme: xyz, or tms when rows count from the south
 * @returns {Promise<Source>}
 */
export async function openSource (path, options = {}) {
  if (options.scheme && !schemes.includes(options.scheme)) throw new TilecouchError('BAD_OPTION', { option: '--scheme', value: options.scheme })
  let stats
  try {
    stats = await stat(path)
  } catch (error) {
    throw error.code === 'ENOENT'
      ? new TilecouchError('SOURCE_NOT_FOUND', { value: path })
      : new TilecouchError('SOURCE_UNREADABLE', { value: path, why: error.message })
  }
  const kind = kinds.find(candidate => candidate.recognises(path, stats))
  if (!kind) throw new TilecouchError('SOURCE_UNKNOWN', { value: path })
  return kind.open(path, options)
}
