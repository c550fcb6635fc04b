// Reads the options of a gateway. The command line comes first, then the environment, then the file, then the defaults.
// Error messages name the option as the user wrote it.
import { LayerSet, parseDuration, scrub } from '../../core/index.js'
import { isOrigin } from '../../loader/couchapp/policy.js'
import { TilecouchError } from '../../loader/errors.js'
import { plainTextOf, readSmallFile } from '../../loader/formats/files.js'
import { isWorldReadable, jsonErrorLine } from '../../loader/store/secrets.js'
import { parseKeys } from '../../loader/store/token.js'
import { Networks } from '../../loader/load/upstream/networks.js'
import { Secrets } from '../../loader/load/upstream/secrets.js'
import { longFlag, options } from './options.js'
import { attempt, isObject, jsonOf, switchOf } from '../../core/values.js'

/** @typedef {Record<string, any>} Values by the names of the options */

const UNITS = { '': 1, b: 1, kb: 1e3, mb: 1e6, gb: 1e9, kib: 2 ** 10, mib: 2 ** 20, gib: 2 ** 30 }
// variables that the command line, mirrors and upstreams read
const OTHER_VARIABLES = [
  'TILECOUCH_CONTACT', 'TILECOUCH_DEBUG',
  'TILECOUCH_FROM_USER', 'TILECOUCH_FROM_PASSWORD', 'TILECOUCH_FROM_PASSWORD_FILE'
]

/** @param {string} why a value is not accepted @returns {never} */
function refuse (why) {
  throw new Error(why)
}

/**
 * Each parser checks a text or a value, and returns the value. The message of its error says why it is not accepted.
 * @type {Record<string, (value: any, option: import('./options.js').Option) => any>}
 */
const parsers = {
  text: parseText,
  names: parseNames,
  url: parseUrl,
  port: value => parseWhole(value, 0, 65535),
  count: (value, { least = 0, most = Infinity }) => parseWhole(value, least, most),
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

/** Names and patterns of layers. `true` means all layers, `false` none. */
function parseLayers (value) {
  if (/^(true|false)$/.test(String(value))) return String(value) === 'true' ? ['*'] : []
  return checked(parseNames(value), names => new LayerSet(names))
}

/** Returns a value; throws if `validate` throws. */
function checked (value, validate) {
  validate(value)
  return value
}

/** Takes a list, or one text with commas. */
function parseNames (value) {
  const parts = Array.isArray(value) ? value : [value]
  if (!parts.every(part => typeof part === 'string')) return refuse('it takes names, separated by commas')
  return parts.flatMap(part => part.split(',')).map(name => name.trim()).filter(Boolean)
}

/** Origins as browsers write them; `*` means all. */
function parseOriginList (value) {
  const origins = parseNames(value).filter(origin => !/^none$/i.test(origin))
  if (origins.join() === '*' || origins.every(isOrigin)) return origins
  return refuse('it takes origins such as https://www.example.org, separated by commas, or *')
}

function parseWhole (value, least, most) {
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
  return attempt(() => parseDuration(value)) ?? refuse('it takes a duration such as 90s, 15m, 12h, 7d')
}

function parseUrl (value) {
  const url = URL.canParse(value) ? new URL(value) : refuse('it takes a URL')
  if (!/^https?:$/.test(url.protocol) || url.username || url.password || url.search || url.hash) {
    return refuse('it takes an http(s) URL without a password, query or fragment')
  }
  return url.href.endsWith('/') ? url.href : `${url.href}/`
}

const HEADERS = 'it takes a JSON object: host or origin -> header or ?parameter -> one line of text'

/** Error messages repeat only hosts: a key that is not a host may be an address with a password. */
function parseHeaders (value) {
  const hosts = typeof value === 'string' ? jsonOf(value) : value
  if (!isObject(hosts)) return refuse(HEADERS)
  try {
    new Secrets(hosts) // throws for headers that it cannot send
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
  const unknownFlag = Object.keys(flags).find(key => !names.has(key))
  if (unknownFlag !== undefined) {
    const why = unknownKey(unknownFlag, table)
    throw new TilecouchError('BAD_OPTION', { option: 'the gateway', value: unknownFlag, why })
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
    const [value, source] = settings.find(([setting]) => setting !== undefined && setting !== null) ?? []
    return [name, source === undefined ? option.default : parse(option, value, source)]
  }))
  if (values.trustProxy && !values.publicUrl) {
    const why = 'a gateway behind a proxy needs the URL for clients: add --public-url'
    throw new TilecouchError('BAD_OPTION', { option: '--trust-proxy', value: true, why })
  }
  return values
}

function parse (option, value, source) {
  try {
    return parsers[option.type](value, option)
  } catch (error) {
    const shown = option.secret ? '(not shown)' : value
    throw new TilecouchError('BAD_OPTION', { option: source, value: shown, why: error.message })
  }
}

function unknownKey (key, table) {
  const normalize = text => text.replace(/[^a-z]/gi, '').toLowerCase()
  const similarOption = table.find(({ name }) => normalize(name) === normalize(key))
  return `unknown option ${JSON.stringify(key)}${similarOption ? `; "${similarOption.name}" is one` : ''}`
}

/**
 * Reads the options, including the file that --config or TILECOUCH_CONFIG names.
 * @param {{flags?: Values, env?: NodeJS.ProcessEnv, table?: import('./options.js').Option[]}} [sources]
 * @returns {Promise<{options: Values, warnings: string[]}>}
 */
export async function loadOptions ({ flags = {}, env = process.env, table = options } = {}) {
  const fileName = flags.config ?? (env.TILECOUCH_CONFIG || undefined)
  const file = fileName ? readConfig(fileName) : {}
  const warnings = []
  if (fileName && hasSecret(file) && isWorldReadable(fileName)) {
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
    text = plainTextOf(readSmallFile(fileName))
  } catch (error) {
    const why = error.code === 'ENOENT' ? 'no such file' : error.message
    throw new TilecouchError('CONFIG_INVALID', { file: fileName, why })
  }
  const file = jsonOf(text)
  if (!isObject(file)) {
    throw new TilecouchError('CONFIG_INVALID', { file: fileName, why: `not a JSON object${jsonErrorLine(text)}` })
  }
  return file
}

/** @param {Values} file */
function hasSecret ({ db, from, store, upstreamHeaders, accessKeys }) {
  return Boolean(accessKeys) || [db, from, store].some(url => typeof url === 'string' && url !== scrub(url)) ||
    (isObject(upstreamHeaders) && Object.keys(upstreamHeaders).length > 0)
}
