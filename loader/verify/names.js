// Names of files in a folder or an archive: which are tiles, which look like it and are none.
import { MAX_ZOOM } from '../../core/index.js'

const TILE = /^(?:.*\/)?(\d+)\/(\d+)\/(\d+)\.([a-z0-9]+)$/i
const NEARLY = /(?:^|\/)-?\d+\/-?\d+\/-?\d+[^/]*$/ // three numbers, and something more
const NUMBER = /^(0|[1-9]\d{0,9})$/
const EXTENSIONS = { png: 'png', jpg: 'jpg', jpeg: 'jpg', webp: 'webp', avif: 'avif', pbf: 'pbf', mvt: 'pbf' }
const COMPANIONS = /\.(kml|xml|json|txt|html|wld|[a-z]{2}w|aux\.xml|md5|etag)$/i // what tile tools leave beside tiles

/**
 * @param {string} name with slashes
 * @returns {{z: number, x: number, y: number, ext: string} | {code: string, why?: string} | undefined} nothing: another file, which is none of our business
 */
export function readName (name) {
  const match = TILE.exec(name)
  const ext = match && EXTENSIONS[match[4].toLowerCase()]
  if (!match || !ext) return NEARLY.test(name) && !COMPANIONS.test(name) ? { code: 'not-a-tile-name', why: match ? `no tile's extension: .${match[4]}` : undefined } : undefined
  const numbers = match.slice(1, 4)
  if (!numbers.every(text => NUMBER.test(text))) return { code: 'not-a-tile-name', why: 'numbers have no zeros in front' }
  const [z, x, y] = numbers.map(Number)
  if (z > MAX_ZOOM || x >= 2 ** z || y >= 2 ** z) return { code: 'outside-pyramid', why: z > MAX_ZOOM ? `zoom ${z}` : `zoom ${z} has columns and rows 0 to ${2 ** z - 1}` }
  return { z, x, y, ext }
}

/** Whether unpacking this would write outside of the folder it is unpacked to. @param {string} name */
export const isUnsafe = name => /^([\\/]|[a-z]:)/i.test(name) || name.split(/[\\/]/).includes('..') || name.includes('\0')
