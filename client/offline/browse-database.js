// The database of the browse cache. Since it is only a cache, the map continues without it whatever fails: no call
// waits longer than TIMEOUT, and a database that cannot be opened is deleted and made again once.

const VERSION = 1 // of the stores below: a database of another one is emptied
const TIMEOUT = 2000 // milliseconds for the database to answer, before the map goes on without it
const STORES = ['entries', 'contents', 'totals']

/** @typedef {{entries: IDBObjectStore, contents: IDBObjectStore, totals: IDBObjectStore}} Stores */

/**
 * What a request answers. Awaited within a transaction, it keeps that open.
 * @template T
 * @param {IDBRequest<T>} request
 * @returns {Promise<T>}
 */
export const answer = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})

/** Everything that begins with these parts. @param {any[]} from @param {any[]} [to] */
export const keysOf = (from, to = from) => IDBKeyRange.bound(from, [...to, []]) // an array sorts after numbers and text

export class BrowseDatabase {
  /** @type {Promise<IDBDatabase | undefined> | undefined} */
  #opening
  #isClosed = false
  #isBroken = false
  /** What did not answer in time, and may yet. @type {Set<Promise<any>>} */
  #stuck = new Set()

  constructor (name) {
    this.name = name
  }

  /**
   * Does something in one transaction.
   * @template T
   * @param {IDBTransactionMode} mode
   * @param {(stores: Stores) => Promise<T>} work may await nothing but requests of this transaction
   * @returns {Promise<T | undefined>} undefined: there is no database; rejects when what was to be written is not
   */
  async run (mode, work) {
    const db = await this.#withTimeout(this.#open())
    if (!db || this.#isClosed) return undefined
    return this.#withTimeout(this.#transact(db, mode, work))
  }

  /**
   * @template T
   * @param {Promise<T>} promise
   * @returns {Promise<T | undefined>} undefined when it takes too long; then nothing is waited for until it is there
   */
  async #withTimeout (promise) {
    promise.catch(() => {})
    if (this.#stuck.size) return undefined
    let timer
    const over = new Promise(resolve => {
      timer = setTimeout(() => {
        const late = promise.catch(() => {}).then(() => this.#stuck.delete(late))
        this.#stuck.add(late)
        resolve(undefined)
      }, TIMEOUT)
    })
    try {
      return await Promise.race([promise, over])
    } finally {
      clearTimeout(timer)
    }
  }

  async #transact (db, mode, work) {
    const transaction = this.#begin(db, mode)
    const ended = new Promise((resolve, reject) => {
      transaction.oncomplete = () => resolve(undefined)
      transaction.onabort = () => reject(transaction.error ?? new DOMException('the transaction was aborted', 'AbortError'))
    })
    ended.catch(() => {})
    const [entries, contents, totals] = STORES.map(store => transaction.objectStore(store))
    try {
      const result = await work({ entries, contents, totals })
      if (mode === 'readwrite') await ended
      return result
    } catch (error) {
      try {
        transaction.abort()
      } catch {
        throw await ended.then(() => error, reason => reason) // it has ended by itself, and says why
      }
      throw error
    }
  }

  #begin (db, mode) {
    try {
      return db.transaction(STORES, mode, { durability: 'relaxed' })
    } catch (error) {
      this.#opening = undefined // it was closed: by the browser, or for another tab
      throw error
    }
  }

  #open () {
    if (this.#isClosed || this.#isBroken) return Promise.resolve(undefined)
    this.#opening ??= this.#openOrMake().catch(() => {
      this.#isBroken = true
      return undefined
    })
    return this.#opening
  }

  async #openOrMake () {
    try {
      return await this.#openOnce()
    } catch (error) {
      if (error.name === 'VersionError') throw error // a newer library made it, and may be using it in another tab
      await this.#delete()
      return this.#openOnce()
    }
  }

  /** @returns {Promise<IDBDatabase>} */
  async #openOnce () {
    const request = globalThis.indexedDB.open(this.name, VERSION)
    request.onupgradeneeded = () => {
      const db = request.result
      for (const store of [...db.objectStoreNames]) db.deleteObjectStore(store)
      db.createObjectStore('entries').createIndex('used', 'used')
      db.createObjectStore('contents')
      db.createObjectStore('totals')
    }
    const db = await answer(request)
    const leave = () => { this.#opening = undefined }
    db.onclose = leave
    db.onversionchange = () => { // it is to be deleted or made anew elsewhere: nobody waits for this page
      leave()
      db.close()
    }
    if (this.#isClosed || !STORES.every(store => db.objectStoreNames.contains(store))) {
      db.close()
      if (!this.#isClosed) throw new DOMException('these are not the stores', 'NotFoundError')
    }
    return db
  }

  #delete () {
    return answer(globalThis.indexedDB.deleteDatabase(this.name))
  }

  async close () {
    this.#isClosed = true
    const db = await this.#withTimeout(Promise.resolve(this.#opening))
    db?.close()
  }

  async destroy () {
    await this.close()
    await this.#withTimeout(this.#delete()).catch(() => {})
  }
}
