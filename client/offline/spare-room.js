// A little room that is thrown away when there is none any more. A device that is full lets nothing be written, and PouchDB
// writes when it opens a database: without this, what is there could not even be read.
const BYTES = 1024 * 1024 // for notes of what happened, and for opening databases again
const PIECE = 65536 // bytes of chance at once

const STORE = 'spare-room'

export class SpareRoom {
  #name

  /** @param {string} name of its database @param {IDBFactory | undefined} [databases] none in Node */
  constructor (name, databases = globalThis.indexedDB) {
    this.#name = name
    this.databases = databases
  }

  /** Makes it, if it is not there. Rejects with QuotaExceededError. */
  async make () {
    if (!this.databases) return
    const request = this.databases.open(this.#name, 1)
    request.onupgradeneeded = () => {
      const store = request.result.createObjectStore(STORE, { autoIncrement: true })
      for (let at = 0; at < BYTES; at += PIECE) store.add(crypto.getRandomValues(new Uint8Array(PIECE))) // zeros would be packed
    }
    const database = await answer(request)
    database.close()
  }

  /** Throws it away. */
  async drop () {
    if (this.databases) await deleteDatabase(this.#name, this.databases)
  }
}

/** @param {string} name @param {IDBFactory} [databases] */
export const deleteDatabase = (name, databases = globalThis.indexedDB) => answer(databases.deleteDatabase(name))

/** @template T @param {IDBRequest<T>} request @returns {Promise<T>} */
const answer = request => new Promise((resolve, reject) => {
  request.onsuccess = () => resolve(request.result)
  request.onerror = () => reject(request.error)
})
