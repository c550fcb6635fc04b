// One of several processes: it serves what its parent says, until its parent says stop or is gone.
import { TilecouchError } from '../../core/index.js'
import { createLog, secretsOf } from './log.js'
import { createMetrics } from './metrics.js'

const PATIENCE = 6000 // ms that the numbers of the others may take
const LONG_PATIENCE = 30000 // ms that a question to CouchDB about a user may take, with others before it
const SHORT_PATIENCE = 2000 // ms that a word of the parent alone may take

/** @type {import('./mirror-metrics.js').MirrorReport} */
const NOT_TOLD = { from: '', state: 'unknown', lag: null, pending: null, upToDate: null, refused: 0, behind: false, counts: { documents: 0, tiles: 0, bytes: 0, refused: 0 }, errors: {} }

/** @param {(options: Record<string, any>, own: {log: any, metrics: any, users: Pick<import('./access/users.js').Users, 'mayRead'>, mirror?: import('./mirror-metrics.js').Mirroring}) => Promise<{url: string, port: number, opsUrl: string | null, close: () => Promise<void>}>} startGateway */
export function serveAsWorker (startGateway) {
  const metrics = createMetrics()
  const waiting = new Map() // questions to the parent
  let running = null
  let asked = 0

  const send = message => { if (process.connected) process.send?.(message) }

  /** What the parent answers; nothing when that takes too long. */
  const ask = (type, patience, more = {}) => new Promise(resolve => {
    const id = asked++
    const answer = value => {
      clearTimeout(timer)
      waiting.delete(id)
      resolve(value)
    }
    const timer = setTimeout(answer, patience)
    waiting.set(id, answer)
    send({ type, id, ...more })
  })

  // whichever worker is asked answers for all of them
  metrics.gather = async () => await ask('gather', PATIENCE) ?? metrics.registry.metrics()
  let isFilled = false // of an edge, which never is empty again
  const mirror = { report: async () => await ask('mirror', SHORT_PATIENCE) ?? NOT_TOLD, isFilled: () => isFilled }

  // wrong passwords are counted in one place, or CouchDB would see those of all workers
  const users = {
    /** @param {import('./access/users.js').Brought} brought */
    async mayRead (brought) {
      const { isMember, failure = { code: 'UNREACHABLE', details: { url: 'the store', why: 'the parent of the workers does not answer' } } } = await ask('user', LONG_PATIENCE, { brought }) ?? {}
      if (isMember === undefined) throw new TilecouchError(failure.code, failure.details)
      return isMember
    }
  }

  async function start ({ options, number, edge }) {
    isFilled ||= Boolean(edge?.isFilled)
    const log = createLog({ level: options.logLevel, secrets: secretsOf(options), base: { worker: number } })
    running = startGateway(options, { log, metrics, users, ...(edge && { mirror }) })
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
    if (message.type === 'filled') isFilled = true
    if (message.type === 'count') send({ type: 'counted', id: message.id, metrics: await metrics.registry.getMetricsAsJSON() })
    if (message.type === 'told') waiting.get(message.id)?.(message.value)
  })
  process.on('SIGTERM', stop) // one worker alone: its parent starts another
  process.on('SIGINT', () => {}) // Ctrl-C reaches the whole group: the parent says stop
  send({ type: 'hello' })
}
