// The CouchDB client, for Node and for browsers: one database, asked over HTTP (requests.js). It builds the requests
// for many documents, so that nobody else has to.
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
 *   {limits?: import('./answers.js').Asking['limits']}} Options of requests for many documents. limits: how often
 * documents without an answer are asked for again
 *
 * @typedef {{id: string, ok?: boolean, rev?: string, error?: string, reason?: string}} Written
 * @typedef {{documents: number, counts: (id: string) => boolean, end: () => void}} WriteCount
 * @typedef {{id: string, seq: any, changes: {rev: string}[], deleted?: boolean, doc?: any}} Change
 */

/** Answers to a written document that a repetition would give again. */
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
   *   bulkBody: makes the body of a _bulk_docs request; decode: makes bytes of attachments that came as base64;
   *   inflate: unpacks what the server compressed
   */
  constructor ({ bulkBody = jsonBody, decode, inflate, ...parts }) {
    super(parts)
    this.#bulkBody = bulkBody
    this.#decode = decode
    this.#inflate = inflate
  }

  /** As request; undefined for what is not there. @param {CouchRequest} request */
  async find (request) {
    try {
      return await this.request(request)
    } catch (error) {
      if (isMissing(error)) return undefined
      throw error
    }
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
   * that are under way already are left out, and so are local documents, which are not in the feed of changes.
   * @param {(id: string) => boolean} counts
   * @returns {WriteCount}
   */
  countWrites (counts) {
    const count = { documents: 0, counts, end: () => { this.#writeCounts.delete(count) } }
    this.#writeCounts.add(count)
    return count
  }

  /**
   * Writes one document as `change` makes it of the stored one; again when somebody else wrote in between.
   * @param {string} id
   * @param {(stored: any) => any} change answers the new document, or nothing to leave it alone
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
   * Documents by their ids, in that order: the winner of each, if there is one.
   * @param {string[]} ids
   * @param {Options & Omit<Parameters<CouchClient['bulkGet']>[1], 'qs'>} [options] attachments: with their bytes; the
   *   others: see bulkGet
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
   * Every leaf of documents, deleted ones as well. _bulk_get is twice to four times as fast as _all_docs with keys.
   * @param {string[]} ids
   * @param {Parameters<CouchClient['docs']>[1]} [options]
   * @returns {Promise<Map<string, any[]>>} an empty list: there never was one
   */
  async leaves (ids, options) {
    const { leaves, failed } = await this.tryLeaves(ids, options)
    if (failed.size) throw noAnswer(this.url, [...failed.keys()], [...failed.values()][0])
    return leaves
  }

  /**
   * As leaves; a document without an answer costs the others nothing.
   * @param {string[]} ids
   * @param {Parameters<CouchClient['docs']>[1]} [options]
   * @returns {Promise<{leaves: Map<string, any[]>, failed: Map<string, {error: string, reason: string}>}>} each id is
   *   in
   *   one of them
   */
  async tryLeaves (ids, { signal, limits = this.#delays, ...options } = {}) {
    const ask = left => this.bulkGet(left.map(id => ({ id })), { ...options, signal })
    const { rows, failed } = await askEach(ids, ask, { signal, limits })
    return { leaves: leavesIn(rows), failed }
  }

  /**
   * Documents at the very revisions that are named, with their attachments. One that is not there any more is left out.
   * @param {{id: string, rev: string}[]} asked
   * @param {Parameters<CouchClient['docs']>[1]} [options]
   * @returns {Promise<any[]>}
   */
  async revisions (asked, { signal, limits = this.#delays, attachments = true, ...options } = {}) {
    const byKey = new Map(asked.map(one => [`${one.id} ${one.rev}`, one]))
    const rows = await askAll(this.url, [...byKey.keys()], async left => {
      const requests = left.map(key => /** @type {any} */ (byKey.get(key)))
      const answers = await this.bulkGet(requests, { ...options, attachments, signal })
      return answers.map(({ id, doc, rev, ...row }) => ({ ...row, doc, id: `${id} ${doc?._rev ?? rev}` }))
    }, { signal, limits })
    return [...leavesIn(rows).values()].flat()
  }

  /**
   * One _bulk_get request, in which documents without an answer are not asked for again.
   * @param {{id: string, rev?: string, atts_since?: string[]}[]} docs
   * @param {Options & {qs?: Record<string, any>, attachments?: boolean, base64?: boolean, packed?: boolean,
   *   check?: (rows: any[]) => void}} options
   *   base64: attachments stay as JSON has them, to be written again; for small ones that is the faster answer. packed:
   *   attachments that the server compressed stay so, with their `encoding`. check: throws BAD_ANSWER when the request
   *   has to be repeated
   */
  bulkGet (docs, { qs, attachments, base64, packed, check, ...options }) {
    return this.request({
      method: 'POST',
      path: '_bulk_get',
      // as JSON, compressed ones could not be told from damaged ones
      qs: { ...qs, ...(attachments && { attachments }), ...(check && base64 && { att_encoding_info: true }) },
      // CouchDB prefers JSON, with base64, wherever it is mentioned
      accept: attachments && this.#decode && !base64 ? 'multipart/mixed' : 'application/json',
      ...options,
      body: { docs },
      raw: true,
      parse: bytes => this.#decoded(bulkGetRows(bytes), { base64, packed, check })
    })
  }

  // the embedded store answers JSON whatever is asked for
  #decoded (rows, { base64, packed, check }) {
    for (const { doc } of rows) {
      for (const attachment of Object.values(doc?._attachments ?? {})) {
        if (this.#decode && !base64 && typeof attachment.data === 'string') {
          attachment.data = this.#decode(attachment.data)
        }
      }
    }
    check?.(rows)
    return packed || !this.#inflate ? rows : rows.map(row => this.#unpacked(row))
  }

  // digests are those of the compressed bytes, and were compared before
  #unpacked (row) {
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
   * @returns {Promise<Written[]>} one for each
   */
  async bulk (docs, { newEdits, ...options } = {}) {
    const counts = [...this.#writeCounts]
    const body = await this.#bulkBody(docs, { newEdits })
    const request = { method: 'POST', path: '_bulk_docs', body, isFrequent: true }
    const results = this.#list(await this.request({ ...options, ...request }), 'results')
    if (newEdits !== false) addWritten(counts, results.filter(({ rev, error }) => rev && !error).map(({ id }) => id))
    return results
  }

  /**
   * Writes different documents, and sends again what a shard did not take. Throws REFUSED where one may not be written.
   * @param {any[]} docs
   * @param {AbortSignal} [signal]
   * @returns {Promise<Map<string, string | undefined>>} id -> its revision; none after a conflict
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
  #list (list, name) {
    if (!Array.isArray(list)) throw new TilecouchError('BAD_ANSWER', { url: this.url, why: `no list of ${name}` })
    return list
  }

  /**
   * Several ranges of the primary index or of a view in one request.
   * @param {string} path `_all_docs` or `_design/d/_view/v`
   * @param {object[]} queries
   * @param {AbortSignal} [signal]
   * @param {Options & {most?: number}} [options] most: queries a request
   * @returns {Promise<any[][]>} the rows of each
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
   * All rows of a range of a view, page by page, also of documents that are written meanwhile and move within the view.
   * @param {string} view in which a document has one row
   * @param {{startkey?: any, endkey?: any}} range
   * @param {{page: number, signal?: AbortSignal}} options page: rows a request, two at least
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
   * The rows of several ranges of the primary index, or of documents by `keys`, in one request.
   * @param {object[]} ranges
   * @param {AbortSignal} [signal]
   * @param {Options} [options]
   * @returns {Promise<Row[][]>}
   */
  ranges (ranges, signal, options) {
    return this.queries('_all_docs', ranges, signal, options)
  }

  /**
   * As ranges, in one request: a range without an answer costs the others nothing.
   * @param {object[]} ranges
   * @param {Options} [options]
   * @returns {Promise<{rows?: Row[], error?: string, reason?: string}[]>} of each, its rows or an error
   */
  tryRanges (ranges, { limits, ...options } = {}) {
    return askResults(this, '_all_docs', ranges, options)
  }

  /**
   * Rows of the primary index.
   * @param {Range} range
   * @param {AbortSignal} [signal]
   * @param {Options} [options]
   * @returns {Promise<Row[]>}
   */
  async page (range, signal, options) {
    const { rows } = await this.request({ ...options, path: '_all_docs', qs: range, signal })
    return this.#list(rows, 'rows')
  }

  /**
   * All rows of a range of the primary index, page by page, in the order of their ids.
   * @param {Range} range
   * @param {{page?: number, ahead?: boolean, signal?: AbortSignal}} [options] see pagesOf
   */
  pages (range, { signal, ...options } = {}) {
    return pagesOf(part => this.page(part, signal), range, options)
  }

  /**
   * One answer of the feed of changes.
   * @param {Record<string, any>} query
   * @param {CouchRequest & {selector?: object}} [options] selector: of the documents whose changes are wanted
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
   * All changes since a position in the feed, page by page, up to the present.
   * @param {string | number} since
   * @param {{page: number, signal?: AbortSignal}} options page: changes a request
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

/** An id in a path: slashes of design documents and colons stay readable, everything else is encoded. */
export const encodeId = id =>
  id.replace(/^(_design|_local)\/|[^A-Za-z0-9_.:~-]/gu, (match, special) => special ? match : encodeURIComponent(match))

/** Whether something is missing, in a database that exists. */
const isMissing = ({ code, details }) => code === 'COUCHDB_ERROR' && details.status === 404

/** What CouchDB answers to readers of an index whose design document, or the staging one before it, is replaced. */
const REPLACED = ['deleted', 'Design document was updated or deleted.']
const isReplaced = error => isMissing(error) && REPLACED.includes(error.details.reason)

const jsonBody = (docs, { newEdits = true }) => JSON.stringify({ ...(!newEdits && { new_edits: false }), docs })
