// What /db does not do, in the words of CouchDB: its clients know {error, reason}, and nothing else.

export class Refusal extends Error {
  /** @param {number} status @param {string} error @param {string} reason @param {Record<string, string>} [headers] @param {Record<string, string>} [more] that the answer says */
  constructor (status, error, reason, headers = {}, more = {}) {
    super(reason)
    this.status = status
    this.error = error
    this.headers = headers
    this.more = more
  }
}

export const badRequest = reason => new Refusal(400, 'bad_request', reason)
export const forbidden = reason => new Refusal(403, 'forbidden', reason)
export const notFound = (reason = 'missing') => new Refusal(404, 'not_found', reason)
export const tooLarge = limit => new Refusal(413, 'too_large', `a question may have ${limit} bytes`)

// 405 as any other 4xx tells PouchDB that no checkpoints can be written here; 409 would make it try for ever
export const readOnly = allowed => new Refusal(405, 'method_not_allowed', `this address only reads: ${allowed.join(', ')}`, { Allow: allowed.join(', ') })

/** Nobody can say now, and it passes. @param {number} [status] @param {string} [reason] */
export const away = (status = 503, reason = 'the store cannot be reached') => new Refusal(status, 'service_unavailable', reason, { 'Retry-After': '2' })

/** @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res @param {Refusal} refusal */
export function refuse (req, res, { status, error, message, headers, more }) {
  if (res.destroyed || res.headersSent) return res.destroy() // half an answer must not look whole
  const body = Buffer.from(`${JSON.stringify({ error, reason: message, ...more })}\n`)
  res.writeHead(status, {
    ...headers,
    'Content-Type': 'application/json',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    ...(!req.complete && hasBody(req) && { Connection: 'close' }) // the rest of the body is not read
  })
  res.end(req.method === 'HEAD' ? undefined : body)
}

const hasBody = ({ headers }) => headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0
