// JSON requests of Node, sent by nano. nano ends the process when an answer breaks off while nano reads it, and answers
// '' for JSON that is cut off. So it gets whole answers only: an interceptor of the agent collects their pieces first.
import nano from 'nano'
import { raceAbort } from '../../core/promises.js'
import { TilecouchError } from '../errors.js'
import { aborted, agent } from './exchange.js'

/** @type {import('../../core/couch/client.js').Exchange} */
export async function jsonExchange (request) {
  const { method, url: { origin, pathname, search }, headers, body, signal } = request
  if (signal?.aborted) throw aborted()
  const answer = new Answer(request)
  const server = nano({
    url: origin,
    headers: { ...headers, 'Accept-Encoding': 'identity' }, // CouchDB does not compress JSON, and a proxy need not
    agentOptions: /** @type {any} */ (agent.compose(collecting(answer)))
  })
  const stop = () => answer.connection?.abort(aborted())
  signal?.addEventListener('abort', stop)
  try {
    // Node 20 may lose the signal of a fetch in a garbage collection: nano does not get it
    const path = (pathname + search).slice(1)
    const json = await raceAbort(server.request({ method, path, body: bytesOf(body) }), signal)
    const isValue = typeof json === 'object' && !Buffer.isBuffer(json) // nano parses by the content type
    return { ...answer.result(), ...(isValue && { json }) }
  } catch (error) {
    // the error of nano holds the request: of a whole answer, the status and the bytes say all
    if (answer.isComplete) return answer.result()
    throw answer.error ?? error
  } finally {
    signal?.removeEventListener('abort', stop)
  }
}

/** nano makes JSON of all other bodies. @param {string | Uint8Array} [body] */
function bytesOf (body) {
  if (body === undefined || Buffer.isBuffer(body)) return body
  return typeof body === 'string' ? Buffer.from(body) : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

/** Hands an answer over when all of it is there. @param {Answer} answer */
const collecting = answer => dispatch => (options, handler) => dispatch(options, {
  onRequestStart (controller, context) {
    answer.connection = controller
    handler.onRequestStart(controller, context)
    if (answer.isUnwanted) controller.abort(aborted()) // while the connection was being opened
  },
  onResponseStart (controller, status, fields, reason) {
    Object.assign(answer, { status, fields, reason })
  },
  onResponseData (controller, piece) {
    try {
      answer.add(piece)
    } catch (error) {
      controller.abort(error)
    }
  },
  onResponseEnd (controller, trailers) {
    answer.finish()
    const { status, fields, reason, bytes } = answer
    handler.onResponseStart(WHOLE, status, fields, reason)
    if (bytes.length) handler.onResponseData(WHOLE, bytes)
    handler.onResponseEnd(WHOLE, trailers)
  },
  onResponseError (controller, error) {
    answer.error = error
    handler.onResponseError(controller, error)
  }
})

/** Stands for the connection of an answer that is complete: nothing of it is to be paused. */
const WHOLE = { pause () {}, resume () {}, abort () {} }

/** What came for a request. */
class Answer {
  status = 0
  reason = ''
  /** @type {Record<string, any>} */
  fields = {}
  isComplete = false
  bytes = Buffer.alloc(0)
  /** @type {Error | undefined} */
  error
  /** @type {import('undici').Dispatcher.DispatchController | undefined} */
  connection
  #pieces = /** @type {Buffer[]} */ ([])
  #length = 0
  #request

  /** @param {import('../../core/couch/requests.js').HttpRequest} request */
  constructor (request) {
    this.#request = request
  }

  add (piece) {
    const { url: { host }, most = Infinity, onPiece } = this.#request
    onPiece(piece, this.status)
    this.#length += piece.length
    if (this.#length > most) throw new TilecouchError('ANSWER_TOO_LARGE', { host, most })
    this.#pieces.push(piece)
  }

  get isUnwanted () {
    return this.#request.signal?.aborted
  }

  finish () {
    this.bytes = Buffer.concat(this.#pieces, this.#length)
    this.isComplete = true
  }

  result () {
    const { status, reason, bytes, fields } = this
    return { status, reason, bytes, skew: Date.parse(String(fields.date)) - Date.now() }
  }
}
