// What is known of a layer before a load, and what others write while it runs: so that an edition is compared with the
// manifests of earlier ones, and no tile is read that nobody else has written.
//
// The last edition notes a position in the change feed, and which tiles differed from all manifests then (`baseline`).
// The feed tells what was written since.
import { headId, isTileId, parseTileId } from '../../core/index.js'
import { canContinue, feedPosition, sequenceNumber } from '../../core/feed-position.js'

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
 * @param {{signal?: AbortSignal, isOwn?: (tile: {z: number, x: number, y: number}) => boolean}} [options] isOwn: tiles
 *   that are passed over
 * @returns {Promise<Tiles>}
 */
export async function tilesSince (couch, layer, since, { signal, isOwn = () => false } = {}) {
  const found = new Set()
  for await (const { results } of couch.changesSince(since, { page: baselineDefaults.page, signal })) {
    for (const { id } of results) {
      if (!id.startsWith(`${layer}:`)) continue
      const head = headId(id)
      if (!found.has(head) && isTileId(head) && !isOwn(parseTileId(head))) found.add(head)
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

/** Where the feed of a store is. */
export async function feedPositionOf (couch, signal) {
  return positionIn(await couch.request({ path: '', signal }))
}

/** The same, from what CouchDB says of a database. */
export const positionIn = info => ({ ...feedPosition(info), copies: info.cluster?.n ?? 1 })

/** How many documents were written between two positions; NaN where that is not exact. */
export const writesBetween = (before, after) =>
  before.copies === 1 ? sequenceNumber(after.since) - sequenceNumber(before.since) : NaN
