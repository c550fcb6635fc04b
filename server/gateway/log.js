// The log: one JSON object a line, at a terminal a sentence, on standard error, since standard output belongs to the
// results of commands. It has no passwords, keys or tokens in it: every line is checked, so that no message, error,
// stack or field can slip through.
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
 * @param {{write: (line: string) => void}} [options.destination] unless given, standard error
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
  const written = value => typeof value === 'string' ? value : JSON.stringify(value)
  const details = Object.entries(fields).map(([name, value]) => `${name}: ${written(value)}`).join(', ')
  const prefix = level === 'info' ? '' : `${level}: `
  const sentence = `${time.slice(11, 19)} ${prefix}${msg}${details && ` (${details})`}`
  return `${plainText(sentence)}\n`
}

/** The secrets in the options. @param {Record<string, any>} options */
export function secretsOf ({ db, upstreamHeaders = {}, accessKeys }) {
  const { password } = URL.canParse(db ?? '') ? new URL(db) : { password: '' }
  const texts = Object.values(upstreamHeaders).flatMap(headers => Object.values(headers))
    // "Bearer abc": the second word alone is as bad
    .flatMap(text => [text, ...text.split(/\s+/)])
  const fromEnvironment = ['COUCHDB_PASSWORD', 'TILECOUCH_FROM_PASSWORD'].map(name => secretOf(name) ?? '')
  return [...texts, ...Object.values(accessKeys ?? {}), decodedText(password), password, ...fromEnvironment]
    .filter(text => text.length > 5 && !SCHEME.test(text))
}

/** @returns {(line: string) => string} */
function cleaner (secrets) {
  // as they look inside JSON; the longest first, so that each is hidden completely
  const texts = [...new Set(secrets)].sort((a, b) => b.length - a.length)
  const written = texts.map(text => JSON.stringify(text).slice(1, -1))
  return line => {
    if (!SUSPICIOUS.test(line) && !written.some(text => line.includes(text))) return plainJsonText(line)
    return `${plainJson(JSON.parse(line, (name, value) => clean(name, value, texts)))}\n`
  }
}

/** The value of a field without secrets. */
function clean (name, value, secrets) {
  if (SECRET_FIELD.test(name)) return HIDDEN
  if (typeof value !== 'string') return value
  const scrubbed = scrub(value).replace(/\b(Bearer|Basic)\s+[\w+/=.~-]+/gi, `$1 ${HIDDEN}`)
  return secrets.reduce((text, secret) => text.replaceAll(secret, HIDDEN), scrubbed)
}

/** One request, when every one is logged. @param {any} log @param {any} request @param {Record<string, any>} answer */
export function logAccess (log, { method, url, socket }, { seconds, ...answer }) {
  log.info({ method, url, ...answer, ms: Math.round(seconds * 1e5) / 100, from: socket.remoteAddress }, 'request')
}

/** Does not repeat lines: an upstream that is down fails for every tile, and one line is enough. */
export class ThrottledLog {
  /** @type {Map<string, {until: number, more: number}>} */
  #topics = new Map()

  /** @param {any} log may be missing @param {number} [pause] milliseconds between two lines of a topic */
  constructor (log, pause = 10000) {
    this.log = log
    this.pause = pause
  }

  /**
   * @param {'warn' | 'error'} level @param {string} topic one of few, as layers and codes are
   * @param {Record<string, any>} details of this time
   */
  write (level, topic, details, text) {
    const now = performance.now()
    const last = this.#topics.get(topic)
    if (last && now < last.until) {
      last.more++
      return
    }
    this.#topics.set(topic, { until: now + this.pause, more: 0 })
    // more: how often it was left out since the last line
    this.log?.[level]?.({ ...details, ...(last?.more && { more: last.more }) }, text)
  }
}
