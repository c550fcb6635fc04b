// Turns errors into answers for clients, with a code, a reason, and when to try again, but without internal details.
// The dispatcher and the tile route use it.
import { sameFor } from '../../core/values.js'
import { TilecouchError } from '../../loader/errors.js'
import { SAFE_HEADER_LIST } from '../http/answers.js'

const RETRY_AFTER = '5' // seconds after which a client should try again

/** Errors between the gateway and its store. The original messages name its address, and advise the operator. */
const STORE_ERRORS = {
  UNREACHABLE: { status: 503, reason: 'the store cannot be reached' },
  ...sameFor({ status: 502, reason: 'the store does not let the gateway read' }, 'UNAUTHORIZED', 'FORBIDDEN'),
  DATABASE_NOT_FOUND: { status: 502, reason: 'the store is not there' },
  ...sameFor({ status: 502, reason: 'the store is in trouble' }, 'COUCHDB_ERROR', 'NO_ANSWER', 'BAD_ANSWER'),
  DISK_FULL: { status: 502, reason: 'the store is full' },
  INDEX_MISSING: { status: 503, reason: 'the store has no index for this' },
  INTERNAL: { status: 500, reason: 'unexpected error' }
}

/**
 * One answer for every failure of an upstream. Writers of layers choose the addresses of upstreams. With different
 * answers for different failures, strangers could explore the network of the gateway.
 */
const UPSTREAM_ERROR = { code: 'UPSTREAM_FAILED', status: 502, message: 'the upstream of this layer gave no tile' }

/**
 * The part of an error that clients may see. The log has the details.
 * @returns {{code: string, status: number, message: string, advice?: string, retryAfter?: number, length?: number}}
 *   retryAfter: seconds; length: bytes of the complete body, if the range was invalid
 */
export function publicError (error) {
  const code = codeOf(error)
  if (code.startsWith('UPSTREAM_')) return UPSTREAM_ERROR
  const storeError = STORE_ERRORS[code]
  if (storeError) return { code, status: storeError.status, message: storeError.reason }
  const { seconds: retryAfter, length } = error.details
  return { code, status: error.status, message: error.message, advice: error.advice, retryAfter, length }
}

export const codeOf = error => error instanceof TilecouchError ? error.code : 'INTERNAL'

/**
 * @param {any} req @param {any} res @param {ReturnType<typeof publicError>} error
 * @param {readonly string[]} headers further ones, name and value in turn
 */
export function sendError (req, res, { code, status, message, advice, retryAfter, length }, headers) {
  const body = Buffer.from(`${JSON.stringify({ error: code, reason: message, ...(advice && { advice }) })}\n`)
  res.writeHead(status, [
    'Content-Type', 'application/json',
    'Content-Length', `${body.length}`,
    ...SAFE_HEADER_LIST,
    ...(status === 503 || status === 429 ? ['Retry-After', `${retryAfter ?? RETRY_AFTER}`] : []),
    ...(status === 405 ? ['Allow', 'GET, HEAD, OPTIONS'] : []),
    ...(status === 416 ? ['Content-Range', `bytes */${length}`] : []),
    ...headers
  ])
  res.end(req.method === 'HEAD' ? undefined : body)
}
