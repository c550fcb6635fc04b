// A server in front of another one. It reads each answer whole, so that a test can change it.
import { buffer } from 'node:stream/consumers'
import { startServer } from './server.js'

/** Headers of an answer that the server sets for the changed body. */
const REPLACED_HEADERS = ['content-length', 'content-encoding', 'transfer-encoding', 'connection']

/**
 * @typedef {{url: string, method: string, headers: Record<string, any>, body: Buffer}} Request
 * @typedef {{status: number, headers: Record<string, any>, body: Buffer | string}} Answer
 */

/**
 * @param {string} target URL of a server or of a database, may hold a name and password
 * @param {object} hooks
 * @param {(request: Request) => void} [hooks.onRequest] may change its headers
 * @param {(answer: Answer, request: Request) => 'hang' | void} hooks.onAnswer changes the answer; 'hang': it is not
 *   sent
 */
export async function startRelay (target, { onRequest = () => {}, onAnswer }) {
  const { host: targetHost } = new URL(target)

  async function serve (incoming, response) {
    const { host, connection, 'content-length': _, 'transfer-encoding': __, ...headers } = incoming.headers
    const { url, method } = incoming
    const request = { url, method, headers, body: await buffer(incoming) }
    onRequest(request)
    const { body } = request
    const reply = await fetch(`http://${targetHost}${url}`,
      { method, headers, ...(body.length && { body }), redirect: 'manual' })
    const answer = {
      status: reply.status,
      headers: Object.fromEntries(reply.headers),
      body: Buffer.from(await reply.arrayBuffer())
    }
    for (const name of REPLACED_HEADERS) delete answer.headers[name]
    if (onAnswer(answer, request) === 'hang') return
    response.sendDate = false // it has the date of the target, if any
    response.writeHead(answer.status, answer.headers).end(answer.body)
  }

  const { port, close } = await startServer((request, response) => {
    serve(request, response).catch(() => response.destroy())
  })
  const address = Object.assign(new URL(target), { hostname: '127.0.0.1', port })
  return { url: address.href.replace(/\/$/, ''), close }
}
