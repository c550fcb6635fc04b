// All options of a gateway, in one table: flags, environment variables, keys of the file, --help, docs/gateway.md and
// the defaults come from it.
import { meaningOf } from '../../loader/cli/options.js'

/**
 * @typedef {object} Option
 * @property {string} name of the option in a program and in the file
 * @property {string} flags on the command line; empty when it has none: then --set takes it, unless it is secret
 * @property {string} env
 * @property {string} type one that config.js parses
 * @property {any} default in the unit of the type: bytes, seconds
 * @property {string} shown the default as one would write it
 * @property {string} text what it means, in --help and in docs/gateway.md
 * @property {string[]} [choices]
 * @property {number} [least]
 * @property {number} [most]
 * @property {boolean} [whole] whole seconds: headers have no others
 * @property {boolean} [secret] its value is never shown
 * @property {string} [fallback] another variable that is read when `env` is not set
 */

/**
 * @typedef {Pick<Option, 'name' | 'type' | 'default'> & Partial<Option> &
 *   {short?: string, takes?: string, flagless?: boolean}} Row takes: placeholder in --help; flagless: for --set, the
 *   environment and the file only; without a text, the option means what it means in other commands
 */

/** The options by task, in the order of docs/gateway.md. @type {Record<string, Row[]>} */
export const groups = {
  'The store': [
    { name: 'db', type: 'text', default: null, fallback: 'COUCHDB_URL' },
    { name: 'data', type: 'text', default: './data' },
    {
      name: 'dbAccess', flagless: true, type: 'boolean', default: true,
      text: 'serve the store at /db, read-only, for PouchDB and the viewer'
    },
    { name: 'viewer', flagless: true, type: 'boolean', default: true, text: 'serve the viewer at /' }
  ],
  'Ports and addresses': [
    {
      name: 'host', type: 'text', default: '127.0.0.1', text: 'address to listen on; 0.0.0.0 or :: for every interface'
    },
    { name: 'port', short: 'p', type: 'port', default: 8080 },
    { name: 'publicUrl', type: 'url', default: null },
    {
      name: 'trustProxy', type: 'boolean', default: false,
      text: 'trust the last address in X-Forwarded-For: only for a proxy that sets it; needs publicUrl'
    }
  ],
  'Memory, processes and connections': [
    {
      name: 'memory', type: 'bytes', default: 256e6, shown: '256MB',
      text: 'memory for tiles, divided among the workers; 0 keeps none'
    },
    {
      name: 'workers', type: 'count', least: 1, most: 64, default: 1,
      text: 'processes that serve, at most as many as the machine has cores'
    },
    {
      name: 'maxConnections', flagless: true, type: 'count', least: 0, most: 1e6, default: 10000,
      text: 'connections of each worker at once; 0 for no limit'
    },
    {
      name: 'connectionsEach', flagless: true, type: 'count', least: 0, most: 1e6, default: 256,
      text: 'connections of one address (IPv6: one network), except this machine; no limit with trustProxy or 0'
    },
    {
      name: 'grace', flagless: true, type: 'duration', default: 10, shown: '10s',
      text: 'how long requests may take to end when the gateway stops'
    }
  ],
  'Caches of clients': [
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
      name: 'missing', flagless: true, type: 'choice', choices: ['auto', '404', '204', 'transparent'], default: 'auto',
      text: 'answer for a missing tile; auto: 404 for images (clients then show the zoom below), 204 for vector tiles'
    }
  ],
  'Tile servers': [
    {
      name: 'upstream', flagless: true, type: 'boolean', default: true,
      text: 'fetch tiles that are missing or expired from the upstream of their layer'
    },
    { name: 'upstreamNetworks', type: 'networks', default: null },
    {
      name: 'upstreamHeaders', flagless: true, type: 'json', default: {}, secret: true,
      text: 'headers for upstreams by host, for keys and passwords, such as ' +
        '{"tiles.example.org": {"Authorization": "…"}}; sent to http only if the key is http://host'
    }
  ],
  'Who may read': [
    {
      name: 'public', flagless: true, type: 'boolean', default: false,
      text: 'serve a store to everybody although not everybody may read it (of an edge: its origin)'
    },
    {
      name: 'privateLayers', type: 'layers', default: null,
      text: 'private layers: names and patterns (survey-*), * for all, !name to exclude one; see docs/access.md'
    },
    { name: 'accessKeysFile', type: 'text', default: null, takes: '<file>' },
    {
      name: 'accessKeys', type: 'keys', default: null, secret: true, flagless: true,
      text: 'keys for tokens that show private layers, each as id:secret; the last one signs'
    },
    {
      name: 'cors', flagless: true, type: 'text', default: '*',
      text: 'origins whose pages may read, separated by commas; * for all (not /db of a store with private layers); ' +
        'none'
    },
    {
      name: 'embed', flagless: true, type: 'origins', default: null,
      text: 'origins whose pages may show a map of the viewer in a frame (/?embed), separated by commas; * for all; ' +
        'default: none'
    }
  ],
  'Monitoring and log': [
    {
      name: 'opsPort', type: 'port', default: null,
      text: 'port for /metrics, and for /health instead of the public one'
    },
    { name: 'opsHost', flagless: true, type: 'text', default: '127.0.0.1', text: 'address of that port' },
    {
      name: 'logLevel', flagless: true, type: 'choice', default: 'info', text: 'lowest level that is logged',
      choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent']
    },
    { name: 'accessLog', flagless: true, type: 'boolean', default: false, text: 'log every request' }
  ]
}

/** @type {Row} */
const config = { name: 'config', type: 'text', default: null, text: 'JSON file with any of these by name' }

export const table = [...Object.values(groups).flat(), config]

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
  text: option.text ?? meaningOf('serve', { long: `--${kebab(option.name)}`, description: '' }),
  flags: flagless ? '' : flagsOf({ ...option, short, takes }),
  env: `TILECOUCH_${kebab(option.name).replaceAll('-', '_').toUpperCase()}`,
  shown: option.shown ?? shownOf(option)
}))

export const options = fromRows(table)

/** The long flag, such as `--ops-port`; empty if there is none. @param {Option} option */
export const longFlag = option => /--(?:no-)?([\w-]+)/.exec(option.flags)?.[0] ?? ''

/** The meaning of an option with its default, as --help and docs/gateway.md show it. @param {Option} option */
export function describeOption ({ type, text, shown }) {
  const hasDefault = shown && shown !== '{}' && type !== 'boolean' && !text.includes('(default: ')
  return hasDefault ? `${text} (default: ${shown})` : text
}
