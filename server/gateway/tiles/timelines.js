// The versions of tiles, by ranges of the primary index, which is never behind. A range costs CouchDB as much as the
// rows of twenty tiles, so that tiles that follow each other in a column share one.
import { askEach, noAnswer, winnerOf } from '../../../core/couch/answers.js'
import { compareIds, headId, isExactTime, parseTileId, pastRange, timeline } from '../../../core/index.js'

/** A client waits: what has no answer is not asked for long. */
export const TRIES = { tries: 3, firstDelay: 20 }

const TOGETHER = 4 // tiles at most whose heads are read with their pasts: _bulk_get reads more at half the price
const GAP = 2 // rows at most from a tile to the next one that shares its range

/** @typedef {import('./reader.js').Moment} Moment */

/**
 * The versions of tiles, oldest first, by the ids of their heads.
 * @param {import('./reader.js').Couch} couch @param {string[]} ids @param {import('./reader.js').How} [how]
 * @returns {Promise<Map<string, Moment[] | Error>>}
 */
export async function readTimelines (couch, ids, how = {}) {
  const { rows, failed } = await askEach(ids, async left => {
    const runs = runsOf(left)
    const { headOf, pasts } = await (left.length > TOGETHER ? readApart : readTogether)(couch, left, runs, how)
    return runs.flatMap((run, at) => {
      const { rows: past, error = past ? undefined : 'no rows', reason } = pasts[at] ?? {}
      const byHead = new Map(run.map(id => [id, /** @type {string[]} */ ([])]))
      for (const row of past ?? []) byHead.get(headId(row.id))?.push(row.id)
      return run.flatMap(id => {
        const head = headOf(id)
        return head && pasts[at] ? { id, error, reason, ...head, past: byHead.get(id) } : []
      })
    })
  }, { limits: TRIES })
  const answerOf = id => failed.has(id)
    ? noAnswer(couch.url, [id], failed.get(id))
    : timelineOf(id, /** @type {any} */ (rows.get(id))[0])
  return new Map(ids.map(id => [id, answerOf(id)]))
}

// Heads are read before their pasts: the content of a head that is overwritten in between is in the past by then.

/** In one request. */
async function readTogether (couch, ids, runs, how) {
  const [heads, ...pasts] = await couch.tryRanges([{ keys: ids, include_docs: true }, ...runs.map(rangeOf)], how)
  // by key, not by position: for a single missing key CouchDB answers with an error instead of a row
  const byKey = new Map(heads?.rows?.map(row => [row.key, row]))
  const isOnlyOne = ids.length === 1 && heads?.rows && !heads.error
  return {
    pasts,
    headOf: id => {
      const head = /** @type {any} */ (byKey.get(id)) ?? (isOnlyOne ? { error: 'not_found' } : undefined)
      return head && (head.error && head.error !== 'not_found' ? failureOf(head) : { doc: head.doc })
    }
  }
}

/** In two requests. */
async function readApart (couch, ids, runs, how) {
  const { leaves, failed } = await couch.tryLeaves(ids, { ...how, limits: { tries: 1 } })
  return {
    pasts: await couch.tryRanges(runs.map(rangeOf), how),
    headOf: id => failed.has(id) ? failureOf(failed.get(id)) : { doc: winnerOf(leaves.get(id)) }
  }
}

const failureOf = ({ error, reason }) => ({ error, reason })

const rangeOf = run => ({ startkey: pastRange(run[0]).startkey, endkey: pastRange(run[run.length - 1]).endkey })

/** The ids of heads whose tiles share a range, in its order. */
function runsOf (ids) {
  const tiles = ids.map(id => ({ id, ...parseTileId(id) }))
  tiles.sort((a, b) => compareIds(a.layer, b.layer) || a.z - b.z || a.x - b.x || a.y - b.y)
  /** @type {string[][]} */
  const runs = []
  let last
  for (const tile of tiles) {
    if (last && areNear(last, tile)) runs.at(-1)?.push(tile.id)
    else runs.push([tile.id])
    last = tile
  }
  return runs
}

/** Whether little else lies between the ids of two tiles. */
function areNear (a, b) {
  if (a.layer !== b.layer || a.z !== b.z || a.x !== b.x || b.y - a.y > GAP) return false
  // between osm:4:7:1 and osm:4:7:2 are osm:4:7:10 to 15
  return `${a.y}`.length === `${b.y}`.length && a.y * 10 >= 2 ** a.z
}

function timelineOf (id, { doc, past }) {
  /** @type {Moment[]} */
  const moments = []
  for (const version of past) {
    const time = version.slice(id.length + 1)
    // any other id is no version
    if (isExactTime(time)) moments.push({ id: version, time, current: false })
  }
  if (!doc?._deleted && isExactTime(doc?.time)) moments.push({ id, time: doc.time, current: true })
  return timeline(moments)
}
