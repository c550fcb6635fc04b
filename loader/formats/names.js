// Recognises the tiles in a folder by their file names, and reports names that only look like tiles.
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { cached } from '../../core/cache.js'
import { MAX_ZOOM, formats } from '../../core/index.js'
import { ifMissing } from './files.js'

export const NUMBER = /^(0|[1-9]\d{0,9})$/

/** The extensions of tiles, the commonest first. Exports write these; readers also accept synonyms. */
export const EXTENSIONS = Object.values(formats).map(({ ext }) => ext)
const synonyms = { __proto__: null, jpeg: 'jpg', mvt: 'pbf' }

// as exports write it
const TILE_FILE = new RegExp(`^(0|[1-9]\\d{0,9})\\.(?:${EXTENSIONS.join('|')})$`)
const TILE = /^(\d+)\.([a-z0-9]+)$/i
const NEARLY = /^-?\d/ // a number, and something more
const COMPANIONS = /\.(kml|xml|json|txt|html|wld|[a-z]{2}w|aux\.xml|md5|etag)$/i // files of tile tools beside tiles

/** `jpeg` -> `jpg`; undefined for an extension that tiles do not have. */
export const extensionOf = ext => synonyms[ext] ?? (EXTENSIONS.includes(ext) ? ext : undefined)

/**
 * Parses the name of a file in the folder of a column. A name that no tile can have is a fault. A tile outside of the
 * pyramid is returned with `isOutside`.
 * @param {number} z @param {number} x @param {string} name
 * @param {(code: string, why?: string) => void} onFault
 * @returns {{z: number, x: number, y: number, ext: string, isOutside: boolean} | undefined}
 */
export function parseTileName (z, x, name, onFault) {
  const [, row, ending = ''] = TILE.exec(name) ?? []
  const ext = extensionOf(ending.toLowerCase())
  if (!ext) {
    if (NEARLY.test(name) && !COMPANIONS.test(name)) {
      onFault('not-a-tile-name', ending ? `no tile's extension: .${ending}` : undefined)
    }
    return undefined
  }
  if (!NUMBER.test(row)) {
    onFault('not-a-tile-name', 'numbers have no zeros in front')
    return undefined
  }
  const y = Number(row)
  const isOutside = z > MAX_ZOOM || x >= 2 ** z || y >= 2 ** z
  if (isOutside) {
    onFault('outside-pyramid', z > MAX_ZOOM ? `zoom ${z}` : `zoom ${z} has columns and rows 0 to ${2 ** z - 1}`)
  }
  return { z, x, y, ext, isOutside }
}

/**
 * The files of a column in a folder that we wrote: paths by row, in the numbering of the folder.
 * @returns {Promise<Map<number, string[]>>}
 */
export async function readColumn (directory) {
  const rows = new Map()
  for (const name of await namesIn(directory)) {
    const [, row] = TILE_FILE.exec(name) ?? []
    if (row !== undefined) cached(rows, +row, () => /** @type {string[]} */ ([])).push(path.join(directory, name))
  }
  return rows
}

/** The names in a folder; none if the folder does not exist. */
export const namesIn = async directory => await readdir(directory).catch(ifMissing) ?? []
