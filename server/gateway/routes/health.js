// Whether this gateway can do its work: only when the store answers, and on an edge, which serves what it has for as long as
// that lasts, when it is not further behind than its operator allows. Probes cost nothing: what one was told holds for a second.
import { readFileSync } from 'node:fs'
import { sendJson } from '../json.js'

const PATIENCE = 2000 // milliseconds the store may take
const KEPT = 1000 // milliseconds an answer holds

const { version } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))

/** @type {WeakMap<object, {asked: number, answer: Promise<any>}>} */
const known = new WeakMap()

/**
 * @param {any} ctx @param {any} asked
 * @param {import('node:http').IncomingMessage} req @param {import('node:http').ServerResponse} res
 */
export async function health ({ store, mirror, signal }, asked, req, res) {
  const [state, mirrored] = await Promise.all([look(store), mirror?.()])
  // whoever sends work here should stop before the end comes
  const status = signal.aborted ? 'stopping' : !state.couchdb ? 'unavailable' : mirrored?.behind ? 'behind' : 'ok'
  const shown = mirrored && { mirror: brief(mirrored) }
  sendJson(req, res, { status, version, ...state, ...shown }, { status: status === 'ok' ? 200 : 503, cacheControl: 'no-store' })
}

/** @param {import('../mirror-metrics.js').MirrorReport} report */
const brief = ({ from, state, lag, pending, upToDate, refused, error }) => ({ from, state, lag, pending, upToDate, refused, ...(error && { error }) })

function look (store) {
  const last = known.get(store)
  if (last && performance.now() - last.asked < KEPT) return last.answer
  const answer = ask(store.couch)
  known.set(store, { asked: performance.now(), answer })
  return answer
}

/** The database itself is asked: a server without it would not do. */
async function ask (couch) {
  const started = performance.now()
  const options = { retries: 0, signal: AbortSignal.timeout(PATIENCE) }
  try {
    const [info, server] = await Promise.all([couch.request({ path: '', ...options }), couch.request({ server: true, path: '', ...options })])
    return { couchdb: { version: server.version, documents: info.doc_count, milliseconds: Math.round(performance.now() - started) } }
  } catch (error) {
    return { couchdb: null, error: error.code === 'ABORTED' ? 'UNREACHABLE' : error.code ?? 'INTERNAL' }
  }
}
