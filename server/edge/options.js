// Everything that can be set on `tilecouch serve`: the options of the gateway, and with --from those of the mirror below it.
import { parseZooms } from '../../core/index.js'
import { areaIfAny } from '../../loader/cli/options.js'
import { fromRows, table } from '../gateway/options.js'

/** As `db`: the embedded store, although COUCHDB_URL is set. */
export const EMBEDDED = 'embedded'

/** @type {import('../gateway/options.js').Row[]} */
const mirrorRows = [
  { name: 'from', type: 'text', default: null, takes: '<env|url>', text: 'mirror this store, and serve the mirror: a URL, an environment of .couchapprc, or a database on this machine; of a gateway, its /db' },
  { name: 'layer', type: 'names', default: null, takes: '<names>', text: 'mirror only these layers' },
  { name: 'bbox', type: 'text', default: null, takes: '<w,s,e,n>', text: 'mirror only tiles that touch this box' },
  { name: 'polygon', type: 'text', default: null, takes: '<file>', text: 'mirror only tiles that touch the polygons of this GeoJSON file' },
  { name: 'zoom', type: 'text', default: null, takes: '<a-b>', text: 'mirror only these zooms' },
  { name: 'current', type: 'boolean', default: false, text: 'mirror only the present, not the past' },
  { name: 'since', flagless: true, type: 'text', default: null, text: 'of the past, mirror only what was valid at this time or later' },
  { name: 'public', flagless: true, type: 'boolean', default: false, text: 'serve to everybody what not everybody may read at the origin' },
  { name: 'maxLag', type: 'duration', default: null, text: 'with --from: /health is 503 when the mirror is further behind (default: never)' }
]

export const serveOptions = fromRows([...table, ...mirrorRows])

/** Defaults that differ with `from`. Tiles that the mirror fetched itself would conflict with later ones of the origin. */
export const mirrorDefaults = { data: './edge', upstream: false }

/** With `from`. */
export const mirrorOptions = serveOptions.map(option =>
  option.name in mirrorDefaults ? { ...option, default: mirrorDefaults[option.name], shown: String(mirrorDefaults[option.name]) } : option)

/** The names of the options that need `from`. */
export const mirrorOnly = mirrorRows.map(({ name }) => name).filter(name => name !== 'from')

/** The options of the gateway. @param {Record<string, any>} options */
export const gatewayPart = options =>
  Object.fromEntries(Object.entries(options).filter(([name]) => table.some(row => row.name === name)))

/**
 * What is mirrored of the origin.
 * @param {Record<string, any>} options
 * @returns {Promise<import('../../core/mirror/selection.js').Wanted>}
 */
export async function wantedOf ({ layer, bbox, polygon, zoom, current, since }) {
  const given = value => value ?? undefined
  return {
    layers: layer?.length ? layer : undefined,
    area: await areaIfAny({ bbox: given(bbox), polygon: given(polygon) }),
    zooms: zoom === null || zoom === undefined ? undefined : parseZooms(zoom),
    current: Boolean(current),
    since: given(since)
  }
}
