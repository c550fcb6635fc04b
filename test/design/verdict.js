// What validate_doc_update says about a document.
import assert from 'node:assert/strict'
import { loadDesign } from '../support/design-functions.js'

const validate = loadDesign('_design/tiles/validate_doc_update.js')
export const WRITER = { name: 'w', roles: ['tilecouch-writer'] }

/** The verdict on a document: `undefined` if it is allowed, otherwise `{ forbidden }` or `{ unauthorized }`. */
export function verdict (doc, { old = null, user = WRITER, security = {} } = {}) {
  try {
    validate(doc, old, user, security)
    return undefined
  } catch (thrown) {
    return { ...thrown }
  }
}

/** Asserts that a document is refused, and why. */
export const forbids = (doc, reason, options) => {
  const { forbidden } = verdict(doc, options) ?? {}
  assert.match(forbidden ?? 'allowed', reason, JSON.stringify(doc))
}
