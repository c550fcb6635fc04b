// Sends one HTTP request and collects the bytes of its answer. It uses the dispatcher of undici, which only hands over
// the pieces. CouchDB sends a dozen for each tile, so fetch or streams would cost as much as the tiles.
import nano from 'nano'
import { Agent } from 'undici'
import { raceAbort } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'
import { bufferOf } from '../formats/unpack.js'

// The global agent may be that of Node's own fetch, an older undici that knows other handlers.
const agent = new Agent()

const aborted = () => new DOMException('This operation was aborted', 'AbortError')

/** @type {import('../../core/couch/client.js').Exchange} */
export function exchange (request) {
  const { method, url: { origin, pathname, search }, headers, body } = request
  return collect(request, { origin, path: pathname + search, method: /** @type {any} */ (method), headers, body })
}

/**
 * @typedef {import('../../core/couch/requests.js').HttpAnswer & { fields: Record<string, any> }} WholeAnswer
 *
 * @param {import('../../core/couch/requests.js').HttpRequest} request
 * @param {import('undici').Dispatcher.DispatchOptions} options the request as undici sends it
 * @returns {Promise<WholeAnswer>}
 */
const collect = (request, options) => new Promise((resolve, reject) => {
  const { url: { host }, most = Infinity, signal, onPiece } = request
  /** @type {Buffer[]} */
  const pieces = []
  let [status, reason, length] = [0, '', 0]
  let fields = /** @type {Record<string, any>} */ ({})
  let skew = /** @type {number | undefined} */ (undefined)
  /** @type {import('undici').Dispatcher.DispatchController | undefined} */
  let connection
  const end = () => signal?.removeEventListener('abort', stop)
  const fail = error => {
    end()
    reject(error)
    connection?.abort(error)
  }
  const stop = () => fail(aborted())
  if (signal?.aborted) return stop()
  signal?.addEventListener('abort', stop, { once: true })
  agent.dispatch(options, {
    onRequestStart (controller) {
      connection = controller
      // aborted while a connection was being opened
      if (signal?.aborted) controller.abort(aborted())
    },
    onResponseStart (_, statusCode, headers, statusMessage) {
      status = statusCode
      fields = headers
      skew = Date.parse(String(fields.date)) - Date.now()
      reason = statusMessage ?? ''
    },
    onResponseData (_, piece) {
      try {
        if (onPiece(piece, status)) return
      } catch (error) {
        return fail(error)
      }
      length += piece.length
      if (length > most) return fail(new TilecouchError('ANSWER_TOO_LARGE', { host, most }))
      pieces.push(piece)
    },
    onResponseEnd () {
      end()
      resolve({ status, reason, skew, fields, bytes: Buffer.concat(pieces, length) })
    },
    onResponseError (_, error) {
      end()
      reject(error)
    }
  })
})

// JSON requests of Node, sent by nano. nano ends the process if an answer breaks off, and returns '' for truncated
// JSON. So it gets only whole answers: an interceptor of the agent collects their pieces first.

/** @type {import('../../core/couch/client.js').Exchange} */
export async function jsonExchange (request) {
  const { method, url: { origin, pathname, search }, headers, body, signal } = request
  let answer = /** @type {Promise<WholeAnswer> | undefined} */ (undefined)
  const collecting = () => (options, handler) => {
    answer = collect(request, options)
    handOver(answer, handler)
    return true
  }
  const server = nano({
    url: origin,
    headers: { ...headers, 'Accept-Encoding': 'identity' }, // CouchDB does not compress JSON, and a proxy need not
    agentOptions: /** @type {any} */ (agent.compose(collecting))
  })
  try {
    // Node 20 may lose the signal of a fetch in a garbage collection: nano does not get it
    const path = (pathname + search).slice(1)
    const json = await raceAbort(server.request({ method, path, body: bytesOf(body) }), signal)
    const isValue = typeof json === 'object' && !Buffer.isBuffer(json) // nano parses by the content type
    return { .../** @type {WholeAnswer} */ (await answer), ...(isValue && { json }) }
  } catch (error) {
    // the error of nano contains the request: the status and the bytes of the answer are enough
    if (answer) return answer
    throw error
  }
}

/** nano makes JSON of all other bodies. @param {string | Uint8Array} [body] */
function bytesOf (body) {
  if (body === undefined) return undefined
  return typeof body === 'string' ? Buffer.from(body) : bufferOf(body)
}

/** Stands for the connection of a complete answer, which cannot be paused. */
const WHOLE = { pause () {}, resume () {}, abort () {} }

/** Gives nano an answer when it is complete. @param {Promise<WholeAnswer>} answer */
async function handOver (answer, handler) {
  try {
    const { status, reason, fields, bytes } = await answer
    handler.onRequestStart(WHOLE)
    handler.onResponseStart(WHOLE, status, fields, reason)
    if (bytes.length) handler.onResponseData(WHOLE, bytes)
    handler.onResponseEnd(WHOLE, {})
  } catch (error) {
    handler.onResponseError(WHOLE, error)
  }
}
