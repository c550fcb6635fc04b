// LevelDB, with promises for the view indexes, and safe after a failed write, which PouchDB is not. After a failed
// write (on a full disk) LevelDB's log ends in half a record. Records appended after it can be lost when the log is
// read again. Each store writes one batch at a time. After a failed write it refuses further writes, but not reads,
// until it was closed and opened again. Documents reach the disk before a client reads them or learns that they are
// stored: a power cut loses none. Indexes can be built again, and are written without waiting for the disk. They may be
// behind the documents, never ahead of them.
import { createRequire } from 'node:module'
import { promisify } from 'node:util'

// The packages under PouchDB are old and use parts of Node that it now warns about, which no user can change: exactly
// these warnings, from exactly these packages, are hidden.
const codes = ['DEP0005', 'DEP0040', 'DEP0044', 'DEP0060', 'DEP0169']
const packages = /[\\/]node_modules[\\/](pouchdb-[a-z-]+|node-fetch|whatwg-url|tr46|readable-stream|level[a-z-]*)[\\/]/
const { emitWarning } = process
process.emitWarning = /** @type {any} */ ((...args) => {
  const code = typeof args[1] === 'object' ? args[1]?.code : args[2]
  if (codes.includes(code ?? args[0]?.code) && packages.test(String(new Error().stack))) return
  return Reflect.apply(emitWarning, process, args)
})

const require = createRequire(import.meta.url)
const leveldown = require('leveldown')

/**
 * A LevelDB that stops writing after a failed write. PouchDB takes it as its `db` option.
 * @param {(error: Error) => void} onFailure called once, for the first write that failed
 * @param {{sync?: boolean}} [options] sync: a write ends when it is on the disk
 */
export function guardedLevel (onFailure, { sync = false } = {}) {
  function guarded (location) {
    const db = leveldown(location)
    const write = db._batch.bind(db)
    /** @type {Error | null} */
    let failure = null
    let lastWrite = Promise.resolve()
    db._batch = (operations, options, callback) => {
      lastWrite = lastWrite.then(() => new Promise(resolve => {
        if (failure) {
          callback(failure)
          return resolve()
        }
        write(operations, { ...options, sync }, error => {
          if (error) {
            failure = error
            onFailure(error)
          }
          resolve()
          callback(error)
        })
      }))
    }
    db._put = (key, value, options, callback) => db._batch([{ type: 'put', key, value }], options, callback)
    db._del = (key, options, callback) => db._batch([{ type: 'del', key }], options, callback)
    guarded.opened.set(location, db)
    return db
  }
  /** Open databases by location, for reads that PouchDB does not offer. */
  guarded.opened = new Map()
  guarded.destroy = leveldown.destroy
  return guarded
}

/** A guarded LevelDB with promises. @param {(error: Error) => void} [onFailure] */
export function promisedLevel (location, onFailure = () => {}) {
  const db = guardedLevel(onFailure)(location)
  const get = promisify(db.get.bind(db))
  return {
    open: promisify(db.open.bind(db)),
    batch: promisify(db.batch.bind(db)),
    close: () => new Promise(resolve => db.close(resolve)),
    /** @returns {Promise<string | undefined>} */
    get: key => get(key, { asBuffer: false }).catch(error => {
      if (!/notfound/i.test(error.message)) throw error
    }),
    /** Values of a range, in key order. @param {{gte?: any, lt?: any, reverse?: boolean}} range */
    values: range => valuesOf(db, range)
  }
}

/** Values of a range of a LevelDB, in key order. */
export async function * valuesOf (db, range) {
  const iterator = db.iterator({ ...range, keys: false, keyAsBuffer: true, valueAsBuffer: false })
  const next = () => new Promise((resolve, reject) =>
    iterator.next((error, key, value) => error ? reject(error) : resolve(value)))
  try {
    for (let value = await next(); value !== undefined; value = await next()) yield value
  } finally {
    await new Promise(resolve => iterator.end(resolve))
  }
}
