// A store as what is made on the device is written to it: what a batch (core/store/batch.js) asks of a database, over fetch.
// Images are base64 from end to end, as the device hands them out and CouchDB takes them.
import { TilecouchError } from '../../core/index.js'
import { askAll } from '../../core/couch/answers.js'
import { CouchClient } from '../../core/couch/client.js'
import { rewrite } from '../../core/rewrite.js'
import { HttpCouch } from '../mirror/http.js'
import { Reader } from './reader.js'

const PATIENCE = 30000 // milliseconds for an answer, or for more of a long one
const SLOWEST = 16 // bytes a millisecond at which a body is sent at least: nobody tells how far that is

export class EditsCouch extends CouchClient {
  #http
  #lenders
  /** Documents as they were last read. @type {Map<string, any>} */
  #seen = new Map()

  /**
   * @param {import('../mirror/http.js').HttpCouch} http
   * @param {() => {db: any}[]} lenders databases that may have the same documents: what stands there is not asked for again
   */
  constructor (http, lenders) {
    super({ url: http.url, exchange: () => Promise.reject(new Error('request is overridden')) })
    this.#http = http
    this.#lenders = lenders
  }

  /**
   * @param {string[]} ids @param {{attachments?: boolean, signal?: AbortSignal}} [options]
   * @returns {Promise<{id: string, doc?: any, deleted: boolean}[]>} the winner of each, in their order
   */
  async docs (ids, { attachments = false, signal } = {}) {
    const lent = attachments ? await this.#lent(ids) : new Map()
    const asked = ids.filter(id => !lent.has(id))
    const found = await askAll(this.url, asked, async keys => {
      const { rows } = await this.request({ method: 'POST', path: '_all_docs', qs: { include_docs: true, ...(attachments && { attachments }) }, body: { keys }, signal })
      return rows.map(row => ({ ...row, id: row.id ?? row.key, ...(!row.error && !row.doc && !row.value?.deleted && { error: 'no document' }) }))
    }, { signal })
    return ids.map(id => {
      const row = found.get(id)?.[0]
      const doc = lent.get(id) ?? row?.doc
      if (doc) this.#seen.set(id, doc)
      return { id, doc: doc ?? undefined, deleted: Boolean(row?.value?.deleted) }
    })
  }

  /** Documents with their images as areas have them, at the revision that was seen at the store. */
  async #lent (ids) {
    const lent = new Map()
    for (const { db } of this.#lenders()) {
      const revs = await Reader.of(db).revs(ids).catch(() => new Map()) // one that is removed meanwhile lends nothing
      for (const id of ids) {
        const { _rev: rev } = this.#seen.get(id) ?? {}
        if (!rev || revs.get(id) !== rev || lent.has(id)) continue
        const doc = await db.get(id, { rev, attachments: true }).catch(() => undefined)
        if (doc) lent.set(id, doc)
      }
    }
    return lent
  }

  /** @param {{method?: string, path: string, qs?: Record<string, any>, body?: any, signal?: AbortSignal}} request */
  request ({ body, ...request }) {
    const sent = typeof body === 'string' ? body : body && JSON.stringify(body)
    return this.#http.request({ ...request, body: sent, patience: PATIENCE + (sent?.length ?? 0) / SLOWEST })
  }

  /** A browser that asks for what is not there by its address says so on its console. @param {string} id @param {AbortSignal} [signal] */
  async get (id, signal) {
    const [{ doc }] = await this.docs([id], { signal })
    return doc
  }

  /**
   * The document as `change` makes it of what is stored.
   * @param {string} id @param {(stored: any) => any} change answers nothing to leave it alone @param {AbortSignal} [signal]
   */
  update (id, change, signal) {
    return rewrite(id, {
      read: () => this.get(id, signal),
      change,
      write: async (doc, stored) => {
        await this.#put({ ...doc, _id: id, _rev: stored?._rev }, signal)
        return doc
      }
    })
  }

  /** A gateway reads only. @param {any} doc @param {AbortSignal} [signal] */
  async #put (doc, signal) {
    try {
      await this.#http.request({ method: 'PUT', path: encodeURIComponent(doc._id), body: doc, signal })
    } catch (error) {
      throw error.details?.status === 405 ? new TilecouchError('READ_ONLY', { reason: `${this.url} only reads` }, { cause: error }) : error
    }
  }
}

/**
 * The store that somebody means. What opens the one of the areas is not shown to another, nor where another name is given.
 * @param {{couch: HttpCouch, remote: string, fetchOptions: any}} offline @param {{to?: string, name?: string, password?: string, fetchOptions?: any}} options
 */
export function httpOf ({ couch, remote, fetchOptions: usual }, { to, name, password = '', fetchOptions }) {
  if (to === undefined && name === undefined && fetchOptions === undefined) return couch
  const isUsual = to === undefined && name === undefined
  const http = new HttpCouch(to ?? remote, {
    fetchOptions: { ...(isUsual && usual), ...fetchOptions, headers: { ...(isUsual && usual.headers), ...fetchOptions?.headers } }
  })
  if (name === undefined) return http
  const address = new URL(http.url)
  address.username = encodeURIComponent(name)
  address.password = encodeURIComponent(password)
  return new HttpCouch(address.href, { fetchOptions: http.fetchOptions })
}
