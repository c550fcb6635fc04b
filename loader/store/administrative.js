// Reads and writes the documents that commands write about themselves: work.js and activity.js. A command also works
// where they cannot be written.

export const administrativeDefaults = {
  timeout: 2000, // milliseconds to wait for an answer to a write
  old: 50 // old documents that are removed at once
}

const OFF = 2000 // milliseconds that clocks may differ: the server tells its time in whole seconds
const EMPTY = 1 // documents of an empty store: its marker

/** Options of a request for such a document. */
export const briefRequest = ({ timeout = administrativeDefaults.timeout } = {}) => ({ retries: 0, timeout })

/** Whether a store has no layer. It is filled before it is published, and must look new until then. */
export const isEmptyStore = async (couch, options) => (await couch.info(undefined, options)).doc_count <= EMPTY

/**
 * Converts a time of this machine to the clock of the server.
 * @param {import('./couch.js').Couch} couch @param {number} time milliseconds
 */
export const serverTime = ({ skew }, time) => Math.abs(skew) > OFF ? time + skew : time

/**
 * Removes old documents, a limited number at a time.
 * @param {import('./couch.js').Couch} couch
 * @param {{startkey: string, endkey: string}} range of their ids
 * @param {(doc: any) => boolean} isOld
 * @param {{limit?: number, options: {retries: number, timeout: number}}} how
 */
export async function removeOld (couch, range, isOld, { limit = administrativeDefaults.old, options }) {
  const docs = (await couch.page({ ...range, limit, include_docs: true }, undefined, options)).map(({ doc }) => doc)
  const deletions = docs.filter(doc => doc && isOld(doc)).map(({ _id, _rev }) => ({ _id, _rev, _deleted: true }))
  if (deletions.length) await couch.bulk(deletions, options)
}
