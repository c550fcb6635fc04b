// From a request to the route that answers it, and from whatever goes wrong there to an answer.
import { TilecouchError } from '../../core/index.js'
import { FailureLog, UNKEPT, publicError, sendError } from './failure.js'
import { logAccess } from './log.js'
import { parseRequest } from './router.js'
import { makeSafe } from './safe.js'

/** A client that left before its answer, as nginx counts it. */
const LEFT = 499

/**
 * @typedef {import('./router.js').Asked} Asked
 * @typedef {import('./answer.js').Request} Request
 * @typedef {import('./answer.js').Response} Response
 * @typedef {(ctx: any, asked: any, req: Request, res: Response) => void | Promise<void>} Route
 */

/**
 * @param {any} ctx
 * @param {Partial<Record<Asked['kind'], Route>>} routes by what is asked; others are not found here
 * @returns {import('./listener.js').Handler}
 */
export function createHandler (ctx, routes) {
  const { cors, metrics, log, options } = ctx
  const failures = new FailureLog(log)

  /** @param {Request} req @param {Response} res */
  return function handle (req, res) {
    const started = performance.now()
    let before = -1
    /** @type {Asked | undefined} */
    let asked
    try {
      if (req.method === 'OPTIONS') {
        makeSafe(res)
        cors.preflight(req, res)
        return account()
      }
      asked = parseRequest(req.method, req.url)
      const route = Object.hasOwn(routes, asked.kind) ? routes[asked.kind] : undefined
      if (!route) throw new TilecouchError('NOT_FOUND')
      if (asked.kind !== 'tile') { // tiles say these themselves: one list of headers, one length
        makeSafe(res)
        cors.apply(req, res)
        before = req.socket.bytesWritten
      }
      if (asked.kind !== 'db' && hasBody(req)) res.shouldKeepAlive = false // nobody reads it, and nobody waits for its end
      const answer = route(ctx, asked, req, res)
      return answer === undefined ? account() : answer.then(account, fail)
    } catch (error) {
      return fail(error)
    }

    function fail (error) {
      if (res.destroyed) return account() // the client left, and whatever failed then is nobody's concern
      const known = publicError(error)
      if ((known.status >= 500 && known.code !== 'FILLING') || res.headersSent) failures.add(error, req)
      if (res.headersSent) res.destroy() // half an answer must not look whole
      else {
        if (hasBody(req)) res.shouldKeepAlive = false
        sendError(req, res, known, [...UNKEPT, ...cors.headers(req.headers.origin, req.url)])
      }
      account()
    }

    function account () {
      const seconds = (performance.now() - started) / 1000
      const answer = {
        kind: asked?.kind ?? 'other',
        layer: asked && 'layer' in asked ? asked.layer : undefined,
        outcome: res.outcome,
        status: res.headersSent ? res.statusCode : LEFT,
        seconds,
        bytes: res.sent ?? (before < 0 ? 0 : req.socket.bytesWritten - before)
      }
      metrics.request(answer)
      if (options.accessLog) logAccess(log, req, answer)
    }
  }
}

const hasBody = ({ headers }) => headers['transfer-encoding'] !== undefined || (headers['content-length'] !== undefined && headers['content-length'] !== '0')
