// The indexes of a database: ours and those of other design documents. They are brought up to date here.
import { timeoutSignal } from '../../core/abort.js'
import { TilecouchError } from '../errors.js'
import { encodeId } from '../../core/couch/client.js'

const REQUEST_TIME = 60_000 // milliseconds one request waits for an index before the progress is asked for

/** @typedef {{id: string, view: string}} Indexed a design document with views, and one of them: they share one index */

/** @returns {Promise<Indexed[]>} */
export async function indexesOf (couch, signal) {
  const rows = await couch.page({ startkey: '_design/', endkey: '_design0', include_docs: true }, signal)
  return rows.map(({ id, doc }) => ({ id, view: Object.keys(doc?.views ?? {})[0] }))
    .filter(({ view }) => view !== undefined)
}

/** Brings every index up to date. One that CouchDB cannot build is skipped: it has no rows that could be wrong. */
export async function warmAll (couch, signal) {
  for (const { id, view } of await indexesOf(couch, signal)) {
    await warm(couch, id, view, { signal }).catch(error => {
      if (error.code !== 'COUCHDB_ERROR') throw error
    })
  }
}

/**
 * Waits until an index is up to date, however long it takes.
 * @param {import('./couch.js').Couch} couch
 * @param {string} id of the design document
 * @param {string} view any of its views: they are built together
 * @param {{signal?: AbortSignal, onProgress?: (percent?: number) => void}} [options]
 */
export async function warm (couch, id, view, { signal, onProgress } = {}) {
  for (;;) {
    const wait = timeoutSignal(REQUEST_TIME, signal)
    try {
      const path = `${encodeId(id)}/_view/${view}`
      await couch.request({ path, qs: { limit: 0, reduce: false }, signal: wait.signal })
      return
    } catch (error) {
      if (signal?.aborted) throw new TilecouchError('ABORTED')
      if (!wait.isOver) throw error
      onProgress?.(await indexingProgress(couch, id))
    } finally {
      wait.end()
    }
  }
}

// only admins of the server may list its tasks; for others there is no percentage
async function indexingProgress (couch, id) {
  try {
    const tasks = await couch.request({ path: '_active_tasks', server: true, retries: 0 })
    const own = tasks.filter(task => task.type === 'indexer' && task.design_document === id)
    return own.length ? Math.round(own.reduce((sum, task) => sum + task.progress, 0) / own.length) : undefined
  } catch {
    return undefined
  }
}
