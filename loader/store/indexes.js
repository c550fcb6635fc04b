// Brings the indexes of a database up to date: ours and those of other design documents.
import { setTimeout as sleep } from 'node:timers/promises'
import { ignoring, timeoutSignal } from '../../core/promises.js'
import { sequenceNumber } from '../../core/feed-position.js'
import { TilecouchError } from '../errors.js'
import { encodeId } from '../../core/couch/client.js'

const REQUEST_TIME = 60_000 // milliseconds one request waits for an index
const LOOK = 1000 // milliseconds between two checks of the progress

/** @typedef {{done: number, total: number}} IndexProgress changes of the database that the index has read */

/** @typedef {{id: string, view: string}} Indexed a design document with views, and one of them: they share one index */

/** @returns {Promise<Indexed[]>} */
export async function indexesOf (couch, signal) {
  const rows = await couch.page({ startkey: '_design/', endkey: '_design0', include_docs: true }, signal)
  return rows.map(({ id, doc }) => ({ id, view: Object.keys(doc?.views ?? {})[0] }))
    .filter(({ view }) => view !== undefined)
}

/**
 * The state of every index, as `_info` of its design document.
 * @param {import('./couch.js').Couch} couch
 * @param {AbortSignal} [signal]
 * @returns {Promise<{id: string, index: any}[]>} id: of the design document
 */
export async function indexStates (couch, signal) {
  const infoOf = id => couch.find({ path: `${encodeId(id)}/_info`, signal })
  const designs = await indexesOf(couch, signal)
  const states = await Promise.all(designs.map(async ({ id }) => ({ id, index: (await infoOf(id))?.view_index })))
  return states.filter(({ index }) => index)
}

/**
 * Brings every index up to date. One that CouchDB cannot build is skipped: it has no rows that could be wrong.
 * @param {import('./couch.js').Couch} couch
 * @param {AbortSignal} [signal]
 * @param {(progress: IndexProgress) => void} [onProgress]
 */
export async function warmAll (couch, signal, onProgress) {
  for (const { id, view } of await indexesOf(couch, signal)) {
    await warm(couch, id, view, { signal, onProgress }).catch(ignoring('COUCHDB_ERROR'))
  }
}

/**
 * Waits until an index is up to date, however long it takes.
 * @param {import('./couch.js').Couch} couch
 * @param {string} id of the design document
 * @param {string} view any of its views: they are built together
 * @param {{signal?: AbortSignal, onProgress?: (progress: IndexProgress) => void}} [options]
 */
export async function warm (couch, id, view, { signal, onProgress } = {}) {
  const stopWatching = onProgress ? watch(couch, id, onProgress) : () => {}
  try {
    for (;;) {
      const wait = timeoutSignal(REQUEST_TIME, signal)
      try {
        const path = `${encodeId(id)}/_view/${view}`
        await couch.request({ path, qs: { limit: 0, reduce: false }, signal: wait.signal })
        return
      } catch (error) {
        if (signal?.aborted) throw new TilecouchError('ABORTED')
        if (!wait.isOver) throw error
      } finally {
        wait.end()
      }
    }
  } finally {
    stopWatching()
  }
}

/**
 * Reports how much of an index is built.
 * @returns {() => void} ends it
 */
function watch (couch, id, onProgress) {
  const stop = new AbortController()
  const { signal } = stop
  const look = async () => {
    for (;;) {
      await sleep(LOOK, undefined, { signal })
      const progress = await byTasks(couch, id, signal) ?? await bySequence(couch, id, signal)
      if (progress?.total && !signal.aborted) onProgress(progress)
    }
  }
  look().catch(() => {}) // the request for the index fails in the same way and reports it
  return () => stop.abort()
}

/** @returns {Promise<IndexProgress | undefined>} only admins of the server may list its tasks */
async function byTasks (couch, id, signal) {
  try {
    const tasks = await couch.request({ path: '_active_tasks', server: true, retries: 0, signal })
    const buildTasks = tasks.filter(({ type, design_document: design, database }) =>
      type === 'indexer' && design === id && databaseOf(database) === couch.db)
    const sum = field => buildTasks.reduce((total, task) => total + task[field], 0)
    return buildTasks.length ? { done: sum('changes_done'), total: sum('total_changes') } : undefined
  } catch {
    return undefined
  }
}

/** The database of a task, which names one of its shards: `shards/80000000-ffffffff/tiles.1700000000`. */
const databaseOf = name => /^shards\/[^/]+\/(.+)\.\d+$/.exec(name)?.[1] ?? name

/** How far the index is behind the database. @returns {Promise<IndexProgress>} */
async function bySequence (couch, id, signal) {
  const request = { retries: 0, signal }
  const [{ view_index: index }, { update_seq: end }] = await Promise.all([
    couch.request({ path: `${encodeId(id)}/_info`, ...request }), couch.request({ path: '', ...request })
  ])
  const total = sequenceNumber(end)
  return { done: Math.min(Number(index?.update_seq) || 0, total), total }
}
