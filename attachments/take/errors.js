// What can go wrong here, each with a code; the words for it, with what to do, are those of the page.

export class TakeError extends Error {
  /** @param {string} code of `problems` in the words of the page @param {Record<string, any>} [details] */
  constructor (code, details = {}) {
    super(code)
    this.code = code
    this.details = details
  }
}

/** Errors after which a picture can be made without what did not load. */
const LEAVES_OUT = new Set(['IMAGE', 'BASE_NOT_READABLE'])

export const canLeaveOut = error => LEAVES_OUT.has(codeOf(error))

/**
 * What an error means to the user, and what helps.
 * @param {any} error @param {Pick<import('./index.js').Page, 'words' | 'written'>} page
 */
export function problem (error, { words: { problems }, written }) {
  const text = problems[codeOf(error)] ?? problems.OTHER
  if (typeof text === 'string') return text
  const { time, ...details } = error.details ?? {}
  const why = String(error?.message ?? error).slice(0, 200)
  return text({ why, ...details, ...(time !== undefined && { time: written(time) }) })
}

function codeOf (error) {
  if (error?.code && typeof error.code === 'string') return error.code
  if (error instanceof RangeError || error?.name === 'QuotaExceededError') return 'NO_ROOM'
  if (error?.name === 'SecurityError') return 'BASE_NOT_READABLE' // images of another server cannot be read
  if (error?.name === 'EncodingError' || error?.name === 'OperationError') return 'ENCODER'
  return 'OTHER'
}
