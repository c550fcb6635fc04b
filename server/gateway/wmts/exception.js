// What went wrong, as OWS 1.1 says it: an ExceptionReport with a code, the parameter it is about, and the HTTP status that
// WMTS 1.0.0 gives the code. These errors live in this folder only; whatever leaves it is an answer.
import { TilecouchError } from '../../../core/errors.js'
import { xml } from './xml.js'

/** Code -> HTTP status. */
const STATUS = {
  MissingParameterValue: 400,
  InvalidParameterValue: 400,
  VersionNegotiationFailed: 400,
  TileOutOfRange: 400,
  OperationNotSupported: 501,
  NoApplicableCode: 500
}

const RETRY_AFTER = 5 // seconds until it is worth asking again while the store is away

/** Our codes that are about a parameter of the request. */
const PARAMETERS = { BAD_LAYER: 'Layer', LAYER_NOT_FOUND: 'Layer', BAD_TIME: 'Time' }

export class OwsError extends Error {
  /**
   * @param {keyof typeof STATUS} code
   * @param {string} text
   * @param {string} [locator] the parameter or operation it is about
   * @param {number} [status]
   */
  constructor (code, text, locator, status = STATUS[code]) {
    super(text)
    this.name = 'OwsError'
    this.code = code
    this.locator = locator
    this.status = status
  }
}

/** @param {string} parameter */
export const missing = parameter => new OwsError('MissingParameterValue', `the request has no ${parameter}`, parameter)

/**
 * @param {string} parameter
 * @param {unknown} value
 * @param {string} why what would be right
 */
export const invalid = (parameter, value, why) => new OwsError('InvalidParameterValue', `${parameter} ${show(value)}: ${why}`, parameter)

const show = value => {
  const text = String(value)
  return JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text)
}

/**
 * The report of an error that has one; nothing for errors that are the gateway's own to answer and to log.
 * @param {any} error
 * @returns {OwsError | undefined}
 */
export function toOwsError (error) {
  if (error instanceof OwsError) return error
  if (!(error instanceof TilecouchError) || error.code === 'ABORTED' || error.code === 'INTERNAL') return
  const text = error.advice ? `${error.message}. ${error.advice}` : error.message
  const parameter = PARAMETERS[error.code]
  if (parameter) return new OwsError('InvalidParameterValue', text, parameter)
  if (error.code === 'BAD_TILE') return new OwsError('TileOutOfRange', text)
  return new OwsError('NoApplicableCode', text, undefined, error.status)
}

/** @param {OwsError} error */
export const exceptionReport = ({ code, locator, message }) => String(xml`<?xml version="1.0" encoding="UTF-8"?>
<ExceptionReport xmlns="http://www.opengis.net/ows/1.1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://www.opengis.net/ows/1.1 http://schemas.opengis.net/ows/1.1.0/owsExceptionReport.xsd" version="1.1.0" xml:lang="en">
<Exception exceptionCode="${code}"${locator && xml` locator="${locator}"`}>
<ExceptionText>${message}</ExceptionText>
</Exception>
</ExceptionReport>
`)

/**
 * @param {OwsError} error
 * @param {import('node:http').IncomingMessage} req
 * @param {import('node:http').ServerResponse} res
 */
export function sendException (error, req, res) {
  const body = Buffer.from(exceptionReport(error))
  res.writeHead(error.status, {
    'Content-Type': 'application/xml; charset=utf-8',
    'Content-Length': body.length,
    'Cache-Control': 'no-store',
    ...(error.status === 503 && { 'Retry-After': String(RETRY_AFTER) })
  })
  res.end(req.method === 'HEAD' ? undefined : body)
}
