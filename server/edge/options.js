// The options of an edge: what it mirrors, where it keeps the mirror, and the options of its gateway.
import { TilecouchError, parseZooms } from '../../core/index.js'
import { areaIfAny } from '../../loader/cli/options.js'
import { fromRows, table } from '../gateway/options.js'

export const EMBEDDED = 'embedded'

/** @type {import('../gateway/options.js').Row[]} */
const own = [
  { name: 'from', type: 'text', default: null, text: 'the store to mirror: a URL, an environment of .couchapprc, or a name on this machine; of a gateway, its /db' },
  { name: 'store', type: 'text', default: null, takes: '<env|url|embedded>', fallback: 'COUCHDB_URL', text: 'where the mirror is kept: a CouchDB (named as for from), or embedded (default)' },
  { name: 'data', type: 'text', default: './edge', text: 'folder of the embedded store' },
  { name: 'layer', type: 'names', default: null, takes: '<name>', text: 'only this layer; separate several by commas, or repeat the option' },
  { name: 'area', type: 'text', default: null, takes: '<bbox|file>', text: 'only tiles that touch a box (west,south,east,north) or the polygons of a GeoJSON file' },
  { name: 'bbox', type: 'text', default: null, takes: '<w,s,e,n>', text: 'only tiles that touch this box' },
  { name: 'polygon', type: 'text', default: null, takes: '<file>', text: 'only tiles that touch the polygons of this GeoJSON file' },
  { name: 'zoom', type: 'text', default: null, takes: '<a-b>', text: 'only these zooms' },
  { name: 'current', type: 'boolean', default: false, text: 'only the present, without the past' },
  { name: 'since', type: 'text', default: null, takes: '<time>', text: 'of the past, only versions that were still visible then, and later ones' },
  { name: 'public', type: 'boolean', default: false, text: 'let everybody read the edge, also if not everybody may read the origin' },
  { name: 'maxLag', type: 'duration', default: null, text: 'how far the mirror may be behind before /health answers 503 (default: unlimited)' }
]

const OWN = new Set(own.map(({ name }) => name))

/** Off by default: tiles that an edge stores itself may conflict with those of the origin. */
const upstream = {
  default: false,
  text: 'fetch missing or expired tiles from the upstream of their layer and store them here; they conflict if the origin stores the same tiles later'
}

export const edgeOptions = fromRows([
  ...own,
  ...table.filter(({ name }) => name !== 'db' && !OWN.has(name)).map(row => row.name === 'upstream' ? { ...row, ...upstream } : row)
])

/** The options of the gateway. @param {Record<string, any>} options */
export const gatewayPart = options =>
  Object.fromEntries(Object.entries(options).filter(([name]) => table.some(row => row.name === name)))

/**
 * Which part of the origin is mirrored.
 * @param {Record<string, any>} options
 * @returns {Promise<import('../../core/mirror/selection.js').Wanted>}
 */
export async function wantedOf ({ layer, area, bbox, polygon, zoom, current, since }) {
  const given = value => value ?? undefined
  const whole = typeof area === 'string' ? areaOptions(area, bbox ?? polygon) : { bbox: given(bbox), polygon: given(polygon) }
  return {
    layers: layer?.length ? layer : undefined,
    area: typeof area === 'object' && area ? area : await areaIfAny(whole),
    zooms: zoom === null || zoom === undefined ? undefined : parseZooms(zoom),
    current: Boolean(current),
    since: given(since)
  }
}

/** --area is a box of four numbers, or the name of a file. */
function areaOptions (area, other) {
  if (other !== undefined && other !== null) {
    throw new TilecouchError('BAD_OPTION', {
      option: '--area', value: area,
      why: 'use only one of --area, --bbox and --polygon'
    })
  }
  return /^[\d\s.,+-]+$/.test(area) ? { bbox: area } : { polygon: area }
}
