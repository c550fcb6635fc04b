// One of several processes: it serves what its parent says, until its parent says stop or is gone.
import { TilecouchError } from '../../core/index.js'
import { createLog, secretsOf } from './log.js'
import { createMetrics } from './metrics.js'

const PATIENCE = 6000 // ms that the numbers of the others may take

/** @param {(options: Record<string, any>, own: {log: any, metrics: any}) => Promise<{url: string, port: number, opsUrl: string | null, close: () => Promise<void>}>} startGateway */
export function serveAsWorker (startGateway) {
  const metrics = createMetrics()
  const waiting = new Map() // questions to the parent
  let running = null
  let asked = 0

  const send = message => { if (process.connected) process.send?.(message) }

  // whichever worker is asked answers for all of them
  metrics.gather = () => new Promise(resolve => {
    const id = asked++
    const answer = text => {
      clearTimeout(timer)
      waiting.delete(id)
      resolve(text ?? metrics.registry.metrics())
    }
    const timer = setTimeout(answer, PATIENCE)
    waiting.set(id, answer)
    send({ type: 'gather', id })
  })

  async function start ({ options, number }) {
    const log = createLog({ level: options.logLevel, secrets: secretsOf(options), base: { worker: number } })
    running = startGateway(options, { log, metrics })
    const { url, port, opsUrl } = await running
    send({ type: 'ready', address: { url, port, opsUrl } })
  }

  /** The parent says why and decides what to do. The process ends when the message has left. */
  function fail (error) {
    const { code, details } = error instanceof TilecouchError ? error : { code: 'INTERNAL', details: { why: error.message } }
    if (!process.send || !process.connected) process.exit(1)
    process.send({ type: 'failed', code, details }, () => process.exit(1))
  }

  let stopping = false
  async function stop () {
    if (stopping) return
    stopping = true
    const gateway = await running?.catch(() => null)
    await gateway?.close()
    process.exit(0)
  }

  process.on('message', async (/** @type {any} */ message) => {
    if (message.type === 'start') start(message).catch(fail)
    if (message.type === 'stop') stop()
    if (message.type === 'count') send({ type: 'counted', id: message.id, metrics: await metrics.registry.getMetricsAsJSON() })
    if (message.type === 'gathered') waiting.get(message.id)?.(message.text)
  })
  process.on('SIGTERM', stop) // one worker alone: its parent starts another
  process.on('SIGINT', () => {}) // Ctrl-C reaches the whole group: the parent says stop
  send({ type: 'hello' })
}
