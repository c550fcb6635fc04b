// A mirror that CouchDB makes by itself: a document of its _replicator database, and how it goes.
import { isDeepStrictEqual } from 'node:util'
import { setTimeout as sleep } from 'node:timers/promises'
import { TilecouchError } from '../../core/index.js'
import { fingerprint } from '../../core/fingerprint.js'
import { Selection } from '../../core/mirror/index.js'
import { timeoutSignal } from '../../core/abort.js'
import { LOOPBACK } from '../this-machine.js'
import { Couch } from '../store/couch.js'
import { bringDesigns } from './designs.js'
import { examine, openSource } from './open.js'
import { adoptEmpty, makeDatabase, makeReady } from './ready.js'
import { mangoOf } from './selector.js'
import { DATABASE, changesAfter, readStatus, replicatorVersion, sideOf, stopReplication, updateDoc } from './scheduler.js'

export const replicatorDefaults = {
  poll: 1000, // milliseconds between two looks at how it goes
  following: 5000, // milliseconds between them once everything is there
  patience: 60000 // milliseconds the source may take to say whether there are more changes
}

export const PREFIX = 'tilecouch-'
const LIVE = '-live'

const ENDED = new Set(['completed', 'failed', 'stopped'])
const FIELDS = ['source', 'target', 'continuous', 'selector', 'winning_revs_only', 'use_checkpoints', 'tilecouch'] // ours of the document

/** @typedef {import('./scheduler.js').ReplicatorStatus & {upToDate?: boolean}} ReplicatorStatus upToDate: everything that there is now is there */

/**
 * @typedef {Omit<import('./index.js').MirrorOptions, 'dryRun' | 'onProgress' | 'onState' | 'onRefused' | 'onReady' | 'limits'> & ReplicatorChoices} ReplicatorOptions
 *
 * @typedef {object} ReplicatorChoices
 * @property {boolean} [winningRevsOnly] conflicting revisions stay behind
 * @property {boolean} [push] the server of the source does it, not that of the target
 * @property {boolean} [replace] stops other replications of ours between the two, with other selections
 *
 * @typedef {object} Replicated
 * @property {string} id of the document
 * @property {string} url of the server that does it
 * @property {Record<string, any>} doc as it is stored, without names and passwords
 * @property {'new' | 'changed' | 'again' | 'unchanged'} action again: it had ended; unchanged: it is under way
 * @property {{id: string, selection: any, stopped: boolean}[]} others between the two, of ours, with other selections
 */

/**
 * Lets a CouchDB copy. Run again, it finds what it has written.
 * @param {string} from @param {string} to @param {ReplicatorOptions} [options]
 * @returns {Promise<Replicated>}
 */
export async function replicate (from, to, options = {}) {
  const { selection, selector } = selectionOf(options)
  const { source, target, worker } = sidesOf(from, to, options)
  checkSeen(source, target, worker)
  const version = await replicatorVersion(worker)
  await checkTaken(source, selector)
  await prepare(source, target, options)
  const { live = false, winningRevsOnly = false } = options
  const [id, twin] = idsOf(from, to, options)
  const wanted = {
    source: sideOf(source, version),
    target: sideOf(target, version),
    continuous: live,
    selector,
    ...(winningRevsOnly && { winning_revs_only: true }),
    ...(!await remembers(source) && { use_checkpoints: false }),
    tilecouch: { from: source.url, to: target.url, live, selection }
  }
  const others = await settleOthers(worker, [id, twin], wanted.tilecouch, options)
  /** @type {Replicated['action']} */
  let action = 'new'
  const { state } = await readStatus(worker, id)
  await updateDoc(worker, id, stored => {
    action = !stored ? 'new' : !isSame(stored, wanted) ? 'changed' : ENDED.has(state) ? 'again' : 'unchanged'
    return action === 'unchanged' ? undefined : wanted
  })
  return { id, url: worker.serverUrl, doc: { ...wanted, source: source.url, target: target.url }, action, others }
}

/** The sides of a mirror, and which of them does the work. */
function sidesOf (from, to, { push = false }, couchOptions = {}) {
  const source = openSource(from, couchOptions)
  const target = new Couch(to, couchOptions)
  return { source, target, worker: push ? source : target }
}

/** @param {ReplicatorOptions} options */
function selectionOf ({ layers, area, zooms, current, since }) {
  const selection = new Selection({ layers, area, zooms, current, since })
  const selector = mangoOf(selection)
  return { selector, selection: JSON.parse(JSON.stringify({ layers, bbox: area?.bbox, zooms, current: current || undefined })) }
}

/**
 * The ids a replication of these two sides and this selection may have: the first is that of what is asked for, the other that
 * of its live, or single, twin.
 * @param {string} from @param {string} to @param {ReplicatorOptions} options
 * @returns {[string, string]}
 */
export function idsOf (from, to, options) {
  const { source, target } = sidesOf(from, to, options)
  const { layers, area, zooms, current, winningRevsOnly = false, live = false } = options
  const { key } = new Selection({ layers, area, zooms, current })
  const id = `${PREFIX}${fingerprint([source.url, target.url, key, winningRevsOnly].join(' '))}`
  return live ? [`${id}${LIVE}`, id] : [id, `${id}${LIVE}`]
}

/** What this machine calls localhost is another one to a server elsewhere, which would copy from itself without a word. */
function checkSeen (source, target, worker) {
  const here = new URL(worker.url).hostname
  const other = new URL((worker === source ? target : source).url).hostname
  if (LOOPBACK.test(here) || !LOOPBACK.test(other)) return
  const why = `${here} would do it, and ${other} means itself there`
  throw new TilecouchError('REPLICATOR_CANNOT', { what: worker === target ? 'reach the source' : 'reach the target', why })
}

/** A gateway takes no long expressions. */
async function checkTaken (source, selector) {
  try {
    await changesAfter(source, { since: 'now', selector })
  } catch (error) {
    if (error.details?.status === 400) throw new TilecouchError('REPLICATOR_CANNOT', { what: `choose a part of ${source.url}`, why: `it does not take the selector: ${error.details.reason}` })
    if (error.code !== 'DATABASE_NOT_FOUND') throw error // told of by who looks at the source
  }
}

/**
 * The target, for admins alone if it is a new one, with the function that validates what arrives.
 * @param {Couch} source @param {Couch} target @param {ReplicatorOptions} options
 */
async function prepare (source, target, { public: isForAll, signal }) {
  const { isThere, validates } = await examine(source, target, { isForAll, signal })
  await (isThere ? adoptEmpty(target) : makeDatabase(target, signal))
  if (!validates) await bringDesigns(source, target, { replaces: false, signal })
}

/** Whether the source lets a replicator write down how far it got: a gateway does not. */
async function remembers (source) {
  try {
    await source.request({ method: 'POST', path: '_ensure_full_commit', body: {} })
    return true
  } catch (error) {
    if ([403, 404, 405].includes(error.details?.status) || ['FORBIDDEN', 'READ_ONLY'].includes(error.code)) return false
    throw error
  }
}

const isSame = (stored, wanted) => FIELDS.every(field => isDeepStrictEqual(stored[field], wanted[field]))

/** A changed selection is another replication: the one before goes on, unless it is to be replaced. */
async function settleOthers (worker, own, { from, to }, { replace = false }) {
  const { rows } = await worker.request({ path: `${DATABASE}/_all_docs`, server: true, qs: { include_docs: true, startkey: PREFIX, endkey: `${PREFIX}~` } })
  const others = rows.filter(({ doc }) => doc.tilecouch?.from === from && doc.tilecouch.to === to && !own.includes(doc._id) && !doc._replication_state)
  if (replace) for (const { id: other } of others) await stopReplication(worker, other)
  return others.map(({ id: other, doc }) => ({ id: other, selection: doc.tilecouch.selection, stopped: replace }))
}

/**
 * Ends it for good: its document goes. What is copied stays.
 * @param {string} from @param {string} to @param {{push?: boolean, id: string}} options
 * @returns {Promise<boolean>} whether there was one
 */
export async function stopReplicator (from, to, { push, id }) {
  const { worker } = sidesOf(from, to, { push })
  await replicatorVersion(worker)
  return stopReplication(worker, id)
}

/**
 * Watches a replication until it ends; a live one until the signal, by ABORTED, which leaves it going on at the server.
 * @param {Couch} worker of the server that does it
 * @param {string} id of its document
 * @param {{source?: Couch, selector?: object, live?: boolean, signal?: AbortSignal, onState?: (status: ReplicatorStatus) => void | Promise<void>, limits?: Partial<typeof replicatorDefaults>}} [options]
 *   source: asked whether everything is there; onState: told at every look, and waited for
 * @returns {Promise<ReplicatorStatus>}
 */
export async function watchReplicator (worker, id, { source, selector, live = false, signal, onState, limits } = {}) {
  const { poll, following, patience: most } = { ...replicatorDefaults, ...limits }
  /** @type {ReplicatorStatus} */
  let status = { id, state: 'initializing' }
  let reached = /** @type {{since?: any, at?: any}} */ ({})
  for (;;) {
    if (signal?.aborted) throw Object.assign(new TilecouchError('ABORTED'), { replication: status })
    try {
      status = await readStatus(worker, id, signal)
      if (live && source && status.state === 'running') reached = await look(source, selector, status, reached, most, signal)
      if (status.state === 'completed') status.upToDate = true
    } catch (error) {
      if (signal?.aborted) continue
      if (!live || !isPassing(error)) throw error
      status = { ...status, state: 'away', error: error.message, upToDate: false }
    }
    await onState?.(status)
    if (ENDED.has(status.state)) return status
    await sleep(status.upToDate ? following : poll, undefined, { signal }).catch(() => {})
  }
}

const isPassing = ({ code, details }) => ['UNREACHABLE', 'BAD_ANSWER', 'NO_ANSWER'].includes(code) || (code === 'COUCHDB_ERROR' && details.status >= 500)

/** CouchDB seldom says how much is left, and nothing at all of changes that its selector leaves out: the source knows. */
async function look (source, selector, status, reached, most, signal) {
  const waiting = timeoutSignal(most, signal)
  const isAsBefore = reached.since === status.since
  try {
    const { pending, since } = await changesAfter(source, { since: isAsBefore ? reached.at : status.since, selector, signal: waiting.signal })
    status.upToDate = pending === 0
    status.pending = pending
    return pending ? reached : { since: status.since, at: since }
  } catch {
    status.upToDate = undefined // it does not say, and the replication has errors of its own to tell of that
    return reached
  } finally {
    waiting.end()
  }
}

/**
 * A mirror by CouchDB's replicator, from the document to the target that serves.
 * @param {string} from @param {string} to
 * @param {ReplicatorOptions & {onStart?: (replicated: Replicated) => void, onState?: (status: ReplicatorStatus) => void, onReady?: (ready: import('./ready.js').Ready) => void, limits?: Partial<typeof replicatorDefaults>}} [options]
 * @returns {Promise<ReplicatorStatus & {replicated: Replicated, ready?: import('./ready.js').Ready}>}
 */
export async function mirrorByReplicator (from, to, options = {}) {
  const { live = false, signal, public: isForAll, onStart, onState, onReady, limits } = options
  const replicated = await replicate(from, to, options)
  onStart?.(replicated)
  const { source, target, worker } = sidesOf(from, to, options, live ? { retries: 2 } : {})
  /** @type {import('./ready.js').Ready | undefined} */
  let ready
  const status = await watchReplicator(worker, replicated.id, {
    source,
    selector: replicated.doc.selector,
    live,
    signal,
    limits,
    async onState (now) {
      onState?.(now)
      if (!now.upToDate || ready) return
      try {
        ready = await makeReady(source, target, { isForAll, signal })
        onReady?.(ready)
      } catch (error) {
        if (!live || !isPassing(error)) throw error // otherwise at the next look
      }
    }
  })
  return { ...status, replicated, ready }
}
