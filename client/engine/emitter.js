// Events as Leaflet's classes have them (on, once, off, fire), for classes that run without Leaflet.

/**
 * @template E events: name -> fields
 * @template {string} K
 * @typedef {K extends keyof E ? {type: K, target: any} & E[K] : any} EventOf any for several types in one text
 */

/** @template E events: name -> fields */
export class Emitter {
  /** @type {Map<string, Set<{listener: (event: any) => void, context: any, isOnce: boolean}>>} by type */
  _listeners = new Map()

  /**
   * @template {string} K
   * @param {K} types one or several, with spaces between
   * @param {(event: EventOf<E, K>) => void} listener it is added only once with the same context
   * @param {any} [context] its `this`
   */
  on (types, listener, context) {
    return this._add(types, listener, context, false)
  }

  /**
   * @template {string} K
   * @param {K} types @param {(event: EventOf<E, K>) => void} listener @param {any} [context]
   */
  once (types, listener, context) {
    return this._add(types, listener, context, true)
  }

  /**
   * @param {string} types @param {(event: any) => void} [listener] default: all listeners of the types
   * @param {any} [context] the context with which it was added
   */
  off (types, listener, context) {
    for (const type of typesIn(types)) {
      const entry = this._find(type, listener, context)
      if (!listener) this._listeners.delete(type)
      else if (entry) this._listeners.get(type)?.delete(entry)
    }
    return this
  }

  /** @param {string} type @param {Record<string, any>} [fields] of the event */
  fire (type, fields) {
    for (const entry of [...this._listeners.get(type) ?? []]) {
      if (!this._listeners.get(type)?.has(entry)) continue // another listener removed it
      if (entry.isOnce) this._listeners.get(type)?.delete(entry)
      try {
        entry.listener.call(entry.context ?? this, this._event(type, fields))
      } catch (error) {
        reportLater(error)
      }
    }
    return this
  }

  /** The target is not enumerable: copies and JSON of an event leave it out. */
  _event (type, fields) {
    return Object.defineProperty({ ...fields, type }, 'target', { value: this })
  }

  _find (type, listener, context) {
    return [...this._listeners.get(type) ?? []].find(entry => entry.listener === listener && entry.context === context)
  }

  _add (types, listener, context, isOnce) {
    if (typeof listener !== 'function') throw new TypeError(`no function listens to ${types}`)
    for (const type of typesIn(types)) {
      if (this._find(type, listener, context)) continue
      if (!this._listeners.has(type)) this._listeners.set(type, new Set())
      this._listeners.get(type)?.add({ listener, context, isOnce })
    }
    return this
  }
}

const typesIn = types => types.split(/\s+/).filter(Boolean)

/** An error of a listener is reported to the page; the caller of `fire` continues. */
const reportLater =
  error => globalThis.reportError ? globalThis.reportError(error) : queueMicrotask(() => { throw error })
