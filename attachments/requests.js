// Requests of all pages: to CouchDB, to the store that a gateway shows, to the embedded store, and to services that the
// operator names. An answer without success, or none, is an AnswerError.
//
//   const { rows } = await ask(`${db}/_all_docs`, { query: { startkey: 'layer:', limit: 10 }, signal })
import { ignoreMissing } from '../core/promises.js'
import { words } from './words.js'

const TIMEOUT = 20000 // milliseconds until a request counts as unanswered
const KEYS = ['key', 'startkey', 'endkey'] // parameters that are always JSON; others are JSON unless they are texts

/** A failed request, with a message for the user. */
export class AnswerError extends Error {
  /** @param {string} message @param {number} [status] none without an answer @param {string} [code] of CouchDB */
  constructor (message, status, code) {
    super(message)
    this.status = status
    this.code = code
  }
}

/** The database behind this page, when CouchDB serves it; null behind a gateway. */
export function databaseUrl (page = document.baseURI) {
  const match = /^(.*)\/_design\/[^/]+\/_rewrite\//.exec(page)
  return match ? match[1] : null
}

/**
 * @typedef {Omit<RequestInit, 'body' | 'signal'> & {query?: Record<string, any>, body?: any, timeout?: number,
 *   signal?: AbortSignal, as?: 'json' | 'arrayBuffer', onAnswer?: (answer: Response) => void}} Options
 *   query: undefined values are left out; body: is sent as JSON, with POST; timeout: milliseconds
 *
 * @param {string} url relative to the page @param {Options} [options]
 * @returns {Promise<any>}
 */
export async function ask (url, { query, body, timeout = TIMEOUT, signal, as = 'json', onAnswer, ...init } = {}) {
  const address = addressOf(url, query)
  const limit = AbortSignal.timeout(timeout)
  const request = { ...contentOf(body), ...init, signal: AbortSignal.any([limit, signal ?? limit]) }
  let answer
  let value = null
  try {
    answer = await fetch(address, request)
    onAnswer?.(answer)
    value = await answer[answer.ok ? as : 'json']()
  } catch (error) {
    if (signal?.aborted) throw error
    if (limit.aborted) throw new AnswerError(words.store.late(timeout / 1000))
    if (!answer) throw new AnswerError(words.store.unreachable)
    // an answer without valid JSON gives no more information than its status
    if (answer.ok && !(error instanceof SyntaxError)) throw new AnswerError(words.store.cutOff)
  }
  if (answer.ok && value !== null) return value
  throw refusalOf(answer, value)
}

function addressOf (url, query = {}) {
  const address = new URL(url, document.baseURI)
  for (const [name, value] of Object.entries(query)) {
    const isText = typeof value === 'string' && !KEYS.includes(name)
    if (value !== undefined) address.searchParams.set(name, isText ? value : JSON.stringify(value))
  }
  return address
}

function contentOf (body) {
  const headers = { Accept: 'application/json' }
  if (body === undefined) return { headers }
  return { method: 'POST', headers: { ...headers, 'Content-Type': 'application/json' }, body: JSON.stringify(body) }
}

/** The error of an answer without success; value: its JSON, if any. */
function refusalOf ({ status, statusText }, value) {
  const reason = value?.reason ?? words.store.answered(`${status} ${statusText}`.trim())
  return new AnswerError(reason, status, value?.error)
}

/** One database. Requests use the session of this browser. */
export class Database {
  /** @param {string} db its address */
  constructor (db) {
    this.db = db
  }

  /** @param {string} path within the database; '' is the database itself @param {Options} [options] */
  ask (path, options) {
    return ask(path ? `${this.db}/${path}` : this.db, options)
  }

  /** @param {string} path of an index @param {object} query @param {Options} [options] @returns {Promise<any[]>} */
  async rows (path, query, options) {
    return (await this.ask(path, { query, ...options })).rows
  }

  /** @param {string} id @returns {Promise<any>} null if it does not exist */
  async read (id) {
    return await this.ask(encodeURIComponent(id)).catch(ignoreMissing) ?? null
  }

  /** Documents of a range of ids. @param {object} query @param {Options} [options] @returns {Promise<any[]>} */
  async docs (query, options) {
    const rows = await this.rows('_all_docs', { include_docs: true, ...query }, options)
    return rows.map(({ doc }) => doc).filter(Boolean)
  }

  /**
   * Reads documents whose ids begin with a text, a page at a time, in the order of their ids.
   * @param {string} prefix @param {{limit?: number, descending?: boolean} & Options} [options]
   * @returns {AsyncGenerator<any[]>}
   */
  async * pages (prefix, { limit = 1000, descending = false, ...options } = {}) {
    const ends = [prefix, `${prefix}\ufff0`]
    const [start, endkey] = descending ? ends.reverse() : ends
    for (let startkey = start; ;) {
      const query = { startkey, endkey, include_docs: true, descending, limit }
      const rows = await this.rows('_all_docs', query, options)
      yield rows.map(({ doc }) => doc).filter(Boolean)
      if (rows.length < limit) return
      const last = rows[rows.length - 1].id
      startkey = descending ? beforeId(last) : `${last}\u0000`
    }
  }
}

/** A key just before an id, for pages in descending order. */
const beforeId = id => `${id.slice(0, -1)}${String.fromCharCode(id.charCodeAt(id.length - 1) - 1)}\ufff0`
