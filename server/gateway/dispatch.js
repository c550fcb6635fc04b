// Passes each request to the route that answers it, and turns errors of routes into answers. The gateway and the parent
// of its workers use it.
import { TilecouchError } from '../../loader/errors.js'
import { ThrottledLog, logAccess } from './log.js'
import { codeOf, publicError, sendError } from './errors.js'
import { hasBody, setSafeHeaders } from '../http/answers.js'
import { parseRequest } from './router.js'

const CLIENT_LEFT = 499 // status in metrics and log if the client left before its answer, as in nginx
// milliseconds between two lines about the same failure: without a store, thousands of requests fail
const FAILURE_PAUSE = 1000

/**
 * @typedef {import('./router.js').Target} Target
 * @typedef {import('./router.js').TileTarget} TileTarget
 * @typedef {import('./routes/tile.js').Request} Request
 * @typedef {import('./routes/tile.js').Response} Response
 *
 * @typedef {object} Context what all requests share
 * @property {Record<string, any>} options of resolveOptions
 * @property {import('../../loader/store/index.js').Store} store
 * @property {import('./db/proxy.js').DatabaseProxy} proxy
 * @property {import('./layers.js').Layers} layers
 * @property {import('./tiles/index.js').TileService} tiles
 * @property {import('./metrics.js').Metrics} metrics
 * @property {import('./mirror-metrics.js').Mirroring['report']} [mirror] of an edge
 * @property {() => boolean} isIncomplete whether an edge is being filled for the first time
 * @property {import('pino').Logger} log
 * @property {import('./cors.js').Cors} cors
 * @property {import('./routes/tile.js').CachePolicy} policy
 * @property {ReturnType<typeof import('../http/addresses.js').publicUrlOf>} publicUrl
 * @property {AbortSignal} signal aborts when the gateway ends
 * @property {number} tileTimeout milliseconds
 * @property {(target: TileTarget, req: Request, res: Response) => void | Promise<void>} answerTile
 */

/**
 * @template {Target} [A=any]
 * @typedef {(ctx: Context, target: A & {visitor?: import('./access/visitor.js').Visitor}, req: Request,
 *   res: Response) => void | Promise<void>} Route visitor: if there are private layers and the answer
 *   depends on them
 */

/**
 * @param {Partial<Record<Target['kind'], Route>>} routes by kind; other requests get NOT_FOUND
 * @returns {import('../http/listener.js').Handler}
 */
export function createHandler (ctx, routes) {
  const { cors, metrics, log, options } = ctx
  const failures = new ThrottledLog(log, FAILURE_PAUSE)

  /** @param {Request} req @param {Response} res */
  return function handle (req, res) {
    const started = performance.now()
    const { socket } = req
    let bytesBefore = -1
    /** @type {Target | undefined} */
    let target
    try {
      if (req.method === 'OPTIONS') {
        setSafeHeaders(res)
        cors.preflight(req, res)
        return countRequest()
      }
      target = parseRequest(req.method, req.url)
      const route = Object.hasOwn(routes, target.kind) ? routes[target.kind] : undefined
      if (!route) throw new TilecouchError('NOT_FOUND')
      if (target.kind !== 'tile') { // the tile route writes these in its own list, and counts bytes itself
        setSafeHeaders(res)
        cors.apply(req, res)
        bytesBefore = socket.bytesWritten
      }
      if (target.kind !== 'db' && hasBody(req)) res.shouldKeepAlive = false // the body is not read
      const answer = route(ctx, target, req, res)
      return answer === undefined ? countRequest() : answer.then(countRequest, fail)
    } catch (error) {
      return fail(error)
    }

    function fail (error) {
      if (res.destroyed) return countRequest() // the client left: a failure after that does not matter
      const failure = publicError(error)
      if ((failure.status >= 500 && failure.code !== 'FILLING') || res.headersSent) logFailure(failures, error, req)
      if (res.headersSent) res.destroy() // a partial answer must not look complete
      else {
        if (hasBody(req)) res.shouldKeepAlive = false
        sendError(req, res, failure, ['Cache-Control', 'no-store', ...cors.headers(req.headers.origin, req.url)])
      }
      countRequest()
    }

    function countRequest () {
      const seconds = (performance.now() - started) / 1000
      const answer = {
        kind: target?.kind ?? 'other',
        layer: target && 'layer' in target ? target.layer : undefined,
        outcome: res.outcome,
        status: res.headersSent ? res.statusCode : CLIENT_LEFT,
        seconds,
        bytes: res.sent ?? (bytesBefore < 0 ? 0 : socket.bytesWritten - bytesBefore)
      }
      metrics.request(answer)
      if (options.accessLog) logAccess(log, req, answer)
    }
  }
}

/** @param {any} failures @param {any} error @param {import('node:http').IncomingMessage} req */
function logFailure (failures, error, { method, url }) {
  const code = codeOf(error)
  if (code === 'INTERNAL') failures.write('error', code, { method, url, code, err: error }, 'a request failed')
  else failures.write('warn', code, { method, url, code }, error.message)
}
