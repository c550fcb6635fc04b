// The routes for monitoring: /health and /metrics.
import { LRUCache } from 'lru-cache'
import { Registry } from 'prom-client'
import { sharePromise } from '../../../core/promises.js'
import { sendBody, sendJson } from '../../http/answers.js'
import { version } from '../../../loader/store/package.js'

const STORE_TIMEOUT = 2000 // milliseconds
const ANSWER_AGE = 1000 // milliseconds for which an answer of the store is used again

/** Answers by store. @type {LRUCache<object, Promise<any>>} */
const recentAnswers = new LRUCache({ max: 1, ttl: ANSWER_AGE })

/**
 * Whether this gateway can serve: its store has to answer. An edge whose origin is away can serve too, until it is
 * further behind than its operator allows.
 * @type {import('../dispatch.js').Route}
 */
export async function health ({ store, mirror, signal }, target, req, res) {
  const answer = sharePromise(recentAnswers, store, () => checkStore(store.couch))
  const [state, report] = await Promise.all([answer, mirror?.()])
  // load balancers should stop sending requests before the gateway ends
  const status = signal.aborted ? 'stopping' : storeStatus(state, report)
  const body = { status, version, ...state, ...(report && { mirror: summaryOf(report) }) }
  sendJson(req, res, body, { status: status === 'ok' ? 200 : 503, cacheControl: 'no-store' })
}

function storeStatus (state, report) {
  if (!state.couchdb) return 'unavailable'
  return report?.behind ? 'behind' : 'ok'
}

/** @param {import('../mirror-metrics.js').MirrorReport} report */
const summaryOf = ({ from, state, lag, pending, upToDate, refused, error }) =>
  ({ from, state, lag, pending, upToDate, refused, ...(error && { error }) })

/** Requests the database itself: a server without it is not enough. */
async function checkStore (couch) {
  const started = performance.now()
  const options = { retries: 0, signal: AbortSignal.timeout(STORE_TIMEOUT) }
  try {
    const [info, server] = await Promise.all([
      couch.request({ path: '', ...options }),
      couch.request({ server: true, path: '', ...options })
    ])
    const milliseconds = Math.round(performance.now() - started)
    return { couchdb: { version: server.version, documents: info.doc_count, milliseconds } }
  } catch (error) {
    return { couchdb: null, error: error.code === 'ABORTED' ? 'UNREACHABLE' : error.code ?? 'INTERNAL' }
  }
}

/** @type {import('../dispatch.js').Route} */
export async function metrics (ctx, target, req, res) {
  const body = Buffer.from(await ctx.metrics.text())
  sendBody(req, res, 200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE, 'Cache-Control': 'no-store' }, body)
}
