// What a client may know of an error: who has to do something and whether to try again, but nothing of the inside.
import { sameFor } from '../../core/values.js'
import { TilecouchError } from '../../loader/errors.js'
import { SAFE_HEADER_LIST } from '../http/answers.js'

const RETRY_AFTER = '5' // seconds until it is worth asking again

/** Errors between the gateway and its store. Their messages name its address, and their advice is for the operator. */
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
 * One answer for every failure of an upstream. The writers of layers decide which address is asked: if one failure
 * could be told from another, by a word or by a status, strangers could explore the network of the gateway with it.
 */
const UPSTREAM_ERROR = { code: 'UPSTREAM_FAILED', status: 502, message: 'the upstream of this layer gave no tile' }

/**
 * The log has the rest.
 * @returns {{code: string, status: number, message: string, advice?: string, retryAfter?: number, length?: number}}
 *   retryAfter: seconds until it is worth asking again; length: bytes of the body of which a range was wanted
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
 * @param {readonly string[]} headers more of them, name and value in turn
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
