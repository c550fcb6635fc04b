// The options of a gateway: of the command line, then the environment, then the file, then the defaults. Errors name
// the option as it was given.
import { LayerSet, parseDuration, scrub } from '../../core/index.js'
import { isOrigin } from '../../loader/couchapp/policy.js'
import { TilecouchError } from '../../loader/errors.js'
import { readSmallFile } from '../../loader/formats/files.js'
import { isWorldReadable, jsonErrorLine } from '../../loader/store/secrets.js'
import { parseKeys } from '../../loader/store/token.js'
import { Networks } from '../../loader/load/upstream/networks.js'
import { Secrets } from '../../loader/load/upstream/secrets.js'
import { longFlag, options } from './options.js'
import { isObject, jsonOf, switchOf } from '../../core/values.js'

/** @typedef {Record<string, any>} Values by the names of the options */

const UNITS = { '': 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 }
// of the command line, of mirrors and of upstreams
const OTHER_VARIABLES = [
  'TILECOUCH_CONTACT', 'TILECOUCH_DEBUG',
  'TILECOUCH_FROM_USER', 'TILECOUCH_FROM_PASSWORD', 'TILECOUCH_FROM_PASSWORD_FILE'
]

/** @param {string} why a value is not accepted @returns {never} */
function refuse (why) {
  throw new Error(why)
}

/**
 * From a text, or a value already, to the value. The message of an error says why a value is not accepted.
 * @type {Record<string, (value: any, option: import('./options.js').Option) => any>}
 */
const parsers = {
  text: parseText,
  names: parseNames,
  url: parseUrl,
  port: value => whole(value, 0, 65535),
  count: (value, { least = 0, most = Infinity }) => whole(value, least, most),
  bytes: parseBytes,
  duration: (value, { whole: rounded }) => rounded ? Math.round(parseSeconds(value)) : parseSeconds(value),
  boolean: value => switchOf(value) ?? refuse('it takes true or false'),
  choice: (value, { choices = [] }) =>
    choices.includes(String(value)) ? String(value) : refuse(`it takes one of ${choices.join(', ')}`),
  json: parseHeaders,
  layers: parseLayers,
  origins: parseOriginList,
  networks: value => checked(parseNames(value), names => new Networks(names)),
  keys: parseKeys
}

function parseText (value) {
  const text = typeof value === 'string' ? value.trim() : ''
  // eslint-disable-next-line no-control-regex
  return text && !/[\u0000-\u001f\u007f]/.test(value) ? text : refuse('it takes one line of text')
}

/** Names and patterns; true and false for all and none. */
function parseLayers (value) {
  if (/^(true|false)$/.test(String(value))) return String(value) === 'true' ? ['*'] : []
  return checked(parseNames(value), names => new LayerSet(names))
}

/** A value, if `make` accepts it. */
function checked (value, make) {
  make(value)
  return value
}

/** A list, or a text separated by commas. */
function parseNames (value) {
  const parts = Array.isArray(value) ? value : [value]
  if (!parts.every(part => typeof part === 'string')) return refuse('it takes names, separated by commas')
  return parts.flatMap(part => part.split(',')).map(name => name.trim()).filter(Boolean)
}

/** As browsers write them; `*` for all. */
function parseOriginList (value) {
  const origins = parseNames(value).filter(origin => !/^none$/i.test(origin))
  if (origins.join() === '*' || origins.every(isOrigin)) return origins
  return refuse('it takes origins such as https://www.example.org, separated by commas, or *')
}

function whole (value, least, most) {
  const number = typeof value === 'number' || /^\d{1,9}$/.test(value) ? +value : NaN
  if (Number.isInteger(number) && number >= least && number <= most) return number
  return refuse(`it takes a whole number from ${least} to ${most}`)
}

function parseBytes (value) {
  const [, number, unit] = /^(\d{1,12}(?:\.\d+)?)\s*([kmg]?i?b?)$/i.exec(String(value)) ?? []
  const factor = UNITS[unit?.toLowerCase()]
  if (factor === undefined) return refuse('it takes a size such as 256MB, 1GiB or a number of bytes')
  return Math.floor(+number * factor)
}

function parseSeconds (value) {
  if (typeof value === 'number' && value >= 0 && Number.isFinite(value)) return value
  try {
    return parseDuration(value)
  } catch {
    return refuse('it takes a duration such as 90s, 15m, 12h, 7d')
  }
}

function parseUrl (value) {
  const url = URL.canParse(value) ? new URL(value) : refuse('it takes a URL')
  if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    return refuse('it takes an http(s) URL without a password, query or fragment')
  }
  return url.href.endsWith('/') ? url.href : `${url.href}/`
}

const HEADERS = 'it takes a JSON object: host or origin -> header or ?parameter -> one line of text'

/** Messages repeat nothing but hosts: a key that is no host may be an address with a password. */
function parseHeaders (value) {
  const hosts = typeof value === 'string' ? jsonOf(value) : value
  if (!isObject(hosts)) return refuse(HEADERS)
  try {
    new Secrets(hosts) // throws for what it cannot send
  } catch ({ details }) {
    return refuse(HEADERS + details.option.replace('upstreamHeaders', '').replace(' of', ': wrong for'))
  }
  return hosts
}

/**
 * Checks options and fills in the defaults. Its result is valid input again.
 * @param {object} sources
 * @param {Values} [sources.flags] of the command line, or of a program
 * @param {NodeJS.ProcessEnv} [sources.env]
 * @param {Values} [sources.file] content of the file
 * @param {string} [sources.fileName] for messages
 * @param {import('./options.js').Option[]} [sources.table]
 * @returns {Values}
 */
export function resolveOptions (
  { flags = {}, env = {}, file = {}, fileName = 'the configuration', table = options } = {}
) {
  const names = new Set(table.map(({ name }) => name))
  const unknownInFile = Object.keys(file).find(key => key === 'config' || !names.has(key))
  if (unknownInFile !== undefined) {
    throw new TilecouchError('CONFIG_INVALID', { file: fileName, why: unknownKey(unknownInFile, table) })
  }
  const unknown = Object.keys(flags).find(key => !names.has(key))
  if (unknown !== undefined) {
    throw new TilecouchError('BAD_OPTION', { option: 'the gateway', value: unknown, why: unknownKey(unknown, table) })
  }
  const values = Object.fromEntries(table.map(option => {
    const { name } = option
    // an empty variable counts as not set: compose files and units pass on empty ones
    const variable = [option.env, option.fallback].find(key => key && env[key])
    const settings = [
      [flags[name], longFlag(option).replace('--no-', '--') || name],
      [variable && env[variable], variable],
      [file[name], `"${name}" in ${fileName}`]
    ]
    const [value, where] = settings.find(([setting]) => setting !== undefined && setting !== null) ?? []
    return [name, where === undefined ? option.default : parse(option, value, where)]
  }))
  if (values.trustProxy && !values.publicUrl) {
    const why = 'a gateway behind a proxy needs the URL for clients: add --public-url'
    throw new TilecouchError('BAD_OPTION', { option: '--trust-proxy', value: true, why })
  }
  return values
}

function parse (option, value, where) {
  try {
    return parsers[option.type](value, option)
  } catch (error) {
    const shown = option.secret ? '(not shown)' : value
    throw new TilecouchError('BAD_OPTION', { option: where, value: shown, why: error.message })
  }
}

function unknownKey (key, table) {
  const plain = text => text.replace(/[^a-z]/gi, '').toLowerCase()
  const near = table.find(({ name }) => plain(name) === plain(key))
  return `unknown option ${JSON.stringify(key)}${near ? `; "${near.name}" is one` : ''}`
}

/**
 * The same with the file that --config or TILECOUCH_CONFIG names.
 * @param {{flags?: Values, env?: NodeJS.ProcessEnv, table?: import('./options.js').Option[]}} [sources]
 * @returns {Promise<{options: Values, warnings: string[]}>}
 */
export async function loadOptions ({ flags = {}, env = process.env, table = options } = {}) {
  const fileName = flags.config ?? (env.TILECOUCH_CONFIG || undefined)
  const file = fileName ? readConfig(fileName) : {}
  const warnings = []
  if (fileName && holdsSecret(file) && isWorldReadable(fileName)) {
    warnings.push(`${fileName} has secrets in it, and every user of this machine may read it: chmod 640 ${fileName}`)
  }
  for (const name of Object.keys(env)) {
    const isKnown = OTHER_VARIABLES.includes(name) || table.some(option => option.env === name)
    if (name.startsWith('TILECOUCH_') && !isKnown) warnings.push(`${name} in the environment names no option`)
  }
  return { options: resolveOptions({ flags, env, file, fileName, table }), warnings }
}

function readConfig (fileName) {
  let text
  try {
    text = String(readSmallFile(fileName))
  } catch (error) {
    const why = error.code === 'ENOENT' ? 'no such file' : error.message
    throw new TilecouchError('CONFIG_INVALID', { file: fileName, why })
  }
  const file = jsonOf(text.replace(/^\ufeff/, ''))
  if (!isObject(file)) {
    throw new TilecouchError('CONFIG_INVALID', { file: fileName, why: `not a JSON object${jsonErrorLine(text)}` })
  }
  return file
}

/** @param {Values} file */
function holdsSecret ({ db, from, store, upstreamHeaders, accessKeys }) {
  return Boolean(accessKeys) || [db, from, store].some(url => typeof url === 'string' && url !== scrub(url)) ||
    (isObject(upstreamHeaders) && Object.keys(upstreamHeaders).length > 0)
}
