// Several processes on one port. This one forks them, starts again what dies, adds up what they count, and ends them in order.
import cluster from 'node:cluster'
import { fileURLToPath } from 'node:url'
import { setTimeout as sleep } from 'node:timers/promises'
import { TilecouchError } from '../../core/index.js'
import { Couch } from '../../loader/store/couch.js'
import { Users } from './access/users.js'
import { Sum } from './sum.js'
import { openOps } from './ops.js'

const ENTRY = fileURLToPath(new URL('./worker-entry.js', import.meta.url))

export const restartDefaults = {
  first: 100, // ms before a worker that died is started again; doubled every time it dies young
  longest: 10000, // ms
  young: 30000, // ms after which a worker counts as healthy
  attempts: 8, // starts in a row that may fail, while no worker serves, before the gateway gives up
  patience: 60000, // ms a worker may take until it serves
  kill: 5000 // ms beyond the grace after which a worker that does not end is killed
}

/**
 * @typedef {object} Member one place of the crew, whoever fills it
 * @property {number} number
 * @property {import('node:cluster').Worker} worker
 * @property {boolean} ready
 * @property {number} since when it became ready
 * @property {number} deaths in a row, each of them young
 * @property {Promise<void>} gone
 */

/**
 * Serves with `options.workers` processes; resolves when all of them do.
 * @param {Record<string, any>} options of resolveOptions, with a database: workers open none of their own
 * @param {object} environment
 * @param {import('pino').Logger} environment.log
 * @param {import('./mirror-metrics.js').Mirroring} [environment.mirror] of an edge
 * @param {string} [environment.entry] what a worker runs
 * @param {Partial<typeof restartDefaults>} [environment.restart]
 */
export async function runWorkers (options, { log, mirror, entry = ENTRY, restart = {} }) {
  const crew = new Crew(options, { log, mirror, entry, restart: { ...restartDefaults, ...restart } })
  try {
    await crew.open()
  } catch (error) {
    await crew.close()
    throw error
  }
  return crew
}

class Crew {
  /** @type {Map<number, Member>} */
  #members = new Map()
  /** @type {Set<NodeJS.Timeout>} */
  #timers = new Set()
  #failures = 0 // starts in a row that came to nothing
  #restarts = 0
  #address = { url: '', port: 0, opsUrl: null }
  /** @type {Awaited<ReturnType<typeof openOps>> | null} */
  #ops = null
  /** @type {Promise<void> | null} */
  #closing = null
  /** @type {{resolve: (value?: any) => void, reject: (error: Error) => void}} */
  #end = { resolve () {}, reject () {} }

  constructor (options, { log, mirror, entry, restart }) {
    this.log = log
    this.mirror = mirror
    this.entry = entry
    this.restart = restart
    this.wanted = options.workers
    this.options = options
    // an ops port of their own behind the one of this process: loopback, the same for all
    this.share = { ...options, workers: 1, memory: Math.floor(options.memory / options.workers), ...(options.opsPort !== null && { opsPort: 0, opsHost: '127.0.0.1' }) }
    this.users = options.accessUsers ? new Users(new Couch(options.db), { log }) : null
    this.sum = new Sum(() => ({ ready: this.#ready().length, restarts: this.#restarts }), mirror?.report)
    mirror?.filled?.then(() => { for (const { worker } of this.#members.values()) if (worker.isConnected()) worker.send({ type: 'filled' }) })
    /** Resolves when it was closed, rejects when it gave up. @type {Promise<void>} */
    this.ended = new Promise((resolve, reject) => { this.#end = { resolve, reject } })
    this.ended.catch(() => {}) // whoever waits for it hears of it; nobody has to
  }

  get url () { return this.#address.url }
  get port () { return this.#address.port }
  get opsUrl () { return this.#ops?.url ?? null }
  get pids () { return [...this.#members.values()].map(({ worker }) => worker.process.pid) }

  #ready = () => [...this.#members.values()].filter(({ ready }) => ready)

  async open () {
    if (this.options.opsPort !== null) {
      this.#ops = await openOps({ port: this.options.opsPort, host: this.options.opsHost, metrics: () => this.metrics(), health: () => this.health() })
    }
    // one first: what is wrong with the port or the store is then said once
    await this.#fork(1)
    await Promise.all(Array.from({ length: this.wanted - 1 }, (_, at) => this.#fork(at + 2)))
  }

  /** Starts a worker; resolves when it serves, rejects when it does not come to that. */
  #fork (number, deaths = 0) {
    cluster.setupPrimary({ exec: this.entry, args: [] })
    const worker = cluster.fork()
    /** @type {Member} */
    const member = { number, worker, ready: false, since: 0, deaths, gone: Promise.resolve() }
    this.#members.set(number, member)
    this.sum.add(worker)
    return new Promise((resolve, reject) => {
      let failure
      const late = setTimeout(() => {
        failure = new TilecouchError('WORKER_FAILED', { why: `did not serve within ${this.restart.patience / 1000} s` })
        worker.process.kill('SIGKILL')
      }, this.restart.patience)
      member.gone = new Promise(gone => {
        worker.once('exit', (code, signal) => {
          clearTimeout(late)
          this.sum.remove(worker)
          failure ??= new TilecouchError('WORKER_FAILED', { why: signal ? `was ended by ${signal}` : `ended with ${code}` })
          if (!member.ready) reject(failure)
          else this.#lost(member, failure)
          gone(undefined)
        })
      })
      worker.on('error', error => this.log.warn({ err: error, worker: number }, 'a message to a worker was lost'))
      worker.on('message', message => {
        if (message.type === 'hello') worker.send({ type: 'start', options: this.share, number, edge: this.mirror && { isFilled: this.mirror.isFilled() } })
        if (message.type === 'mirror') worker.send({ type: 'told', id: message.id, value: this.mirror?.report() })
        if (message.type === 'user') this.#answerUser(worker, message)
        if (message.type === 'failed') failure = new TilecouchError(message.code, message.details)
        if (message.type === 'ready') {
          clearTimeout(late)
          Object.assign(member, { ready: true, since: Date.now() })
          this.#address = message.address
          this.#failures = 0
          resolve(undefined)
        }
      })
    })
  }

  /** Whether CouchDB knows a visitor of a worker. */
  async #answerUser (worker, { id, brought }) {
    const value = await /** @type {Users} */ (this.users).mayRead(brought).then(
      isMember => ({ isMember }),
      ({ code = 'INTERNAL', details = {} }) => ({ failure: { code, details } })
    )
    if (worker.isConnected()) worker.send({ type: 'told', id, value })
  }

  #lost (member, error) {
    member.ready = false
    if (this.#closing) return
    const deaths = Date.now() - member.since < this.restart.young ? member.deaths + 1 : 0
    this.#again(member.number, deaths, error)
  }

  #again (number, deaths, error) {
    const delay = Math.min(this.restart.longest, this.restart.first * 2 ** Math.min(deaths, 20))
    this.log.error({ worker: number, code: error.code, in: delay }, `a worker ${error.details.why ?? error.message}; it is started again`)
    const timer = setTimeout(() => {
      this.#timers.delete(timer)
      this.#restarts++
      this.#fork(number, deaths).catch(failure => this.#failed(number, deaths, failure))
    }, delay)
    this.#timers.add(timer)
  }

  /** A worker that was started again did not come to serve. */
  #failed (number, deaths, error) {
    if (this.#closing) return
    if (++this.#failures < this.restart.attempts || this.#ready().length > 0) return this.#again(number, deaths + 1, error)
    this.log.fatal({ code: error.code }, `no worker starts any more: ${error.message}`)
    this.#end.reject(error)
    this.close()
  }

  /** What all workers counted, as /metrics answers it. */
  metrics () {
    return this.sum.text()
  }

  /** What one of them says of its health, and how many there are. @returns {Promise<{status: number, body: object}>} */
  async health () {
    const workers = { ready: this.#ready().length, wanted: this.wanted }
    try {
      if (!workers.ready) throw new Error('no worker is ready')
      const answer = await fetch(new URL('health', this.#address.opsUrl ?? this.url), { signal: AbortSignal.timeout(5000) })
      return { status: answer.status, body: { .../** @type {object} */ (await answer.json()), workers } }
    } catch (error) {
      return { status: 503, body: { status: 'down', reason: error.message, workers } }
    }
  }

  /** Lets every worker finish what it does. @returns {Promise<void>} */
  close () {
    return (this.#closing ??= this.#close())
  }

  async #close () {
    for (const timer of this.#timers) clearTimeout(timer)
    const members = [...this.#members.values()]
    for (const { worker } of members) if (worker.isConnected()) worker.send({ type: 'stop' })
    const tired = new AbortController()
    const late = sleep(1000 * this.options.grace + this.restart.kill, undefined, { signal: tired.signal }).then(() => {
      for (const { worker } of members) worker.process.kill('SIGKILL')
    }, () => {})
    await Promise.all(members.map(({ gone }) => gone))
    tired.abort()
    await late
    await this.#ops?.close()
    this.#end.resolve(undefined)
  }
}
