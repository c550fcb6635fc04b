// Events with Leaflet's names (on, off, once), for classes that run without Leaflet.

/** @template E events: name -> fields */
export class Emitter {
  /** @type {Map<string, Map<(event: any) => void, {isOnce: boolean}>>} */
  #listeners = new Map()

  /**
   * @template {string} K
   * @param {K} types one or several, with spaces between
   * @param {(event: K extends keyof E ? {type: K} & E[K] : any) => void} listener
   */
  on (types, listener) {
    return this.#add(types, listener, false)
  }

  /**
   * @template {string} K
   * @param {K} types @param {(event: K extends keyof E ? {type: K} & E[K] : any) => void} listener
   */
  once (types, listener) {
    return this.#add(types, listener, true)
  }

  /** @param {string} types @param {(event: any) => void} [listener] all of them when none is named */
  off (types, listener) {
    for (const type of typesIn(types)) {
      if (listener) this.#listeners.get(type)?.delete(listener)
      else this.#listeners.delete(type)
    }
    return this
  }

  /** Whether there are listeners. @param {string} type */
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
        reportLater(error)
      }
    }
  }

  #add (types, listener, isOnce) {
    if (typeof listener !== 'function') throw new TypeError(`no function listens to ${types}`)
    for (const type of typesIn(types)) {
      if (!this.#listeners.has(type)) this.#listeners.set(type, new Map())
      this.#listeners.get(type)?.set(listener, { isOnce })
    }
    return this
  }
}

const typesIn = types => types.split(/\s+/).filter(Boolean)

/** An error of a listener is reported to the page; the caller of `fire` continues. */
const reportLater =
  error => globalThis.reportError ? globalThis.reportError(error) : queueMicrotask(() => { throw error })
