// Answers of a store to a document that say the same however often it is sent.

export const REFUSALS = ['forbidden', 'unauthorized', 'doc_validation']

/**
 * Whether an answer of _bulk_docs says that one may not.
 * @param {string | undefined} error
 * @returns {error is string}
 */
export const isRefusal = error => error !== undefined && REFUSALS.includes(error)
