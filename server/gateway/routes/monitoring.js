// What monitoring reads: /health and /metrics.
import { LRUCache } from 'lru-cache'
import { Registry } from 'prom-client'
import { sharePromise } from '../../../core/promises.js'
import { sendBody, sendJson } from '../../http/answers.js'
import { version } from '../../../loader/store/package.js'

const STORE_TIMEOUT = 2000 // milliseconds
const KEPT = 1000 // milliseconds for which an answer of the store is used again

/** Of stores. @type {LRUCache<object, Promise<any>>} */
const recentAnswers = new LRUCache({ max: 1, ttl: KEPT })

/**
 * Whether this gateway can do its work: only when the store answers. An edge serves what it has for as long as that
 * lasts, when it is not further behind than its operator allows.
 * @type {import('../dispatch.js').Route}
 */
export async function health ({ store, mirror, signal }, asked, req, res) {
  const [state, report] = await Promise.all([sharePromise(recentAnswers, store, () => ask(store.couch)), mirror?.()])
  // load balancers should stop sending requests before the end comes
  const status = signal.aborted ? 'stopping' : storeStatus(state, report)
  const body = { status, version, ...state, ...(report && { mirror: brief(report) }) }
  sendJson(req, res, body, { status: status === 'ok' ? 200 : 503, cacheControl: 'no-store' })
}

function storeStatus (state, report) {
  if (!state.couchdb) return 'unavailable'
  return report?.behind ? 'behind' : 'ok'
}

/** @param {import('../mirror-metrics.js').MirrorReport} report */
const brief = ({ from, state, lag, pending, upToDate, refused, error }) =>
  ({ from, state, lag, pending, upToDate, refused, ...(error && { error }) })

/** The database itself is asked: a server without it would not do. */
async function ask (couch) {
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
export async function metrics (ctx, asked, req, res) {
  const body = Buffer.from(await ctx.metrics.text())
  sendBody(req, res, 200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE, 'Cache-Control': 'no-store' }, body)
}
