// The mirrors that a store is the source or the target of: ours, by what they write down on either side, and those of CouchDB's
// replicator, by what its server says.
import { TilecouchError } from '../../core/index.js'
import { PREFIX, askQueries } from '../../core/mirror/index.js'
import { timeoutSignal } from '../../core/abort.js'
import { LOOPBACK } from '../this-machine.js'
import { encodeId } from '../../core/couch/client.js'
import { Couch } from '../store/couch.js'
import { DATABASE, changesAfter, credentialsOf, statusOf, withCredentials } from './scheduler.js'

export const listDefaults = {
  patience: 2000, // milliseconds another store may take to answer
  silence: 180000, // milliseconds without a sign after which a mirror of ours is taken for dead; at work it gives one every minute
  most: 1000 // replications of CouchDB that are looked at
}

const CLOSED = new Set(['UNAUTHORIZED', 'FORBIDDEN'])

/**
 * @typedef {object} Listed
 * @property {string} id
 * @property {'tilecouch' | 'couchdb'} by who does the work
 * @property {'source' | 'target' | undefined} role of this store
 * @property {string} from
 * @property {string} to
 * @property {boolean} [live]
 * @property {Record<string, any>} [selection] nothing: not known
 * @property {string} state of ours: reading, following, away, completed, unfinished (a single one that broke off), dead (a live one that gives no sign), unknown (only the other side could tell)
 * @property {number} [lag] seconds since the target was known to lack nothing
 * @property {number} [pending] changes of the source that nobody has looked at for the mirror
 * @property {string} [success] when the target was last known to lack nothing, or when something arrived, where nobody knows
 * @property {string} [seen] the last sign of life
 * @property {number} [docs] written in the last session
 * @property {number} [rate] of them a second
 * @property {string} [error] the last one, while it lasts
 * @property {number} [refused] revisions that the target has refused and lacks; of CouchDB's, documents that it did not write in this session, and does not try again
 * @property {string} [refusal] the first of them, with the reason
 */

/**
 * @param {string} url of a store
 * @param {{signal?: AbortSignal, limits?: Partial<typeof listDefaults>}} [options]
 * @returns {Promise<{url: string, mirrors: Listed[], unseen: {by: string, why: string}[]}>} unseen: what is not shown to who asks
 */
export async function listMirrors (url, { signal, limits } = {}) {
  const couch = new Couch(url, { retries: 2 })
  const most = { ...listDefaults, ...limits }
  await couch.request({ signal })
  const unseen = []
  const shown = async (by, list) => {
    try {
      return await list()
    } catch (error) {
      if (!CLOSED.has(error.code) && error.details?.status !== 405) throw error
      unseen.push({ by, why: by === 'couchdb' ? 'the server shows its replications to its admins only' : 'the store does not show them: ask its database, not a gateway' })
      return []
    }
  }
  const own = await shown('tilecouch', () => ownMirrors(couch, most, signal))
  const others = await shown('couchdb', () => replications(couch, most, signal))
  return { url: couch.url, mirrors: [...own, ...others], unseen }
}

/**
 * Removes what a mirror of ours has written down, at both sides if the other one can be reached. If it is run once more, it
 * compares everything anew.
 * @param {string} url of a store @param {string} id
 * @param {{limits?: Partial<typeof listDefaults>}} [options]
 * @returns {Promise<{id: string, where: string[]}>}
 */
export async function forgetMirror (url, id, { limits } = {}) {
  const couch = new Couch(url, { retries: 2 })
  const most = { ...listDefaults, ...limits }
  const doc = id.startsWith(PREFIX) ? await couch.find({ path: `_local/${encodeId(id)}` }) : undefined
  if (!doc || !isMirror(doc)) throw new TilecouchError('BAD_OPTION', { option: '--forget', value: id, why: 'there is no such mirror of ours' })
  const { state } = await described(couch, doc, most)
  if (['reading', 'following', 'away'].includes(state)) throw new TilecouchError('BAD_OPTION', { option: '--forget', value: id, why: 'it is at work: end it first' })
  const where = []
  for (const side of [couch, otherSide(couch, doc)]) if (side && await within(most.patience, signal => removeLocal(side, id, signal))) where.push(side.url)
  return { id, where }
}

async function removeLocal (couch, id, signal) {
  const path = `_local/${encodeId(id)}`
  const doc = await couch.find({ path, signal })
  if (!doc) return false
  await couch.request({ method: 'DELETE', path, qs: { rev: doc._rev }, signal })
  return true
}

/** What a task answers, if it does so in time. */
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

// ours

async function ownMirrors (couch, limits, signal) {
  const qs = { include_docs: true, startkey: `_local/${PREFIX}`, endkey: `_local/${PREFIX}~` }
  const { rows } = await couch.request({ path: '_local_docs', qs, signal })
  return Promise.all(rows.filter(({ doc }) => isMirror(doc)).map(({ doc }) => described(couch, doc, limits, signal)))
}

/**
 * Whether a mirror of ours brings only a part of a layer here: an area, some zooms, or not all of its past.
 * @param {Couch} couch @param {string} layer @param {AbortSignal} [signal]
 */
export async function isPartHere (couch, layer, signal) {
  try {
    const { rows } = await couch.request({ path: '_local_docs', qs: { include_docs: true, startkey: `_local/${PREFIX}`, endkey: `_local/${PREFIX}~` }, signal })
    return rows.some(({ doc }) => {
      if (!isMirror(doc) || roleOf(couch, { source: doc.from, target: doc.to }) !== 'target') return false
      const { layers, bbox, zooms, current, since } = doc.selection ?? {}
      return (!layers?.length || layers.includes(layer)) && Boolean(bbox || zooms || current || since)
    })
  } catch (error) {
    if (!CLOSED.has(error.code) && error.details?.status !== 405) throw error
    return false
  }
}

/** Whoever may read may write such a document, of whatever form. */
const isMirror = ({ from, to, session_id: session, noted, history = [] }) =>
  typeof from === 'string' && typeof to === 'string' && Boolean(session || noted) && Array.isArray(history) && history.every(entry => entry && typeof entry === 'object')

/** @returns {Promise<Listed>} */
async function described (couch, doc, limits, signal) {
  const role = doc.to === couch.url ? 'target' : doc.from === couch.url ? 'source' : undefined
  // signs of life are given at the target; the same id there is the same mirror, wherever that address leads
  const there = role === 'target' ? undefined : await within(limits.patience, inTime => otherSide(couch, doc)?.find({ path: doc._id, signal: inTime }), signal)
  const known = there && signOf(there) > signOf(doc) ? there : doc
  const source = role === 'source' ? couch : role === 'target' ? otherSide(couch, doc) : undefined
  const left = source && await within(limits.patience, inTime => changesAfter(source, { since: known.source_last_seq, signal: inTime }), signal)
  const [last] = known.history ?? []
  const said = stateOf(known, Boolean(there) || role === 'target', limits.silence)
  const state = ['reading', 'unfinished'].includes(said) && !known.live && left?.pending === 0 ? 'completed' : said
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
    lag: left?.pending === 0 && state === 'following' ? 0 : known.up_to_date && secondsSince(known.up_to_date),
    pending: left?.pending,
    success,
    seen: signOf(known) || undefined,
    ...(last && work(last)),
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

function stateOf ({ state, live, up_to_date: complete, ...doc }, isTarget, silence) {
  const isSilent = Date.now() - Date.parse(signOf(doc)) > silence
  if (!['reading', 'following', 'away'].includes(state)) return state ?? 'unknown'
  if (!live && complete) return 'completed'
  if (!isSilent) return state
  return !live ? 'unfinished' : isTarget ? 'dead' : 'unknown'
}

const work = ({ start_time: begin, end_time: end, docs_written: docs }) => {
  const seconds = (Date.parse(end) - Date.parse(begin)) / 1000
  return { docs, rate: docs === undefined ? undefined : docs / Math.max(1, seconds) }
}

const secondsSince = time => Math.max(0, (Date.now() - Date.parse(time)) / 1000)

/** The store at the other end, as far as it can be opened from here. */
function otherSide (couch, { from, to }) {
  const url = from === couch.url ? to : to === couch.url ? from : undefined
  return url && reach(couch, url)
}

/**
 * A store that somebody has written the address of: anybody may have, so that no name goes there but to this very server.
 * @param {Couch} couch @param {string} url
 */
function reach (couch, url) {
  if (!/^https?:/.test(url) || !URL.canParse(url)) return undefined
  const basic = new URL(url).origin === couch.access.origin && credentialsOf(couch)
  try {
    return new Couch(basic ? withCredentials(url, basic) : url, { retries: 0, ambient: false })
  } catch {
    return undefined
  }
}

// CouchDB's

async function replications (couch, limits, signal) {
  const ask = path => couch.find({ path, server: true, qs: { limit: limits.most }, signal }).catch(error => {
    if (error.code === 'DATABASE_NOT_FOUND' || error.code === 'BAD_ANSWER' || [400, 501].includes(error.details?.status)) return undefined // no CouchDB
    throw error
  })
  const jobs = (await ask('_scheduler/jobs'))?.jobs ?? []
  const docs = (await ask('_scheduler/docs'))?.docs ?? []
  const known = new Set(docs.map(({ doc_id: id }) => id))
  const transient = jobs.filter(({ doc_id: id }) => !known.has(id)).map(job => ({ ...job, doc_id: job.doc_id ?? job.id, state: stateOfJob(job) }))
  const rows = [...docs, ...transient].map(row => ({ row, role: roleOf(couch, row) })).filter(({ role }) => role)
  if (!rows.length) return []
  const server = { url: couch.serverUrl, request: request => couch.request({ ...request, server: true }) }
  const [found] = await askQueries(server, `${DATABASE}/_all_docs`, [{ keys: rows.map(({ row }) => row.doc_id), include_docs: true }], { signal })
  return Promise.all(rows.map(({ row, role }, index) => describedJob(couch, { row, role, doc: found[index]?.doc }, limits, signal)))
}

const stateOfJob = ({ pid, history = [] }) => pid ? 'running' : history[0]?.type === 'crashed' ? 'crashing' : 'pending'

/** By the address, or by the name of the database where that is this very server's. */
function roleOf (couch, { source, target }) {
  const own = couch.url.replace(/\/$/, '')
  const isOwn = address => {
    const url = String(address ?? '').replace(/\/$/, '')
    if (url === own) return true
    return URL.canParse(url) && LOOPBACK.test(new URL(url).hostname) && new URL(url).pathname === `/${encodeURIComponent(couch.db)}` && isLocal(couch, url)
  }
  return isOwn(target) ? 'target' : isOwn(source) ? 'source' : undefined
}

/** Loopback, as its own server says it: elsewhere any port, here the very one. */
const isLocal = (couch, url) => !LOOPBACK.test(new URL(couch.url).hostname) || new URL(url).port === new URL(couch.url).port

/** @returns {Promise<Listed>} */
async function describedJob (couch, { row, role, doc }, limits, signal) {
  const { state, written, refused, since, error, started, updated } = statusOf(row)
  const from = String(row.source).replace(/\/$/, '')
  const source = role === 'source' ? couch : reach(couch, from)
  const left = since !== undefined && source && await within(limits.patience, inTime => changesAfter(source, { since, selector: doc?.selector, signal: inTime }), signal)
  const checkpoint = row.id && await couch.find({ path: `_local/${encodeId(row.id.split('+')[0])}`, signal })
  const last = checkpoint?.history?.[0]
  const isThere = state === 'completed' || (state === 'running' && left?.pending === 0)
  const success = state === 'completed' ? updated : isThere ? new Date().toISOString().replace(/\.\d+/, '') : last && new Date(last.end_time).toISOString().replace(/\.\d+/, '')
  const session = state === 'completed' ? { start_time: started, end_time: updated, docs_written: written } : last ?? { start_time: started, end_time: new Date().toISOString(), docs_written: written }
  return {
    id: row.doc_id,
    by: 'couchdb',
    role,
    from,
    to: String(row.target).replace(/\/$/, ''),
    live: doc ? Boolean(doc.continuous) : row.id?.endsWith('+continuous'),
    selection: doc?.tilecouch?.selection ?? (doc?.selector || doc?.filter || doc?.doc_ids ? undefined : {}),
    state,
    lag: !isThere ? undefined : state === 'completed' && left?.pending !== 0 ? secondsSince(success) : 0,
    pending: left ? left.pending : undefined,
    success,
    ...work(session),
    error,
    ...(refused && { refused })
  }
}
