// A file or folder of tiles: which kind it is, and the module that checks it.
import { TilecouchError, selectorOf } from '../../core/index.js'
import { lookAt } from '../sources/index.js'
import { isTar, verifyTar } from './archive/tar.js'
import { isZip, verifyZip } from './archive/zip.js'
import { verifyFolder } from './folder.js'
import { isMbtiles, verifyMbtiles } from './mbtiles/index.js'
import { isPmtiles, verifyPmtiles } from './pmtiles/index.js'

/**
 * @typedef {object} FileOptions
 * @property {import('./report.js').Report} report
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {boolean} [decode]
 * @property {'xyz' | 'tms'} [scheme]
 * @property {AbortSignal} [signal]
 * @property {(done: {tiles: number, bytes: number, total?: number}) => void} [onProgress]
 *
 * @typedef {FileOptions & {selected: (z: number, x: number, y: number) => boolean, isPart: boolean}} PickedOptions isPart: only some tiles are wanted
 */

/** @type {{kind: string, is: (name: string, stats: import('node:fs').Stats, head: Buffer) => boolean, verify: (name: string, options: any) => Promise<any>}[]} */
const kinds = [
  { kind: 'mbtiles', is: isMbtiles, verify: verifyMbtiles },
  { kind: 'pmtiles', is: isPmtiles, verify: verifyPmtiles },
  { kind: 'zip', is: isZip, verify: verifyZip },
  { kind: 'tar', is: isTar, verify: verifyTar }
]

/**
 * @param {string} name
 * @param {FileOptions} options
 * @returns {Promise<{kind: string, tiles: number, bytes: number, checked: Record<string, any>}>}
 */
export async function verifyFile (name, options) {
  const { stats, begin } = await lookAt(name)
  const picked = { ...options, selected: selectorOf(options.area, options.zooms), isPart: Boolean(options.area || options.zooms) }
  const kind = stats.isDirectory() ? { kind: 'folder', verify: verifyFolder } : kindOf(name, stats, begin)
  const found = await kind.verify(name, picked)
  if (!found.tiles && !found.checked.gone && !options.report.faults) options.report.add('no-tiles', name)
  return { kind: kind.kind, ...found }
}

// by its first bytes where they say it: a file with a wrong name is told what it is
function kindOf (name, stats, begin) {
  const kind = stats.isFile() && kinds.find(candidate => candidate.is(name, stats, begin))
  if (!kind) throw new TilecouchError('SOURCE_UNKNOWN', { value: name })
  return kind
}
