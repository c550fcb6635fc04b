// The body of a request, within limits.
import { HttpError, badRequest, tooLarge } from './errors.js'

/** @param {import('node:http').IncomingMessage} req @param {number} most bytes @returns {Promise<Buffer>} */
export async function readBody (req, most) {
  if (Number(req.headers['content-length'] ?? 0) > most) throw tooLarge(most)
  if ((req.headers['content-encoding'] ?? 'identity') !== 'identity') {
    throw new HttpError(415, 'bad_content_encoding', 'only identity is understood')
  }
  /** @type {Buffer[]} */
  const chunks = []
  let length = 0
  try {
    // otherwise Node takes the socket away from a request of which not all is read
    for await (const chunk of req.iterator({ destroyOnReturn: false })) {
      length += chunk.length
      if (length > most) throw tooLarge(most)
      chunks.push(chunk)
    }
  } catch (error) {
    throw error instanceof HttpError ? error : badRequest('the body was cut off')
  }
  return Buffer.concat(chunks)
}

/** @param {{headers: Record<string, any>}} request */
export function requireJson ({ headers }) {
  if (/^application\/json\s*(;|$)/i.test(headers['content-type'] ?? '')) return
  throw new HttpError(415, 'bad_content_type', 'Content-Type must be application/json')
}
