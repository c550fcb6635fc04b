// A peer is one side of a replication. `CouchPeer` is one that speaks CouchDB's protocol over HTTP: a CouchDB, an
// embedded store, the /db of a gateway. How bytes are encoded is the caller's: Node and browsers do it differently.
import { askAll, bulkGetRows } from '../couch/answers.js'
import { TilecouchError } from '../errors.js'
import { timeoutSignal } from '../abort.js'
import { rewrite } from '../rewrite.js'

/**
 * @typedef {{id: string, seq: string | number, revs: string[], deleted: boolean}} Row
 * @typedef {{rows: Row[], last: string | number, pending: number}} Page
 * @typedef {{id: string, rev: string, ancestors?: string[]}} Asked ancestors: revisions that the target has; their
 *   attachments need not be sent again
 * @typedef {{id: string, rev?: string, error: string, reason: string}} Refused
 *
 * @typedef {Record<string, {missing: string[], possible_ancestors?: string[]}>} RevsDiff
 * @typedef {{docs: any[], bytes: number, failed?: Refused[]}} Fetched failed: those that could not be read, for any
 *   reason, not_found included
 *
 * @typedef {object} Peer a source needs the first half of these methods, a target the second
 * @property {string} name for people, without a password
 * @property {() => Promise<any>} info
 * @property {(options: {since: string | number, limit: number, wait?: number, signal?: AbortSignal}) => Promise<Page>}
 *   changes wait: milliseconds to wait for a change
 * @property {(asked: Asked[], options: {signal?: AbortSignal, most?: number, latest?: boolean}) => Promise<Fetched>}
 *   fetch most: bytes; latest: false for exactly these revisions, and not newer ones that follow them
 * @property {(revs: Record<string, string[]>, signal?: AbortSignal) => Promise<RevsDiff>} revsDiff
 * @property {(docs: any[], signal?: AbortSignal) => Promise<Refused[]>} write
 * @property {(id: string, signal?: AbortSignal) => Promise<any>} getLocal of a `_local` document
 * @property {(id: string, change: (doc: any) => any, signal?: AbortSignal) => Promise<any>} updateLocal
 */

/**
 * @typedef {object} Codec
 * @property {(docs: any[]) => string | Uint8Array | Promise<string | Uint8Array>} bulkBody of _bulk_docs, revisions as
 *   they are
 * @property {(docs: any[]) => void} [check] throws BAD_ANSWER when the bytes of an attachment do not match its digest
 * @property {(doc: any) => {body: string | Uint8Array, type: string} | undefined} [packed] the body of a PUT that keeps
 *   compressed attachments as they are; undefined when there are none
 */

const TIMEOUT = 30000 // milliseconds for an answer, or for the next bytes of a long one
const SLOWEST = 16 // bytes a millisecond: the slowest upload that is waited for
const SILENCE = 10000 // milliseconds beyond a long poll after which its connection counts as dead

/** @implements {Peer} */
export class CouchPeer {
  /**
   * @param {{url: string, request: (request: any) => Promise<any>, find: (request: any) => Promise<any>}} couch
   * @param {Codec} codec
   * @param {{retries?: number, isDivisible?: boolean}} [reading] for requests of documents. retries: other than those
   *   of the couch; isDivisible: an answer that breaks off in the middle is not asked for again
   */
  constructor (couch, codec, reading = {}) {
    this.couch = couch
    this.codec = codec
    this.reading = reading
    this.name = couch.url
  }

  #ask (request) {
    return this.couch.request({ timeout: TIMEOUT + (request.body?.length ?? 0) / SLOWEST, ...request })
  }

  info () {
    return this.#ask({ path: '' })
  }

  /** @type {Peer['changes']} */
  async changes ({ since, limit, wait, signal }) {
    const waiting = wait ? timeoutSignal(wait + SILENCE, signal) : undefined
    try {
      const answer = await this.couch.request({
        path: '_changes',
        qs: { style: 'all_docs', since, limit, seq_interval: limit, ...(wait && { feed: 'longpoll', timeout: wait }) },
        ...(wait ? { retries: 0 } : { timeout: TIMEOUT }), // a lost poll is not repeated silently: another database may answer
        signal: waiting?.signal ?? signal
      })
      if (!Array.isArray(answer.results) || answer.last_seq === undefined) throw this.#bad('no list of changes')
      const rows = answer.results.map(({ id, seq, changes, deleted = false }) => ({ id, seq, revs: changes.map(({ rev }) => rev), deleted }))
      return { rows, last: answer.last_seq, pending: answer.pending ?? (rows.length < limit ? 0 : 1) }
    } catch (error) {
      throw waiting?.isOver ? new TilecouchError('UNREACHABLE', { url: this.name, why: `nothing heard for ${(/** @type {number} */ (wait) + SILENCE) / 1000} s` }) : error
    } finally {
      waiting?.end()
    }
  }

  /** @type {Peer['fetch']} */
  async fetch (asked, { signal, most, latest = true }) {
    const docs = asked.map(({ id, rev, ancestors }) => ({ id, rev, ...(ancestors?.length && { atts_since: ancestors }) }))
    let bytes = 0
    const found = await this.#ask({
      ...this.reading,
      method: 'POST',
      path: '_bulk_get',
      qs: { revs: true, attachments: true, ...(latest && { latest }) },
      body: { docs },
      accept: 'multipart/mixed', // any mention of JSON, and CouchDB sends that, with base64
      raw: true,
      most,
      parse: body => {
        bytes = body.length
        if (!body.length && docs.length) throw this.#bad('cut off') // missing documents would be named
        const rows = body.length ? bulkGetRows(body) : []
        const read = rows.flatMap(({ doc }) => doc ?? [])
        this.codec.check?.(read)
        return { docs: read, failed: rows.filter(({ error }) => error) }
      },
      signal
    })
    return { ...found, bytes }
  }

  /**
   * An answer leaves out documents that lack nothing; what it says of others must name revisions.
   * @type {Peer['revsDiff']}
   */
  async revsDiff (revs, signal) {
    const rows = await askAll(this.name, Object.keys(revs), async ids => {
      const diff = await this.#ask({ method: 'POST', path: '_revs_diff', body: Object.fromEntries(ids.map(id => [id, revs[id]])), signal })
      const errorOf = own => own && !Array.isArray(own.missing) && { error: own.error ?? 'no list of revisions', reason: own.reason }
      return ids.map(id => ({ id, own: diff[id], ...errorOf(diff[id]) }))
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
    const refused = plain.length ? await this.#bulk(plain, signal) : []
    for (const { doc, put } of packed) refused.push(...await this.#put(doc, put, signal))
    return refused
  }

  async #bulk (docs, signal) {
    const answer = await this.#ask({ method: 'POST', path: '_bulk_docs', body: await this.codec.bulkBody(docs), signal })
    if (!Array.isArray(answer)) throw this.#bad('no list of results')
    return answer.filter(({ error }) => error)
  }

  async #put ({ _id: id, _rev: rev }, { body, type }, signal) {
    try {
      await this.#ask({ method: 'PUT', path: encodeURIComponent(id), qs: { new_edits: false }, body, type, accept: 'application/json', signal })
      return []
    } catch (error) {
      if (error.code !== 'FORBIDDEN') throw error
      return [{ id, rev, error: 'forbidden', reason: error.details.reason }]
    }
  }

  getLocal (id, signal) {
    return this.couch.find({ path: `_local/${id}`, timeout: TIMEOUT, signal })
  }

  /** @type {Peer['updateLocal']} */
  updateLocal (id, change, signal) {
    const path = `_local/${id}`
    return rewrite(path, {
      read: () => this.getLocal(id, signal),
      change,
      write: async (doc, stored) => {
        await this.#ask({ method: 'PUT', path, body: { ...doc, _id: path, _rev: stored?._rev }, signal })
        return doc
      }
    })
  }

  #bad (why) {
    return new TilecouchError('BAD_ANSWER', { url: this.name, why })
  }
}

/**
 * Throws BAD_ANSWER when the bytes of attachments do not match their digests: then the request is made again.
 * @param {any[]} docs with attachments as bytes, or as base64
 * @param {(data: any) => string} digestOf as CouchDB writes it
 */
export function checkDigests (docs, digestOf) {
  for (const { _id: id, _attachments: attachments = {} } of docs) {
    for (const { data, digest } of Object.values(attachments)) {
      if (data === undefined || !digest?.startsWith('md5-')) continue
      if (digestOf(data) !== digest) {
        throw new TilecouchError('BAD_ANSWER', {
          url: '_bulk_get',
          why: `the bytes of ${id} do not match their digest`
        })
      }
    }
  }
}
