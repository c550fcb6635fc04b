// A PouchDB as a peer of a replication, in IndexedDB in a browser or LevelDB in Node.
import { TilecouchError } from '../../core/index.js'
import { generation, hasItsBytes } from '../../core/mirror/index.js'
import { ignoreMissing } from '../../core/promises.js'
import { rewrite } from '../../core/rewrite.js'
import { toBase64, unpack } from './base64.js'
import { digestOf } from './digest.js'

/** Errors of PouchDB for documents that it will never take. */
const UNWRITABLE = new Set(['doc_validation', 'bad_request', 'illegal_docid', 'missing_id', 'badarg'])
// a PouchDB that meets a full device closes for good: other requests at that moment get this error
const FULL = /quota|no space left|enospc|database connection is closing/i

const DAMAGED = { error: 'damaged', reason: 'the bytes of an attachment do not match their digest' }

/** In Node PouchDB stores Buffers and knows no Blobs; in browsers it is the other way round. */
const isNode = Boolean(globalThis.process?.versions?.node) && globalThis.document === undefined

/** @implements {Peer} @typedef {import('../../core/mirror/peer.js').Peer} Peer */
export class PouchPeer {
  #asText

  /**
   * @param {any} db a PouchDB
   * @param {{text?: boolean}} [options] text: in IndexedDB attachments as base64, for a PouchDB that stores text
   *   (storage.js). That is twice as fast, since each Blob becomes a file, and takes a third more room
   */
  constructor (db, { text = false } = {}) {
    this.db = db
    this.#asText = text && db.adapter === 'idb'
    this.name = `PouchDB ${db.name}`
    this.buffers = isNode || db.adapter === 'leveldb'
  }

  info () {
    return this.#ask(() => this.db.info())
  }

  /** @type {Peer['changes']} */
  async changes ({ since, limit, wait, signal }) {
    const read = () => this.#ask(() => this.db.changes({ since, limit, style: 'all_docs', return_docs: true }), signal)
    let answer = await read()
    if (!answer.results.length && wait) {
      await this.#waitForChange(since, wait, signal)
      answer = await read()
    }
    const rows = answer.results.map(({ id, seq, changes, deleted = false }) =>
      ({ id, seq, revs: changes.map(({ rev }) => rev), deleted }))
    return { rows, last: answer.last_seq, pending: rows.length < limit ? 0 : 1 }
  }

  /** Resolves when there is a change, or when the time has passed. */
  async #waitForChange (since, wait, signal) {
    const feed = this.db.changes({ since, live: true, limit: 1, return_docs: false })
    await new Promise(resolve => {
      const done = () => {
        clearTimeout(timer)
        signal?.removeEventListener('abort', done)
        feed.cancel()
        resolve(undefined)
      }
      const timer = setTimeout(done, wait)
      signal?.addEventListener('abort', done)
      feed.on('change', done).on('complete', done).on('error', done)
      feed.catch(done) // the next reading reports the error
      if (signal?.aborted) done()
    })
  }

  /** @type {Peer['fetch']} */
  async fetch (requested, { signal, most = Infinity }) {
    if (!requested.length) return { docs: [], bytes: 0 } // PouchDB never answers an empty list
    const docs = requested.map(({ id, rev }) => ({ id, rev }))
    const options = { docs, revs: true, attachments: true, binary: true, latest: true }
    const { results } = await this.#ask(() => this.db.bulkGet(options), signal)
    const fetchedDocs = []
    const failed = []
    for (const { id, docs: [{ ok, missing: rev, error }] } of results) {
      if (ok) fetchedDocs.push(ok)
      else failed.push({ id, rev, error: error?.name ?? 'not_found', reason: error?.reason ?? 'missing' })
    }
    let bytes = 0
    const completeDocs = []
    for (const doc of fetchedDocs) {
      const attachments = /** @type {any[]} */ (Object.values(doc._attachments ?? {}))
      for (const attachment of attachments) {
        attachment.data = await toBytes(attachment.data)
        attachment.length = attachment.data.length
        bytes += attachment.length
      }
      // an attachment that a compaction removes meanwhile comes without bytes, and without an error
      if (attachments.every(attachment => hasItsBytes(attachment, digestOf))) completeDocs.push(doc)
      else failed.push({ id: doc._id, rev: doc._rev, ...DAMAGED })
    }
    if (bytes > most && requested.length > 1) throw new TilecouchError('ANSWER_TOO_LARGE', { host: this.name, most })
    return { docs: completeDocs, bytes, failed }
  }

  /**
   * In IndexedDB reading the revisions of all ids costs a quarter of comparing each, and new documents need no
   * comparison. In LevelDB comparing is cheaper.
   * @type {Peer['revsDiff']}
   */
  async revsDiff (revs, signal) {
    const winnersOnDevice = this.db.adapter === 'idb' ? await this.#winners(Object.keys(revs), signal) : undefined
    const missing = /** @type {Record<string, {missing: string[], possible_ancestors?: string[]}>} */ ({})
    const compared = {}
    for (const [id, revIds] of Object.entries(revs)) {
      if (winnersOnDevice && !winnersOnDevice.has(id)) missing[id] = { missing: revIds }
      else compared[id] = revIds
    }
    if (Object.keys(compared).length) Object.assign(missing, await this.#ask(() => this.db.revsDiff(compared), signal))
    // attachments that an earlier revision has need not be sent again
    const isLater = id => id in compared && missing[id].missing.some(rev => generation(rev) > 1)
    const laterIds = Object.keys(missing).filter(isLater)
    const winners = winnersOnDevice ?? (laterIds.length ? await this.#winners(laterIds, signal) : new Map())
    for (const id of laterIds) {
      const { rev, deleted = true } = winners.get(id) ?? {}
      const isOlder = !deleted && missing[id].missing.some(other => generation(other) > generation(rev))
      if (isOlder) missing[id].possible_ancestors = [rev]
    }
    return missing
  }

  /** @param {any} query of PouchDB's allDocs @param {AbortSignal} [signal] */
  allDocs (query, signal) {
    return this.#ask(() => this.db.allDocs(query), signal)
  }

  async #winners (ids, signal) {
    const { rows } = await this.allDocs({ keys: ids }, signal)
    return new Map(rows.filter(({ value }) => value).map(({ id, value }) => [id, { deleted: false, ...value }]))
  }

  /** @type {Peer['write']} */
  async write (docs, signal) {
    const prepared = (await unpack(docs)).map(doc =>
      doc._attachments ? { ...doc, _attachments: this.#attachments(doc._attachments) } : doc)
    const failed = await this.#ask(() => this.db.bulkDocs(prepared, { new_edits: false }), signal)
    return failed.map(({ id, rev, name, reason, message }) => ({ id, rev, error: name, reason: reason ?? message }))
  }

  /** Writes new revisions of the device's own. @param {any[]} docs @param {AbortSignal} [signal] */
  async edit (docs, signal) {
    const rows = docs.length ? await this.#ask(() => this.db.bulkDocs(docs), signal) : []
    const failed = rows.find(({ error }) => error)
    if (failed) throw this.errorFrom(failed)
  }

  /** PouchDB computes length and digest of bytes itself; a stub must have all fields. */
  #attachments (attachments) {
    const prepare = ({ content_type: type, revpos, digest, length, stub, data }) => stub
      ? { content_type: type, revpos, digest, length, stub }
      : { content_type: type, revpos, data: data instanceof Uint8Array ? this.#blob(data, type) : data }
    return Object.fromEntries(Object.entries(attachments).map(([name, attachment]) => [name, prepare(attachment)]))
  }

  /** @param {any} bytes @param {string} type */
  #blob (bytes, type) {
    if (this.#asText) return toBase64(bytes)
    if (!this.buffers) return new Blob([bytes], { type })
    return globalThis.Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  }

  /** @type {Peer['getLocal']} */
  getLocal (id, signal) {
    return this.read(`_local/${id}`, signal)
  }

  /** @type {Peer['read']} */
  async read (id, signal) {
    return this.#ask(() => this.db.get(id), signal).catch(ignoreMissing)
  }

  /** @type {Peer['updateLocal']} */
  updateLocal (id, change, signal) {
    const _id = `_local/${id}`
    return rewrite(_id, {
      read: () => this.getLocal(id, signal),
      change,
      write: async (doc, stored) => {
        await this.#ask(() => this.db.put({ ...doc, _id, _rev: stored?._rev }), signal)
        return doc
      }
    })
  }

  /** @param {() => Promise<any>} question @param {AbortSignal} [signal] */
  async #ask (question, signal) {
    if (signal?.aborted) throw new TilecouchError('ABORTED')
    try {
      return await question()
    } catch (error) {
      throw this.errorFrom(error)
    }
  }

  /** An error of PouchDB as one of the catalogue. */
  errorFrom (error) {
    const reason = error.reason ?? error.message ?? String(error)
    if (FULL.test(`${error.name} ${reason}`)) return new TilecouchError('DISK_FULL', { where: this.name })
    const status = UNWRITABLE.has(error.name) ? 400 : error.status ?? 500
    return new TilecouchError('COUCHDB_ERROR', { url: this.name, status, reason }, { cause: error })
  }
}

/** @param {any} data of PouchDB: a Blob or a Buffer */
async function toBytes (data) {
  if (data instanceof Blob) return new Uint8Array(await data.arrayBuffer())
  return new Uint8Array(data.buffer, data.byteOffset, data.byteLength)
}

/**
 * Runs a task on PouchDBs, and ends it when one of them is closed or destroyed: a closed PouchDB may never answer open
 * requests.
 * @template T
 * @param {any[]} databases
 * @param {AbortSignal | undefined} signal
 * @param {AbortController} stop ends the task; the signal aborts it as well
 * @param {() => Promise<T>} task
 * @returns {Promise<T>} rejects with ABORTED when a database was closed
 */
export async function whileOpen (databases, signal, stop, task) {
  const end = () => stop.abort()
  let onClosed = end
  const closed = new Promise((resolve, reject) => {
    onClosed = () => {
      end()
      reject(new TilecouchError('ABORTED'))
    }
  })
  signal?.addEventListener('abort', end)
  if (signal?.aborted) end()
  for (const db of databases) db.once('closed', onClosed).once('destroyed', onClosed)
  const running = task()
  running.catch(() => {}) // thrown below, unless the race is over
  try {
    return await /** @type {Promise<T>} */ (Promise.race([running, closed]))
  } finally {
    signal?.removeEventListener('abort', end)
    for (const db of databases) db.removeListener('closed', onClosed).removeListener('destroyed', onClosed)
  }
}
