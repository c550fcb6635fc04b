// What documents about the running of a store have in common, when commands write them: work (loader/store/work.js) and
// activity (loader/store/activity.js). A command works all the same where they cannot be written.

export const administrativeDefaults = {
  timeout: 2000, // milliseconds without an answer after which a write is given up
  old: 50 // documents of long ago that are removed at once
}

const OFF = 2000 // milliseconds that clocks may differ: the server tells its time in whole seconds
const EMPTY = 1 // documents of a store that nothing was loaded into: its marker

/** How a request is made for such a document. */
export const asking = ({ timeout = administrativeDefaults.timeout } = {}) => ({ retries: 0, timeout })

/** A store without any layer stays as it is: it is filled before it is published, and looks new until then. */
export const isEmptyStore = async (couch, options) => (await couch.info(undefined, options)).doc_count <= EMPTY

/**
 * A time of this machine by the clock of the server.
 * @param {import('./couch.js').Couch} couch @param {number} time milliseconds
 */
export const serverTime = ({ skew }, time) => Math.abs(skew) > OFF ? time + skew : time

/**
 * Removes documents of long ago, some at a time.
 * @param {import('./couch.js').Couch} couch
 * @param {{startkey: string, endkey: string}} range of their ids
 * @param {(doc: any) => boolean} isOld
 * @param {{limit?: number, options: {retries: number, timeout: number}}} how
 */
export async function removeOld (couch, range, isOld, { limit = administrativeDefaults.old, options }) {
  const docs = (await couch.page({ ...range, limit, include_docs: true }, undefined, options)).map(({ doc }) => doc)
  const gone = docs.filter(doc => doc && isOld(doc)).map(({ _id, _rev }) => ({ _id, _rev, _deleted: true }))
  if (gone.length) await couch.bulk(gone, options)
}
