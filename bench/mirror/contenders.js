// The contenders that copy a database: our mirror, and CouchDB's replicator on the target's server, with default and
// with tuned settings.
import { fileURLToPath } from 'node:url'
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { Couch } from '../../loader/store/couch.js'

const script = fileURLToPath(new URL('alone.js', import.meta.url))
const run = promisify(execFile)

/** The settings that the documentation of CouchDB offers for speed. */
const TUNED = { worker_processes: 8, worker_batch_size: 2000, http_connections: 60, use_bulk_get: true }

/** Copies once, in a separate process, and returns its counts. */
export async function ours (source, target, { signal }) {
  const { stdout } =
    await run(process.execPath, [script, JSON.stringify({ source, target })], { signal, maxBuffer: 1e8 })
  return JSON.parse(stdout)
}

/** @param {Record<string, any>} [tuning] */
export const theirs = (tuning = {}) => async (/** @type {string} */ source,
  /** @type {string} */ target, /** @type {{signal: AbortSignal}} */ { signal }) => {
  const { no_changes: hasNoChanges, history: [session] } = await new Couch(target, { retries: 0 })
    .request({ method: 'POST', server: true, path: '_replicate', body: { source, target, ...tuning }, signal })
  // Without changes, CouchDB returns the previous session.
  return hasNoChanges ? { docs: 0, refused: 0 } : { docs: session.docs_written, refused: session.doc_write_failures }
}

export const contenders = [
  { name: 'tilecouch mirror', copy: ours },
  { name: 'CouchDB’s replicator', copy: theirs() },
  { name: 'CouchDB’s replicator, tuned', copy: theirs(TUNED) }
]
