// What is known of a layer before a load, and what others write while it runs: so that an edition is compared with the
// manifests of earlier ones, and no tile is read that nobody else has written.
//
// The last edition notes a position in the change feed, and which tiles differed from all manifests then (`baseline`).
// The feed tells what was written since.
import { headId, isTileId, parseTileId } from '../../core/index.js'
import { identityOf } from '../../core/mirror/index.js'
import { canContinue, feedPosition, sequenceNumber } from '../../core/feed-position.js'
import { peerOf } from '../store/peer.js'

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
  const found = new Set()
  for await (const { results } of couch.changesSince(since, { page: baselineDefaults.page, signal })) {
    for (const change of results) {
      if (!change.id.startsWith(`${layer}:`)) continue
      const head = headId(change.id)
      if (isTileId(head) && !isOwn(parseTileId(head), change)) found.add(head)
      if (found.size > baselineDefaults.most) return undefined
    }
  }
  return found
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
