// Everything that can be set on an edge: what is mirrored, where to, and what can be set on a gateway.
import { TilecouchError, parseZooms } from '../../core/index.js'
import { areaIfAny } from '../../loader/cli/options.js'
import { fromRows, table } from '../gateway/options.js'

export const EMBEDDED = 'embedded'

/** @type {import('../gateway/options.js').Row[]} */
const own = [
  { name: 'from', type: 'text', default: null, text: 'the store that is mirrored: URL, environment of .couchapprc, or name on this machine; of a gateway, its /db' },
  { name: 'store', type: 'text', default: null, takes: '<env|url|embedded>', fallback: 'COUCHDB_URL', text: 'where the mirror is kept: a CouchDB as for from, or embedded; without one, embedded' },
  { name: 'data', type: 'text', default: './edge', text: 'folder of the embedded store' },
  { name: 'layer', type: 'names', default: null, takes: '<name>', text: 'only this layer; several: say it again, or separate them by commas' },
  { name: 'area', type: 'text', default: null, takes: '<bbox|file>', text: 'only tiles that touch a box (west,south,east,north) or the polygons of a GeoJSON file' },
  { name: 'bbox', type: 'text', default: null, takes: '<w,s,e,n>', text: 'only tiles that touch this box' },
  { name: 'polygon', type: 'text', default: null, takes: '<file>', text: 'only tiles that touch the polygons of this GeoJSON file' },
  { name: 'zoom', type: 'text', default: null, takes: '<a-b>', text: 'only these zooms' },
  { name: 'current', type: 'boolean', default: false, text: 'only the present, without the past' },
  { name: 'since', type: 'text', default: null, takes: '<time>', text: 'of the past, only what was still to be seen then or came later' },
  { name: 'public', type: 'boolean', default: false, text: 'serve to everybody what not everybody may read at the origin' },
  { name: 'maxLag', type: 'duration', default: null, text: 'how far the mirror may be behind until /health is 503; without it, however far while it serves' }
]

const OWN = new Set(own.map(({ name }) => name))

/** What an edge fetched and stored itself would be in the way of what the origin stores later. */
const upstream = { default: false, text: 'fetch tiles that are missing or expired from the upstream of their layer, and store them here: where the origin stores the same tile later, the two conflict' }

export const edgeOptions = fromRows([
  ...own,
  ...table.filter(({ name }) => name !== 'db' && !OWN.has(name)).map(row => row.name === 'upstream' ? { ...row, ...upstream } : row)
])

/** Those of its gateway. @param {Record<string, any>} options */
export const gatewayPart = options =>
  Object.fromEntries(Object.entries(options).filter(([name]) => table.some(row => row.name === name)))

/**
 * What of the origin is mirrored.
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

/** A box is four numbers; what is none is the name of a file. */
function areaOptions (area, other) {
  if (other !== undefined && other !== null) throw new TilecouchError('BAD_OPTION', { option: '--area', value: area, why: 'it is another name for --bbox and --polygon: say one of them' })
  return /^[\d\s.,+-]+$/.test(area) ? { bbox: area } : { polygon: area }
}
