// The threads that run design functions. The first call starts one for the server. More are started only while calls
// wait for a long one, so that an endless function of one database does not stop the writes of all others.
import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import PQueue from 'p-queue'
import { HttpError } from '../../http/errors.js'
import { stopping } from '../errors.js'

const TIMEOUT = 5000 // ms a call may take, CouchDB's os_process_timeout
// ms more, then the thread is ended: the engine does not stop some calls itself, such as joining a huge array
const GRACE = 1000
const WAIT = 250 // ms a call waits for a busy thread before another is started
const MOST = 3 // threads

/** @typedef {{id: number, ddoc: string, input: string}} Job a call of the design document `ddoc` with the id `id` */

const failed = () => new HttpError(500, 'os_process_error', 'the design function took too long, or too much memory')

class Thread {
  #ended = new AbortController()
  isBusy = false

  constructor (timeout) {
    this.longest = timeout + GRACE
    this.worker = new Worker(new URL('thread.js', import.meta.url), {
      name: 'design functions',
      workerData: { timeout },
      argv: [],
      execArgv: [],
      env: {},
      resourceLimits: { maxOldGenerationSizeMb: 512 }
    })
    this.worker.unref()
    for (const event of ['error', 'exit']) this.worker.on(event, () => this.#ended.abort())
    this.ready = this.#nextAnswer()
  }

  /** Waits for the answer to the next call; undefined if the thread ended without one. */
  async #nextAnswer () {
    const [message] = await once(this.worker, 'message', { signal: this.#ended.signal }).catch(() => [])
    return message?.text
  }

  /** @param {Job} job @returns {Promise<string>} */
  async run (job) {
    await this.ready // starting does not count
    const timer = setTimeout(() => this.#ended.abort(), this.longest)
    this.worker.postMessage(job)
    const text = await this.#nextAnswer()
    clearTimeout(timer)
    if (text === undefined) throw failed()
    return text
  }

  end () {
    return this.worker.terminate()
  }
}

export class DesignThreads {
  /** @type {Set<Thread>} */
  #threads = new Set()
  #calls = new PQueue({ concurrency: 1 })
  #isClosed = false

  /** @param {number} [timeout] ms a call may take */
  constructor (timeout = TIMEOUT) {
    this.timeout = timeout
  }

  /** @param {Job} job @returns {Promise<string>} the answer, as JSON */
  run (job) {
    const addThread = () => { this.#calls.concurrency = Math.min(MOST, this.#calls.concurrency + 1) }
    const waiting = setTimeout(addThread, WAIT).unref()
    return this.#calls.add(() => {
      clearTimeout(waiting)
      return this.#runOnThread(job)
    })
  }

  async #runOnThread (job) {
    if (this.#isClosed) throw stopping()
    const thread = [...this.#threads].find(({ isBusy }) => !isBusy) ?? new Thread(this.timeout)
    this.#threads.add(thread)
    thread.isBusy = true
    try {
      return await thread.run(job)
    } catch (error) {
      this.#threads.delete(thread)
      await thread.end()
      throw error
    } finally {
      thread.isBusy = false
    }
  }

  /** Ends the threads, and the calls under way with an error. */
  async close () {
    this.#isClosed = true
    await Promise.all([...this.#threads].map(thread => thread.end()))
  }
}
