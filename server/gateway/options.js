// All options of a gateway, in one table: flags, environment variables, keys of the file, --help, docs/gateway.md and
// the defaults come from it.

/**
 * @typedef {'text' | 'names' | 'url' | 'port' | 'count' | 'bytes' | 'duration' | 'boolean' | 'choice' | 'json' |
 *   'layers' | 'keys' | 'networks' | 'origins'} Type
 *
 * @typedef {object} Option
 * @property {string} name of the option in a program and in the file
 * @property {string} flags on the command line; empty when it has none: then --set takes it, unless it is secret
 * @property {string} env
 * @property {Type} type
 * @property {any} default in the unit of the type: bytes, seconds
 * @property {string} shown the default as one would write it
 * @property {string} text
 * @property {string[]} [choices]
 * @property {number} [least]
 * @property {number} [most]
 * @property {boolean} [whole] whole seconds: headers have no others
 * @property {boolean} [secret] its value is never shown
 * @property {string} [fallback] another variable that is read when `env` is not set
 */

/**
 * @typedef {Pick<Option, 'name' | 'type' | 'default' | 'text'> & Partial<Option> &
 *   {short?: string, takes?: string, flagless?: boolean}} Row takes: placeholder in --help; flagless: for --set, the
 *   environment and the file only
 */

/** @type {Row[]} */
export const table = [
  {
    name: 'db', type: 'text', default: null, fallback: 'COUCHDB_URL',
    text: 'the CouchDB: environment of .couchapprc, URL, or name on this machine; without one, the embedded store'
  },
  { name: 'data', type: 'text', default: './data', text: 'folder of the embedded store' },
  { name: 'host', type: 'text', default: '127.0.0.1', text: 'address to listen on; 0.0.0.0 or :: for every interface' },
  { name: 'port', short: 'p', type: 'port', default: 8080, text: 'port to listen on; 0 for any free one' },
  {
    name: 'opsPort', type: 'port', default: null,
    text: 'port for /metrics, and for /health instead of the public one'
  },
  { name: 'opsHost', flagless: true, type: 'text', default: '127.0.0.1', text: 'address of that port' },
  {
    name: 'memory', type: 'bytes', default: 256e6, shown: '256MB',
    text: 'memory for tiles, divided among the workers; 0 keeps none'
  },
  {
    name: 'workers', type: 'count', least: 1, most: 64, default: 1,
    text: 'processes that serve, at most as many as the machine has cores'
  },
  { name: 'publicUrl', type: 'url', default: null, text: 'URL of the gateway for clients, used in TileJSON and WMTS' },
  {
    name: 'trustProxy', type: 'boolean', default: false,
    text: 'trust the last address in X-Forwarded-For: only for a proxy that sets it; needs publicUrl'
  },
  {
    name: 'cors', flagless: true, type: 'text', default: '*',
    text: 'origins whose pages may read, separated by commas; * for all (not /db of a store with private layers); none'
  },
  {
    name: 'embed', flagless: true, type: 'origins', default: null,
    text: 'origins whose pages may show a map of the viewer in a frame (/?embed), such as https://www.example.org, ' +
      'separated by commas; * for all; default: none'
  },
  {
    name: 'missing', flagless: true, type: 'choice', choices: ['auto', '404', '204', 'transparent'], default: 'auto',
    text: 'answer for a missing tile; auto: 404 for images (clients then show the zoom below), 204 for vector tiles'
  },
  {
    name: 'maxAge', flagless: true, type: 'duration', whole: true, default: 300, shown: '5m',
    text: 'how long clients keep tiles that never expire'
  },
  {
    name: 'staleWhileRevalidate', flagless: true, type: 'duration', whole: true, default: 86400, shown: '1d',
    text: 'how long after that they may show the old tile while they ask for a new one'
  },
  {
    name: 'staleIfError', flagless: true, type: 'duration', whole: true, default: 604800, shown: '7d',
    text: 'how long they may show it when there is no answer'
  },
  {
    name: 'upstream', flagless: true, type: 'boolean', default: true,
    text: 'fetch tiles that are missing or expired from the upstream of their layer'
  },
  {
    name: 'upstreamHeaders', flagless: true, type: 'json', default: {}, secret: true,
    text: 'headers for upstreams, by host, such as {"tiles.example.org": {"Authorization": "…"}}; for keys and ' +
      'passwords; sent to https, and to http only if the key is http://host'
  },
  {
    name: 'upstreamNetworks', type: 'networks', default: null,
    text: 'private networks, addresses and hosts that upstreams may have, separated by commas, such as ' +
      '10.0.0.0/8,127.0.0.1:8081,maps.intranet; * for all; default: only the public internet'
  },
  { name: 'viewer', flagless: true, type: 'boolean', default: true, text: 'serve the viewer at /' },
  {
    name: 'dbAccess', flagless: true, type: 'boolean', default: true,
    text: 'serve the store at /db, read-only, for PouchDB and the viewer'
  },
  {
    name: 'public', flagless: true, type: 'boolean', default: false,
    text: 'serve a store to everybody although not everybody may read it (of an edge: its origin)'
  },
  {
    name: 'privateLayers', type: 'layers', default: null,
    text: 'private layers: names and patterns (survey-*), * for all, !name to exclude one; see docs/access.md'
  },
  {
    name: 'accessKeys', type: 'keys', default: null, secret: true, flagless: true,
    text: 'keys for tokens that show private layers, each as id:secret; the last one signs'
  },
  { name: 'accessKeysFile', type: 'text', default: null, takes: '<file>', text: 'file with more of them, one a line' },
  {
    name: 'logLevel', flagless: true, type: 'choice', default: 'info', text: 'lowest level that is logged',
    choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
  },
  { name: 'accessLog', flagless: true, type: 'boolean', default: false, text: 'log every request' },
  {
    name: 'grace', flagless: true, type: 'duration', default: 10, shown: '10s',
    text: 'how long requests may take to end when the gateway stops'
  },
  {
    name: 'maxConnections', flagless: true, type: 'count', least: 0, most: 1e6, default: 10000,
    text: 'connections at once, of each worker; further ones are closed; 0 for no limit'
  },
  {
    name: 'connectionsEach', flagless: true, type: 'count', least: 0, most: 1e6, default: 256,
    text: 'of these for one address (or network of IPv6) but this machine; no limit with trustProxy; 0 for no limit'
  },
  { name: 'config', type: 'text', default: null, text: 'JSON file with any of these by name' }
]

const kebab = name => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

/** What a flag takes, in --help: by the type of an option, or by its name. */
const PLACEHOLDERS = {
  text: '<text>', names: '<names>', url: '<url>', port: '<n>', count: '<n>', bytes: '<size>', duration: '<time>',
  choice: '<choice>', json: '<json>', layers: '<names>', networks: '<list>', keys: '', boolean: '',
  db: '<env|url>', data: '<folder>', host: '<address>', opsHost: '<address>', cors: '<origins>', config: '<file>'
}

/** A switch that is on needs a flag that turns it off: both are understood, --help shows the one with an effect. */
function flagsOf ({ name, type, short, takes = PLACEHOLDERS[name] ?? PLACEHOLDERS[type], default: value }) {
  return `${short ? `-${short}, ` : ''}--${value === true ? 'no-' : ''}${kebab(name)} ${takes}`.trim()
}

function shownOf ({ type, default: value }) {
  if (value === null) return ''
  return type === 'json' ? JSON.stringify(value) : String(value)
}

/** Rows with what follows from them. @param {Row[]} rows @returns {Option[]} */
export const fromRows = rows => rows.map(({ short, takes, flagless, ...option }) => ({
  ...option,
  flags: flagless ? '' : flagsOf({ ...option, short, takes }),
  env: `TILECOUCH_${kebab(option.name).replaceAll('-', '_').toUpperCase()}`,
  shown: option.shown ?? shownOf(option)
}))

export const options = fromRows(table)

export const defaults = Object.fromEntries(options.map(option => [option.name, option.default]))

/** The long flag, such as `--ops-port`; empty if there is none. @param {Option} option */
export const longFlag = option => /--(?:no-)?([\w-]+)/.exec(option.flags)?.[0] ?? ''
