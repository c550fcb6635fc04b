// Finds what is known of a layer before a load, and what others write while it runs. So an edition is compared with the
// manifests of earlier ones, and a load reads only tiles that others have written.
//
// The last edition stores a position in the change feed, and which tiles differed from all manifests then (`baseline`).
// The feed has all writes since.
import { headId, isAhead, isTileId, parseTileId } from '../../core/index.js'
import { identityOf } from '../../core/mirror/index.js'
import { canContinue, feedPosition, sequenceNumber } from '../../core/feed-position.js'
import { ignoring } from '../../core/promises.js'
import { peerOf } from '../store/peer.js'
import { TilecouchError } from '../errors.js'
import { BY_TIME } from '../store/reader.js'

export const baselineDefaults = {
  page: 10_000, // changes a request
  runs: 100, // runs whose manifests are compared with a tile
  most: 2000 // differing tiles that are kept by name; with more of them, every tile is read
}

/** @typedef {Set<string> | undefined} Tiles ids of heads; undefined: there are too many to name them */

/**
 * The tiles of a layer that were written since a position in the feed.
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} layer
 * @param {string | number} since
 * @param {object} [options]
 * @param {AbortSignal} [options.signal]
 * @param {(tile: {z: number, x: number, y: number}, change: {id: string, changes: {rev: string}[]}) => boolean}
 *   [options.isOwn] whether to ignore a changed document; called for each
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
 * @typedef {object} Baseline up to a position in the feed, each tile in the manifests of these runs is as the newest of
 *   them says
 * @property {string[]} runs
 * @property {string[]} differing tiles that are not: single writes
 * @property {string | number} since
 * @property {string} identity
 * @property {string} [purged]
 *
 * @typedef {{runs: Set<string>, differing: Set<string>}} Trusted
 */

/**
 * Finds which manifests describe the present state, and which tiles differ from them.
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
 * The position of the feed of a database, with the database's own id. Editions are mirrored with their positions, and
 * no copy has that id.
 */
export async function feedPositionOf (couch, signal) {
  const [info, ownId] = await Promise.all([couch.request({ path: '', signal }), identityOf(peerOf(couch))])
  const place = positionIn(info)
  return { ...place, identity: `${place.identity} ${ownId}` }
}

/** A position without that id, for documents that are never mirrored. It is read from the info of a database. */
export const positionIn = info => ({ ...feedPosition(info), copies: info.cluster?.n ?? 1 })

/** How many documents were written between two positions; NaN if that is not exact. */
export const writesBetween = (earlier, later) =>
  earlier.copies === 1 ? sequenceNumber(later.since) - sequenceNumber(earlier.since) : NaN

// Warnings about tiles that are dated in the future, mostly by mistake: later loads of an earlier time go into their
// past, and the map no longer changes. The load itself gives the warning, and so does every later one.

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {{layer: string, time: string, editions: any[], signal?: AbortSignal}} load time: of the new edition;
 *   editions: the earlier ones
 * @returns {Promise<TilecouchError[]>}
 */
export async function futureWarnings (couch, { layer, time, editions, signal }) {
  const newest = await newestOf(couch, layer, editions.at(-1)?.time, signal)
  if (newest && newest > time && isAhead(newest)) return [new TilecouchError('FUTURE_TIME', { layer, time, newest })]
  return isAhead(time) ? [new TilecouchError('FUTURE_TIME', { layer, time })] : []
}

/**
 * The newest time of a layer: of its last edition, or of versions without an edition. The index may be behind.
 * @returns {Promise<string | undefined>}
 */
export async function newestOf (couch, layer, edition, signal) {
  const newest = { startkey: [layer, {}], endkey: [layer], descending: true, limit: 1, reduce: false, update: false }
  const rows = await couch.view(BY_TIME, newest, signal).catch(ignoring('INDEX_MISSING')) // not published yet
  const written = rows?.[0]?.key[1]
  return !edition || written > edition ? written : edition
}

// The state that the last run of a command left, so that the next run reads only later writes: a position in the change
// feed, and fields of the command. It is a `_local` document, which is not replicated: another store has its own runs.
// A run that was killed, or is not complete, writes none, and the earlier state stays valid. In case of doubt, the
// command reads everything.

const FEW = 1000 // changes that are read in any case

const idOf = name => `_local/tilecouch-${name}`

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string} name of the command, and of the data that it reads
 * @param {AbortSignal} [signal]
 * @returns {Promise<{now: ReturnType<typeof positionIn>, last?: any}>} now: before anything is read
 */
export async function lastRun (couch, name, signal) {
  const info = await couch.request({ path: '', signal })
  const now = positionIn(info)
  // the copies of a cluster differ for a moment: an answer of one may lack documents of another
  if (now.copies !== 1) return { now }
  const last = await couch.get(idOf(name), signal)
  if (!(sequenceNumber(last?.since) >= 0) || !canContinue(last, now)) return { now }
  // with more changes, reading everything takes less time than reading the feed
  const written = sequenceNumber(now.since) - sequenceNumber(last.since)
  return { now, ...(written <= Math.max(info.doc_count / 2, FEW) && { last }) }
}

/**
 * Stores the state of a complete run.
 * @param {ReturnType<typeof positionIn>} now
 * @param {object} fields of the command, stored with the position
 */
export async function noteRun (couch, name, now, fields, signal) {
  const { copies, ...position } = now
  if (copies !== 1) return
  await couch.update(idOf(name), () => ({ ...position, ...fields }), signal)
}
