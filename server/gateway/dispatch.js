// From a request to the route that answers it, and from an error there to an answer.
import { TilecouchError } from '../../loader/errors.js'
import { ThrottledLog, logAccess } from './log.js'
import { codeOf, publicError, sendError } from './errors.js'
import { hasBody, setSafeHeaders } from '../http/answers.js'
import { parseRequest } from './router.js'

const CLIENT_LEFT = 499 // before its answer, as nginx counts it
// milliseconds between two lines about the same failure: a store that is away fails thousands
const FAILURE_PAUSE = 1000

/**
 * @typedef {import('./router.js').Asked} Asked
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
 * @property {() => boolean} isIncomplete an edge that is filled for the first time
 * @property {import('pino').Logger} log
 * @property {import('./cors.js').Cors} cors
 * @property {import('./routes/tile.js').CachePolicy} policy
 * @property {ReturnType<typeof import('../http/addresses.js').publicUrlOf>} publicUrl
 * @property {AbortSignal} signal aborts when the gateway ends
 * @property {number} tileTimeout milliseconds
 * @property {(asked: import('./router.js').AskedTile, req: Request, res: Response) => void | Promise<void>} answerTile
 */

/**
 * @template {Asked} [A=any]
 * @typedef {(ctx: Context, asked: A & {visitor?: import('./access/visitor.js').Visitor}, req: Request,
 *   res: Response) => void | Promise<void>} Route visitor: if there are private layers, and the answer depends on them
 */

/**
 * @param {Partial<Record<Asked['kind'], Route>>} routes by kind; others are not found here
 * @returns {import('../http/listener.js').Handler}
 */
export function createHandler (ctx, routes) {
  const { cors, metrics, log, options } = ctx
  const failures = new ThrottledLog(log, FAILURE_PAUSE)

  /** @param {Request} req @param {Response} res */
  return function handle (req, res) {
    const started = performance.now()
    const { socket } = req
    let before = -1
    /** @type {Asked | undefined} */
    let asked
    try {
      if (req.method === 'OPTIONS') {
        setSafeHeaders(res)
        cors.preflight(req, res)
        return account()
      }
      asked = parseRequest(req.method, req.url)
      const route = Object.hasOwn(routes, asked.kind) ? routes[asked.kind] : undefined
      if (!route) throw new TilecouchError('NOT_FOUND')
      if (asked.kind !== 'tile') { // tiles write these themselves: one list of headers, one length
        setSafeHeaders(res)
        cors.apply(req, res)
        before = socket.bytesWritten
      }
      if (asked.kind !== 'db' && hasBody(req)) res.shouldKeepAlive = false // the body is not read
      const answer = route(ctx, asked, req, res)
      return answer === undefined ? account() : answer.then(account, fail)
    } catch (error) {
      return fail(error)
    }

    function fail (error) {
      if (res.destroyed) return account() // the client left: a failure after that does not matter
      const failure = publicError(error)
      if ((failure.status >= 500 && failure.code !== 'FILLING') || res.headersSent) logFailure(failures, error, req)
      if (res.headersSent) res.destroy() // half an answer must not look complete
      else {
        if (hasBody(req)) res.shouldKeepAlive = false
        sendError(req, res, failure, ['Cache-Control', 'no-store', ...cors.headers(req.headers.origin, req.url)])
      }
      account()
    }

    function account () {
      const seconds = (performance.now() - started) / 1000
      const answer = {
        kind: asked?.kind ?? 'other',
        layer: asked && 'layer' in asked ? asked.layer : undefined,
        outcome: res.outcome,
        status: res.headersSent ? res.statusCode : CLIENT_LEFT,
        seconds,
        bytes: res.sent ?? (before < 0 ? 0 : socket.bytesWritten - before)
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
