// Checks everything there is to check of a layer of a store, or of a file of tiles: goes on after what is wrong, to the end.
import { TilecouchError, formatReference } from '../core/index.js'
import { verifyFile } from './verify/files.js'
import { Report } from './verify/report.js'
import { verifyLayer } from './verify/store/index.js'

/**
 * @typedef {object} VerifyOptions
 * @property {import('../core/area.js').Area} [area] only tiles that touch it
 * @property {import('../core/grid.js').Zooms} [zooms] only these
 * @property {boolean} [decode] decode every tile; otherwise only its frame is looked at
 * @property {'xyz' | 'tms'} [scheme] how a folder or archive counts its rows
 * @property {AbortSignal} [signal]
 * @property {(done: {tiles: number, bytes: number, total?: number, faults: number, warnings: number}) => void} [onProgress]
 * @property {(finding: import('./verify/report.js').Finding) => void} [onFault] told of every finding
 */

/**
 * @typedef {object} VerifySummary
 * @property {string} what
 * @property {string} kind layer, folder, mbtiles, pmtiles, zip or tar
 * @property {number} tiles
 * @property {number} bytes of tiles read
 * @property {Record<string, any>} checked what was looked at, and how much of it
 * @property {number} faults
 * @property {number} warnings
 * @property {Record<string, number>} kinds code -> how often
 * @property {Record<string, import('./verify/report.js').Finding>} examples code -> the first of it
 * @property {import('./verify/report.js').Finding[]} first the first hundred
 */

/**
 * @param {string | {store: import('./store/index.js').Store, layer: string, time?: string}} what a file or folder, or a layer; with a time, only what it showed then is decoded
 * @param {VerifyOptions} [options]
 * @returns {Promise<VerifySummary>}
 */
export async function verify (what, { onProgress, onFault, ...options } = {}) {
  const report = new Report({ onFault })
  const isFile = typeof what === 'string'
  let done = { tiles: 0, bytes: 0 }
  const settings = {
    ...options,
    report,
    onProgress (now) {
      done = { tiles: now.tiles, bytes: now.bytes }
      onProgress?.({ ...now, faults: report.faults, warnings: report.warnings })
    }
  }
  const summary = found => ({
    what: isFile ? what : formatReference(what.layer, what.time),
    ...found,
    faults: report.faults,
    warnings: report.warnings,
    kinds: report.kinds,
    examples: report.examples,
    first: report.first
  })
  try {
    if (isFile) return summary(await verifyFile(what, settings))
    const { reach, ...found } = await verifyLayer(what.store, what.layer, { ...settings, time: what.time })
    return summary({ kind: 'layer', ...found })
  } catch (error) {
    if (error instanceof TilecouchError) Object.assign(error, { summary: summary({ kind: isFile ? 'file' : 'layer', ...done, checked: {} }) })
    throw error
  }
}
