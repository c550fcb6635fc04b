// Errors of the embedded store and of /db in the form of CouchDB, whose clients know only {error, reason}.
import { hasBody, sendBody } from './answers.js'

export class HttpError extends Error {
  /** @param {Record<string, string>} [headers] @param {Record<string, string>} [more] fields of the answer */
  constructor (status, error, reason, headers = {}, more = {}) {
    super(reason)
    this.status = status
    this.error = error
    this.reason = reason
    this.headers = headers
    this.more = more
  }
}

export const badRequest = reason => new HttpError(400, 'bad_request', reason)
export const unauthorized = (reason, headers) => new HttpError(401, 'unauthorized', reason, headers)
export const forbidden = reason => new HttpError(403, 'forbidden', reason)
export const notFound = (reason = 'missing') => new HttpError(404, 'not_found', reason)
export const tooLarge = limit => new HttpError(413, 'too_large', `a request may have ${limit} bytes`)

/** 405: PouchDB then writes no checkpoints. After a 409 it would try for ever. */
export function notAllowed (methods) {
  const allowed = methods.join(',')
  return new HttpError(405, 'method_not_allowed', `Only ${allowed} allowed`, { Allow: allowed })
}

/** A temporary failure. */
export const unavailable = (status = 503, reason = 'the store cannot be reached') =>
  new HttpError(status, 'service_unavailable', reason, { 'Retry-After': '2' })

/** @param {any} req @param {any} res @param {HttpError} failure */
export function sendHttpError (req, res, { status, error, reason, headers, more }) {
  if (res.destroyed || res.headersSent) return res.destroy() // half an answer must not look complete
  sendBody(req, res, status, {
    ...headers,
    'Content-Type': 'application/json',
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(!req.complete && hasBody(req) && { Connection: 'close' }) // the rest of the body is not read
  }, Buffer.from(`${JSON.stringify({ error, reason, ...more })}\n`))
}
