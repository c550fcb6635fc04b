// Small answers in JSON, told apart by what they say.
import { hash } from 'node:crypto'
import { isKnown } from './etags.js'

/** Asked for anew each time, and mostly 304: these change whenever somebody writes. */
export const REVALIDATE = 'public, max-age=0, must-revalidate'

/**
 * @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res
 * @param {unknown} value
 * @param {{status?: number, cacheControl?: string}} [options]
 */
export function sendJson (req, res, value, { status = 200, cacheControl = REVALIDATE } = {}) {
  const body = Buffer.from(`${JSON.stringify(value)}\n`)
  const keeps = status === 200 && cacheControl !== 'no-store'
  const etag = keeps ? `"${hash('md5', body, 'base64')}"` : ''
  const headers = { 'Cache-Control': cacheControl, ...(keeps && { ETag: etag }) }
  if (keeps && isKnown(req.headers['if-none-match'], etag)) {
    res.writeHead(304, headers).end()
    return
  }
  res.writeHead(status, { ...headers, 'Content-Type': 'application/json', 'Content-Length': body.length })
  res.end(req.method === 'HEAD' ? undefined : body)
}
