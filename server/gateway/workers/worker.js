// One of several processes: it serves with the options that its parent sends, until the parent sends stop or is
// gone.
import { shared } from '../../../core/promises.js'
import { TilecouchError } from '../../../loader/errors.js'
import { createLog, secretsOf } from '../log.js'
import { Metrics } from '../metrics.js'

/** Milliseconds for the parent to answer. */
const TIMEOUTS = {
  metrics: 6000, // of all workers
  mirror: 2000
}

/** @type {import('../mirror-metrics.js').MirrorReport} */
const UNKNOWN = {
  from: '',
  state: 'unknown',
  lag: null,
  pending: null,
  upToDate: null,
  refused: 0,
  behind: false,
  counts: { documents: 0, tiles: 0, bytes: 0, refused: 0 },
  errors: {}
}

/** @param {typeof import('../index.js').startGateway} startGateway */
export function serveAsWorker (startGateway) {
  const metrics = new Metrics()
  const waiting = new Map() // requests to the parent
  let running = null
  let asked = 0

  const send = message => { if (process.connected) process.send?.(message) }

  /** Asks the parent; undefined: no answer in time. */
  const ask = type => new Promise(resolve => {
    const id = asked++
    const answer = value => {
      clearTimeout(timer)
      waiting.delete(id)
      resolve(value)
    }
    const timer = setTimeout(answer, TIMEOUTS[type])
    waiting.set(id, answer)
    send({ type, id })
  })

  metrics.text = async () => await ask('metrics') ?? metrics.registry.metrics()
  let isFilled = false // of an edge
  const mirror = { report: async () => await ask('mirror') ?? UNKNOWN, isFilled: () => isFilled }

  async function start ({ options, number, edge }) {
    isFilled ||= Boolean(edge?.isFilled)
    const log = createLog({ level: options.logLevel, secrets: secretsOf(options), base: { worker: number } })
    running = startGateway(options, { log, metrics, ...(edge && { mirror }) })
    const { url, port, opsUrl } = await running
    send({ type: 'ready', address: { url, port, opsUrl } })
  }

  /** Reports the error to the parent, which decides what to do. The process ends when the message is sent. */
  function fail (error) {
    const isOurs = error instanceof TilecouchError
    const { code, details } = isOurs ? error : { code: 'INTERNAL', details: { why: error.message } }
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
      send({ type: 'counted', id: message.id, metrics: await metrics.registry.getMetricsAsJSON() })
    }
    if (message.type === 'answer') waiting.get(message.id)?.(message.value)
  })
  process.on('SIGTERM', stop) // one worker alone: its parent starts another
  process.on('SIGINT', () => {}) // Ctrl-C reaches the whole group: the parent sends stop
  send({ type: 'hello' })
}
