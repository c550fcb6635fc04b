// What is known of a layer before a load, and what others write while it runs: so that an edition is compared with the
// manifests of earlier ones, and no tile is read that nobody else has written.
//
// The last edition notes a position in the change feed, and which tiles differed from all manifests then (`baseline`).
// The feed tells what was written since.
import { headId, isAhead, isTileId, parseTileId } from '../../core/index.js'
import { identityOf } from '../../core/mirror/index.js'
import { canContinue, feedPosition, sequenceNumber } from '../../core/feed-position.js'
import { ignoring } from '../../core/promises.js'
import { peerOf } from '../store/peer.js'
import { TilecouchError } from '../errors.js'
import { BY_TIME } from '../store/reader.js'

export const baselineDefaults = {
  page: 10_000, // changes a request
  runs: 100, // whose manifests are compared with
  most: 2000 // tiles that are remembered one by one; with more of them, every tile is looked at
}

/** @typedef {Set<string> | undefined} Tiles ids of heads; undefined: there are too many to name them */

/**
 * The tiles of a layer that were written since a place in the feed.
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {string | number} since
 * @param {object} [options]
 * @param {AbortSignal} [options.signal]
 * @param {(tile: {z: number, x: number, y: number}, change: {id: string, changes: {rev: string}[]}) => boolean}
 *   [options.isOwn] whether a changed document is passed over; called for each of them
 * @returns {Promise<Tiles>}
 */
export async function tilesSince (couch, layer, since, { signal, isOwn = () => false } = {}) {
  const changedHeads = new Set()
  for await (const { results } of couch.changesSince(since, { page: baselineDefaults.page, signal })) {
    for (const change of results) {
      if (!change.id.startsWith(`${layer}:`)) continue
      const head = headId(change.id)
      if (isTileId(head) && !isOwn(parseTileId(head), change)) changedHeads.add(head)
      if (changedHeads.size > baselineDefaults.most) return undefined
    }
  }
  return changedHeads
}

/**
 * @typedef {object} Baseline up to a place in the feed, every tile of which the manifests of these runs speak is as the
 *   newest of them says
 * @property {string[]} runs
 * @property {string[]} differing tiles of which that is not so: single writes
 * @property {string | number} since
 * @property {string} identity
 * @property {string} [purged]
 *
 * @typedef {{runs: Set<string>, differing: Set<string>}} Trusted
 */

/**
 * Which manifests describe the present state, and which tiles differ from them.
 * @param {Awaited<ReturnType<typeof feedPositionOf>>} now
 * @param {AbortSignal} [signal]
 * @returns {Promise<Trusted | undefined>}
 */
export async function trustedNow (couch, layer, editions, now, signal) {
  /** @type {Baseline[]} */
  const bases = editions.map(({ baseline }) => baseline).filter(base => base && canContinue(base, now))
  const base = bases.sort((a, b) => sequenceNumber(a.since) - sequenceNumber(b.since)).at(-1)
  if (!base) return undefined
  const changed = await tilesSince(couch, layer, base.since, { signal })
  if (!changed) return undefined
  for (const id of base.differing) changed.add(id)
  return changed.size > baselineDefaults.most ? undefined : { runs: new Set(base.runs), differing: changed }
}

/**
 * Where the feed of a database is. Editions are mirrored, with the positions in them: so it names the database by its
 * own id as well, which no copy has.
 */
export async function feedPositionOf (couch, signal) {
  const [info, own] = await Promise.all([couch.request({ path: '', signal }), identityOf(peerOf(couch))])
  const place = positionIn(info)
  return { ...place, identity: `${place.identity} ${own}` }
}

/** A position without that id, for documents that are never mirrored: from what CouchDB says of a database. */
export const positionIn = info => ({ ...feedPosition(info), copies: info.cluster?.n ?? 1 })

/** How many documents were written between two positions; NaN where that is not exact. */
export const writesBetween = (before, after) =>
  before.copies === 1 ? sequenceNumber(after.since) - sequenceNumber(before.since) : NaN

// Tiles that are dated in the future, by a mistake mostly: every later load of an earlier time goes into their past,
// and the map no longer changes. Said when such a load is made, and by every load that meets it.

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {{layer: string, time: string, editions: any[], signal?: AbortSignal}} of time: that is loaded; editions: that
 *   there were before
 * @returns {Promise<TilecouchError[]>} none, or what is wrong
 */
export async function futureWarnings (couch, { layer, time, editions, signal }) {
  const newest = await newestOf(couch, layer, editions.at(-1)?.time, signal)
  if (newest && newest > time && isAhead(newest)) return [new TilecouchError('FUTURE_TIME', { layer, time, newest })]
  return isAhead(time) ? [new TilecouchError('FUTURE_TIME', { layer, time })] : []
}

/**
 * The newest time of a layer: of its last edition, or of what was written without one, as far as the index knows it by
 * now.
 * @returns {Promise<string | undefined>}
 */
export async function newestOf (couch, layer, edition, signal) {
  const newest = { startkey: [layer, {}], endkey: [layer], descending: true, limit: 1, reduce: false, update: false }
  const rows = await couch.view(BY_TIME, newest, signal).catch(ignoring('INDEX_MISSING')) // not published yet
  const written = rows?.[0]?.key[1]
  return !edition || written > edition ? written : edition
}

// What the last run of a command left, so that the next one looks only at what was written since: a position in the
// change feed, and what else the command wants to know. It is a `_local` document, which is not replicated: another
// store has its own runs. A run that was killed, or left anything to do, writes none, and the one before stays true.
// Where anything is doubtful the command looks at everything.

const FEW = 1000 // changes that are read in any case

const idOf = name => `_local/tilecouch-${name}`

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} name of the command, and of what it looks at
 * @param {AbortSignal} [signal]
 * @returns {Promise<{now: ReturnType<typeof positionIn>, last?: any}>} now: before anything is read
 */
export async function lastRun (couch, name, signal) {
  const info = await couch.request({ path: '', signal })
  const now = positionIn(info)
  // the copies of a cluster differ for a moment: what one of them has may be missing in an answer of another
  if (now.copies !== 1) return { now }
  const last = await couch.get(idOf(name), signal)
  if (!(sequenceNumber(last?.since) >= 0) || !canContinue(last, now)) return { now }
  // with as many changes as that, looking at everything takes less time than the feed
  const written = sequenceNumber(now.since) - sequenceNumber(last.since)
  return { now, ...(written <= Math.max(info.doc_count / 2, FEW) && { last }) }
}

/**
 * After a run that left nothing to do.
 * @param {ReturnType<typeof positionIn>} now
 * @param {object} found besides the position
 */
export async function noteRun (couch, name, now, found, signal) {
  const { copies, ...position } = now
  if (copies !== 1) return
  await couch.update(idOf(name), () => ({ ...position, ...found }), signal)
}
