// Requests that nano is not asked for: it reads bytes where nobody catches, so that a server that dies in the middle of an
// answer would end this process instead of failing the request. Nor fetch, nor the streams of undici, which cost as much as the
// tiles of a small answer: CouchDB sends a dozen pieces for each tile, and here a piece is put into a list.
import { STATUS_CODES } from 'node:http'
import { Agent } from 'undici'
import { TilecouchError } from '../../core/index.js'

// The global one may be that of Node's own fetch, an older undici that knows other handlers.
const agent = new Agent()

/**
 * @param {import('./couch.js').Couch['access']} access
 * @param {import('./couch.js').CouchRequest} request
 */
export async function askBytes ({ origin, base, path: own, headers }, { method = 'GET', path = '', qs = {}, body, parse, most, accept = '*/*', type = 'application/json', server, nobody, signal, onBytes }) {
  const target = new URL(`${origin}${server ? base : own}/${path}`)
  target.search = new URLSearchParams(qs).toString()
  const { status, bytes } = await exchange({
    origin: target.origin,
    path: target.pathname + target.search,
    method: /** @type {any} */ (method),
    headers: { accept, 'content-type': type, ...(!nobody && headers) },
    body: toBody(body)
  }, { most, signal, onBytes })
  if (status >= 200 && status < 300) return parse ? parse(bytes) : bytes
  let answer = {}
  try {
    answer = JSON.parse(bytes.toString())
  } catch {
    // not CouchDB's words: the status says enough
  }
  throw Object.assign(new Error(answer.reason ?? STATUS_CODES[status]), { statusCode: status, ...answer })
}

export const toBody = body => body === undefined || typeof body === 'string' || Buffer.isBuffer(body) ? body : JSON.stringify(body)

/**
 * @param {import('undici').Dispatcher.DispatchOptions} options
 * @param {Pick<import('./couch.js').CouchRequest, 'most' | 'signal' | 'onBytes'>} how
 * @returns {Promise<{status: number, bytes: Buffer}>}
 */
function exchange (options, { most = Infinity, signal, onBytes }) {
  return new Promise((resolve, reject) => {
    /** @type {Buffer[]} */
    const pieces = []
    let [status, length] = [0, 0]
    /** @type {import('undici').Dispatcher.DispatchController | undefined} */
    let connection
    const end = () => signal?.removeEventListener('abort', leave)
    const fail = error => {
      end()
      reject(error)
      connection?.abort(error)
    }
    const leave = () => fail(new DOMException('given up', 'AbortError'))
    if (signal?.aborted) return leave()
    signal?.addEventListener('abort', leave, { once: true })
    agent.dispatch(options, {
      onRequestStart (controller) {
        connection = controller
        // given up while a connection was being opened
        if (signal?.aborted) controller.abort(new DOMException('given up', 'AbortError'))
      },
      onResponseStart (_, statusCode) {
        status = statusCode
      },
      onResponseData (_, piece) {
        onBytes?.()
        length += piece.length
        if (length > most) return fail(new TilecouchError('ANSWER_TOO_LARGE', { host: new URL(String(options.origin)).host, most }))
        pieces.push(piece)
      },
      onResponseEnd () {
        end()
        resolve({ status, bytes: Buffer.concat(pieces, length) })
      },
      onResponseError (_, error) {
        end()
        reject(error)
      }
    })
  })
}
