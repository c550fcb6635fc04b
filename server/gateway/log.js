// Writes the log to standard error, since standard output is for the results of commands. A line is a JSON object, or a
// sentence at a terminal. Every line is checked for passwords, keys and tokens: messages, errors, stacks and fields.
import { isatty } from 'node:tty'
import { pino } from 'pino'
import { plainJson, plainJsonText, plainText, scrub } from '../../core/index.js'
import { decodedText } from '../../core/values.js'
import { secretOf } from '../../loader/store/secrets.js'

const HIDDEN = '(hidden)'

/** Fields whose values are always hidden. */
const SECRET_FIELD = /authorization|cookie|password|passwd|secret|token|api-?_?key/i

const SCHEME = /^(bearer|basic|digest|token|apikey)$/i

/** A line without any of these has no secrets: the test is cheap, parsing the line is not. */
const SUSPICIOUS = new RegExp(`@|tc[1s]|${SECRET_FIELD.source}`, 'i')

/**
 * @param {object} [options]
 * @param {string} [options.level]
 * @param {{write: (line: string) => void}} [options.destination] default: standard error
 * @param {string[]} [options.secrets] texts that never appear, such as the values of upstreamHeaders
 * @param {Record<string, unknown>} [options.base] fields of every line
 * @returns {import('pino').Logger}
 */
export function createLog ({ level = 'info', destination = standardError(), secrets = [], base } = {}) {
  return pino({
    level,
    base: { pid: process.pid, ...base },
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: label => ({ level: label }) },
    hooks: { streamWrite: cleaner(secrets) }
  }, destination)
}

function standardError () {
  const stream = pino.destination({ dest: 2, sync: true })
  return isatty(2) ? { write: line => stream.write(sentenceOf(line)) } : stream
}

/** A line of the log as a person reads it: `11:23:05 warn: the store is away (url: http://…)`. */
export function sentenceOf (line) {
  const { level, time, pid, msg = '', ...fields } = JSON.parse(line)
  const textOf = value => typeof value === 'string' ? value : JSON.stringify(value)
  const details = Object.entries(fields).map(([name, value]) => `${name}: ${textOf(value)}`).join(', ')
  const prefix = level === 'info' ? '' : `${level}: `
  const sentence = `${time.slice(11, 19)} ${prefix}${msg}${details && ` (${details})`}`
  return `${plainText(sentence)}\n`
}

/** The secrets in the options. @param {Record<string, any>} options */
export function secretsOf ({ db, upstreamHeaders = {}, accessKeys }) {
  const { password } = URL.canParse(db ?? '') ? new URL(db) : { password: '' }
  const texts = Object.values(upstreamHeaders).flatMap(headers => Object.values(headers))
    // "Bearer abc": the second word alone is a secret too
    .flatMap(text => [text, ...text.split(/\s+/)])
  const fromEnvironment = ['COUCHDB_PASSWORD', 'TILECOUCH_FROM_PASSWORD'].map(name => secretOf(name) ?? '')
  return [...texts, ...Object.values(accessKeys ?? {}), decodedText(password), password, ...fromEnvironment]
    .filter(text => text.length > 5 && !SCHEME.test(text))
}

/** @returns {(line: string) => string} */
function cleaner (secrets) {
  // the longest first, so that each is hidden completely
  const texts = [...new Set(secrets)].sort((a, b) => b.length - a.length)
  const escapedTexts = texts.map(text => JSON.stringify(text).slice(1, -1))
  return line => {
    if (!SUSPICIOUS.test(line) && !escapedTexts.some(text => line.includes(text))) return plainJsonText(line)
    return `${plainJson(JSON.parse(line, (name, value) => clean(name, value, texts)))}\n`
  }
}

/** Hides the secrets in the value of a field. */
function clean (name, value, secrets) {
  if (SECRET_FIELD.test(name)) return HIDDEN
  if (typeof value !== 'string') return value
  const scrubbed = scrub(value).replace(/\b(Bearer|Basic)\s+[\w+/=.~-]+/gi, `$1 ${HIDDEN}`)
  return secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), scrubbed)
}

/** Logs one request, for accessLog. @param {any} log @param {any} request @param {Record<string, any>} answer */
export function logAccess (log, { method, url, socket }, { seconds, ...answer }) {
  log.info({ method, url, ...answer, ms: Math.round(seconds * 1e5) / 100, from: socket.remoteAddress }, 'request')
}

/** Writes one line for a repeated failure: an upstream that is down fails for every tile. */
export class ThrottledLog {
  /** @type {Map<string, {until: number, more: number}>} */
  #topics = new Map()

  /** @param {any} log may be missing @param {number} [pause] milliseconds between two lines of a topic */
  constructor (log, pause = 10000) {
    this.log = log
    this.pause = pause
  }

  /**
   * @param {'warn' | 'error'} level @param {string} topic one of a small number, such as layers and codes
   * @param {Record<string, any>} details of this line
   */
  write (level, topic, details, text) {
    const now = performance.now()
    const last = this.#topics.get(topic)
    if (last && now < last.until) {
      last.more++
      return
    }
    this.#topics.set(topic, { until: now + this.pause, more: 0 })
    // more: number of lines that were left out since the last one
    this.log?.[level]?.({ ...details, ...(last?.more && { more: last.more }) }, text)
  }
}
