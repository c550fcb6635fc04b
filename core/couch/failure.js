// CouchDB's answers that are no success, as errors of the catalogue.
import { TilecouchError, scrub } from '../errors.js'

/**
 * @param {{status: number, message: string, answer?: any}} refusal answer: its body, where that is JSON
 * @param {{url: string, db: string, isServer: boolean}} asked
 * @returns {{error: TilecouchError, mayPass: boolean}} mayPass: the request may succeed later
 */
export function failureOf ({ status, message, answer }, { url, db, isServer }) {
  const reason = scrub(answer?.reason ?? message)
  const failed = (code, details = {}, mayPass = false) => (
    { error: new TilecouchError(code, { url, status, reason, db, ...details }), mayPass }
  )
  const badAnswer = why => failed('BAD_ANSWER', { why, status: undefined })
  if (status === 507 || /no space left|enospc/i.test(reason)) return failed('DISK_FULL', { where: url })
  if (status === 401 && !/not authorized|not a (server|db)/i.test(reason)) return failed('UNAUTHORIZED')
  if (status === 401 || status === 403) return failed('FORBIDDEN')
  if (status === 404 && /database does not exist|no_db_file/i.test(reason)) return failed('DATABASE_NOT_FOUND')
  if (status >= 300 && status < 400) return badAnswer(`${status}: redirects are not followed`)
  // from a proxy whose CouchDB is down, for example: it does not mean that the document is missing
  if (status === 404 && !isServer && typeof answer?.error !== 'string') return badAnswer('404, and not from CouchDB')
  return failed('COUCHDB_ERROR', {}, status === 429 || status >= 500)
}

/** An answer that is no success. */
export class Refusal extends Error {
  /** @param {number} status @param {string | undefined} reason @param {Uint8Array} bytes */
  constructor (status, reason, bytes) {
    super(reason || `status ${status}`)
    this.status = status
    this.answer = parseJson(bytes)
  }
}

const decoder = new TextDecoder()

/** @param {Uint8Array} bytes @returns {any} nothing where it is not JSON, or not all of it */
export function parseJson (bytes) {
  try {
    return JSON.parse(decoder.decode(bytes))
  } catch {
    return undefined
  }
}

/** Why a connection failed. Several addresses of one host fail together, in an error without a message. */
export const whyOf = ({ message, code, errors }) =>
  scrub(message || errors?.map(error => error.message).join(', ') || code || 'the connection failed')
