// Whether the store answers. Every request to the store reports how it went; while the store does not answer, this
// polls it until it does. The browser's own online state says little: the store may be on the device's network, or not.
import { isPassing } from '../source/failure.js'
import { backoff, wait } from '../source/wait.js'

const PROBE_TIMEOUT = 5000 // milliseconds for an answer

export class Connection {
  #couch
  #onChange
  #stop = new AbortController()
  #again = new AbortController()
  #isAsking = false
  #answers = 0

  /** @param {import('../mirror/http.js').HttpCouch} couch @param {(isOnline: boolean) => void} onChange */
  constructor (couch, onChange) {
    this.#couch = couch
    this.#onChange = onChange
    /** Undefined until the store was asked. @type {boolean | undefined} */
    this.isOnline = undefined
    const { signal } = this.#stop
    globalThis.addEventListener?.('online', () => this.#probeNow(), { signal })
    globalThis.addEventListener?.('offline', () => this.report(false), { signal })
  }

  /**
   * Does what asks the store, and reports how that went. A failure counts only if the store has answered nothing else
   * since it began.
   * @template T
   * @param {() => Promise<T>} task
   * @param {AbortSignal} [signal] of the task: nothing is reported after it
   * @param {(error: any) => boolean} [isAway] whether an error says that the store does not answer
   * @returns {Promise<T>}
   */
  async watch (task, signal, isAway = isUnreachable) {
    const answersBefore = this.#answers
    try {
      const answer = await task()
      if (!signal?.aborted) this.report(true)
      return answer
    } catch (error) {
      const isNews = answersBefore === this.#answers && !signal?.aborted
      if (isNews && isAway(error)) this.report(false)
      throw error
    }
  }

  report (isOnline) {
    if (isOnline) this.#answers++
    if (this.#stop.signal.aborted || isOnline === this.isOnline) return
    this.isOnline = isOnline
    this.#onChange(isOnline)
    if (!isOnline) this.probe()
  }

  /** Asks until it is known that it answers. */
  async probe () {
    if (this.#isAsking || this.#stop.signal.aborted) return
    this.#isAsking = true
    const isOver = () => this.isOnline === true || this.#stop.signal.aborted
    for (let attempt = 0; !isOver(); attempt++) {
      if (attempt) await wait(backoff(attempt - 1, { first: 1000 }), this.#again.signal).catch(() => { attempt = 0 })
      if (isOver()) break
      const isAnswered = await this.#isAnswered()
      if (!isOver()) this.report(isAnswered) // another request, that began later, may have had an answer meanwhile
    }
    this.#isAsking = false
  }

  close () {
    this.#stop.abort()
    this.#again.abort()
  }

  #probeNow () {
    this.#again.abort()
    this.#again = new AbortController()
    this.probe()
  }

  async #isAnswered () {
    try {
      await this.#couch.request({ retries: 0, timeout: PROBE_TIMEOUT, signal: this.#stop.signal })
      return true
    } catch (error) {
      return !isPassing(error) && error.code !== 'ABORTED' // that it refuses is an answer
    }
  }
}

const isUnreachable = error => error.code === 'UNREACHABLE'
