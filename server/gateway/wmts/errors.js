// Errors of the WMTS in the form of OWS 1.1: an ExceptionReport with a code and a parameter. The HTTP status is the one
// that WMTS 1.0.0 defines for the code, mostly 400.
import { TilecouchError } from '../../../loader/errors.js'
import { XML, sendBody } from '../../http/answers.js'
import { xml } from './xml.js'

/** tilecouch codes of invalid requests: code of OWS, locator, and status unless it is 400. */
const REPORTS = {
  BAD_LAYER: ['InvalidParameterValue', 'Layer'],
  LAYER_NOT_FOUND: ['InvalidParameterValue', 'Layer'],
  BAD_TIME: ['InvalidParameterValue', 'Time'],
  TILE_NOT_FOUND: ['NoApplicableCode', undefined, 404],
  NOT_KEPT: ['NoApplicableCode', undefined, 404]
}

export class OwsError extends Error {
  /** @param {string} code @param {string} text @param {string} [locator] the invalid parameter or operation */
  constructor (code, text, locator, status = 400) {
    super(text)
    this.name = 'OwsError'
    this.code = code
    this.locator = locator
    this.status = status
  }
}

/** @param {string} why the value is not valid */
export function invalid (parameter, value, why) {
  const text = String(value)
  const shown = JSON.stringify(text.length > 60 ? `${text.slice(0, 57)}…` : text)
  return new OwsError('InvalidParameterValue', `${parameter} ${shown}: ${why}`, parameter)
}

/**
 * The report of an error of the request. Other errors, such as a store that is away, are answered and logged as for
 * other addresses.
 * @returns {OwsError | undefined}
 */
export function toOwsError (error) {
  if (error instanceof OwsError) return error
  const [code, locator, status] = (error instanceof TilecouchError && REPORTS[error.code]) || []
  return code && new OwsError(code, error.message, locator, status)
}

const exceptionReport = ({ code, locator, message }) => String(xml`<?xml version="1.0" encoding="UTF-8"?>
<ExceptionReport xmlns="http://www.opengis.net/ows/1.1" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" \
xsi:schemaLocation="http://www.opengis.net/ows/1.1 http://schemas.opengis.net/ows/1.1.0/owsExceptionReport.xsd" \
version="1.1.0" xml:lang="en">
<Exception exceptionCode="${code}"${locator && xml` locator="${locator}"`}>
<ExceptionText>${message}</ExceptionText>
</Exception>
</ExceptionReport>
`)

/**
 * @param {OwsError} error @param {any} req @param {any} res
 * @param {{byAddress: boolean}} request byAddress: a tile outside the layer is a 404
 */
export function sendException (error, req, res, { byAddress }) {
  const status = byAddress && error.code === 'TileOutOfRange' ? 404 : error.status
  const headers = { ...XML, 'Cache-Control': 'no-store' }
  sendBody(req, res, status, headers, Buffer.from(exceptionReport(error)))
}
