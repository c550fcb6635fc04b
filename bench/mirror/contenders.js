// Who copies a database: our replicator, and CouchDB's own on the server of the target, as it comes and as it can be
// tuned.
import { fileURLToPath } from 'node:url'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Couch } from '../../loader/store/couch.js'

const alone = fileURLToPath(new URL('alone.js', import.meta.url))
const run = promisify(execFile)

/** More of everything: what its documentation offers for speed. */
const TUNED = { worker_processes: 8, worker_batch_size: 2000, http_connections: 60, use_bulk_get: true }

/** Copies once, and answers how many documents were written. */
export async function ours (source, target, { signal }) {
  const { stdout } =
    await run(process.execPath, [alone, JSON.stringify({ source, target })], { signal, maxBuffer: 1e8 })
  return JSON.parse(stdout)
}

/** @param {Record<string, any>} [tuning] */
export const theirs = (tuning = {}) => async (/** @type {string} */ source,
  /** @type {string} */ target, /** @type {{signal: AbortSignal}} */ { signal }) => {
  const { no_changes: nothing, history: [last] } = await new Couch(target, { retries: 0 })
    .request({ method: 'POST', server: true, path: '_replicate', body: { source, target, ...tuning }, signal })
  // it answers the session before then
  return nothing ? { docs: 0, refused: 0 } : { docs: last.docs_written, refused: last.doc_write_failures }
}

export const contenders = [
  { name: 'tilecouch mirror', copy: ours },
  { name: 'CouchDB’s replicator', copy: theirs() },
  { name: 'CouchDB’s replicator, tuned', copy: theirs(TUNED) }
]
