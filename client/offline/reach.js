// Whether the store answers. Whoever asks it for something says how that went; while it does not, it is asked now and then,
// so that somebody notices when it is back. That a device has a network says little: the store may be on it, or not.
import { isPassing } from '../source/failure.js'
import { backoff, wait } from '../source/patience.js'

const PATIENCE = 5000 // milliseconds for an answer

export class Reach {
  #couch
  #onChange
  #stop = new AbortController()
  #again = new AbortController()
  #isAsking = false

  /** @param {import('../mirror/http.js').HttpCouch} couch @param {(isOnline: boolean) => void} onChange */
  constructor (couch, onChange) {
    this.#couch = couch
    this.#onChange = onChange
    /** Undefined as long as nobody knows. @type {boolean | undefined} */
    this.isOnline = undefined
    const { signal } = this.#stop
    globalThis.addEventListener?.('online', () => this.#hurry(), { signal })
    globalThis.addEventListener?.('offline', () => this.hear(false), { signal })
  }

  /** @param {boolean} isOnline */
  hear (isOnline) {
    if (this.#stop.signal.aborted || isOnline === this.isOnline) return
    this.isOnline = isOnline
    this.#onChange(isOnline)
    if (!isOnline) this.look()
  }

  /** Asks until it is known that it answers. */
  async look () {
    if (this.#isAsking || this.#stop.signal.aborted) return
    this.#isAsking = true
    const isOver = () => this.isOnline === true || this.#stop.signal.aborted
    for (let attempt = 0; !isOver(); attempt++) {
      if (attempt) await wait(backoff(attempt - 1, { first: 1000 }), this.#again.signal).catch(() => { attempt = 0 })
      if (!isOver()) this.hear(await this.#answers())
    }
    this.#isAsking = false
  }

  close () {
    this.#stop.abort()
    this.#again.abort()
  }

  #hurry () {
    this.#again.abort()
    this.#again = new AbortController()
    this.look()
  }

  async #answers () {
    try {
      await this.#couch.request({ retries: 0, patience: PATIENCE, signal: this.#stop.signal })
      return true
    } catch (error) {
      return !isPassing(error) && error.code !== 'ABORTED' // that it refuses is an answer
    }
  }
}
