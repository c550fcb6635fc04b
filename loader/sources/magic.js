// What a file is, by its first bytes. Names come second: a .dat may be a zip, and a .mbtiles too.
import { constants, gunzipSync } from 'node:zlib'

/** @type {[kind: string, offset: number, text: string][]} */
const magics = [
  ['pmtiles', 0, 'PMTiles'],
  ['zip', 0, 'PK\x03\x04'],
  ['zip', 0, 'PK\x05\x06'], // one without files
  ['sqlite', 0, 'SQLite format 3\0'],
  ['gzip', 0, '\x1f\x8b\x08'],
  ['tar', 257, 'ustar'] // every one since 1988
]

/** @param {Buffer} begin */
const kindOf = begin => magics.find(([, offset, text]) => begin.toString('latin1', offset, offset + text.length) === text)?.[0]

/**
 * Whether a file is of a kind: by what it holds, or by its name where what it holds is no other kind.
 * @param {string} kind
 * @param {RegExp} ending
 * @returns {(name: string, stats: import('node:fs').Stats, begin: Buffer) => boolean}
 */
export const recogniser = (kind, ending) => (name, stats, begin) => {
  if (!stats.isFile()) return false
  const found = kindOf(begin)
  const what = found === 'gzip' && holdsTar(begin) ? 'tar' : found
  return what === kind || ((!what || (what === 'gzip' && kind === 'tar')) && ending.test(name))
}

function holdsTar (begin) {
  try {
    return kindOf(gunzipSync(begin, { finishFlush: constants.Z_SYNC_FLUSH })) === 'tar'
  } catch {
    return false
  }
}
