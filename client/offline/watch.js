// Transfers of other tabs, as they tell of them, until they say that they are over, or are gone without a word.

const SILENCE = 10000 // milliseconds without a word after which a tab is gone, where no lock tells

export class Watch {
  #store
  #ends = /** @type {Map<any, () => void>} */ (new Map())
  #stop = new AbortController()

  /** @param {import('./offline-store.js').OfflineStore} store */
  constructor (store) {
    this.#store = store
  }

  /** @param {import('./area.js').Area | undefined} area @param {Record<string, any>} figures */
  hear (area, figures) {
    if (!area || this.#stop.signal.aborted) return
    if (area.hear(figures)) this.#begin(area)
    else if (!this.#store.locks.spansTabs) this.#begin(area)
    this.#store.fire('progress', { area, status: area.status() })
  }

  /** @param {import('./area.js').Area | undefined} area */
  end (area) {
    if (!area) return
    this.#ends.get(area)?.()
    this.#ends.delete(area)
    area.hear()
    this.#store.areas.read().catch(() => {})
  }

  close () {
    this.#stop.abort()
    for (const end of this.#ends.values()) end()
  }

  #begin (area) {
    this.#ends.get(area)?.()
    const stop = new AbortController()
    let timer
    this.#ends.set(area, () => {
      clearTimeout(timer)
      stop.abort()
    })
    // it holds the lock as long as it lives
    if (this.#store.locks.spansTabs) this.#store.locks.hold(`area:${area.id}`, () => this.end(area), { shared: true, signal: stop.signal }).catch(() => {})
    else timer = setTimeout(() => this.end(area), SILENCE)
  }
}
