// Deploys design documents without ever blocking readers: an index is built under a staging name first, then the
// document is swapped. CouchDB names an index after its functions, so the finished one is simply found again.
import { setTimeout as sleep } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import { TilecouchError } from '../../core/index.js'
import { encodeId } from '../../core/couch/client.js'
import { timeoutSignal } from '../../core/abort.js'

/** What the id of a design document ends with while its index is built. */
export const STAGING = '-staging'
const ATTEMPTS = 5 // at an index whose staging document others remove
const COMMIT = 30_000 // milliseconds an index has to be committed; CouchDB does it every 5 seconds
const PATIENCE = 60_000 // milliseconds one request waits for an index before the progress is looked at

/**
 * @typedef {object} Pushed
 * @property {string} id
 * @property {'new' | 'changed' | 'unchanged'} action
 * @property {string[]} fields that differ
 */

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {import('./compose.js').DesignDocument[]} docs
 * @param {{dryRun?: boolean, signal?: AbortSignal, onProgress?: (event: {id: string, step: 'index' | 'swap', done?: number}) => void}} [options]
 * @returns {Promise<Pushed[]>}
 */
export async function push (couch, docs, { dryRun = false, signal, onProgress } = {}) {
  const pushed = []
  for (const doc of docs) {
    const fields = difference(await couch.get(doc._id), doc)
    const action = !fields ? 'new' : fields.length ? 'changed' : 'unchanged'
    pushed.push({ id: doc._id, action, fields: fields ?? [] })
    if (dryRun) continue
    if (action === 'unchanged') {
      if (doc.views) await removeStaging(couch, doc) // of a push that was killed after the swap
      continue
    }
    // a changed index is built beside the old one, which serves meanwhile; a new one has no readers yet
    const staged = doc.views && fields?.some(field => field === 'views' || field === 'language')
    if (staged) await buildIndex(couch, doc, signal, onProgress)
    onProgress?.({ id: doc._id, step: 'swap' })
    await couch.update(doc._id, stored => difference(stored, doc)?.length === 0 ? undefined : doc)
    if (doc.views) await warm(couch, doc._id, firstView(doc), { signal, onProgress: done => onProgress?.({ id: doc._id, step: 'index', done }) })
    if (staged) {
      await untilCommitted(couch, doc._id, signal)
      await removeStaging(couch, doc)
    }
  }
  if (!dryRun && pushed.some(({ fields }) => fields.includes('views'))) await couch.request({ method: 'POST', path: '_view_cleanup', body: {} })
  return /** @type {Pushed[]} */ (pushed)
}

/** Fields that differ from what is stored; nothing when nothing is stored. */
function difference (stored, doc) {
  if (!stored) return null
  const names = new Set([...Object.keys(stored), ...Object.keys(doc)])
  names.delete('_rev')
  return [...names].filter(name => name === '_attachments'
    ? !isDeepStrictEqual(outline(stored._attachments), outline(doc._attachments))
    : !isDeepStrictEqual(stored[name], doc[name]))
}

// the bytes are compared by couchapp.signatures; here only what is attached under which type
const outline = (attachments = {}) => Object.fromEntries(Object.entries(attachments).map(([name, { content_type: type }]) => [name, type]))

async function buildIndex (couch, doc, signal, onProgress) {
  const { views, language, options } = doc
  for (let attempt = 1; ; attempt++) {
    // views alone: a staged validation function would already be in force
    await couch.update(doc._id + STAGING, () => ({ language, views, ...(options && { options }) }))
    try {
      return await warm(couch, doc._id + STAGING, firstView(doc), { signal, onProgress: done => onProgress?.({ id: doc._id, step: 'index', done }) })
    } catch (error) {
      // who pushed at the same time has ended, and removed it; where that was the same, the index is built
      if (error.details?.status !== 404 || attempt >= ATTEMPTS) throw error
      if (difference(await couch.get(doc._id), doc)?.length === 0) return
    }
  }
}

const firstView = doc => Object.keys(doc.views)[0]

/**
 * CouchDB closes an index with a document that uses it, and commits indexes every few seconds only: what was not
 * committed when the staging document goes would have to be built again, with readers waiting.
 */
async function untilCommitted (couch, id, signal) {
  for (const end = Date.now() + COMMIT; Date.now() < end; await sleep(100, undefined, { signal }).catch(() => {})) {
    const { view_index: index } = await couch.request({ path: `${encodeId(id)}/_info`, signal })
    if (!index?.waiting_commit) return
  }
}

/**
 * Waits until an index is up to date, however long it takes.
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} id of the design document
 * @param {string} view any of its views: they are built together
 * @param {{signal?: AbortSignal, onProgress?: (percent?: number) => void}} [options]
 */
export async function warm (couch, id, view, { signal, onProgress } = {}) {
  for (;;) {
    const wait = timeoutSignal(PATIENCE, signal)
    try {
      await couch.request({ path: `${encodeId(id)}/_view/${view}`, qs: { limit: 0, reduce: false }, signal: wait.signal })
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

// the tasks of a server are for its admins; others wait without a figure
async function indexingProgress (couch, id) {
  try {
    const tasks = await couch.request({ path: '_active_tasks', server: true, retries: 0 })
    const own = tasks.filter(task => task.type === 'indexer' && task.design_document === id)
    return own.length ? Math.round(own.reduce((sum, task) => sum + task.progress, 0) / own.length) : undefined
  } catch {
    return undefined
  }
}

async function removeStaging (couch, doc) {
  await couch.update(doc._id + STAGING, stored => stored && { _deleted: true })
}
