// Names of files in folders: which are tiles, and which look like it and are none.
import { readdir } from 'node:fs/promises'
import path from 'node:path'
import { MAX_ZOOM, formats } from '../../core/index.js'
import { ifMissing } from './files.js'

export const NUMBER = /^(0|[1-9]\d{0,9})$/

/** What the names of tiles end with, the commonest first: exports write these; synonyms are read, too. */
export const EXTENSIONS = Object.values(formats).map(({ ext }) => ext)
const synonyms = { __proto__: null, jpeg: 'jpg', mvt: 'pbf' }

const TILE_FILE = new RegExp(`^(0|[1-9]\\d{0,9})\\.(${EXTENSIONS.join('|')})$`)
const TILE = /^(\d+)\/(\d+)\/(\d+)\.([a-z0-9]+)$/i
const NEARLY = /^-?\d+\/-?\d+\/-?\d+[^/]*$/ // three numbers, and something more
const COMPANIONS = /\.(kml|xml|json|txt|html|wld|[a-z]{2}w|aux\.xml|md5|etag)$/i // what tile tools leave beside tiles

/** `jpeg` -> `jpg`; nothing for what no tile's name ends with. */
export const extensionOf = ext => synonyms[ext] ?? (EXTENSIONS.includes(ext) ? ext : undefined)

/**
 * A file in the folder of a column, as exports write it.
 * @returns {{y: number, ext: string} | undefined} y: row, counted as in the folder
 */
export function parseTileFile (name) {
  const match = TILE_FILE.exec(name)
  return match ? { y: +match[1], ext: match[2] } : undefined
}

/**
 * The path of a file. What no tile can have is a fault; a tile outside of the pyramid is returned with `isOutside`.
 * @param {string} name with slashes
 * @param {(code: string, why?: string) => void} onFault
 * @returns {{z: number, x: number, y: number, ext: string, isOutside: boolean} | undefined}
 */
export function parseTileName (name, onFault) {
  const match = TILE.exec(name)
  const ext = match && extensionOf(match[4].toLowerCase())
  if (!match || !ext) {
    if (NEARLY.test(name) && !COMPANIONS.test(name)) {
      onFault('not-a-tile-name', match ? `no tile's extension: .${match[4]}` : undefined)
    }
    return undefined
  }
  const numbers = match.slice(1, 4)
  if (!numbers.every(text => NUMBER.test(text))) {
    onFault('not-a-tile-name', 'numbers have no zeros in front')
    return undefined
  }
  const [z, x, y] = numbers.map(Number)
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
    const { y } = parseTileFile(name) ?? {}
    if (y === undefined) continue
    const file = path.join(directory, name)
    if (rows.has(y)) rows.get(y).push(file)
    else rows.set(y, [file])
  }
  return rows
}

/** The names in a folder; none when it is not there. */
export const namesIn = async directory => await readdir(directory).catch(ifMissing) ?? []
