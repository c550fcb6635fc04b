// Knows whether the store answers. Every request to the store reports its outcome. While the store does not answer,
// this class polls it. The browser's online state is not enough: the store may be in the local network, or down.
import { isPassing } from '../source/failure.js'
import { backoff, wait } from '../source/wait.js'

const PROBE_TIMEOUT = 5000 // milliseconds for an answer

export class Connection {
  #couch
  #onChange
  #stop = new AbortController()
  #pause = new AbortController()
  #isProbing = false
  #answerCount = 0

  /** @param {import('../mirror/http.js').HttpCouch} couch @param {(isOnline: boolean) => void} onChange */
  constructor (couch, onChange) {
    this.#couch = couch
    this.#onChange = onChange
    /** Undefined until the first outcome. @type {boolean | undefined} */
    this.isOnline = undefined
    const { signal } = this.#stop
    globalThis.addEventListener?.('online', () => this.#probeNow(), { signal })
    globalThis.addEventListener?.('offline', () => this.report(false), { signal })
  }

  /**
   * Runs a request to the store and reports its outcome. A failure counts only if the store has answered no other
   * request meanwhile.
   * @template T
   * @param {() => Promise<T>} task
   * @param {AbortSignal} [signal] of the task: nothing is reported after an abort
   * @param {(error: any) => boolean} [isAway] whether an error says that the store does not answer
   * @returns {Promise<T>}
   */
  async watch (task, signal, isAway = isUnreachable) {
    const answersBefore = this.#answerCount
    try {
      const answer = await task()
      if (!signal?.aborted) this.report(true)
      return answer
    } catch (error) {
      const isCurrent = answersBefore === this.#answerCount && !signal?.aborted
      if (isCurrent && isAway(error)) this.report(false)
      throw error
    }
  }

  report (isOnline) {
    if (isOnline) this.#answerCount++
    if (this.#stop.signal.aborted || isOnline === this.isOnline) return
    this.isOnline = isOnline
    this.#onChange(isOnline)
    if (!isOnline) this.probe()
  }

  /** Polls the store until it answers. */
  async probe () {
    if (this.#isProbing || this.#stop.signal.aborted) return
    this.#isProbing = true
    const isOver = () => this.isOnline === true || this.#stop.signal.aborted
    for (let attempt = 0; !isOver(); attempt++) {
      if (attempt) await wait(backoff(attempt - 1, { first: 1000 }), this.#pause.signal).catch(() => { attempt = 0 })
      if (isOver()) break
      const isAnswered = await this.#isAnswered()
      if (!isOver()) this.report(isAnswered) // a later request may have got an answer meanwhile
    }
    this.#isProbing = false
  }

  close () {
    this.#stop.abort()
    this.#pause.abort()
  }

  #probeNow () {
    this.#pause.abort()
    this.#pause = new AbortController()
    this.probe()
  }

  async #isAnswered () {
    try {
      await this.#couch.request({ retries: 0, timeout: PROBE_TIMEOUT, signal: this.#stop.signal })
      return true
    } catch (error) {
      return !isPassing(error) && error.code !== 'ABORTED' // a refusal is an answer too
    }
  }
}

const isUnreachable = error => error.code === 'UNREACHABLE'
