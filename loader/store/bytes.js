// Requests that nano is not asked for: it reads bytes where nobody catches, so that a server that dies in the middle of an
// answer would end this process instead of failing the request. Nor fetch, whose streams cost as much as the tiles of a small answer.
import { STATUS_CODES } from 'node:http'
import { Agent, request as ask } from 'undici'
import { TilecouchError } from '../../core/index.js'

const PIECE = 65536 // bytes sent at once

/** Connections that are given up when nothing moves on them for so long. @param {number} silence milliseconds */
export const patientAgent = silence => new Agent({ headersTimeout: silence, bodyTimeout: silence, connect: { timeout: silence } })

/**
 * @param {import('./couch.js').Couch['access']} access
 * @param {import('./couch.js').CouchRequest} request
 * @param {Agent} [dispatcher] patient ones; then a body is sent piece by piece, so that a slow link is told from a dead one
 */
export async function askBytes ({ origin, base, path: own, headers }, { method = 'GET', path = '', qs = {}, body, parse, most, accept = '*/*', server, signal }, dispatcher) {
  const target = new URL(`${origin}${server ? base : own}/${path}`)
  target.search = new URLSearchParams(qs).toString()
  const inPieces = dispatcher && Buffer.isBuffer(body) && body.length > PIECE
  const { statusCode, body: content } = await ask(target, {
    method: /** @type {any} */ (method),
    headers: { accept, 'content-type': 'application/json', ...headers, ...(inPieces && { 'content-length': `${body.length}` }) },
    body: inPieces ? pieces(body) : toBody(body),
    dispatcher,
    signal
  })
  const bytes = most ? await readAtMost(content, most, target) : Buffer.from(await content.arrayBuffer())
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

export function parseJson (bytes) {
  try {
    return JSON.parse(bytes.toString())
  } catch {
    throw Object.assign(new Error('not JSON, or cut off'), { badAnswer: true })
  }
}

function * pieces (bytes) {
  for (let at = 0; at < bytes.length; at += PIECE) yield bytes.subarray(at, at + PIECE)
}

async function readAtMost (content, most, { host }) {
  const chunks = []
  let length = 0
  for await (const chunk of content) {
    length += chunk.length
    if (length > most) throw new TilecouchError('ANSWER_TOO_LARGE', { host, most }) // leaving the loop ends the connection
    chunks.push(chunk)
  }
  return Buffer.concat(chunks, length)
}
