// A file or folder of tiles: which kind it is, and the module that checks it.
import { open, stat } from 'node:fs/promises'
import { TilecouchError } from '../../core/index.js'
import { selectorOf } from '../sources/index.js'
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

const BEGIN = 512 // bytes that tell what a file is: the header of a tar

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
  const stats = await look(name, () => stat(name))
  const picked = { ...options, selected: selectorOf(options.area, options.zooms), isPart: Boolean(options.area || options.zooms) }
  const kind = stats.isDirectory() ? { kind: 'folder', verify: verifyFolder } : await kindOf(name, stats)
  const found = await kind.verify(name, picked)
  if (!found.tiles && !found.checked.gone && !options.report.faults) options.report.add('no-tiles', name)
  return { kind: kind.kind, ...found }
}

// by its first bytes where they say it: a file with a wrong name is told what it is
async function kindOf (name, stats) {
  if (!stats.isFile()) throw new TilecouchError('SOURCE_UNKNOWN', { value: name })
  const head = await look(name, async () => {
    const file = await open(name)
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(BEGIN), 0, BEGIN, 0)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  })
  const kind = kinds.find(candidate => candidate.is(name, stats, head))
  if (!kind) throw new TilecouchError('SOURCE_UNKNOWN', { value: name })
  return kind
}

async function look (name, action) {
  try {
    return await action()
  } catch (error) {
    throw error.code === 'ENOENT' ? new TilecouchError('SOURCE_NOT_FOUND', { value: name }) : new TilecouchError('SOURCE_UNREADABLE', { value: name, why: error.message })
  }
}
