// Options that several commands take: what each means, and how its value is read.
import {
  checkGrid, fromSeconds, now, parseArea, parseDuration, parseZooms, startOf, toSeconds
} from '../../core/index.js'
import { TilecouchError } from '../errors.js'
import { plainTextOf, readSmallFile } from '../formats/files.js'
import { sourceError } from '../formats/reading.js'

export const DATA = './data' // folder of the embedded store unless --data names another
const MOST_GEOJSON = 64e6 // bytes of a GeoJSON file
const MOST_GRID = 1e6 // bytes of a tile matrix set
const FIRST = toSeconds('0000-01-01T00:00:00Z')

/** What an option means, in every command that has it. @type {Record<string, string>} */
export const meanings = {
  '--access-keys-file': 'file with the keys of the gateway, one id:secret per line',
  '--all': 'the whole layer, or every layer',
  '--bbox': 'only tiles that touch this box, in degrees',
  '--compact': 'free disk space afterwards: auto (if it is worth it), always or never',
  '--description': 'sentence that says what is shown',
  '--concurrency': 'requests to the tile server at a time (default: as the layer says, else 4)',
  '--contact': 'mail address or page, which tile servers see in the User-Agent (default: TILECOUCH_CONTACT)',
  '--current': 'only the present, not the past',
  '--data': 'folder of the embedded store (default: ./data)',
  '--db': 'the store: a URL, an environment of .couchapprc, or a database on this machine',
  '--dry-run': 'show what would be done, and change nothing',
  '--expired': 'only expired tiles',
  '--fix': 'repair what has only one possible repair',
  '--force': 'replace existing files, and write into folders that are not empty',
  '--format': 'folder, mbtiles or pmtiles (default: by the name of the target)',
  '--from': 'another store to take from: a URL, an environment of .couchapprc, or a database on this machine',
  '--gateway': 'address of a gateway (tilecouch serve)',
  '--grid': 'grid of the tiles, if not Web Mercator: a name such as LV95, or a JSON file (docs/grids.md)',
  '--history': 'the whole history: every edition, not only the present',
  '--i-have-permission': 'the provider of the tiles permits it, although the terms in the layer do not',
  '--json': 'print JSON, for programs',
  '--layer': 'name of the layer',
  '--live': 'keep running until Ctrl-C and act on changes',
  '--n': 'copies of each shard in a cluster, for a new database',
  '--password-file': 'file with the password of the database (default: COUCHDB_PASSWORD_FILE)',
  '--polygon': 'only tiles that touch the polygons of this GeoJSON file; with --bbox, tiles that touch both',
  '--port': 'port to listen on',
  '--private': 'only people who are named may read the store (default of a new one: everybody)',
  '--public': 'everybody may read, without a name',
  '--public-url': 'the address at which clients reach the gateway (default: TILECOUCH_PUBLIC_URL)',
  '--purge': 'leave no trace of what is removed (CouchDB only, needs a server admin)',
  '--q': 'shards of a new database',
  '--rate': 'requests to the tile server, such as 10/s or 30/m (default: as the layer says)',
  '--same': 'what makes two tiles equal: bytes, pixels, pixels:N or features (docs/sources.md; default: as the layer)',
  '--scheme': 'how rows are counted: xyz from the north, tms from the south (default: tms for MBTiles, else xyz)',
  '--report': 'write every finding to this file, one JSON object per line; - for standard output',
  '--since': 'only versions from this time on (2024-03: from the start of that month)',
  '--style': 'a style of the layer',
  '--time': 'from this time on, such as 2024-03-01',
  '--title': 'title that people read',
  '--ttl': 'tiles of the layer expire after this long, such as 7d',
  '--until': 'up to this time (2024-03: to the end of that month)',
  '--upstream': 'the tile server: the template of its addresses, or a JSON file that describes it (docs/upstreams.md)',
  '--upstream-networks': 'private networks and hosts that tile servers may be in, separated by commas; * for all ' +
    '(default: TILECOUCH_UPSTREAM_NETWORKS)',
  '--yes': 'do not ask, as in scripts',
  '--zoom': 'only these zooms'
}

/** What an option means in one command besides, added to its meaning. @type {Record<string, Record<string, string>>} */
const details = {
  access: { '--private': '; who is not named here loses access' },
  doctor: {
    '--fix': '. It also creates the database and publishes the store. It changes a setting that other databases ' +
      'share only with --cors or --allow-viewer'
  },
  export: { '--gateway': '. With --nginx: nginx sends requests there for what the files lack' },
  layer: {
    '--gateway': ' that QGIS asks for tiles (default: the CouchDB of the store)',
    '--style': ': a MapLibre style.json, or a folder with style.json, sprite and glyphs (docs/styles.md)',
    '--time': ': with --style (default: now, if the style of now is another one); as of which, with --qgis'
  },
  load: {
    '--time': ': when the map looked like this (default: that of the source, else now)',
    '--title': '. With --dated, {name} and {time} in it are replaced'
  },
  mirror: { '--layer': '; separate several with commas', '--since': ', and those still valid then' },
  remove: { '--style': ', by its time; maps of later times show the style before it' },
  restore: { '--yes': ': give the rights in the files (who is admin, writes, reads)' },
  serve: {
    '--from': '; of a gateway, its /db',
    '--layer': '; separate several with commas',
    '--port': ' (default: 8080)'
  },
  up: { '--port': ' (default: 5984, or the next free one)' }
}

/**
 * The text of an option in `--help`. A command declares a text only if no other command has the option.
 * @param {string} command @param {{long?: string, description: string}} option
 */
export const meaningOf = (command, { long = '', description }) =>
  meanings[long] === undefined ? description : meanings[long] + (details[command]?.[long] ?? '')

/** @param {string} option @param {unknown} value @param {string} why what it takes @returns {never} */
export function refuse (option, value, why) {
  throw new TilecouchError('BAD_OPTION', { option, value, why })
}

/** Collects the values of an option that may be repeated. @param {string} value @param {string[]} [previous] */
export const collect = (value, previous = []) => [...previous, value]

/** A whole number from 1. @param {string} option @param {string} value @param {number} digits it may have */
export function wholeNumber (option, value, digits) {
  if (!/^[1-9]\d*$/.test(value) || value.length > digits) {
    refuse(option, value, `it takes a number from 1 to ${'9'.repeat(digits)}`)
  }
  return +value
}

/** The area of --bbox and --polygon, a GeoJSON file; throws BAD_AREA when there is neither. */
export async function areaOf ({ bbox, polygon: file }) {
  const polygon = file === undefined ? undefined : parseJson('BAD_AREA', file, readTextFile(file, MOST_GEOJSON))
  return parseArea({ bbox, polygon })
}

/** Options of commands that take a part of a layer: partOf reads them. */
export const areaOptions = ['--bbox <w,s,e,n>', '--polygon <file>', '-z, --zoom <a-b>']

/**
 * The part of a layer that --bbox, --polygon and --zoom name; all of it unless they are given.
 * @param {{bbox?: string, polygon?: string, zoom?: string}} options
 */
export async function partOf ({ bbox, polygon, zoom }) {
  const hasArea = bbox !== undefined || polygon !== undefined
  return {
    area: hasArea ? await areaOf({ bbox, polygon }) : undefined,
    zooms: zoom === undefined ? undefined : parseZooms(zoom)
  }
}

/** The grid as a layer document has it: a name, or the content of a JSON file. @param {string} text */
function readGrid (text) {
  const grid = /\.json$/i.test(text) ? parseJson('BAD_GRID', text, readTextFile(text, MOST_GRID)) : text
  checkGrid({ grid })
  return grid
}

/** How the text of an option is read, in every command that has it. @type {Record<string, (text: string) => any>} */
export const parsers = { '--grid': readGrid, '--ttl': parseDuration }

/** `7d` means seven days ago; anything else is a time, of which the start counts. @param {string} text */
export function timeOrAgo (text) {
  if (!/^\d+(\.\d+)?\s*[smhdwy]$/i.test(text)) return startOf(text)
  const seconds = toSeconds(now()) - parseDuration(text)
  if (seconds < FIRST) throw new TilecouchError('BAD_DURATION', { value: text })
  return fromSeconds(seconds)
}

/** @param {string} file @param {number} [most] bytes */
export const readTextFile = (file, most) => plainTextOf(readBytes(file, most))

/** @param {string} file @param {number} [most] */
export function readBytes (file, most) {
  try {
    return readSmallFile(file, most)
  } catch (error) {
    throw sourceError(file, error)
  }
}

function parseJson (code, file, text) {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new TilecouchError(code, { why: `${file} is not JSON: ${error.message}` })
  }
}
