// Verifies a file or folder of tiles, of whatever kind it is.
import { gridOf, selectorOf } from '../../../core/index.js'
import { TilecouchError } from '../../errors.js'
import { recognise } from '../../formats/recognise.js'
import { openSource } from '../../load/sources/index.js'
import { verifyFolder } from './folder.js'
import { verifyMbtiles } from './mbtiles.js'
import { verifyPmtiles } from './pmtiles.js'

/**
 * @typedef {object} FileOptions
 * @property {import('./report.js').Report} report
 * @property {import('../../../core/area.js').Area} [area]
 * @property {import('../../../core/grid.js').Zooms} [zooms]
 * @property {boolean} [decode]
 * @property {'xyz' | 'tms'} [scheme]
 * @property {string | object} [grid] of the tiles; what the file says unless given
 * @property {AbortSignal} [signal]
 * @property {boolean} [isCounted] tiles that have to be counted for the progress are counted
 * @property {(done: FileProgress) => void} [onProgress]
 *
 * total: tiles to be read, once it is known
 * @typedef {{tiles: number, bytes: number, total?: number}} FileProgress
 *
 * @typedef {FileOptions & {selected: (z: number, x: number, y: number) => boolean, isPart: boolean}} SelectionOptions
 *   isPart: only some tiles are wanted
 */

/** @type {Record<string, (name: string, options: any) => Promise<any>>} */
const kinds = { folder: verifyFolder, mbtiles: verifyMbtiles, pmtiles: verifyPmtiles }

/**
 * @param {FileOptions} options
 * @returns {Promise<{kind: string, tiles: number, bytes: number, checked: Record<string, any>}>}
 */
export async function verifyFile (name, options) {
  const kind = await recognise(name)
  if (!kind) throw new TilecouchError('SOURCE_UNKNOWN', { value: name })
  const { report, zooms } = options
  const grid = options.grid ?? await gridSaid(name, kind, options)
  const area = options.area?.in(gridOf({ grid }))
  const selection = { grid, area, selected: selectorOf(area, zooms), isPart: Boolean(area || zooms) }
  const found = await kinds[kind](name, { ...options, ...selection })
  if (!found.tiles && !found.checked.gone && !report.faults) report.add('no-tiles', name)
  return { kind, ...found }
}

/** The grid that a file says, where it must be known before its tiles are seen: for areas, and rows from the south. */
async function gridSaid (name, kind, /** @type {FileOptions} */ { scheme, area, signal }) {
  if (kind === 'pmtiles' || kind === 'mbtiles') return undefined // they see to it
  if (!area && scheme !== 'tms') return undefined
  try {
    const source = await openSource(name, { scheme, signal })
    await source.close()
    return source.fields.grid
  } catch (error) {
    if (error.code === 'ABORTED') throw error
    return undefined // what is wrong with it is found later
  }
}
