// Names of files in folders: which are tiles, and which look like it and are none.
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { MAX_ZOOM, formats } from '../../core/index.js'
import { ifMissing } from './files.js'

export const NUMBER = /^(0|[1-9]\d{0,9})$/

/** What the names of tiles end with, the commonest first: exports write these; synonyms are read, too. */
export const EXTENSIONS = Object.values(formats).map(({ ext }) => ext)
const synonyms = { __proto__: null, jpeg: 'jpg', mvt: 'pbf' }

const TILE_FILE = new RegExp(`^(0|[1-9]\\d{0,9})\\.(?:${EXTENSIONS.join('|')})$`)
const TILE = /^(\d+)\.([a-z0-9]+)$/i
const NEARLY = /^-?\d/ // a number, and something more
const COMPANIONS = /\.(kml|xml|json|txt|html|wld|[a-z]{2}w|aux\.xml|md5|etag)$/i // what tile tools leave beside tiles

/** `jpeg` -> `jpg`; nothing for what no tile's name ends with. */
export const extensionOf = ext => synonyms[ext] ?? (EXTENSIONS.includes(ext) ? ext : undefined)

/**
 * The row of a file in the folder of a column, as exports write it and counted as in the folder; nothing for others.
 * @param {string} name
 */
export function rowOfFile (name) {
  const [, row] = TILE_FILE.exec(name) ?? []
  return row === undefined ? undefined : +row
}

/**
 * A file in the folder of a column. What no tile can have is a fault; a tile outside of the pyramid is returned with
 * `isOutside`.
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

/** The files of a column in a folder that we wrote: paths by row. @returns {Promise<Map<number, string[]>>} */
export async function readColumn (directory) {
  const rows = new Map()
  for (const name of await namesIn(directory)) {
    const y = rowOfFile(name)
    if (y === undefined) continue
    const file = path.join(directory, name)
    if (rows.has(y)) rows.get(y).push(file)
    else rows.set(y, [file])
  }
  return rows
}

/** The names in a folder; none when it is not there. */
export const namesIn = async directory => await readdir(directory).catch(ifMissing) ?? []
