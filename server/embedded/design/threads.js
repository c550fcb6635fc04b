// The threads that run design functions: one for a server, started by the first call; more only while calls wait for
// one that takes long, so that an endless function of one database does not stop the writes of all others.
import { Worker } from 'node:worker_threads'
import { HttpError } from '../../http/errors.js'

const TIMEOUT = 5000 // ms a call may take, CouchDB's os_process_timeout
// ms more for what the engine does not notice itself, such as joining a huge array; then the thread is ended
const GRACE = 1000
const WAIT = 250 // ms a call waits for a busy thread before another is started
const MOST = 3 // threads

/**
 * @typedef {{id: number, ddoc: string, input: string}} Job a call of the design document `ddoc`; `id` is its own
 */

const stopping = () => new HttpError(503, 'service_unavailable', 'the server is stopping')
const failed = () => new HttpError(500, 'os_process_error', 'the design function took too long, or too much memory')

/** A thread and the call that it runs. */
class Thread {
  /** @type {{resolve: (text: string) => void, reject: (error: Error) => void} | null} */
  call = null
  hasEnded = false
  /** Design documents that it has loaded. @type {Set<number>} */
  known = new Set()

  constructor (timeout) {
    this.timeout = timeout
    this.worker = new Worker(new URL('thread.js', import.meta.url), {
      name: 'design functions',
      workerData: { timeout },
      argv: [],
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 512 }
    })
    this.worker.unref()
    this.ready = new Promise(resolve => {
      for (const event of ['message', 'error', 'exit']) this.worker.once(event, resolve)
    })
    this.worker.on('message', ({ text }) => this.#settle(text))
    this.worker.on('error', () => this.#settle())
    this.worker.on('exit', () => {
      this.hasEnded = true
      this.#settle()
    })
  }

  async run ({ id, ddoc, input }) {
    this.known.add(id)
    await this.ready // starting does not count
    return new Promise((resolve, reject) => {
      const timer = setTimeout(() => this.#settle(), this.timeout + GRACE)
      const settled = settle => value => {
        clearTimeout(timer)
        settle(value)
      }
      this.call = { resolve: settled(resolve), reject: settled(reject) }
      if (this.hasEnded) return this.#settle()
      this.worker.postMessage({ id, ddoc, input })
    })
  }

  #settle (text) {
    const { call } = this
    this.call = null
    if (text === undefined) call?.reject(failed())
    else call?.resolve(text)
  }

  end () {
    return this.worker.terminate()
  }
}

export class DesignThreads {
  /** @type {Set<Thread>} */
  #idle = new Set()
  /** @type {Set<Thread>} */
  #busy = new Set()
  /** @type {{job: Job, since: number, resolve: (text: Promise<string>) => void, reject: (error: Error) => void}[]} */
  #waiting = []
  #timer = /** @type {NodeJS.Timeout | undefined} */ (undefined)
  #closed = false

  /** @param {number} [timeout] ms a call may take */
  constructor (timeout = TIMEOUT) {
    this.timeout = timeout
  }

  /** @param {Job} job @returns {Promise<string>} what it answers, as JSON */
  run (job) {
    return new Promise((resolve, reject) => {
      if (this.#closed) throw stopping()
      this.#waiting.push({ job, since: performance.now(), resolve, reject })
      this.#assign()
    })
  }

  #assign () {
    while (this.#waiting.length) {
      const [{ job, since, resolve }] = this.#waiting
      const idle = [...this.#idle]
      const thread = idle.find(({ known }) => known.has(job.id)) ?? idle[0]
      const mayStart = this.#busy.size === 0 || (this.#busy.size < MOST && performance.now() - since >= WAIT)
      if (!thread && !mayStart) return this.#assignLater()
      this.#waiting.shift()
      resolve(this.#runOn(thread ?? new Thread(this.timeout), job))
    }
  }

  #assignLater () {
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined
      this.#assign()
    }, WAIT).unref()
  }

  async #runOn (thread, job) {
    this.#idle.delete(thread)
    this.#busy.add(thread)
    try {
      const text = await thread.run(job)
      this.#idle.add(thread)
      return text
    } catch (error) {
      await thread.end()
      throw error
    } finally {
      this.#busy.delete(thread)
      this.#assign()
    }
  }

  /** Ends the threads, and the calls under way with an error. */
  async close () {
    this.#closed = true
    clearTimeout(this.#timer)
    for (const { reject } of this.#waiting.splice(0)) reject(stopping())
    await Promise.all([...this.#idle, ...this.#busy].map(thread => thread.end()))
  }
}
