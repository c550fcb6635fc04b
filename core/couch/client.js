// The CouchDB client of one database, for Node and for browsers. requests.js sends the requests over HTTP. This file is
// the only one that builds requests for many documents.
import { TilecouchError } from '../errors.js'
import { rewrite } from '../rewrite.js'
import { REFUSALS, askAll, askEach, bulkGetRows, isRefusal, leavesIn, noAnswer, winnerOf } from './answers.js'
import { WRONG_LENGTH } from './multipart.js'
import { askQueries, askResults, pagesOf } from './queries.js'
import { Requester } from './requests.js'

/**
 * @typedef {import('./requests.js').CouchRequest} CouchRequest
 * @typedef {import('./requests.js').Exchange} Exchange
 *
 * @typedef {object} Range of the primary index
 * @property {string} [startkey]
 * @property {string} [endkey]
 * @property {boolean} [descending]
 * @property {number} [limit]
 * @property {boolean} [include_docs]
 * @property {boolean} [conflicts]
 * @typedef {{id: string, key: any, value: any, doc?: any, error?: string}} Row
 *
 * @typedef {Omit<CouchRequest, 'body' | 'qs' | 'parse' | 'raw' | 'onPiece'> &
 *   {limits?: import('./answers.js').Asking['limits']}} Options of requests for many documents. limits: how often to
 * ask again for documents without an answer
 *
 * @typedef {{id: string, ok?: boolean, rev?: string, error?: string, reason?: string}} Written
 * @typedef {{documents: number, counts: (id: string) => boolean, end: () => void}} WriteCount
 * @typedef {{id: string, seq: any, changes: {rev: string}[], deleted?: boolean, doc?: any}} Change
 */

/** Errors of _bulk_docs that a repetition would return again. */
const FINAL = new Set([...REFUSALS, 'conflict'])

export class CouchClient extends Requester {
  #bulkBody
  #decode
  #inflate
  /** See countWrites. @type {Set<WriteCount>} */
  #writeCounts = new Set()

  /**
   * @param {ConstructorParameters<typeof Requester>[0] & {
   *   bulkBody?: (docs: any[], options: {newEdits?: boolean}) => string | Uint8Array | Promise<string | Uint8Array>,
   *   decode?: (base64: string) => any, inflate?: (gzip: any, length: number) => any}} parts
   *   bulkBody: makes the body of a _bulk_docs request; decode: decodes attachments that came as base64;
   *   inflate: unpacks attachments that the server compressed
   */
  constructor ({ bulkBody = jsonBody, decode, inflate, ...parts }) {
    super(parts)
    this.#bulkBody = bulkBody
    this.#decode = decode
    this.#inflate = inflate
  }

  /** Like request, but returns undefined for a missing document. @param {CouchRequest} request */
  find (request) {
    return this.request(request).catch(error => isMissing(error) ? undefined : Promise.reject(error))
  }

  /** Facts about the database. @param {AbortSignal} [signal] @param {Options} [options] @returns {Promise<any>} */
  info (signal, options) {
    return this.request({ ...options, path: '', signal })
  }

  /** @param {string} id @param {AbortSignal} [signal] @param {Options} [options] */
  get (id, signal, options) {
    return this.find({ ...options, path: encodeId(id), signal })
  }

  /**
   * A conflict is COUCHDB_ERROR with status 409.
   * @param {any} doc
   * @param {AbortSignal} [signal]
   * @param {Options} [options]
   */
  async put (doc, signal, options) {
    const counts = [...this.#writeCounts]
    const answer = await this.request({ ...options, method: 'PUT', path: encodeId(doc._id), body: doc, signal })
    addWritten(counts, [doc._id])
    return answer
  }

  /**
   * Counts the documents that this client writes from now on. A document that is written twice counts twice. Requests
   * under way are not counted. Local documents are not counted because they are not in the feed of changes.
   * @param {(id: string) => boolean} counts
   * @returns {WriteCount}
   */
  countWrites (counts) {
    const count = { documents: 0, counts, end: () => { this.#writeCounts.delete(count) } }
    this.#writeCounts.add(count)
    return count
  }

  /**
   * Reads a document, changes it and writes it. Repeats this when another writer wrote the document in between.
   * @param {string} id
   * @param {(stored: any) => any} change returns the new document, or nothing to leave the stored one unchanged
   * @param {AbortSignal} [signal] @param {Options} [options]
   */
  update (id, change, signal, options) {
    return rewrite(id, {
      read: () => this.get(id, signal, options),
      change,
      write: async (doc, stored) => {
        const { rev } = await this.put({ ...doc, _id: id, _rev: stored?._rev }, signal, options)
        return { ...doc, _id: id, _rev: rev }
      }
    })
  }

  /**
   * Reads documents by their ids, in that order: the winning revision of each.
   * @param {string[]} ids
   * @param {Options & Omit<Parameters<CouchClient['bulkGet']>[1], 'qs'>} [options] attachments: with their bytes. The
   *   other options are those of bulkGet.
   * @returns {Promise<{id: string, doc?: any, deleted: boolean}[]>}
   */
  async docs (ids, options) {
    const leaves = await this.leaves(ids, options)
    return ids.map(id => {
      const winner = winnerOf(leaves.get(id))
      return winner && !winner._deleted ? { id, doc: winner, deleted: false } : { id, deleted: Boolean(winner) }
    })
  }

  /**
   * Reads all leaves of documents, also deleted ones. _bulk_get is two to four times as fast as _all_docs with keys.
   * @param {string[]} ids
   * @param {Parameters<CouchClient['docs']>[1]} [options]
   * @returns {Promise<Map<string, any[]>>} an empty list: the document never existed
   */
  async leaves (ids, options) {
    const { leaves, failed } = await this.tryLeaves(ids, options)
    if (failed.size) throw noAnswer(this.url, [...failed.keys()], [...failed.values()][0])
    return leaves
  }

  /**
   * Like leaves, but a document without an answer does not make the request fail.
   * @param {string[]} ids
   * @param {Parameters<CouchClient['docs']>[1]} [options]
   * @returns {Promise<{leaves: Map<string, any[]>, failed: Map<string, {error: string, reason: string}>}>} each id is
   *   in one of the two maps
   */
  async tryLeaves (ids, { signal, limits = this.#delays, ...options } = {}) {
    const ask = left => this.bulkGet(left.map(id => ({ id })), { ...options, signal })
    const { rows, failed } = await askEach(ids, ask, { signal, limits })
    return { leaves: leavesIn(rows), failed }
  }

  /**
   * Reads exact revisions of documents, with their attachments. A revision that no longer exists is left out.
   * @param {{id: string, rev: string}[]} revisions
   * @param {Parameters<CouchClient['docs']>[1]} [options]
   * @returns {Promise<any[]>}
   */
  async revisions (revisions, { signal, limits = this.#delays, attachments = true, ...options } = {}) {
    const byKey = new Map(revisions.map(revision => [`${revision.id} ${revision.rev}`, revision]))
    const rows = await askAll(this.url, [...byKey.keys()], async left => {
      const documents = left.map(key => /** @type {any} */ (byKey.get(key)))
      const answers = await this.bulkGet(documents, { ...options, attachments, signal })
      return answers.map(({ id, doc, rev, ...row }) => ({ ...row, doc, id: `${id} ${doc?._rev ?? rev}` }))
    }, { signal, limits })
    return [...leavesIn(rows).values()].flat()
  }

  /**
   * Sends one _bulk_get request. It does not ask again for documents without an answer.
   * @param {{id: string, rev?: string, atts_since?: string[]}[]} docs
   * @param {Options & {qs?: Record<string, any>, attachments?: boolean, base64?: boolean, packed?: boolean,
   *   check?: (rows: any[]) => void}} options
   *   base64: attachments stay as in JSON, ready to be written again. This answer is faster for small attachments.
   *   packed: attachments that the server compressed stay compressed, with their `encoding`. check: throws BAD_ANSWER
   *   when the request has to be repeated
   */
  bulkGet (docs, { qs, attachments, base64, packed, check, ...options }) {
    return this.request({
      method: 'POST',
      path: '_bulk_get',
      // without this, a compressed attachment in JSON looks like a damaged one
      qs: { ...qs, ...(attachments && { attachments }), ...(check && base64 && { att_encoding_info: true }) },
      // CouchDB answers JSON with base64 if the header mentions JSON
      accept: attachments && this.#decode && !base64 ? 'multipart/mixed' : 'application/json',
      ...options,
      body: { docs },
      raw: true,
      parse: bytes => this.#decodeRows(bulkGetRows(bytes), { base64, packed, check })
    })
  }

  // the embedded store always answers JSON
  #decodeRows (rows, { base64, packed, check }) {
    for (const { doc } of rows) {
      for (const attachment of Object.values(doc?._attachments ?? {})) {
        if (this.#decode && !base64 && typeof attachment.data === 'string') {
          attachment.data = this.#decode(attachment.data)
        }
      }
    }
    check?.(rows)
    return packed || !this.#inflate ? rows : rows.map(row => this.#unpackRow(row))
  }

  // The digests are those of the compressed bytes. They were compared before.
  #unpackRow (row) {
    try {
      for (const attachment of Object.values(row.doc?._attachments ?? {})) {
        if (attachment.encoding !== 'gzip' || !(attachment.data instanceof Uint8Array)) continue
        attachment.data = this.#inflate?.(attachment.data, attachment.length)
        if (attachment.data.length !== attachment.length) throw new Error(WRONG_LENGTH)
        delete attachment.encoding
        delete attachment.encoded_length
      }
      return row
    } catch (error) {
      const reason = error.code === 'ERR_BUFFER_TOO_LARGE' ? WRONG_LENGTH : error.message
      return { id: row.id, error: 'bad_attachment', reason }
    }
  }

  /**
   * Writes documents in one request.
   * @param {any[]} docs
   * @param {Options & {newEdits?: boolean}} [options] newEdits: false keeps the revisions as they are, as replicators
   *   do
   * @returns {Promise<Written[]>} one result for each document
   */
  async bulk (docs, { newEdits, ...options } = {}) {
    const counts = [...this.#writeCounts]
    const body = await this.#bulkBody(docs, { newEdits })
    const request = { method: 'POST', path: '_bulk_docs', body, isFrequent: true }
    const results = this.#checkedList(await this.request({ ...options, ...request }), 'results')
    if (newEdits !== false) addWritten(counts, results.filter(({ rev, error }) => rev && !error).map(({ id }) => id))
    return results
  }

  /**
   * Writes different documents. Sends a document again if a shard did not take it. Throws REFUSED if a document may not
   * be written.
   * @param {any[]} docs
   * @param {AbortSignal} [signal]
   * @returns {Promise<Map<string, string | undefined>>} id -> its new revision, or undefined after a conflict
   */
  async writeAll (docs, signal) {
    const byId = new Map(docs.map(doc => [doc._id, doc]))
    const send = ids => this.bulk(ids.map(id => byId.get(id)), { signal })
    const rows = await askAll(this.url, [...byId.keys()], send, { signal, final: FINAL, limits: this.#delays })
    return new Map([...rows].map(([id, [{ rev, error, reason }]]) => {
      if (isRefusal(error)) throw new TilecouchError('REFUSED', { id, reason: reason || error })
      return [id, error ? undefined : rev]
    }))
  }

  /** @template T @param {T} list @param {string} name @returns {T} */
  #checkedList (list, name) {
    if (!Array.isArray(list)) throw new TilecouchError('BAD_ANSWER', { url: this.url, why: `no list of ${name}` })
    return list
  }

  /**
   * Reads several ranges of the primary index or of a view in one request.
   * @param {string} path `_all_docs` or `_design/d/_view/v`
   * @param {object[]} queries
   * @param {AbortSignal} [signal]
   * @param {Options & {most?: number}} [options] most: queries per request
   * @returns {Promise<any[][]>} the rows of each query
   */
  async queries (path, queries, signal, options) {
    if (!queries.length) return []
    const ask = () => askQueries(this, path, queries, { limits: this.#delays, ...options, signal })
    try {
      return await ask().catch(error => isReplaced(error) ? ask() : Promise.reject(error))
    } catch (error) {
      if (isMissing(error) && path.startsWith('_design/')) throw new TilecouchError('INDEX_MISSING', { view: path })
      throw error
    }
  }

  /** The rows of one range of a view. @param {string} view @param {object} query @param {AbortSignal} [signal] */
  async view (view, query, signal) {
    const [rows] = await this.queries(view, [query], signal)
    return rows
  }

  /**
   * Reads all rows of a range of a view, page by page. It also works while documents are written and move in the view.
   * @param {string} view which has one row for a document
   * @param {{startkey?: any, endkey?: any}} range
   * @param {{page: number, signal?: AbortSignal}} options page: rows per request, at least two
   * @returns {AsyncGenerator<{id: string, key: any, value: any}[]>} never an empty page
   */
  async * viewPages (view, range, { page, signal }) {
    for (let from = /** @type {any} */ (range), last; ;) {
      const rows = await this.view(view, { ...from, reduce: false, limit: page }, signal)
      const fresh = rows.filter(({ id }) => id !== last)
      if (fresh.length) yield fresh
      if (rows.length < page) return
      const { id, key } = rows[rows.length - 1]
      last = id
      from = { ...range, startkey: key, startkey_docid: id }
    }
  }

  /**
   * Reads several ranges of the primary index, or documents by `keys`, in one request.
   * @param {object[]} ranges
   * @param {AbortSignal} [signal]
   * @param {Options} [options]
   * @returns {Promise<Row[][]>}
   */
  ranges (ranges, signal, options) {
    return this.queries('_all_docs', ranges, signal, options)
  }

  /**
   * Like ranges, but a range without an answer does not make the request fail.
   * @param {object[]} ranges
   * @param {Options} [options]
   * @returns {Promise<{rows?: Row[], error?: string, reason?: string}[]>} the rows or the error of each range
   */
  tryRanges (ranges, { limits, ...options } = {}) {
    return askResults(this, '_all_docs', ranges, options)
  }

  /**
   * Reads rows of the primary index.
   * @param {Range} range
   * @param {AbortSignal} [signal]
   * @param {Options} [options]
   * @returns {Promise<Row[]>}
   */
  async page (range, signal, options) {
    const { rows } = await this.request({ ...options, path: '_all_docs', qs: range, signal })
    return this.#checkedList(rows, 'rows')
  }

  /**
   * Reads all rows of a range of the primary index, page by page, in the order of their ids.
   * @param {Range} range
   * @param {{page?: number, ahead?: boolean, signal?: AbortSignal}} [options] see pagesOf
   */
  pages (range, { signal, ...options } = {}) {
    return pagesOf(subrange => this.page(subrange, signal), range, options)
  }

  /**
   * Reads one answer of the feed of changes.
   * @param {Record<string, any>} query
   * @param {CouchRequest & {selector?: object}} [options] selector: selects the documents whose changes are returned
   * @returns {Promise<{results: Change[], last_seq: string | number, pending?: number}>}
   */
  async changes (query, { selector, ...options } = {}) {
    const filtered = selector && { method: 'POST', qs: { ...query, filter: '_selector' }, body: { selector } }
    const answer = await this.request({ ...options, path: '_changes', qs: query, ...filtered })
    if (!Array.isArray(answer.results) || answer.last_seq === undefined) {
      throw new TilecouchError('BAD_ANSWER', { url: this.url, why: 'no list of changes' })
    }
    return answer
  }

  /**
   * Reads all changes since a position in the feed, page by page, up to the present.
   * @param {string | number} since
   * @param {{page: number, signal?: AbortSignal}} options page: changes per request
   * @returns {AsyncGenerator<{results: Change[], last: string | number}>} last: where the next page begins
   */
  async * changesSince (since, { page, signal }) {
    for (let from = since; ;) {
      const { results, last_seq: last } = await this.changes({ since: from, limit: page }, { signal })
      yield { results, last }
      if (results.length < page) return
      from = last
    }
  }

  get #delays () {
    const { firstDelay, longestDelay } = this.options
    return { firstDelay, longestDelay }
  }
}

/** @param {WriteCount[]} counts @param {string[]} ids */
function addWritten (counts, ids) {
  for (const count of counts) {
    count.documents += ids.filter(id => !id.startsWith('_local/') && count.counts(id)).length
  }
}

/** Encodes an id for a path. Colons and the slash after `_design` or `_local` stay readable. */
export const encodeId = id =>
  id.replace(/^(_design|_local)\/|[^A-Za-z0-9_.:~-]/gu, (match, special) => special ? match : encodeURIComponent(match))

/** Whether a document or view is missing in a database that exists. */
const isMissing = ({ code, details }) => code === 'COUCHDB_ERROR' && details.status === 404

/** CouchDB's reasons while a design document, or the staging one before it, is being replaced. */
const REPLACED = ['deleted', 'Design document was updated or deleted.']
const isReplaced = error => isMissing(error) && REPLACED.includes(error.details.reason)

const jsonBody = (docs, { newEdits = true }) => JSON.stringify({ ...(!newEdits && { new_edits: false }), docs })
