// What a client may know of an error: whose fault it is and whether to try again, never how the inside is built. The log has the rest.
import { TilecouchError } from '../../core/index.js'
import { SAFE_LIST } from './safe.js'

export const UNKEPT = Object.freeze(['Cache-Control', 'no-store'])

const RETRY_AFTER = '5' // seconds until it is worth asking again

/** Errors between the gateway and its store. Their messages name its address, and their advice is for the operator. */
const INSIDE = {
  UNREACHABLE: { status: 503, reason: 'the store cannot be reached' },
  UNAUTHORIZED: { status: 502, reason: 'the store does not let the gateway read' },
  FORBIDDEN: { status: 502, reason: 'the store does not let the gateway read' },
  DATABASE_NOT_FOUND: { status: 502, reason: 'the store is not there' },
  COUCHDB_ERROR: { status: 502, reason: 'the store is in trouble' },
  NO_ANSWER: { status: 502, reason: 'the store is in trouble' },
  BAD_ANSWER: { status: 502, reason: 'the store is in trouble' },
  DISK_FULL: { status: 502, reason: 'the store is full' },
  INDEX_MISSING: { status: 503, reason: 'the store has no index for this' },
  INTERNAL: { status: 500, reason: 'unexpected error' }
}

/**
 * All that is known of an upstream that gave no tile. Who writes layers says which address is asked: were one failure told from another,
 * by a word or by a status, the gateway would read the network it stands in to strangers.
 */
const UPSTREAM = { code: 'UPSTREAM_FAILED', status: 502, message: 'the upstream of this layer gave no tile' }

/**
 * @typedef {object} PublicError
 * @property {string} code of the catalogue
 * @property {number} status
 * @property {string} message
 * @property {string} [advice]
 * @property {number} [retryAfter] seconds until it is worth asking again
 */

/** @param {any} error whatever was thrown @returns {PublicError} */
export function publicError (error) {
  const code = error instanceof TilecouchError ? error.code : 'INTERNAL'
  if (code.startsWith('UPSTREAM_')) return UPSTREAM
  const inside = INSIDE[code]
  if (inside) return { code, status: inside.status, message: inside.reason }
  return { code, status: error.status, message: error.message, advice: error.advice, retryAfter: error.details.seconds }
}

/**
 * An error as an answer.
 * @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res
 * @param {PublicError} error
 * @param {readonly string[]} [headers] more of them, name and value in turn; unless they say otherwise, nobody keeps it
 */
export function sendError (req, res, { code, status, message, advice, retryAfter }, headers = UNKEPT) {
  const body = Buffer.from(`${JSON.stringify({ error: code, reason: message, ...(advice && { advice }) })}\n`)
  res.writeHead(status, [
    'Content-Type', 'application/json',
    'Content-Length', `${body.length}`,
    ...SAFE_LIST,
    ...(status === 503 || status === 429 ? ['Retry-After', `${retryAfter ?? RETRY_AFTER}`] : []),
    ...(status === 405 ? ['Allow', 'GET, HEAD, OPTIONS'] : []),
    ...headers
  ])
  res.end(req.method === 'HEAD' ? undefined : body)
}

/** Failures in the log: of each kind one a second, with the number of those that were left out. A store that is away fails thousands. */
export class FailureLog {
  #seen = new Map()

  /** @param {{warn: Function, error: Function}} log */
  constructor (log) {
    this.log = log
  }

  /** @param {any} error @param {{method?: string, url?: string}} req */
  add (error, { method, url }) {
    const code = error instanceof TilecouchError ? error.code : 'INTERNAL'
    const now = performance.now()
    const seen = this.#seen.get(code) ?? { until: 0, more: 0 }
    this.#seen.set(code, seen)
    if (now < seen.until) {
      seen.more++
      return
    }
    const line = { method, url, code, ...(seen.more && { more: seen.more }) }
    seen.until = now + 1000
    seen.more = 0
    if (code === 'INTERNAL') this.log.error({ ...line, err: error }, 'a request failed')
    else this.log.warn(line, error.message)
  }
}
