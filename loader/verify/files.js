// A file or folder of tiles: which kind it is, and the module that checks it.
import { open, stat } from 'node:fs/promises'
import { TilecouchError } from '../../core/index.js'
import { verifyFolder } from './folder.js'

/**
 * @typedef {object} FileOptions
 * @property {import('./report.js').Report} report
 * @property {import('../../core/area.js').Area} [area]
 * @property {import('../../core/grid.js').Zooms} [zooms]
 * @property {boolean} [decode]
 * @property {'xyz' | 'tms'} [scheme]
 * @property {AbortSignal} [signal]
 * @property {(done: {tiles: number, bytes: number, total?: number}) => void} [onProgress]
 */

const MAGIC = 16 // bytes that tell what a file is

/** @type {{kind: string, is: (name: string, head: Buffer) => boolean, verify: (name: string, options: any) => Promise<any>}[]} */
const kinds = []

/**
 * @param {string} name
 * @param {FileOptions} options
 * @returns {Promise<{kind: string, tiles: number, bytes: number, checked: Record<string, any>}>}
 */
export async function verifyFile (name, options) {
  const stats = await look(name, () => stat(name))
  const picked = {
    ...options,
    selected: (z, x, y) => (!options.zooms || (z >= options.zooms.min && z <= options.zooms.max)) && (!options.area || options.area.has(z, x, y))
  }
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
      const { buffer, bytesRead } = await file.read(Buffer.alloc(MAGIC), 0, MAGIC, 0)
      return buffer.subarray(0, bytesRead)
    } finally {
      await file.close()
    }
  })
  const kind = kinds.find(candidate => candidate.is(name, head))
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
