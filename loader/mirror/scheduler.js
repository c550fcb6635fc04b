// What a CouchDB says of the replications that it does itself.
import { TilecouchError } from '../../core/index.js'
import { rewrite } from '../../core/rewrite.js'
import { encodeId } from '../../core/couch/client.js'

export const DATABASE = '_replicator'

const OBJECTS = [3, 2] // the first version that takes names and passwords beside the address

/**
 * @typedef {'initializing' | 'running' | 'pending' | 'crashing' | 'completed' | 'failed' | 'error' | 'stopped' | 'away'} ReplicatorState stopped: its document is gone; away: the server does not answer
 *
 * @typedef {object} ReplicatorStatus
 * @property {string} id of the document
 * @property {ReplicatorState} state
 * @property {number} [checked] revisions that the target was asked about
 * @property {number} [missing] revisions that it did not have
 * @property {number} [read] documents
 * @property {number} [written]
 * @property {number} [refused] documents that the target did not take
 * @property {number} [pending] changes that are not looked at, where the server says so
 * @property {string | number} [since] everything up to here is at the target
 * @property {string} [error] the last one
 * @property {number} [errors] one after the other
 * @property {string} [started]
 * @property {string} [updated] when the state was last another one
 */

/** Whether a server replicates; the version of it. @param {import('../store/couch.js').Couch} couch @returns {Promise<string>} */
export async function replicatorVersion (couch) {
  const { serverUrl: url } = couch
  const none = why => new TilecouchError('NO_REPLICATOR', { url, why })
  try {
    const database = await couch.find({ path: DATABASE, server: true, retries: 2 })
    if (database?.db_name !== DATABASE) throw none('it is no CouchDB')
  } catch (error) {
    if (error.code === 'DATABASE_NOT_FOUND') throw none(`there is no database ${DATABASE}`)
    if (error.code === 'FORBIDDEN') throw new TilecouchError('FORBIDDEN', { url: `${url}/${DATABASE}`, reason: 'it is for admins of the server' })
    if ([400, 405, 501].includes(error.details?.status) || error.code === 'BAD_ANSWER') throw none('it is no CouchDB')
    throw error
  }
  return (await couch.request({ server: true })).version
}

/** The name and password a database is opened with. Never to be shown. @param {import('../store/couch.js').Couch} couch */
export function credentialsOf ({ access: { headers: { authorization } } }) {
  if (!authorization) return undefined
  const [, username, password] = /** @type {string[]} */ (/^([^:]*):(.*)$/s.exec(Buffer.from(authorization.slice('Basic '.length), 'base64').toString()))
  return { username, password }
}

/** @param {string} url @param {{username: string, password: string}} credentials */
export const withCredentials = (url, { username, password }) => url.replace('://', `://${encodeURIComponent(username)}:${encodeURIComponent(password)}@`)

/**
 * One side of a replication, as its document names it.
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} version of the server that reads it
 */
export function sideOf (couch, version) {
  const basic = credentialsOf(couch)
  if (!basic) return { url: couch.url }
  const [major, minor] = version.split('.').map(Number)
  return major > OBJECTS[0] || (major === OBJECTS[0] && minor >= OBJECTS[1]) ? { url: couch.url, auth: { basic } } : withCredentials(couch.url, basic)
}

/** @param {any} row of _scheduler/docs or _scheduler/jobs @returns {ReplicatorStatus} */
export function statusOf ({ doc_id: id, state, info, error_count: errors, start_time: started, last_updated: updated }) {
  const counts = info ?? {}
  return {
    id,
    state: state ?? 'initializing',
    checked: counts.revisions_checked,
    missing: counts.missing_revisions_found,
    read: counts.docs_read,
    written: counts.docs_written,
    refused: counts.doc_write_failures,
    pending: counts.changes_pending ?? undefined,
    since: counts.through_seq ?? counts.checkpointed_source_seq,
    error: counts.error === undefined ? undefined : plainly(counts.error),
    errors,
    started: started ?? undefined,
    updated: updated ?? undefined
  }
}

/** CouchDB tells its errors as Erlang terms over several lines, passwords of addresses included. */
const plainly = error => new TilecouchError('INTERNAL', { why: (typeof error === 'string' ? error : JSON.stringify(error)).replace(/\s+/g, ' ') }).message

/** @param {import('../store/couch.js').Couch} couch of the server that does it @param {string} id @param {AbortSignal} [signal] @returns {Promise<ReplicatorStatus>} */
export async function readStatus (couch, id, signal) {
  const row = await couch.find({ path: `_scheduler/docs/${DATABASE}/${encodeId(id)}`, server: true, signal })
  if (row) return statusOf(row)
  // the scheduler of a cluster hears of a document a moment after it is written
  return { id, state: await readDoc(couch, id) ? 'initializing' : 'stopped' }
}

export const readDoc = (couch, id) => couch.find({ path: `${DATABASE}/${encodeId(id)}`, server: true })

/**
 * Makes the document what `change` makes of it.
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} id
 * @param {(stored: any) => any} change nothing: leave it alone
 */
export const updateDoc = (couch, id, change) => rewrite(id, {
  read: () => readDoc(couch, id),
  change,
  write: async (doc, stored) => {
    await couch.request({ method: 'PUT', path: `${DATABASE}/${encodeId(id)}`, server: true, body: { ...doc, ...(stored && { _rev: stored._rev }) } })
    return doc
  }
})

/**
 * Ends a replication of CouchDB for good. What it has copied stays.
 * @param {import('../store/couch.js').Couch} couch of the server that does it
 * @param {string} id of its document
 * @returns {Promise<boolean>} whether it was there
 */
export async function stopReplication (couch, id) {
  const stopped = await updateDoc(couch, id, stored => stored && { _deleted: true })
  return Boolean(stopped)
}

/**
 * Whether there are changes after a place that belong to a replication: their number at least, and how far there are none.
 * @param {import('../store/couch.js').Couch} source
 * @param {{since?: string | number, selector?: object, signal?: AbortSignal}} options
 * @returns {Promise<{pending: number, since: string | number}>}
 */
export async function changesAfter (source, { since = 0, selector, signal }) {
  const { results, pending = 0, last_seq: last } = await source.changes({ since, limit: 1, style: 'all_docs' }, { selector, retries: 0, signal })
  return results.length ? { pending: results.length + pending, since } : { pending: 0, since: last }
}
