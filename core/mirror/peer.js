// One side of a replication that speaks CouchDB's protocol over HTTP: a CouchDB, an embedded store, the /db of a gateway.
// How bytes are sent is the caller's: Node and browsers do it differently.
import { TilecouchError } from '../errors.js'
import { parseBulkGet } from '../multipart.js'
import { patience } from '../patience.js'

/**
 * @typedef {{id: string, seq: string | number, revs: string[], deleted: boolean}} Row
 * @typedef {{rows: Row[], last: string | number, pending: number}} Page
 * @typedef {{id: string, rev: string, ancestors?: string[]}} Asked ancestors: revisions that the target has, whose attachments need not come again
 * @typedef {{id: string, rev?: string, error: string, reason: string}} Refused
 *
 * @typedef {object} Peer what a replication needs of a side; a source is asked the first half, a target the second
 * @property {string} name for people, without any password
 * @property {() => Promise<any>} info
 * @property {(options: {since: string | number, limit: number, wait?: number, signal?: AbortSignal}) => Promise<Page>} changes wait: milliseconds until it answers that there is none
 * @property {(asked: Asked[], options: {signal?: AbortSignal, most?: number}) => Promise<{docs: any[], bytes: number}>} fetch
 * @property {(revs: Record<string, string[]>, signal?: AbortSignal) => Promise<Record<string, {missing: string[], possible_ancestors?: string[]}>>} revsDiff
 * @property {(docs: any[], signal?: AbortSignal) => Promise<Refused[]>} write
 * @property {(id: string) => Promise<any>} getLocal
 * @property {(id: string, change: (doc: any) => any) => Promise<any>} updateLocal
 */

/**
 * @typedef {object} Codec
 * @property {(docs: any[]) => string | Uint8Array | Promise<string | Uint8Array>} bulkBody the documents as a body of _bulk_docs, revisions as they are
 * @property {(docs: any[]) => void} [check] throws BAD_ANSWER when the bytes of an attachment are not what its digest says
 */

const SILENCE = 10000 // milliseconds beyond a long poll after which its connection is taken for dead

/** @implements {Peer} */
export class CouchPeer {
  /**
   * @param {{url: string, request: (request: any) => Promise<any>, find: (request: any) => Promise<any>}} couch
   * @param {Codec} codec
   */
  constructor (couch, codec) {
    this.couch = couch
    this.codec = codec
    this.name = couch.url
  }

  info () {
    return this.couch.request({ path: '' })
  }

  /** @type {Peer['changes']} */
  async changes ({ since, limit, wait, signal }) {
    const request = { path: '_changes', qs: { style: 'all_docs', since, limit, seq_interval: limit, ...(wait && { feed: 'longpoll', timeout: wait }) } }
    const waiting = wait ? patience(wait + SILENCE, signal) : undefined
    try {
      const answer = await this.couch.request({ ...request, signal: waiting?.signal ?? signal })
      if (!Array.isArray(answer.results) || answer.last_seq === undefined) throw new TilecouchError('BAD_ANSWER', { url: this.name, why: 'no list of changes' })
      const rows = answer.results.map(({ id, seq, changes, deleted = false }) => ({ id, seq, revs: changes.map(({ rev }) => rev), deleted }))
      return { rows, last: answer.last_seq, pending: answer.pending ?? (rows.length < limit ? 0 : 1) }
    } catch (error) {
      throw waiting?.isOver ? new TilecouchError('UNREACHABLE', { url: this.name, why: `nothing heard for ${(/** @type {number} */ (wait) + SILENCE) / 1000} s` }) : error
    } finally {
      waiting?.end()
    }
  }

  /** @type {Peer['fetch']} */
  async fetch (asked, { signal, most }) {
    const docs = asked.map(({ id, rev, ancestors }) => ({ id, rev, ...(ancestors?.length && { atts_since: ancestors }) }))
    let bytes = 0
    const found = await this.couch.request({
      method: 'POST',
      path: '_bulk_get',
      qs: { revs: true, attachments: true, latest: true },
      body: { docs },
      accept: 'multipart/mixed', // any mention of JSON, and CouchDB sends that, with base64
      raw: true,
      most,
      parse: body => {
        bytes = body.length
        const answer = parseAnswer(body)
        this.codec.check?.(answer)
        return answer
      },
      signal
    })
    return { docs: found, bytes }
  }

  revsDiff (revs, signal) {
    return this.couch.request({ method: 'POST', path: '_revs_diff', body: revs, signal })
  }

  async write (docs, signal) {
    const answer = await this.couch.request({ method: 'POST', path: '_bulk_docs', body: await this.codec.bulkBody(docs), signal })
    if (!Array.isArray(answer)) throw new TilecouchError('BAD_ANSWER', { url: this.name, why: 'no list of results' })
    return answer.filter(({ error }) => error)
  }

  getLocal (id) {
    return this.couch.find({ path: `_local/${id}` })
  }

  async updateLocal (id, change) {
    for (let attempt = 1; ; attempt++) {
      const stored = await this.getLocal(id)
      const doc = change(stored)
      if (!doc) return stored
      try {
        await this.couch.request({ method: 'PUT', path: `_local/${id}`, body: { ...doc, _id: `_local/${id}`, _rev: stored?._rev } })
        return doc
      } catch (error) {
        if (error.details?.status !== 409) throw error
        if (attempt >= 10) throw new TilecouchError('CONTENDED', { id: `_local/${id}`, attempts: attempt })
      }
    }
  }
}

/** Documents of an answer as multipart, or as JSON with base64, which the embedded store sends. */
function parseAnswer (body) {
  if (body[0] !== 0x7b) return body.length ? parseBulkGet(body) : []
  let answer
  try {
    answer = JSON.parse(new TextDecoder().decode(body))
  } catch {
    throw new TilecouchError('BAD_ANSWER', { url: '_bulk_get', why: 'cut off' })
  }
  return answer.results.flatMap(({ docs }) => docs.filter(({ ok }) => ok).map(({ ok }) => ok))
}
