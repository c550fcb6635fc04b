// Explains failed requests as errors of the catalogue.
import { TilecouchError } from '../../core/index.js'

/** The error for an unsuccessful answer. Reads its body. @param {string} url of the database */
export async function failureOf (response, url) {
  const body = await response.json().catch(() => undefined) ?? {}
  const { reason = response.statusText } = body
  const { status } = response
  const isOfCouchDB = typeof body.error === 'string' || typeof body.reason === 'string'
  // a page of a proxy, as while its CouchDB is down: this does not say that something is missing
  if (status === 404 && !isOfCouchDB) return new TilecouchError('BAD_ANSWER', { url, why: `404 ${reason}` })
  if (status === 401) return new TilecouchError('UNAUTHORIZED', { url, status, reason })
  if (status === 403) return new TilecouchError('FORBIDDEN', { url, status, reason })
  if (status === 404 && isDatabase(reason)) return new TilecouchError('DATABASE_NOT_FOUND', { db: url })
  if (status === 507) return new TilecouchError('DISK_FULL', { where: url })
  return new TilecouchError('COUCHDB_ERROR', { url, status, reason })
}

/** Whether the database is missing, and not a document in it. */
export const isDatabase = reason => /^(no_db_file|database does not exist)/i.test(reason)

/** Whether another attempt may succeed: there was no answer, or the server failed. */
export function isPassing (error) {
  const { code, details } = error ?? {}
  if (code === 'COUCHDB_ERROR') return details.status >= 500 || details.status === 429 || details.status === 408
  return code === 'UNREACHABLE' || code === 'BAD_ANSWER' || code === 'NO_ANSWER'
}
