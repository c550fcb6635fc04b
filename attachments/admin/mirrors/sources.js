// Who follows whom, from what the store knows: documents of work of commands that follow, checkpoints of mirrors, and
// the scheduler of CouchDB.
import { scrub } from '../../../core/errors.js'
import { workState } from '../../../core/work.js'

const LATE = 60 // seconds of lag that are no lag yet
const SILENCE = 180_000 // milliseconds without a sign after which the checkpoint of a live mirror says nothing any more
const COMMANDS = ['mirror', 'edge', 'export']

/**
 * @typedef {'live' | 'complete' | 'copying' | 'behind' | 'waiting' | 'interrupted' | 'failed' | 'stopped' | 'unknown'
 *   } State
 *
 * @typedef {object} Mirror
 * @property {string} id
 * @property {'source' | 'target'} role of this store
 * @property {string} other address of the other side, without a password
 * @property {'mirror' | 'edge' | 'export' | 'couchdb'} by
 * @property {State} state
 * @property {number} [lag] seconds
 * @property {number} [pending] changes that it has not read
 * @property {number} [rate] documents a second
 * @property {number} [copied]
 * @property {number} [refused]
 * @property {number} [failed]
 * @property {string} [success] when it last had everything
 * @property {string} [host]
 * @property {any} [selection] which part
 * @property {string} [error]
 * @property {{command: string, args?: string[]}} [work] to go on
 */

const known = value => Number.isFinite(value) ? value : undefined

/** Which part it copies; the same for the same part. */
const keyOf = (role, other, selection = {}) =>
  `${role} ${other.replace(/\/$/, '')} ${JSON.stringify(Object.entries(selection ?? {}).filter(([, value]) => value).sort())}`

/**
 * The newest run of each mirror, by what it copies.
 * @param {any[]} docs of work @param {number} now
 * @returns {Map<string, Mirror>}
 */
export function fromWork (docs, now) {
  const newest = new Map()
  for (const doc of docs) {
    const { command, about } = doc
    if (!COMMANDS.includes(command) || typeof about?.source !== 'string' || typeof about.target !== 'string') continue
    const role = command === 'export' ? 'source' : 'target'
    const other = scrub(role === 'target' ? about.source : about.target)
    const key = keyOf(role, other, about.selection)
    if (!(newest.get(key)?.doc._id > doc._id)) newest.set(key, { doc, role, other })
  }
  return new Map([...newest].map(([key, { doc, role, other }]) => [key, ofWork(doc, role, other, now)]))
}

/** @returns {Mirror} */
function ofWork (doc, role, other, now) {
  const { about, command, done, failed, rate, host, args, error } = doc
  const ended = workState(doc, now)
  const age = about.success ? Math.max(0, (now - Date.parse(about.success)) / 1000) : undefined
  const isFollowing = ended === 'running' && about.state === 'following'
  const lag = isFollowing ? known(about.lag) : age
  return {
    id: doc._id,
    role,
    other,
    by: command,
    state: stateOf(ended, about, lag),
    lag,
    pending: known(about.pending),
    rate: known(rate),
    copied: known(done),
    refused: known(about.refused),
    failed: known(failed),
    success: about.success,
    host,
    selection: about.selection,
    error: error ? `${error.message}` : about.reason ?? about.error,
    work: { command, args }
  }
}

/** @returns {State} */
function stateOf (ended, { state, success }, lag) {
  if (ended === 'interrupted' || ended === 'failed' || ended === 'stopped') return ended
  if (ended === 'done') return success ? 'complete' : 'stopped'
  if (state === 'away') return 'waiting'
  if (state !== 'following') return 'copying'
  return lag !== undefined && lag > LATE ? 'behind' : 'live'
}

/**
 * What the checkpoints of tilecouch tell: mirrors of this store that other machines keep.
 * @param {any[]} docs `_local/tilecouch-mirror-…` @param {{isHere: (url: string) => number, position: number}} store
 *   isHere: 0 to 2; position: the number of its newest change
 * @param {number} now
 */
export function fromCheckpoints (docs, { isHere, position }, now) {
  const found = new Map()
  for (const doc of docs) {
    const { from, to, selection, history = [] } = doc
    if (typeof from !== 'string' || typeof to !== 'string' || !Array.isArray(history)) continue // every reader may write one
    if (!doc.session_id && !doc.noted) continue
    const role = isHere(to) > isHere(from) ? 'target' : 'source'
    const other = scrub(role === 'target' ? from : to)
    found.set(keyOf(role, other, selection), ofCheckpoint(doc, role, other, position, now))
  }
  return found
}

/** @returns {Mirror} */
function ofCheckpoint (doc, role, other, position, now) {
  const [last] = doc.history ?? []
  const seen = doc.noted ?? last?.end_time
  const read = Number.parseInt(doc.source_last_seq, 10)
  const pending = role === 'source' && Number.isFinite(read) ? Math.max(0, position - read) : undefined
  const success = pending === 0 ? seen : doc.up_to_date
  const seconds = (Date.parse(last?.end_time) - Date.parse(last?.start_time)) / 1000
  const isSilent = !(now - Date.parse(seen) < SILENCE)
  const told = doc.state === 'stopped' ? 'stopped'
    : !doc.live ? doc.up_to_date || doc.state === 'completed' || pending === 0 ? 'complete'
      : role === 'source' ? 'behind' // how it ended is known to the target only
        : isSilent ? 'interrupted' : 'copying'
      : pending === 0 ? 'live' // signs of life go to the target only
        : isSilent ? pending === undefined ? 'unknown' : 'behind' : doc.state === 'away' ? 'waiting' : 'live'
  return {
    id: doc._id,
    role,
    other,
    by: 'mirror',
    state: told,
    lag: told === 'live' ? 0 : success ? Math.max(0, (now - Date.parse(success)) / 1000) : undefined,
    pending,
    rate: last?.docs_written >= 0 && seconds >= 0 ? last.docs_written / Math.max(1, seconds) : undefined,
    copied: known(last?.docs_written),
    refused: known(doc.lacking),
    failed: known(last?.doc_write_failures),
    success,
    selection: doc.selection,
    error: doc.reason ? scrub(doc.reason) : undefined
  }
}

const STATES = { running: 'live', pending: 'waiting', initializing: 'copying', completed: 'complete', crashing: 'failed', error: 'failed', failed: 'failed' }

/**
 * Replications of CouchDB, as its scheduler and its tasks tell them.
 * @param {{jobs: any[], docs: any[], tasks: any[]}} seen @param {(url: string) => number} isHere
 * @param {number} now
 */
export function fromScheduler ({ jobs, docs, tasks }, isHere, now) {
  const documented = new Set(docs.map(doc => doc.doc_id))
  const others = jobs.filter(job => !documented.has(job.doc_id))
    .map(job => ({ ...job, state: job.pid ? 'running' : job.history?.[0]?.type === 'crashed' ? 'crashing' : 'pending' }))
  const found = new Map()
  for (const row of [...docs, ...others]) {
    const [source, target] = [row.source, row.target].map(url => scrub(url ?? '').replace(/\/$/, ''))
    if (!isHere(source) && !isHere(target)) continue
    const role = isHere(target) > isHere(source) ? 'target' : 'source'
    const task = tasks.find(each => each.replication_id === row.id || (row.doc_id && each.doc_id === row.doc_id))
    const id = `couchdb ${row.database ?? ''} ${row.doc_id ?? row.id}`
    found.set(id, ofRow(row, { id, role, other: role === 'target' ? source : target, task, now }))
  }
  return found
}

/** @returns {Mirror} */
function ofRow (row, { id, role, other, task, now }) {
  const info = { ...row.info, ...task }
  const pending = known(info.changes_pending)
  const copied = known(info.docs_written)
  const isComplete = row.state === 'completed' || (row.state === 'running' && pending === 0)
  const success = row.state === 'completed' ? row.last_updated : isComplete ? new Date(now).toISOString() : undefined
  const seconds = task ? task.updated_on - task.started_on : 0
  return {
    id,
    role,
    other,
    by: 'couchdb',
    state: row.state === 'running' && pending > 0 ? 'behind' : /** @type {State} */ (STATES[row.state] ?? 'unknown'),
    lag: success ? Math.max(0, (now - Date.parse(success)) / 1000) : undefined,
    pending,
    rate: copied !== undefined && seconds > 0 ? copied / seconds : undefined,
    copied,
    failed: known(info.doc_write_failures),
    success,
    host: row.node,
    error: errorOf(info.error)
  }
}

const errorOf = error => error ? scrub(typeof error === 'string' ? error : JSON.stringify(error)) : undefined

/**
 * How surely an address is the one of this store: 0 another one, 1 the same name, 2 the same place.
 * @param {string} db address of the store @param {string} name of the database
 */
export const here = (db, name) => url => {
  const of = address => {
    if (!URL.canParse(address)) return { host: '', path: address.replace(/\/$/, '') }
    const { hostname, port, pathname } = new URL(address)
    return { host: `${/^(localhost|127\..*|\[::1\])$/.test(hostname) ? 'localhost' : hostname}:${port}`, path: pathname.replace(/\/$/, '') }
  }
  if (url === 'embedded') return 1
  const [own, asked] = [of(db), of(url)]
  if (own.host === asked.host && own.path === asked.path) return 2
  return asked.path.slice(asked.path.lastIndexOf('/') + 1) === encodeURIComponent(name) ? 1 : 0
}
