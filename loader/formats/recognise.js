// What format a file or folder has, by its first bytes. Names come second: a .dat may be a zip, and a .mbtiles too.
import { stat } from 'node:fs/promises'
import { constants, gunzipSync } from 'node:zlib'
import { TilecouchError } from '../errors.js'
import { readAll } from '../file-bytes.js'
import { openFile } from '../regular-file.js'
import { isGeoPackage } from './other-kinds.js'
import { unreadable } from './reading.js'

const BEGIN = 512 // bytes by which formats are recognised: the header of a tar

/** @type {[format: string, offset: number, text: string][]} */
const magics = [
  ['pmtiles', 0, 'PMTiles'],
  ['zip', 0, 'PK\x03\x04'],
  ['zip', 0, 'PK\x05\x06'], // one without files
  ['mbtiles', 0, 'SQLite format 3\0'],
  ['gzip', 0, '\x1f\x8b\x08'],
  ['tar', 257, 'ustar'] // every one since 1988
]

const endings = {
  pmtiles: /\.pmtiles$/i,
  zip: /\.zip$/i,
  tar: /\.(?:tar|tgz|tar\.gz)$/i,
  mbtiles: /\.(?:mbtiles|sqlite|db)$/i
}

/**
 * @param {string} name of a file or folder
 * @returns {Promise<string | undefined>} folder, mbtiles, pmtiles, tar or zip; nothing for other files
 */
export async function recognise (name) {
  try {
    const stats = await stat(name)
    if (stats.isDirectory()) return 'folder'
    return stats.isFile() ? recogniseBytes(name, await beginOf(name)) : undefined
  } catch (error) {
    throw error.code === 'ENOENT' ? new TilecouchError('SOURCE_NOT_FOUND', { value: name }) : unreadable(name, error)
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
  const found = formatOf(begin)
  if (isGeoPackage(begin)) return undefined
  if (found && found !== 'gzip') return found
  if (found && holdsTar(begin)) return 'tar'
  const named = Object.keys(endings).find(format => endings[format].test(name))
  return found && named !== 'tar' ? undefined : named
}

const formatOf = begin => magics.find(([, offset, text]) => begin.toString('latin1', offset, offset + text.length) === text)?.[0]

function holdsTar (begin) {
  try {
    return formatOf(gunzipSync(begin, { finishFlush: constants.Z_SYNC_FLUSH })) === 'tar'
  } catch {
    return false
  }
}
