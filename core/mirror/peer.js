// A peer is one side of a replication. `CouchPeer` uses CouchDB's protocol over HTTP: for a CouchDB, an embedded store
// or the /db of a gateway. The caller passes a codec, which differs between Node and browsers.
import { askAll } from '../couch/answers.js'
import { TilecouchError } from '../errors.js'

/**
 * @typedef {{id: string, seq: string | number, revs: string[], deleted: boolean}} Row
 * @typedef {{rows: Row[], last: string | number, pending: number}} Page
 * @typedef {{id: string, rev: string, ancestors?: string[]}} Asked ancestors: revisions that the target has; their
 *   attachments need not be sent again
 * @typedef {{id: string, rev?: string, error: string, reason: string}} Refused
 *
 * @typedef {Record<string, {missing: string[], possible_ancestors?: string[]}>} RevsDiff
 * @typedef {{docs: any[], bytes: number, failed?: Refused[]}} Fetched failed: revisions that could not be read,
 *   also those with not_found
 *
 * @typedef {object} Peer a source needs the methods up to `read`, a target the others
 * @property {string} name for people, without a password
 * @property {() => Promise<any>} info
 * @property {(options: {since: string | number, limit: number, wait?: number, signal?: AbortSignal}) => Promise<Page>}
 *   changes reads the feed; wait: milliseconds to wait for a change
 * @property {(asked: Asked[], options: {signal?: AbortSignal, most?: number, latest?: boolean}) => Promise<Fetched>}
 *   fetch most: bytes; latest: false to read exactly these revisions and not their newest descendants
 * @property {(id: string, signal?: AbortSignal) => Promise<any>} read a small document, or undefined
 * @property {(revs: Record<string, string[]>, signal?: AbortSignal) => Promise<RevsDiff>} revsDiff
 * @property {(docs: any[], signal?: AbortSignal) => Promise<Refused[]>} write
 * @property {(id: string, signal?: AbortSignal) => Promise<any>} getLocal reads a `_local` document
 * @property {(id: string, change: (doc: any) => any, signal?: AbortSignal) => Promise<any>} updateLocal
 */

/**
 * @typedef {object} Codec
 * @property {(docs: any[]) => void} check throws BAD_ANSWER if the bytes of an attachment do not match its digest
 * @property {(doc: any) => {body: string | Uint8Array, type: string} | undefined} [packed] the body of a PUT that keeps
 *   compressed attachments compressed; undefined without compressed attachments
 */

const OPTIONS = { timeout: 30000 } // milliseconds for an answer, or for the next bytes of a long answer
const SILENCE = 10000 // milliseconds after the end of a long poll after which its connection counts as dead

/** @implements {Peer} */
export class CouchPeer {
  /**
   * @param {import('../couch/client.js').CouchClient} couch
   * @param {Codec} codec
   * @param {{retries?: number, isDivisible?: boolean}} [reading] options of requests for documents: see CouchRequest
   */
  constructor (couch, codec, reading = {}) {
    this.couch = couch
    this.codec = codec
    this.reading = { ...OPTIONS, ...reading }
    this.name = couch.url
  }

  info () {
    return this.couch.info(undefined, OPTIONS)
  }

  /** @type {Peer['changes']} */
  async changes ({ since, limit, wait, signal }) {
    const poll = wait && { feed: 'longpoll', timeout: wait }
    // a lost poll is not repeated here: another database may answer
    const options = wait ? { retries: 0, timeout: wait + SILENCE } : OPTIONS
    const query = { style: 'all_docs', since, limit, seq_interval: limit, ...poll }
    const answer = await this.couch.changes(query, { ...options, signal })
    const rows = answer.results.map(({ id, seq, changes, deleted = false }) =>
      ({ id, seq, revs: changes.map(({ rev }) => rev), deleted }))
    return { rows, last: answer.last_seq, pending: answer.pending ?? (rows.length < limit ? 0 : 1) }
  }

  /** @type {Peer['fetch']} */
  async fetch (asked, { signal, most, latest = true }) {
    let bytes = 0
    const docs = asked.map(({ id, rev, ancestors }) =>
      ({ id, rev, ...(ancestors?.length && { atts_since: ancestors }) }))
    const rows = await this.couch.bulkGet(docs, {
      ...this.reading,
      attachments: true,
      packed: true,
      qs: { revs: true, ...(latest && { latest }) },
      accept: 'multipart/mixed', // CouchDB answers JSON with base64 if the header mentions JSON
      most,
      check: answer => this.codec.check(docsIn(answer)),
      onBytes: length => { bytes = length },
      signal
    })
    return { docs: docsIn(rows), failed: rows.filter(({ error }) => error), bytes }
  }

  /**
   * An answer leaves out documents without missing revisions. For other documents it must list the revisions.
   * @type {Peer['revsDiff']}
   */
  async revsDiff (revs, signal) {
    const rows = await askAll(this.name, Object.keys(revs), async ids => {
      const body = Object.fromEntries(ids.map(id => [id, revs[id]]))
      const diff = await this.couch.request({ ...OPTIONS, method: 'POST', path: '_revs_diff', body, signal })
      const errorOf = ({ error = 'no list of revisions', reason, missing }) =>
        !Array.isArray(missing) && { error, reason }
      return ids.map(id => ({ id, own: diff[id], ...(diff[id] && errorOf(diff[id])) }))
    }, { signal })
    return Object.fromEntries([...rows].flatMap(([id, [{ own }]]) => own ? [[id, own]] : []))
  }

  /** @type {Peer['write']} */
  async write (docs, signal) {
    const plain = []
    const packed = []
    for (const doc of docs) {
      const put = this.codec.packed?.(doc)
      if (put) packed.push({ doc, put })
      else plain.push(doc)
    }
    const rows = plain.length ? await this.couch.bulk(plain, { ...OPTIONS, newEdits: false, signal }) : []
    const refused = /** @type {any[]} */ (rows.filter(({ error }) => error))
    for (const { doc, put } of packed) refused.push(...await this.#put(doc, put, signal))
    return refused
  }

  async #put ({ _id: id, _rev: rev }, put, signal) {
    try {
      const request = { method: 'PUT', path: encodeURIComponent(id), qs: { new_edits: false }, ...put }
      await this.couch.request({ ...OPTIONS, ...request, signal })
      return []
    } catch (error) {
      if (error.code !== 'FORBIDDEN') throw error
      return [{ id, rev, error: 'forbidden', reason: error.details.reason }]
    }
  }

  getLocal (id, signal) {
    return this.read(`_local/${id}`, signal)
  }

  /** @type {Peer['read']} */
  read (id, signal) {
    return this.couch.get(id, signal, OPTIONS)
  }

  /** @type {Peer['updateLocal']} */
  updateLocal (id, change, signal) {
    return this.couch.update(`_local/${id}`, change, signal, OPTIONS)
  }
}

const docsIn = rows => rows.flatMap(({ doc }) => doc ?? [])

/**
 * Throws BAD_ANSWER if the bytes of attachments do not match their digests. The request is then repeated.
 * @param {any[]} docs with attachments as bytes, or as base64
 * @param {(data: any) => string} digestOf as CouchDB writes it
 */
export function checkDigests (docs, digestOf) {
  for (const { _id: id, _attachments: attachments = {} } of docs) {
    if (Object.values(attachments).every(attachment => hasItsBytes(attachment, digestOf))) continue
    throw new TilecouchError('BAD_ANSWER', { url: '_bulk_get', why: `the bytes of ${id} do not match their digest` })
  }
}

/**
 * Whether the bytes of an attachment match its digest. An attachment without bytes is not compared. An attachment that
 * CouchDB compressed and unpacked for JSON is not compared either: its digest is that of the compressed bytes.
 * @param {{data?: any, digest?: string, encoding?: string}} attachment
 * @param {(data: any) => string} digestOf as CouchDB writes it
 */
export const hasItsBytes = ({ data, digest, encoding }, digestOf) =>
  data === undefined || (encoding && typeof data === 'string') ||
  !digest?.startsWith('md5-') || digestOf(data) === digest
