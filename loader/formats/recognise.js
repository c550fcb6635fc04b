// Recognises the format of a file or folder by its first bytes, else by its name: a .dat may hold MBTiles.
import { stat } from 'node:fs/promises'
import { openFile, readAll } from './files.js'
import { isArchive, isGeoPackage, kindOfBytes, kindOfFile, notTiles } from './other-kinds.js'
import { sourceError } from './reading.js'

const BEGIN = 512 // bytes by which formats are recognised

/** @type {[format: string, text: string][]} */
const magics = [['pmtiles', 'PMTiles'], ['mbtiles', 'SQLite format 3\0']]

const endings = { pmtiles: /\.pmtiles$/i, mbtiles: /\.(?:mbtiles|sqlite|db)$/i }

/**
 * @param {string} name of a file or folder
 * @returns {Promise<string | undefined>} folder, mbtiles or pmtiles; undefined for other files. A zip or tar is refused
 */
export async function recognise (name) {
  try {
    const stats = await stat(name)
    if (stats.isDirectory()) return 'folder'
    if (!stats.isFile()) return undefined
    const begin = await beginOf(name)
    const format = recogniseBytes(name, begin)
    const kind = format ? undefined : kindOfFile(name, begin)
    if (isArchive(kind)) throw notTiles(kind, name)
    return format
  } catch (error) {
    throw sourceError(name, error)
  }
}

/** The first bytes of a file. @param {string} name @param {number} [most] bytes */
export async function beginOf (name, most = BEGIN) {
  const { handle } = await openFile(name)
  try {
    const bytes = Buffer.alloc(most)
    return bytes.subarray(0, await readAll(handle, bytes, 0))
  } finally {
    await handle.close()
  }
}

/** @param {Buffer} begin of the file */
export function recogniseBytes (name, begin) {
  if (isGeoPackage(begin)) return undefined
  const [format] = magics.find(([, text]) => begin.toString('latin1', 0, text.length) === text) ?? []
  if (format || kindOfBytes(begin)) return format
  return Object.keys(endings).find(ending => endings[ending].test(name))
}
