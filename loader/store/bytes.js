// Requests that nano is not asked for: it reads bytes where nobody catches, so that a server that dies in the middle of an
// answer would end this process instead of failing the request. Nor fetch, whose streams cost as much as the tiles of a small answer.
import { STATUS_CODES } from 'node:http'
import { request as ask } from 'undici'
import { TilecouchError } from '../../core/index.js'

/**
 * @param {import('./couch.js').Couch['access']} access
 * @param {import('./couch.js').CouchRequest} request
 */
export async function askBytes ({ origin, base, path: own, headers }, { method = 'GET', path = '', qs = {}, body, parse, most, accept = '*/*', type = 'application/json', server, signal, onBytes }) {
  const target = new URL(`${origin}${server ? base : own}/${path}`)
  target.search = new URLSearchParams(qs).toString()
  const { statusCode, body: content } = await ask(target, {
    method: /** @type {any} */ (method),
    headers: { accept, 'content-type': type, ...headers },
    body: toBody(body),
    signal
  })
  const bytes = most ? await readAtMost(content, most, target, onBytes) : Buffer.from(await content.arrayBuffer())
  if (statusCode >= 200 && statusCode < 300) return parse ? parse(bytes) : bytes
  let answer = {}
  try {
    answer = JSON.parse(bytes.toString())
  } catch {
    // not CouchDB's words: the status says enough
  }
  throw Object.assign(new Error(answer.reason ?? STATUS_CODES[statusCode]), { statusCode, ...answer })
}

export const toBody = body => body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)

async function readAtMost (content, most, { host }, onBytes) {
  const chunks = []
  let length = 0
  for await (const chunk of content) {
    onBytes?.()
    length += chunk.length
    if (length > most) throw new TilecouchError('ANSWER_TOO_LARGE', { host, most }) // leaving the loop ends the connection
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}
