// Errors of this dialog, each with a code. `problems` in the words of the page has the message for each code.
import { takeWords as words } from '../words.js'

export class TakeError extends Error {
  /** @param {string} code of `problems` in the words of the page @param {Record<string, any>} [details] */
  constructor (code, details = {}) {
    super(code)
    this.code = code
    this.details = details
  }
}

/** Whether a picture can be made without the images that failed. */
export const canLeaveOut = error => error.code === 'IMAGE'

/**
 * The message of an error for the user.
 * @param {any} error @param {Pick<import('./index.js').Page, 'written'>} page
 */
export function problem (error, { written }) {
  const text = words.problems[codeOf(error)] ?? words.problems.OTHER
  if (typeof text === 'string') return text
  const { time, ...details } = error.details ?? {}
  const why = String(error?.message ?? error).slice(0, 200)
  return text({ why, ...details, ...(time !== undefined && { time: written(time) }) })
}

function codeOf (error) {
  if (error?.code && typeof error.code === 'string') return error.code
  if (error instanceof RangeError || error?.name === 'QuotaExceededError') return 'NO_ROOM'
  return ['EncodingError', 'OperationError'].includes(error?.name) ? 'ENCODER' : 'OTHER'
}
