// Lists the mirrors that a store is the source or target of: those of tilecouch by their checkpoints on either side,
// those of CouchDB's own replicator as its server lists them.
import { timeoutSignal } from '../../core/abort.js'
import { now, scrub } from '../../core/index.js'
import { PREFIX } from '../../core/mirror/index.js'
import { TilecouchError } from '../errors.js'
import { Couch } from '../store/couch.js'
import { LOOPBACK } from '../system.js'
import { removeLocal } from './peer.js'

export const mirrorListDefaults = {
  timeout: 2000, // milliseconds another store may take to answer
  silence: 180000, // milliseconds without a heartbeat after which a live mirror counts as dead; it writes one a minute
  most: 1000 // replications of CouchDB
}

const CLOSED = new Set(['UNAUTHORIZED', 'FORBIDDEN'])

/**
 * @typedef {object} Listed
 * @property {string} id
 * @property {'tilecouch' | 'couchdb'} by which program
 * @property {'source' | 'target' | undefined} role of this store
 * @property {string} from
 * @property {string} to
 * @property {boolean} [live]
 * @property {Record<string, any>} [selection] of tilecouch
 * @property {string} state of tilecouch: reading, following, away, completed, unfinished (a single mirror that was
 *   interrupted), dead (a live one without heartbeats), unknown (only the other side could tell); of CouchDB as its
 *   scheduler says
 * @property {number} [lag] seconds since the target was known to be complete
 * @property {number} [pending] changes of the source that the mirror has not read
 * @property {string} [success] when the target was last known to be complete, or else when something arrived last
 * @property {string} [seen] the last heartbeat
 * @property {number} [docs] written in the last session
 * @property {number} [rate] of them a second
 * @property {string} [error] the current one
 * @property {number} [refused] revisions that the target has refused and lacks; by CouchDB, documents that it has not
 *   written
 * @property {string} [refusal] the first of them, with the reason
 */

/**
 * @param {string} url of a store
 * @param {{signal?: AbortSignal, limits?: Partial<typeof mirrorListDefaults>}} [options]
 * @returns {Promise<{url: string, mirrors: Listed[], unseen: {by: string, why: string}[]}>} unseen: what is hidden from
 *   the user
 */
export async function listMirrors (url, { signal, limits } = {}) {
  const couch = new Couch(url, { retries: 2 })
  const used = { ...mirrorListDefaults, ...limits }
  await couch.info(signal)
  const unseen = []
  const shown = async (by, why, list) => {
    try {
      return await list()
    } catch (error) {
      if (!isHidden(error)) throw error
      unseen.push({ by, why })
      return []
    }
  }
  const own = await shown('tilecouch', 'the store does not show them: name its database, not a gateway', async () =>
    Promise.all((await checkpoints(couch, signal)).map(doc => described(couch, doc, used, signal))))
  const others = await shown('couchdb', 'the server shows its replications to its admins only', () =>
    replications(couch, used.most, signal))
  return { url: couch.url, mirrors: [...own, ...others], unseen }
}

const isHidden = error => CLOSED.has(error.code) || error.details?.status === 405

/**
 * Removes the checkpoint of a mirror, at both sides if the other one can be reached. The next run compares everything
 * again.
 * @param {string} url of a store @param {string} id
 * @param {{limits?: Partial<typeof mirrorListDefaults>}} [options]
 * @returns {Promise<{id: string, where: string[]}>}
 */
export async function forgetMirror (url, id, { limits } = {}) {
  const couch = new Couch(url, { retries: 2 })
  const used = { ...mirrorListDefaults, ...limits }
  const doc = id.startsWith(PREFIX) ? await couch.get(`_local/${id}`) : undefined
  if (!doc || !isMirror(doc)) {
    throw new TilecouchError('BAD_OPTION', { option: '--forget', value: id, why: 'there is no such mirror' })
  }
  const { state } = await described(couch, doc, used)
  if (['reading', 'following', 'away'].includes(state)) {
    throw new TilecouchError('BAD_OPTION', { option: '--forget', value: id, why: 'it is running: end it first' })
  }
  const where = []
  for (const side of [couch, otherSide(couch, doc)]) {
    if (side && await within(used.timeout, signal => removeLocal(side, id, signal))) where.push(side.url)
  }
  return { id, where }
}

/** @returns the result of a task; undefined when it fails or takes too long */
async function within (milliseconds, task, signal) {
  const waiting = timeoutSignal(milliseconds, signal)
  try {
    return await task(waiting.signal)
  } catch {
    return undefined
  } finally {
    waiting.end()
  }
}

async function checkpoints (couch, signal) {
  const qs = { include_docs: true, startkey: `_local/${PREFIX}`, endkey: `_local/${PREFIX}~` }
  const { rows } = await couch.request({ path: '_local_docs', qs, signal })
  return rows.map(({ doc }) => doc).filter(isMirror)
}

/** Every reader may write such documents, in any form. */
const isMirror = ({ from, to, session_id: session, noted, history = [] }) =>
  typeof from === 'string' && typeof to === 'string' && Boolean(session || noted) &&
  Array.isArray(history) && history.every(entry => entry && typeof entry === 'object')

/** @returns {Promise<Listed>} */
async function described (couch, doc, limits, signal) {
  const role = doc.to === couch.url ? 'target' : doc.from === couch.url ? 'source' : undefined
  const other = otherSide(couch, doc)
  const ask = task => within(limits.timeout, task, signal)
  // heartbeats are written to the target; the same id there is the same mirror, wherever that address leads
  const there = role === 'target' ? undefined : await ask(inTime => other?.get(doc._id, inTime))
  const known = there && signOf(there) > signOf(doc) ? there : doc
  const source = role === 'source' ? couch : role === 'target' ? other : undefined
  const pending = source && await ask(inTime => pendingAfter(source, known.source_last_seq, inTime))
  const [last] = known.history ?? []
  const written = stateOf(known, Boolean(there) || role === 'target', limits.silence)
  const state = ['reading', 'unfinished'].includes(written) && !known.live && pending === 0 ? 'completed' : written
  const success = known.up_to_date ?? last?.end_time
  return {
    id: doc._id.slice('_local/'.length),
    by: 'tilecouch',
    role,
    from: doc.from,
    to: doc.to,
    live: doc.live,
    selection: doc.selection,
    state,
    lag: pending === 0 && state === 'following' ? 0 : known.up_to_date && secondsSince(known.up_to_date),
    pending,
    success,
    seen: signOf(known) || undefined,
    ...(last && rateOf(last)),
    error: known.error && `${known.reason} [${known.error}]`,
    ...refusedOf(known)
  }
}

/** @param {Record<string, any>} doc */
function refusedOf ({ lacking, refused: [first] = [] }) {
  if (!lacking) return {}
  return { refused: lacking, ...(first && { refusal: `${first.id}: ${first.reason ?? first.error}` }) }
}

/** @param {Record<string, any>} doc @returns {string} */
const signOf = ({ noted, history = [] }) => noted ?? history[0]?.end_time ?? ''

function stateOf ({ state, live, up_to_date: upToDate, ...doc }, isTarget, silence) {
  const isSilent = Date.now() - Date.parse(signOf(doc)) > silence
  if (!['reading', 'following', 'away'].includes(state)) return state ?? 'unknown'
  if (!live && upToDate) return 'completed'
  if (!isSilent) return state
  return !live ? 'unfinished' : isTarget ? 'dead' : 'unknown'
}

const rateOf = ({ start_time: begin, end_time: end, docs_written: docs }) => {
  const seconds = (Date.parse(end) - Date.parse(begin)) / 1000
  return { docs, rate: docs === undefined ? undefined : docs / Math.max(1, seconds) }
}

const secondsSince = time => Math.max(0, (Date.now() - Date.parse(time)) / 1000)

/** How many changes there are after a place. */
async function pendingAfter (source, since = 0, signal) {
  const { results, pending = 0 } = await source.changes({ since, limit: 1, style: 'all_docs' }, { retries: 0, signal })
  return results.length ? results.length + pending : 0
}

/** The store at the other end, if it can be opened from here. */
function otherSide (couch, { from, to }) {
  const url = from === couch.url ? to : to === couch.url ? from : undefined
  return url && reach(couch, url)
}

/**
 * Opens a store by an address that anybody may have written: passwords are sent to this same server only.
 * @param {Couch} couch @param {string} url
 */
function reach (couch, url) {
  if (!/^https?:/.test(url) || !URL.canParse(url)) return undefined
  const { origin, headers: { authorization } } = couch.access
  const named = new URL(url)
  if (named.origin === origin && authorization) {
    const text = Buffer.from(authorization.slice('Basic '.length), 'base64').toString()
    const [, name, password] = /^([^:]*):(.*)$/s.exec(text) ?? []
    named.username = encodeURIComponent(name)
    named.password = encodeURIComponent(password)
  }
  try {
    return new Couch(named.href, { retries: 0, ambient: false })
  } catch {
    return undefined
  }
}

/** Those of CouchDB's own replicator, as its scheduler describes them. */
async function replications (couch, most, signal) {
  const ask = path => couch.find({ path, server: true, qs: { limit: most }, signal }).catch(error => {
    const { code, details } = error
    const isCouchDb = !['DATABASE_NOT_FOUND', 'BAD_ANSWER'].includes(code) && ![400, 501].includes(details?.status)
    if (isCouchDb) throw error
  })
  const jobs = (await ask('_scheduler/jobs'))?.jobs ?? []
  const docs = (await ask('_scheduler/docs'))?.docs ?? []
  const known = new Set(docs.map(({ doc_id: id }) => id))
  const transient = jobs.filter(({ doc_id: id }) => !known.has(id))
    .map(job => ({ ...job, doc_id: job.doc_id ?? job.id, state: stateOfJob(job) }))
  return [...docs, ...transient].map(row => describedJob(row, roleOf(couch, row))).filter(({ role }) => role)
}

const stateOfJob = ({ pid, history = [] }) => pid ? 'running' : history[0]?.type === 'crashed' ? 'crashing' : 'pending'

/** By the address, or by the name of the database where the address is of this server. */
function roleOf (couch, { source, target }) {
  const own = couch.url.replace(/\/$/, '')
  const isOwn = address => {
    const text = withoutSlash(address)
    if (text === own) return true
    if (!URL.canParse(text)) return false
    const url = new URL(text)
    const isOfThisName = LOOPBACK.test(url.hostname) && url.pathname === `/${encodeURIComponent(couch.db)}`
    return isOfThisName && isLocal(couch, url)
  }
  return isOwn(target) ? 'target' : isOwn(source) ? 'source' : undefined
}

const withoutSlash = address => String(address ?? '').replace(/\/$/, '')

/** Whether a loopback address is that of the couch. A server elsewhere names itself by loopback with any port. */
const isLocal = (couch, url) => !LOOPBACK.test(new URL(couch.url).hostname) || url.port === new URL(couch.url).port

/** @returns {Listed} */
function describedJob (row, role) {
  const { doc_id: id, id: job, state = 'initializing', info, last_updated: updated } = row
  const { doc_write_failures: refused, changes_pending: pending, error } = info ?? {}
  const isComplete = state === 'completed' || (state === 'running' && pending === 0)
  const success = state === 'completed' ? updated : isComplete ? now() : undefined
  return {
    id,
    by: 'couchdb',
    role,
    from: withoutSlash(row.source),
    to: withoutSlash(row.target),
    live: job?.endsWith('+continuous'),
    state,
    lag: success === undefined ? undefined : state === 'completed' ? secondsSince(success) : 0,
    pending: pending ?? undefined,
    success: success ?? undefined,
    docs: info?.docs_written,
    error: error && scrub(typeof error === 'string' ? error : JSON.stringify(error)).replace(/\s+/g, ' '),
    ...(refused && { refused })
  }
}
