// What every answer says to browsers, so that nothing of a store can act as a page of the gateway: its type is the one that is
// written, and if it is a page all the same, it runs no script, sends no form and has no origin. The viewer has a policy of its own.

export const SAFE = Object.freeze({ 'Content-Security-Policy': 'sandbox', 'X-Content-Type-Options': 'nosniff' })

/** The same, name and value in turn. */
export const SAFE_LIST = Object.freeze(Object.entries(SAFE).flat())

/** The same for an answer whose other headers somebody else writes. @param {import('node:http').ServerResponse} res */
export function makeSafe (res) {
  for (const [name, value] of Object.entries(SAFE)) res.setHeader(name, value)
}
