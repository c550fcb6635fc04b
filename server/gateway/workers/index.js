// Runs a gateway as several processes on one port. The parent starts the workers, restarts workers that end, adds up
// their metrics, and stops them in order.
import cluster from 'node:cluster'
import { setMaxListeners } from 'node:events'
import { fileURLToPath } from 'node:url'
import { pause, shared } from '../../../core/promises.js'
import { TilecouchError } from '../../../loader/errors.js'
import { urlOf } from '../../http/addresses.js'
import { Cors } from '../cors.js'
import { createHandler } from '../dispatch.js'
import { Listener } from '../../http/listener.js'
import { sendJson } from '../../http/answers.js'
import { metrics as metricsRoute } from '../routes/monitoring.js'
import { WorkerMetrics } from './metrics.js'

const ENTRY = fileURLToPath(new URL('./entry.js', import.meta.url))

export const restartDefaults = {
  first: 100, // ms before a worker that died is started again; doubled every time it dies young
  longest: 10000, // ms
  young: 30000, // ms after which a worker counts as healthy
  attempts: 8, // starts in a row that may fail, while no worker serves, before the gateway gives up
  timeout: 60000, // ms a worker may take until it serves
  kill: 5000 // ms beyond the grace after which a worker that does not end is killed
}

/**
 * @typedef {object} Member a worker; after a restart it has the same number
 * @property {number} number
 * @property {import('node:cluster').Worker} worker
 * @property {number} [readySince] milliseconds; undefined: it does not serve
 * @property {number} deaths in a row, each soon after the start
 * @property {Promise<void>} gone
 */

/**
 * Serves with `options.workers` processes; resolves when all of them serve.
 * @param {Record<string, any>} options of resolveOptions, with a database: workers open no embedded store
 * @param {object} environment
 * @param {import('pino').Logger} environment.log
 * @param {import('../mirror-metrics.js').Mirroring} [environment.mirror] of an edge
 * @param {string} [environment.entry] program of a worker
 * @param {Partial<typeof restartDefaults>} [environment.restart]
 */
export async function runWorkers (options, { log, mirror, entry = ENTRY, restart = {} }) {
  const pool = new WorkerPool(options, { log, mirror, entry, restart: { ...restartDefaults, ...restart } })
  try {
    await pool.open()
  } catch (error) {
    await pool.close()
    throw error
  }
  return pool
}

class WorkerPool {
  url = ''
  port = 0
  opsUrl = /** @type {string | null} */ (null)
  /** @type {Map<number, Member>} */
  #members = new Map()
  #failures = 0 // starts in a row that failed
  #restarts = 0
  /** Where a worker answers /health, if not at its url. @type {string | null} */
  #workerOpsUrl = null
  /** For /metrics and /health, if they have their own port. @type {Listener | null} */
  #ops = null
  #stop = new AbortController()
  /** @type {{resolve: (value?: any) => void, reject: (error: Error) => void}} */
  #end = { resolve () {}, reject () {} }

  constructor (options, { log, mirror, entry, restart }) {
    this.log = log
    this.mirror = mirror
    this.entry = entry
    this.restart = restart
    this.options = options
    const { memory, workers, opsPort } = options
    setMaxListeners(0, this.#stop.signal) // each worker that waits for its restart has a listener
    // each worker has an ops port on loopback, which the ops port of this process reads
    const ops = opsPort !== null && { opsPort: 0, opsHost: '127.0.0.1' }
    this.workerOptions = { ...options, workers: 1, memory: Math.floor(memory / workers), ...ops }
    this.metrics = new WorkerMetrics(() => ({ ready: this.#ready, restarts: this.#restarts }), mirror?.report)
    mirror?.filled?.then(() => this.#sendToAll({ type: 'filled' }))
    /** Resolves when the pool was closed, rejects when no worker starts any more. @type {Promise<void>} */
    this.ended = new Promise((resolve, reject) => { this.#end = { resolve, reject } })
    this.ended.catch(() => {}) // no unhandled rejection
  }

  get pids () { return [...this.#members.values()].map(({ worker }) => worker.process.pid) }

  /** Number of workers that serve. */
  get #ready () {
    return [...this.#members.values()].filter(({ readySince }) => readySince !== undefined).length
  }

  async open () {
    const { opsPort, opsHost, workers } = this.options
    if (opsPort !== null) {
      this.#ops = new Listener(this.#opsHandler())
      this.opsUrl = urlOf(opsHost, await this.#ops.listen(opsPort, opsHost))
    }
    // one worker first: an error of the port or the store is then reported once
    await this.#fork(1)
    await Promise.all(Array.from({ length: workers - 1 }, (_, index) => this.#fork(index + 2)))
  }

  #opsHandler () {
    const metrics = { text: () => this.metrics.text(), request () {} }
    const ctx = { cors: new Cors('none'), log: this.log, options: { accessLog: false }, metrics }
    const health = async (_, target, req, res) => {
      const { status, body } = await this.health()
      sendJson(req, res, body, { status, cacheControl: 'no-store' })
    }
    return createHandler(ctx, { metrics: metricsRoute, health })
  }

  #sendToAll (message) {
    for (const { worker } of this.#members.values()) if (worker.isConnected()) worker.send(message)
  }

  /** Starts a worker; resolves when it serves, rejects when it fails before. @returns {Promise<void>} */
  #fork (number, deaths = 0) {
    cluster.setupPrimary({ exec: this.entry, args: [] })
    const worker = cluster.fork()
    /** @type {Member} */
    const member = { number, worker, deaths, gone: Promise.resolve() }
    this.#members.set(number, member)
    this.metrics.add(worker)
    return new Promise((resolve, reject) => {
      let failure
      const timer = setTimeout(() => {
        failure = new TilecouchError('WORKER_FAILED', { why: `did not serve within ${this.restart.timeout / 1000} s` })
        worker.process.kill('SIGKILL')
      }, this.restart.timeout)
      member.gone = new Promise(resolveGone => {
        worker.once('exit', (code, signal) => {
          clearTimeout(timer)
          this.metrics.remove(worker)
          const why = signal ? `was ended by ${signal}` : `ended with ${code}`
          failure ??= new TilecouchError('WORKER_FAILED', { why })
          if (member.readySince === undefined) reject(failure)
          else this.#onExit(member, failure)
          resolveGone(undefined)
        })
      })
      worker.on('error', error => this.log.warn({ err: error, worker: number }, 'a message to a worker was lost'))
      worker.on('message', message => {
        if (message.type === 'hello') {
          const edge = this.mirror && { isFilled: this.mirror.isFilled() }
          worker.send({ type: 'start', options: this.workerOptions, number, edge })
        }
        if (message.type === 'mirror') worker.send({ type: 'answer', id: message.id, answer: this.mirror?.report() })
        if (message.type === 'failed') failure = new TilecouchError(message.code, message.details)
        if (message.type === 'ready') {
          clearTimeout(timer)
          member.readySince = Date.now()
          this.url = message.address.url
          this.port = message.address.port
          this.#workerOpsUrl = message.address.opsUrl
          this.#failures = 0
          resolve()
        }
      })
    })
  }

  #onExit (member, error) {
    const isYoung = Date.now() - member.readySince < this.restart.young
    member.readySince = undefined
    this.#startAgain(member.number, isYoung ? member.deaths + 1 : 0, error)
  }

  /** Starts a worker again after a while. */
  async #startAgain (number, deaths, error) {
    const { signal } = this.#stop
    if (signal.aborted) return
    const delay = Math.min(this.restart.longest, this.restart.first * 2 ** Math.min(deaths, 20))
    const text = `a worker ${error.details.why ?? error.message}; it is started again`
    this.log.error({ worker: number, code: error.code, in: delay }, text)
    await pause(delay, signal)
    if (signal.aborted) return
    this.#restarts++
    this.#fork(number, deaths).catch(failure => this.#onFailedStart(number, deaths, failure))
  }

  /** A worker that was started again failed before it served. */
  #onFailedStart (number, deaths, error) {
    if (++this.#failures < this.restart.attempts || this.#ready > 0) return this.#startAgain(number, deaths + 1, error)
    if (this.#stop.signal.aborted) return
    this.log.fatal({ code: error.code }, `no worker starts any more: ${error.message}`)
    this.#end.reject(error)
    this.close()
  }

  /** The health of one worker, and the number of workers. @returns {Promise<{status: number, body: object}>} */
  async health () {
    const workers = { ready: this.#ready, wanted: this.options.workers }
    try {
      if (!workers.ready) throw new Error('no worker is ready')
      const address = new URL('health', this.#workerOpsUrl ?? this.url)
      const answer = await fetch(address, { signal: AbortSignal.timeout(5000) })
      return { status: answer.status, body: { .../** @type {object} */ (await answer.json()), workers } }
    } catch (error) {
      return { status: 503, body: { status: 'down', reason: error.message, workers } }
    }
  }

  /** Stops the workers; each finishes its requests. */
  close = shared(async () => {
    this.#stop.abort()
    const members = [...this.#members.values()]
    this.#sendToAll({ type: 'stop' })
    const timer = setTimeout(() => {
      for (const { worker } of members) worker.process.kill('SIGKILL')
    }, 1000 * this.options.grace + this.restart.kill)
    await Promise.all(members.map(({ gone }) => gone))
    clearTimeout(timer)
    await this.#ops?.close(0)
    this.#end.resolve(undefined)
  })
}
