// The catalogue of all errors of browsers and Node; loader/errors.js adds the errors of Node alone. Callers branch on
// `code`, never on text. `status` is the HTTP status; `advice` says what to do next. Messages show the wrong value.

/** Codes of errors that end when the store, the network or its settings are in order again. */
export const TEMPORARY_CODES = [
  'UNREACHABLE', 'BAD_ANSWER', 'NO_ANSWER', 'COUCHDB_ERROR', 'DATABASE_NOT_FOUND', 'UNAUTHORIZED', 'FORBIDDEN'
]

/** @typedef {{status: number, text: (d: Record<string, any>) => string, advice?: string}} Entry */

/**
 * Makes an entry of the catalogue.
 * @param {number} status @param {Entry['text']} text @param {string} [advice]
 * @returns {Entry}
 */
export const entry = (status, text, advice) => ({ status, text, ...(advice && { advice }) })

/** @type {Record<string, Entry>} */
export const catalogue = {
  // input of a person
  BAD_LAYER: entry(400, d => `bad layer name ${show(d.value)}${d.why ? `: ${d.why}` : ''}`,
    'A layer is 1 to 63 of a-z, 0-9, _ and -, starting with a letter or digit, and not layer, edition, tile, ' +
      'manifest, block, removed, limits, style, work, activity, token or db.'),
  BAD_TILE: entry(400, d => `no such tile ${show(d.value)}${d.why ? `: ${d.why}` : ''}`,
    'A tile is z/x/y with 0 <= z <= 30 and 0 <= x, y < 2^z.'),
  BAD_ID: entry(400, d => `not a tile id ${show(d.value)}${d.why ? `: ${d.why}` : ''}`,
    'Tile ids look like osm:10:300:412 or osm:10:300:412@2024-03-01T00:00:00Z.'),
  BAD_TIME: entry(400, d => `bad time ${show(d.value)}`,
    'Times are ISO 8601 in UTC: 2024, 2024-03, 2024-03-01, 2024-03-01T12:00:00Z.'),
  BAD_DURATION: entry(400, d => `bad duration ${show(d.value)}`,
    'Durations are a number and a unit: 90s, 15m, 12h, 7d, 4w, 1y.'),
  BAD_BBOX: entry(400, d => `bad bounding box ${show(d.value)}${d.why ? `: ${d.why}` : ''}`,
    'A bounding box is west,south,east,north in degrees, with south <= north.'),
  BAD_AREA: entry(400, d => `bad area: ${d.why}`,
    'An area is a bounding box, or a GeoJSON Polygon, MultiPolygon, Feature or FeatureCollection in degrees.'),
  BAD_ZOOM: entry(400, d => `bad zoom range ${show(d.value)}${d.why ? `: ${d.why}` : ''}`,
    'Zooms are one number or a range such as 0-14, within 0 and 30.'),
  BAD_OPTION: entry(400, d => `${badOption(d)}${d.why ? `: ${d.why}` : ''}`, 'See --help for what the option takes.'),
  BAD_QUADKEY: entry(400, d => `bad quadkey ${show(d.value)}`,
    'A quadkey is a string of the digits 0 to 3, one a zoom.'),
  BAD_GRID: entry(400, d => `bad grid: ${d.why}`,
    'A grid is the name of a tile matrix set, such as LV95 or EuropeanETRS89_LAEAQuad, or a TileMatrixSet 2.0 of the ' +
      'OGC as JSON (docs/grids.md).'),
  BAD_LAYER_FIELD: entry(400, d => `bad ${d.field} ${show(d.value)} for a layer`,
    'Layer documents hold TileJSON 3.0 fields, ttl (seconds), upstream, offline (true or false) and retention.'),
  BAD_DOCUMENT: entry(409, d => `the document ${show(d.id)} is not valid: ${d.why}`,
    'It is ignored. Repair a layer with `tilecouch layer`, other documents in the database; `tilecouch check` lists ' +
      'all faults.'),
  BAD_RETENTION: entry(400, d => 'bad retention policy: ' +
    `${d.field ? `${d.field}${d.value === undefined ? '' : ` ${show(d.value)}`} ` : ''}${d.why}`,
    'Name what to keep, such as --keep-daily 30 --keep-monthly 12 (docs/retention.md).'),
  BAD_UPSTREAM: entry(400, d => `bad upstream: ${d.field}${d.value === undefined ? '' : ` ${show(d.value)}`} ${d.why}`,
    'See docs/upstreams.md for the fields. Keys and passwords go into upstreamHeaders of the gateway, by host.'),

  // HTTP requests of a program
  NOT_FOUND: entry(404, d => d.reason ?? 'nothing here', 'Tiles are at layer/z/x/y.png or layer@time/z/x/y.png.'),
  READ_ONLY: entry(405, d => d.reason ?? 'this address is read-only', 'Write to the database itself.'),

  // contents of a source
  EMPTY_IMAGE: entry(422, () => 'the tile has no bytes'),
  UNKNOWN_IMAGE: entry(422, d => `not a tile image: it starts ${show(d.value)}`,
    'Tiles are PNG, JPEG, WebP, AVIF or gzipped Mapbox vector tiles; the type is read from the bytes.'),
  TRUNCATED_IMAGE: entry(422, d => `truncated or damaged ${d.type}${d.why ? `: ${d.why}` : ''}`,
    'Fetch or render this tile again.'),

  // the store
  VERSION_TAKEN: entry(409, d => `${d.id} already has another image at ${d.time}`,
    'Stored versions never change. Load a correction with a later --time; or remove the edition first: `tilecouch ' +
      'remove LAYER --edition TIME`.'),
  CONTENDED: entry(409, d => `${d.id} kept changing while it was written (${d.attempts} attempts)`,
    'Run the load again, with its time: it resumes.'),
  REFUSED: entry(403, d => `the store refused ${d.id}: ${d.reason}`,
    'The message comes from the validation function of the store.'),
  LAYER_GONE: entry(409, d => `the layer ${d.layer} was removed or renamed while it was loaded`,
    'Load again into the layer under its new name. `tilecouch remove LAYER --all` removes what this load wrote under ' +
      'the old one.'),
  LAYER_NOT_FOUND: entry(404, d => `no layer ${show(d.layer)}`, 'List the layers with `tilecouch info`.'),
  NOT_ON_DEVICE: entry(404, d => `this device has no tiles of the layer ${show(d.layer)}`,
    'Download an area of it, or let the layer read from the network as well.'),
  NOT_KEPT: entry(404, d => `this store does not keep ${d.id}${d.time ? ` as of ${d.time}` : ''}`,
    'It is a mirror of a part. Ask the store that it mirrors, or mirror more of that one.'),
  TILE_NOT_FOUND: entry(404, d => `no tile ${d.id}${d.time ? ` as of ${d.time}` : ''}`),
  NOT_A_STORE: entry(409, d => `${d.db} has documents that are not tilecouch's (such as ${show(d.value)})`,
    'Name an empty or a new database.'),
  DATABASE_NOT_FOUND: entry(404, d => d.folder
    ? `no store was named, and there is none in ${d.folder}`
    : `no database ${d.db}`,
    'Name a store with --db or COUCHDB_URL. To create one: `tilecouch load`, `tilecouch up` or `tilecouch doctor ' +
      '--fix`.'),
  BAD_DATABASE: entry(400, d => `bad database ${show(d.value)}`,
    'Give http(s)://host:port/name or an environment of .couchapprc; names are lower case letters, digits and ' +
      '_$()+-/.'),
  INDEX_MISSING: entry(409, d => `the store has no view ${d.view}`,
    'Deploy the design documents with `tilecouch push`.'),

  // the server
  UNAUTHORIZED: entry(401, d => `${d.url} refused the name or password`,
    'Set COUCHDB_USER and COUCHDB_PASSWORD, or give only the name in the URL: a terminal asks for the password. For ' +
      'the origin of a mirror, set TILECOUCH_FROM_USER and TILECOUCH_FROM_PASSWORD.'),
  FORBIDDEN: entry(403, d => `not allowed at ${d.url}: ${d.reason}`,
    'To write, log in as an admin or a user with the role tilecouch-writer; to read a private store, as a member. ' +
      'For an embedded store, name its folder with --data.'),
  UNREACHABLE: entry(503, d => `cannot reach ${d.url}: ${d.why}`, 'Is the server running, and is the address right?'),
  DISK_FULL: entry(507, d => `no space left where ${d.where} keeps its data`,
    'Free some space and run the command again: it resumes.'),
  COUCHDB_ERROR: entry(502, d => `${d.url} answered ${d.status}: ${d.reason}`),
  NO_ANSWER: entry(502, d => `${d.url} gave no answer for ${some(d.ids)}: ${d.reason}`,
    'Part of the server may be down: run it again later. `tilecouch check` names damaged documents.'),
  BAD_ANSWER: entry(502, d => `${d.url} sent an answer that is not CouchDB's: ${d.why}`),
  PLACE_LOST: entry(409, d => `${d.url} has lost the checkpoint of its mirror`,
    'It was created again or restored to an older state. Run the mirror again: it continues where both sides agree.'),
  ANSWER_TOO_LARGE: entry(502, d => `${d.host} sent an answer of more than ${d.most} bytes`),

  // areas on a device
  NO_POUCHDB: entry(501, d => `no PouchDB to keep tiles in${d.why ? `: ${d.why}` : ''}`,
    'Load PouchDB first, or pass it as the option PouchDB.'),
  OFFLINE_FORBIDDEN: entry(403, d => d.host
    ? `the terms of ${d.host}, where the tiles of ${d.layer} come from, forbid offline use`
    : `the layer ${show(d.layer)} does not allow offline use`,
    'Use it online. If its provider permits it, set permission: true.'),
  AREA_EXISTS: entry(409, d => `there is an area ${show(d.value)} already`,
    'Use another name, or remove that area first.'),
  AREA_NOT_FOUND: entry(404, d => `no area ${show(d.value)} on this device`, 'Call areas.list() for their names.'),
  QUOTA_EXCEEDED: entry(507, d => 'no room on this device for ' +
    `${d.area ? show(d.area) : 'this'}${roomOf(d)}`,
    'Remove an area, choose a smaller one, or free space, then download again: it continues.'),

  // a page
  LEAFLET_VERSION: entry(501, d => `tilecouch needs Leaflet 1.9, and this is Leaflet ${d.value}`,
    'Load Leaflet 1.9.4 (npm install leaflet@1.9). Leaflet 2 is not supported yet.'),
  MAP_VERSION: entry(501, d => `tilecouch needs ${d.needed}, not ${d.value}`, 'Load it (docs/client.md).'),

  MAP_GRID: entry(409, d => `the layer ${show(d.layer)} is in the grid ${d.grid} (${d.crs}), and the map ${d.why}`,
    'Give the map the coordinate system of the layer. MapLibre has Web Mercator only (docs/client.md).'),
  NO_PROJ4: entry(501, d => `places in ${d.crs} need proj4js`,
    'Load proj4 first, or register it: registerProj4(proj4).'),

  // the couchapp
  CONFIG_INVALID: entry(422, d => `${d.file}: ${d.why}`),
  ABORTED: entry(499, () => 'stopped on request', 'Run it again to resume.'),
  INTERNAL: entry(500, d => `${d.why ?? 'unexpected error'}`)
}

/** `bad value "x" for --zoom`; a switch has no value. */
function badOption (/** @type {Record<string, any>} */ { option, value }) {
  if (value === undefined) return `${option} is missing`
  if (typeof value === 'boolean') return `${option} cannot be used here`
  return `${value === null ? 'no value' : `bad value ${show(value)}`} for ${option}`
}

/** Lists the first three names, and the number of the others. */
export function some (names) {
  const list = [names].flat()
  return `${list.slice(0, 3).join(', ')}${list.length > 3 ? ` and ${list.length - 3} more` : ''}`
}

/** Says how much room an area needs, and how much is free. @param {Record<string, any>} details */
const roomOf = ({ needed, free = 0 }) =>
  needed === undefined ? '' : `: it needs ${megabytes(needed)}, and ${megabytes(free)} are free`

const megabytes = bytes => `${(bytes / 1e6).toFixed(bytes < 1e7 ? 1 : 0)} MB`

/**
 * Formats a value for a message: a text in quotes, any other value as JSON; cut off, and without possible passwords.
 * @param {unknown} value
 */
export function show (value) {
  const isText = typeof value === 'string'
  const clean = scrub(isText ? value : jsonText(value))
  const text = clean.length > 120 ? `${clean.slice(0, 117)}…` : clean
  return isText ? JSON.stringify(text) : text
}

function jsonText (value) {
  try {
    return JSON.stringify(value) ?? String(value)
  } catch {
    return 'lists in lists without end' // deeper than the stack allows
  }
}

/**
 * Removes names and passwords from every URL in a text, and tokens for private layers. It also handles passwords with a
 * slash or quote that should have been encoded. If in doubt, it removes too much.
 * @param {unknown} text
 */
export function scrub (text) {
  return String(text)
    .replace(/:\/\/(?:[^/\s]*|[^/\s:@]{1,64}:(?!\d+\/)\S{0,256})@/g, '://')
    .replace(/\btc[1s](?:\.|%2e)[\w.%~-]+/gi, '(token)')
    .replace(/([?&]token=)[^&\s"'#]+/gi, '$1(hidden)')
}

/**
 * Applies `scrub` to every text in a value: errors keep their details for programs, which may log them.
 * @param {any} value @returns {any}
 */
export function scrubAll (value) {
  if (typeof value === 'string') return scrub(value)
  if (Array.isArray(value)) return value.map(scrubAll)
  if (Object.getPrototypeOf(value ?? 0) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, scrubAll(inner)]))
}

/** An error with a stable code from the catalogue. Each is a new object: errors are never shared. */
export class TilecouchError extends Error {
  /**
   * @param {string} code a code of the catalogue
   * @param {Record<string, any>} [details] values the message shows; kept on the error for programs
   * @param {{cause?: unknown}} [options]
   */
  constructor (code, details = {}, options) {
    const { status, text, advice } = catalogue[code] ?? catalogue.INTERNAL
    super(scrub(text(details)), options)
    this.name = 'TilecouchError'
    this.code = code
    this.status = status
    this.advice = advice
    this.details = scrubAll(details)
  }

  /** The form for HTTP answers and for `--json`. */
  toJSON () {
    return { error: this.code, reason: this.message, ...(this.advice && { advice: this.advice }) }
  }
}
