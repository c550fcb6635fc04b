// Errors of /db, in the form of CouchDB: its clients know {error, reason} only.
import { hasBody, sendBody } from '../responses.js'

export class DbError extends Error {
  /** @param {Record<string, string>} [headers] @param {Record<string, string>} [more] fields of the answer */
  constructor (status, error, reason, headers = {}, more = {}) {
    super(reason)
    this.status = status
    this.error = error
    this.headers = headers
    this.more = more
  }
}

export const badRequest = reason => new DbError(400, 'bad_request', reason)
export const forbidden = reason => new DbError(403, 'forbidden', reason)
export const notFound = (reason = 'missing') => new DbError(404, 'not_found', reason)
export const tooLarge = limit => new DbError(413, 'too_large', `a request may have ${limit} bytes`)

/** PouchDB then writes no checkpoints here, as after any 4xx but 409, with which it would try for ever. */
export function readOnly (methods) {
  const allowed = methods.join(', ')
  return new DbError(405, 'method_not_allowed', `this address only reads: ${allowed}`, { Allow: allowed })
}

/** A temporary failure. */
export const unavailable = (status = 503, reason = 'the store cannot be reached') =>
  new DbError(status, 'service_unavailable', reason, { 'Retry-After': '2' })

/** @param {any} req @param {any} res @param {DbError} error */
export function sendDbError (req, res, { status, error, message, headers, more }) {
  if (res.destroyed || res.headersSent) return res.destroy() // half an answer must not look complete
  sendBody(req, res, status, {
    ...headers,
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(!req.complete && hasBody(req) && { Connection: 'close' }) // the rest of the body is not read
  }, Buffer.from(`${JSON.stringify({ error, reason: message, ...more })}\n`))
}
