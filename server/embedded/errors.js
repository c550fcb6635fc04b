// Turns errors of PouchDB and LevelDB into the answers of CouchDB 3.
import { isDiskFull } from '../../loader/formats/system.js'
import { HttpError, notFound } from '../http/errors.js'

export const conflict = () => new HttpError(409, 'conflict', 'Document update conflict.')
export const stopping = () => new HttpError(503, 'service_unavailable', 'the server is stopping')
export const noDatabase = () => notFound('Database does not exist.')
export const diskFull = () =>
  new HttpError(507, 'insufficient_storage', 'no space left on the device that holds the database')

const statuses = {
  bad_request: 400, query_parse_error: 400, unauthorized: 401, forbidden: 403, not_found: 404,
  method_not_allowed: 405, conflict: 409, file_exists: 412, missing_stub: 412
}

/** The status CouchDB gives to an error a design function names. */
export const statusOf = name => Object.hasOwn(statuses, name) ? statuses[name] : 500

/** @returns {HttpError} */
export function toHttpError (error) {
  if (error instanceof HttpError) return error
  if (isDiskFull(error ?? {})) return diskFull()
  const status = Number.isInteger(error?.status) && error.status >= 400 && error.status < 600 ? error.status : 500
  if (status === 500) return new HttpError(500, 'internal_server_error', String(error?.message ?? error))
  if (status === 409) return conflict()
  const reason = error.reason && error.reason !== true ? error.reason : error.message
  return new HttpError(status, error.name === 'Error' ? 'bad_request' : error.name, String(reason))
}
