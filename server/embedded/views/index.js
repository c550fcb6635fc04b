// A view index: rows sorted by encoded key in a LevelDB, one key and one value each. PouchDB keeps each row as a
// document with a revision tree, which is ten times slower to build and to read.
//   r <view> <key> <doc id> 0 <n>  ->  {k, i, v}   a row
//   d <doc id>                     ->  [row keys]  the rows of a document, to replace them
//   m                              ->  {seq, totals, docs}
import { createHash } from 'node:crypto'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { sharePromise } from '../../../core/promises.js'
import { promisedLevel } from '../level.js'
import { encodeKey } from './collate.js'

const BATCH = 200 // documents a step: one call of the map functions, one write

const rowPrefix = view => Buffer.from([0x72, view])
const documentKey = id => `d${id}`
const META = 'm'

function rowKey (view, key, id, n) {
  const tail = Buffer.alloc(5)
  tail.writeUInt32BE(n, 1)
  return Buffer.concat([rowPrefix(view), encodeKey(key), Buffer.from(id), tail])
}

class ViewIndex {
  /** @param {import('../design/runtime.js').DesignRuntime} runtime @param {() => void} onFailure of a write */
  constructor (database, path, runtime, onFailure) {
    this.database = database
    this.path = path
    this.runtime = runtime
    this.names = Object.keys(runtime.ddoc.views ?? {}).filter(name => typeof runtime.ddoc.views[name]?.map === 'string')
    this.level = promisedLevel(path, onFailure)
    this.meta = { seq: 0, totals: /** @type {Record<string, number>} */ ({}) }
    this.updating = /** @type {Promise<void> | null} */ (null)
    this.run = { from: 0, goal: 0 } // the update under way, or the last one
  }

  async start () {
    await this.level.open()
    const stored = await this.level.get(META)
    if (stored) this.meta = JSON.parse(stored)
    return this
  }

  /** Updates the index to the newest document. Concurrent callers share one run. */
  async update () {
    const { update_seq: goal } = await this.database.pouch.info()
    if (this.updating) this.run.goal = Math.max(this.run.goal, goal)
    else this.run = { from: this.meta.seq, goal }
    while (this.meta.seq < goal) {
      this.updating ??= this.#step().finally(() => { this.updating = null })
      await this.updating
    }
  }

  async #step () {
    const { results, last_seq: seq } = await this.database.pouch.changes({
      since: this.meta.seq, limit: BATCH, include_docs: true, conflicts: true, return_docs: true
    })
    const docs = results.filter(({ id }) => !id.startsWith('_design/'))
    const storedDocs = docs.map(({ doc }) => doc).filter(doc => !doc._deleted)
    const sources = this.names.map(name => this.runtime.ddoc.views[name].map)
    const emittedRows = await this.runtime.callEach('map', { sources }, storedDocs)
    const emitted = new Map(storedDocs.map((doc, i) => [doc._id, emittedRows[i]]))
    const totals = { ...this.meta.totals }
    const storedKeys = await Promise.all(docs.map(({ id }) => this.level.get(documentKey(id))))
    const operations = docs.flatMap(({ id }, i) => this.#replace(id, storedKeys[i], emitted.get(id), totals))
    const meta = { seq: results.length ? seq : Math.max(seq, this.meta.seq + 1), totals }
    operations.push({ type: 'put', key: META, value: JSON.stringify(meta) })
    await this.level.batch(operations)
    this.meta = meta
  }

  #replace (id, storedKeys, emitted = [], totals) {
    /** @type {any[]} */
    const operations = []
    const oldKeys = storedKeys ? JSON.parse(storedKeys) : []
    for (const text of oldKeys) {
      const key = Buffer.from(text, 'base64')
      operations.push({ type: 'del', key })
      totals[this.names[key[1]]]--
    }
    /** @type {string[]} */
    const keys = []
    emitted.forEach((rows, view) => rows.forEach(([k, v], n) => {
      const key = rowKey(view, k, id, n)
      keys.push(key.toString('base64'))
      operations.push({ type: 'put', key, value: JSON.stringify({ k, i: id, v }) })
      totals[this.names[view]] = (totals[this.names[view]] ?? 0) + 1
    }))
    if (keys.length) operations.push({ type: 'put', key: documentKey(id), value: JSON.stringify(keys) })
    else if (oldKeys.length) operations.push({ type: 'del', key: documentKey(id) })
    return operations
  }

  /**
   * Rows of a view between two encoded bounds.
   * @param {string} name
   * @param {{from?: Buffer, to?: Buffer, reverse?: boolean}} range from inclusive, to exclusive
   */
  async * rows (name, { from, to, reverse }) {
    const prefix = rowPrefix(this.names.indexOf(name))
    const gte = from ? Buffer.concat([prefix, from]) : prefix
    const lt = to ? Buffer.concat([prefix, to]) : Buffer.concat([prefix, Buffer.from([0xff])])
    if (gte.compare(lt) >= 0) return
    for await (const value of this.level.values({ gte, lt, reverse })) yield JSON.parse(value)
  }

  async close () {
    await this.updating?.catch(() => {})
    await this.level.close()
  }
}

/** Hashes everything that decides the contents of an index. */
export function signatureOf (ddoc) {
  const views = Object.entries(ddoc.views ?? {}).map(([name, view]) => [name, view?.map, view?.reduce])
  return createHash('md5').update(JSON.stringify([views, ddoc.views?.lib, ddoc.language])).digest('hex')
}

/**
 * The view indexes of a database: one LevelDB for each distinct set of views, named by their signature as in CouchDB,
 * so that design documents with the same views share one, and a staged index is ready after the swap.
 */
export class ViewIndexes {
  /** @param {import('../databases.js').Database} database */
  constructor (database) {
    this.database = database
    this.dir = join(database.dir, 'views')
    this.open = /** @type {Map<string, Promise<ViewIndex>>} */ (new Map())
  }

  /** @param {import('../design/runtime.js').DesignRuntime} runtime @returns {Promise<ViewIndex>} */
  get (runtime) {
    const signature = signatureOf(runtime.ddoc)
    return sharePromise(this.open, signature, () => {
      const onFailure = () => this.#drop(signature) // the next query opens it again
      return new ViewIndex(this.database, join(this.dir, signature), runtime, onFailure).start()
    })
  }

  /**
   * Removes the indexes that are ahead of the documents, since older documents were restored: the next documents would
   * never enter them. This must happen before the first write: after it, the sequences cannot be compared.
   * @param {number} seq of the newest document
   */
  async removeAhead (seq) {
    for (const signature of await readdir(this.dir)) {
      const path = join(this.dir, signature)
      if (await newestSeqOf(path) > seq) await rm(path, { recursive: true, force: true })
    }
  }

  async #drop (signature) {
    const index = this.open.get(signature)
    this.open.delete(signature)
    await index?.then(opened => opened.close(), () => {})
  }

  /** Returns the indexes that are being built, as tasks of the server. */
  async tasks () {
    const opened = await Promise.allSettled(this.open.values())
    const built = opened.flatMap(result => result.status === 'fulfilled' && result.value.updating ? result.value : [])
    return built.map(({ run: { from, goal }, meta, runtime }) => ({
      type: 'indexer',
      design_document: runtime.ddoc._id,
      changes_done: meta.seq - from,
      total_changes: goal - from,
      progress: Math.floor(100 * (meta.seq - from) / (goal - from))
    }))
  }

  /** Removes the indexes that no design document needs any more. */
  async cleanup () {
    const signatures = new Set([...(await this.database.designs.all()).values()].map(({ ddoc }) => signatureOf(ddoc)))
    for (const signature of await readdir(this.dir)) {
      if (signatures.has(signature)) continue
      await this.#drop(signature)
      await rm(join(this.dir, signature), { recursive: true, force: true })
    }
  }

  async close () {
    await Promise.all([...this.open.keys()].map(signature => this.#drop(signature)))
  }
}

/** Returns the newest sequence in an index; 0 for a damaged index, which fails when it is read. */
async function newestSeqOf (path) {
  const level = promisedLevel(path)
  try {
    await level.open()
    return JSON.parse(await level.get(META) ?? '{}').seq ?? 0
  } catch {
    return 0
  } finally {
    await level.close()
  }
}
