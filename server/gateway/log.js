// The log: one JSON object a line, on standard error, since standard output belongs to what a command answers. Nothing that
// opens a door is ever in it: every finished line is looked at, so that no message, error, stack or field can slip through.
import { pino } from 'pino'
import { scrub } from '../../core/index.js'
import { secretOf } from '../../loader/secrets.js'

const HIDDEN = '(hidden)'

/** Fields whose value is nobody's business, whatever they hold. */
const SECRET_FIELD = /authorization|cookie|password|passwd|secret|token|api-?_?key/i

const SCHEME = /^(bearer|basic|digest|token|apikey)$/i

/** A line without any of these holds nothing to hide: looking is cheap, taking apart is not. */
const SUSPICIOUS = /@|tc1|authorization|cookie|password|passwd|secret|token|api-?_?key/i

/**
 * @param {object} [options]
 * @param {string} [options.level]
 * @param {number | {write: (line: string) => void}} [options.destination] file descriptor or stream
 * @param {string[]} [options.secrets] texts that never appear, such as the values of upstreamHeaders
 * @param {Record<string, unknown>} [options.base] fields of every line
 * @returns {import('pino').Logger}
 */
export function createLog ({ level = 'info', destination = 2, secrets = [], base } = {}) {
  const stream = typeof destination === 'number' ? pino.destination({ dest: destination, sync: true }) : destination
  return pino({
    level,
    base: { pid: process.pid, ...base },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
    hooks: { streamWrite: cleaner(secrets) }
  }, stream)
}

/** What the options hold that must not be repeated. @param {Record<string, any>} options */
export function secretsOf ({ db, upstreamHeaders = {}, accessKeys }) {
  const { password } = URL.canParse(db ?? '') ? new URL(db) : { password: '' }
  const texts = Object.values(upstreamHeaders).flatMap(headers => Object.values(headers))
    // "Bearer abc": the second word alone is as bad
    .flatMap(text => [text, ...text.split(/\s+/)])
  return [...texts, ...Object.values(accessKeys ?? {}), decode(password), password, secretOf('COUCHDB_PASSWORD') ?? '', secretOf('TILECOUCH_FROM_PASSWORD') ?? ''].filter(text => text.length > 5 && !SCHEME.test(text))
}

function decode (text) {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/** @param {string[]} secrets @returns {(line: string) => string} */
function cleaner (secrets) {
  // as they look inside JSON; the longest first, so that no rest of one stays
  const texts = [...new Set(secrets)].sort((a, b) => b.length - a.length)
  const written = texts.map(text => JSON.stringify(text).slice(1, -1))
  return line => {
    if (!SUSPICIOUS.test(line) && !written.some(text => line.includes(text))) return line
    return JSON.stringify(clean(JSON.parse(line), texts)) + '\n'
  }
}

function clean (value, secrets) {
  if (typeof value === 'string') return secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), scrub(value).replace(/\b(Bearer|Basic)\s+[\w+/=.~-]+/gi, `$1 ${HIDDEN}`))
  if (Array.isArray(value)) return value.map(inner => clean(inner, secrets))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, SECRET_FIELD.test(key) ? HIDDEN : clean(inner, secrets)]))
}

/**
 * One request, when every one is logged.
 * @param {import('pino').Logger} log
 * @param {{method?: string, url?: string, socket: {remoteAddress?: string}}} req
 * @param {{status: number, seconds: number, bytes?: number, kind?: string, layer?: string, outcome?: string}} answer
 */
export function logAccess (log, { method, url, socket }, { seconds, ...answer }) {
  log.info({ method, url, ...answer, ms: Math.round(seconds * 1e5) / 100, from: socket.remoteAddress }, 'request')
}
