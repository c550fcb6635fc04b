// All options of a gateway, in one table: flags, environment variables, keys of the file, --help, docs/gateway.md and
// the defaults come from it.
import { meaningOf } from '../../loader/cli/options.js'

/**
 * @typedef {object} Option
 * @property {string} name of the option in a program and in the file
 * @property {string} flags on the command line; empty when it has none: then --set takes it, unless it is secret
 * @property {string} env
 * @property {string} type name of a parser in config.js
 * @property {any} default in the unit of the type: bytes, seconds
 * @property {string} shown the default as a user would write it
 * @property {string} text what it means, in --help and in docs/gateway.md
 * @property {string[]} [choices]
 * @property {number} [least]
 * @property {number} [most]
 * @property {boolean} [whole] rounded to whole seconds, for headers
 * @property {boolean} [secret] its value is never shown
 * @property {string} [fallback] another variable that is read when `env` is not set
 */

/**
 * @typedef {Pick<Option, 'name' | 'type' | 'default'> & Partial<Option> &
 *   {short?: string, takes?: string, flagless?: boolean}} Row takes: placeholder in --help; flagless: for --set, the
 *   environment and the file only; without a text, the text of other commands is used
 */

/** An option with a flag. @returns {Row} */
export const flag = (name, type, value, more = {}) => ({ name, type, default: value, ...more })

/** An option without a flag. @returns {Row} */
export const setting = (name, type, value, text, more = {}) =>
  ({ name, type, default: value, text, flagless: true, ...more })

/** The options by task, in the order of docs/gateway.md. @type {Record<string, Row[]>} */
export const groups = {
  'The store': [
    flag('db', 'text', null, { fallback: 'COUCHDB_URL' }),
    flag('data', 'text', './data'),
    setting('dbAccess', 'boolean', true, 'serve the store at /db, read-only, for PouchDB and the viewer'),
    setting('viewer', 'boolean', true, 'serve the viewer at /')
  ],
  'Ports and addresses': [
    flag('host', 'text', '127.0.0.1', { text: 'address to listen on; 0.0.0.0 or :: for every interface' }),
    flag('port', 'port', 8080, { short: 'p' }),
    flag('publicUrl', 'url', null),
    flag('trustProxy', 'boolean', false, {
      text: 'trust the last address in X-Forwarded-For: only for a proxy that sets it; needs publicUrl'
    })
  ],
  'Memory, processes and connections': [
    flag('memory', 'bytes', 256e6, {
      shown: '256MB', text: 'memory for tiles, divided among the workers; 0 keeps none'
    }),
    flag('workers', 'count', 1, {
      least: 1, most: 64, text: 'processes that serve, at most as many as the machine has cores'
    }),
    setting('maxConnections', 'count', 10000, 'connections of each worker at once; 0 for no limit', { most: 1e6 }),
    setting('connectionsEach', 'count', 256,
      'connections of one address (IPv6: one network), except this machine; no limit with trustProxy or 0',
      { most: 1e6 }),
    setting('grace', 'duration', 10, 'how long requests may take to end when the gateway stops', { shown: '10s' })
  ],
  'Caches of clients': [
    setting('maxAge', 'duration', 300, 'how long clients keep tiles that never expire', { whole: true, shown: '5m' }),
    setting('staleWhileRevalidate', 'duration', 86400,
      'how long after that they may show the old tile while they ask for a new one', { whole: true, shown: '1d' }),
    setting('staleIfError', 'duration', 604800, 'how long they may show it when there is no answer',
      { whole: true, shown: '7d' }),
    setting('missing', 'choice', 'auto',
      'answer for a missing tile; auto: 404 for images (clients then show the zoom below), 204 for vector tiles',
      { choices: ['auto', '404', '204', 'transparent'] })
  ],
  'Tile servers': [
    setting('upstream', 'boolean', true,
      'fetch tiles that are missing or expired from the upstream of their layer'),
    flag('upstreamNetworks', 'networks', null),
    setting('upstreamHeaders', 'json', {}, 'headers for upstreams by host, for keys and passwords, such as ' +
      '{"tiles.example.org": {"Authorization": "…"}}; sent to http only if the key is http://host', { secret: true })
  ],
  'Who may read': [
    setting('public', 'boolean', false,
      'serve a store to everybody although not everybody may read it (of an edge: its origin)'),
    flag('privateLayers', 'layers', null, {
      text: 'private layers: names and patterns (survey-*), * for all, !name to exclude one; see docs/access.md'
    }),
    flag('accessKeysFile', 'text', null, { takes: '<file>' }),
    setting('accessKeys', 'keys', null,
      'keys for tokens that show private layers, each as id:secret; the last one signs', { secret: true }),
    setting('cors', 'text', '*', 'origins whose pages may read, separated by commas; * for all (not /db of a store ' +
      'with private layers); none'),
    setting('embed', 'origins', null, 'origins whose pages may show a map of the viewer in a frame (/?embed), ' +
      'separated by commas; * for all; default: none')
  ],
  'Monitoring and log': [
    flag('opsPort', 'port', null, { text: 'port for /metrics, and for /health instead of the public one' }),
    setting('opsHost', 'text', '127.0.0.1', 'address of that port'),
    setting('logLevel', 'choice', 'info', 'lowest level that is logged',
      { choices: ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] }),
    setting('accessLog', 'boolean', false, 'log every request')
  ]
}

export const table =
  [...Object.values(groups).flat(), flag('config', 'text', null, { text: 'JSON file with any of these by name' })]

const kebab = name => name.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)

/** Placeholders of flags in --help, by the type of an option or by its name. */
const PLACEHOLDERS = {
  text: '<text>', names: '<names>', url: '<url>', port: '<n>', count: '<n>', bytes: '<size>', duration: '<time>',
  layers: '<names>', networks: '<list>', boolean: '', db: '<env|url>', data: '<folder>', host: '<address>',
  config: '<file>'
}

/** The flag in --help. A switch that is on by default shows its --no- form; both forms are accepted. */
function flagsOf ({ name, type, short, takes = PLACEHOLDERS[name] ?? PLACEHOLDERS[type], default: value }) {
  return `${short ? `-${short}, ` : ''}--${value === true ? 'no-' : ''}${kebab(name)} ${takes}`.trim()
}

function shownOf ({ type, default: value }) {
  if (value === null) return ''
  return type === 'json' ? JSON.stringify(value) : String(value)
}

/** Completes rows: flags, variables and texts follow from the names. @param {Row[]} rows @returns {Option[]} */
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
