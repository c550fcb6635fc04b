// Sends one HTTP request and collects the bytes of its answer. Fetch and the streams of undici cost as much as the
// tiles of a small answer, since CouchDB sends a dozen pieces for each tile: its dispatcher just hands over the pieces.
import { Agent } from 'undici'
import { TilecouchError } from '../errors.js'

// The global agent may be that of Node's own fetch, an older undici that knows other handlers.
export const agent = new Agent()

export const aborted = () => new DOMException('This operation was aborted', 'AbortError')

/** @type {import('../../core/couch/client.js').Exchange} */
export const exchange = request => new Promise((resolve, reject) => {
  const { method, url, headers, body, most = Infinity, signal, onPiece } = request
  /** @type {Buffer[]} */
  const pieces = []
  let [status, reason, length] = [0, '', 0]
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
  const { origin, pathname, search } = url
  agent.dispatch({ origin, path: pathname + search, method: /** @type {any} */ (method), headers, body }, {
    onRequestStart (controller) {
      connection = controller
      // aborted while a connection was being opened
      if (signal?.aborted) controller.abort(aborted())
    },
    onResponseStart (_, statusCode, fields, statusMessage) {
      status = statusCode
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
      if (length > most) return fail(new TilecouchError('ANSWER_TOO_LARGE', { host: url.host, most }))
      pieces.push(piece)
    },
    onResponseEnd () {
      end()
      resolve({ status, reason, skew, bytes: Buffer.concat(pieces, length) })
    },
    onResponseError (_, error) {
      end()
      reject(error)
    }
  })
})
