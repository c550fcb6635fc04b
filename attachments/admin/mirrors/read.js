// Reads what the change feed does not tell: checkpoints of mirrors, and the replications of CouchDB.
import { here } from './sources.js'

const PREFIX = 'tilecouch-mirror-' // as in core/mirror/checkpoint.js
const MOST = 1000 // checkpoints, and replications of CouchDB

/**
 * @param {import('../index.js').App} app @param {{isEmbedded?: boolean}} known what was read once
 * @param {AbortSignal} signal
 */
export async function readMirrors ({ couch, user }, known, signal) {
  known.isEmbedded ??= await couch.isEmbedded(signal)
  const info = await couch.ask('', { signal })
  const isHere = here(couch.db, info.db_name)
  const limit = MOST
  const query = { startkey: JSON.stringify(`_local/${PREFIX}`), endkey: JSON.stringify(`_local/${PREFIX}~`), include_docs: true, limit }
  const local = couch.ask('_local_docs', { query, signal })
  const checkpoints = await local.then(({ rows }) => rows.map(({ doc }) => doc).filter(Boolean), tolerated)
  const seesScheduler = !known.isEmbedded && user.isServerAdmin
  const ask = (path, field) => couch.ask(path, { query: field ? { limit } : {}, signal })
    .then(answer => field ? answer[field] ?? [] : answer, tolerated)
  const [jobs, docs, tasks] = seesScheduler
    ? await Promise.all([ask('/_scheduler/jobs', 'jobs'), ask('/_scheduler/docs', 'docs'), ask('/_active_tasks')])
    : [[], [], []]
  return {
    isHere,
    position: Number.parseInt(info.update_seq, 10) || 0,
    checkpoints,
    scheduler: { jobs, docs, tasks: tasks.filter(({ type }) => type === 'replication') },
    isHidden: !known.isEmbedded && !user.isServerAdmin
  }
}

/** What this user or this server does not show is left out. @returns {any[]} */
function tolerated (error) {
  if ([400, 401, 403, 404, 405].includes(error.status)) return []
  throw error
}
