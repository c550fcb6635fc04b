// A worker process. It serves with the options that its parent sends, until the parent sends stop or ends.
import cluster from 'node:cluster'
import { shared } from '../../../core/promises.js'
import { createLog, secretsOf } from '../log.js'
import { Metrics } from '../metrics.js'
import { copyError } from '../shared-work.js'
import { ask } from './ask.js'

const TIMEOUT = 2000 // milliseconds for the parent to answer

/** The report for /health when the parent does not answer. @type {any} */
const UNKNOWN = { from: '', state: 'unknown', lag: null, pending: null, upToDate: null, refused: 0, behind: false }

/** @param {typeof import('../index.js').startGateway} startGateway */
export function serveAsWorker (startGateway) {
  const metrics = new Metrics()
  let running = null

  const send = message => { if (process.connected) process.send?.(message) }

  const parent = /** @type {import('node:cluster').Worker} */ (cluster.worker)
  const report = async () => await ask(parent, 'mirror', TIMEOUT) ?? UNKNOWN
  let isFilled = false // whether an edge was ever complete
  const mirror = { report, isFilled: () => isFilled }

  async function start ({ options, number, edge }) {
    isFilled ||= Boolean(edge?.isFilled)
    const log = createLog({ level: options.logLevel, secrets: secretsOf(options), base: { worker: number } })
    running = startGateway(options, { log, metrics, ...(edge && { mirror }) })
    const { url, port, opsUrl } = await running
    send({ type: 'ready', address: { url, port, opsUrl } })
  }

  /** Reports the error to the parent, which decides what to do. The process ends when the message is sent. */
  function fail (error) {
    const { code, details } = copyError(error)
    if (!process.send || !process.connected) process.exit(1)
    process.send({ type: 'failed', code, details }, () => process.exit(1))
  }

  const stop = shared(async () => {
    const gateway = await running?.catch(() => null)
    await gateway?.close()
    process.exit(0)
  })

  process.on('message', async (/** @type {any} */ message) => {
    if (message.type === 'start') start(message).catch(fail)
    if (message.type === 'stop') stop()
    if (message.type === 'filled') isFilled = true
    if (message.type === 'count') {
      send({ type: 'answer', id: message.id, answer: await metrics.registry.getMetricsAsJSON() })
    }
  })
  process.on('SIGTERM', stop) // one worker alone: its parent starts another
  process.on('SIGINT', () => {}) // Ctrl-C reaches the whole group: the parent sends stop
  send({ type: 'hello' })
}
