// The options of `tilecouch serve`: those of the gateway, and with --from those of the mirror below it.
import { partOf } from '../../loader/cli/options.js'
import { flag, fromRows, setting, table } from '../gateway/options.js'

/** The value of `db` for the embedded store, even if COUCHDB_URL is set. */
export const EMBEDDED = 'embedded'

const mirrorRows = [
  flag('from', 'text', null, { takes: '<env|url>' }),
  flag('layer', 'names', null),
  flag('bbox', 'text', null, { takes: '<w,s,e,n>' }),
  flag('polygon', 'text', null, { takes: '<file>' }),
  flag('zoom', 'text', null, { takes: '<a-b>' }),
  flag('current', 'boolean', false),
  setting('since', 'text', null, 'of the past, mirror only versions that were valid at this time or later'),
  flag('maxLag', 'duration', null, {
    text: 'with --from: /health is 503 when the mirror is further behind (default: never)'
  })
]

export const serveOptions = fromRows([...table, ...mirrorRows])

/** Defaults that differ with `from`. If an edge fetched tiles, they would conflict with later ones of the origin. */
const mirrorDefaults = { data: './edge', upstream: false }

/** The options of an edge, with its defaults. */
export const mirrorOptions = serveOptions.map(option => {
  const value = mirrorDefaults[option.name]
  return value === undefined ? option : { ...option, default: value, shown: String(value) }
})

/** The names of the options that need `from`. */
export const mirrorOnly = mirrorRows.map(({ name }) => name).filter(name => name !== 'from')

/** The options of the gateway. @param {Record<string, any>} options */
export const gatewayPart = options =>
  Object.fromEntries(Object.entries(options).filter(([name]) => table.some(row => row.name === name)))

/**
 * Returns the part of the origin to mirror.
 * @param {Record<string, any>} options
 * @returns {Promise<import('../../core/mirror/selection.js').Wanted>}
 */
export async function wantedOf ({ layer, bbox, polygon, zoom, current, since }) {
  const optional = value => value ?? undefined
  return {
    layers: layer?.length ? layer : undefined,
    ...await partOf({ bbox: optional(bbox), polygon: optional(polygon), zoom: optional(zoom) }),
    current: Boolean(current),
    since: optional(since)
  }
}
