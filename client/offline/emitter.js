// Events as Leaflet names them, for what runs without Leaflet: on, off, once.

export class Emitter {
  /** @type {Map<string, Map<(event: any) => void, {isOnce: boolean}>>} */
  #listeners = new Map()

  /** @param {string} types one or several, with spaces between @param {(event: any) => void} listener */
  on (types, listener) {
    return this.#add(types, listener, false)
  }

  /** @param {string} types @param {(event: any) => void} listener */
  once (types, listener) {
    return this.#add(types, listener, true)
  }

  /** @param {string} types @param {(event: any) => void} [listener] all of them when none is named */
  off (types, listener) {
    for (const type of namesIn(types)) {
      if (listener) this.#listeners.get(type)?.delete(listener)
      else this.#listeners.delete(type)
    }
    return this
  }

  /** Whether anybody wants to know. @param {string} type */
  listens (type) {
    return Boolean(this.#listeners.get(type)?.size)
  }

  /** @param {string} type @param {Record<string, any>} [about] */
  fire (type, about = {}) {
    for (const [listener, { isOnce }] of [...this.#listeners.get(type) ?? []]) {
      if (isOnce) this.off(type, listener)
      try {
        listener({ type, ...about })
      } catch (error) {
        complain(error)
      }
    }
  }

  #add (types, listener, isOnce) {
    if (typeof listener !== 'function') throw new TypeError(`no function listens to ${types}`)
    for (const type of namesIn(types)) {
      if (!this.#listeners.has(type)) this.#listeners.set(type, new Map())
      this.#listeners.get(type)?.set(listener, { isOnce })
    }
    return this
  }
}

const namesIn = types => types.split(/\s+/).filter(Boolean)

/** A listener's error is the page's: it is told there, and what told it goes on. */
const complain = error => globalThis.reportError ? globalThis.reportError(error) : queueMicrotask(() => { throw error })
