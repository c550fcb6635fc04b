// Reads the timelines of tiles from ranges of the primary index, which is always up to date. A range costs CouchDB as
// much as the rows of twenty tiles, so tiles that follow each other in a column share a range.
import { askEach, noAnswer, winnerOf } from '../../../core/couch/answers.js'
import { compareIds, headId, isExactTime, parseTileId, pastRange, timeline } from '../../../core/index.js'

/** Few retries: a client waits. */
export const TRIES = { tries: 3, firstDelay: 20 }

const TOGETHER = 4 // most tiles whose heads are read with their past: for more tiles, _bulk_get costs half
const GAP = 2 // rows from a tile to the next one that may share its range

/** @typedef {import('./reader.js').Moment} Moment */

/**
 * The versions of tiles, oldest first, by the ids of their heads.
 * @param {import('./reader.js').Couch} couch @param {string[]} ids @param {import('./reader.js').ReadOptions} [options]
 * @returns {Promise<Map<string, Moment[] | Error>>}
 */
export async function readTimelines (couch, ids, options = {}) {
  const { rows, failed } = await askEach(ids, async pendingIds => {
    const runs = runsOf(pendingIds)
    const read = pendingIds.length > TOGETHER ? readApart : readTogether
    const { headOf, pasts } = await read(couch, pendingIds, runs, options)
    return runs.flatMap((run, index) => {
      const { rows: pastRows, error = pastRows ? undefined : 'no rows', reason } = pasts[index] ?? {}
      const byHead = new Map(run.map(id => [id, /** @type {string[]} */ ([])]))
      for (const row of pastRows ?? []) byHead.get(headId(row.id))?.push(row.id)
      return run.flatMap(id => {
        const head = headOf(id)
        return head && pasts[index] ? { id, error, reason, ...head, past: byHead.get(id) } : []
      })
    })
  }, { limits: TRIES })
  const answerOf = id => failed.has(id)
    ? noAnswer(couch.url, [id], failed.get(id))
    : timelineOf(id, /** @type {any} */ (rows.get(id))[0])
  return new Map(ids.map(id => [id, answerOf(id)]))
}

// Heads are read before their past: if a head is overwritten in between, its content is then in the past.

/** Reads heads and past in one request. */
async function readTogether (couch, ids, runs, options) {
  const [heads, ...pasts] = await couch.tryRanges([{ keys: ids, include_docs: true }, ...runs.map(rangeOf)], options)
  // by key, not by position: for a single missing key CouchDB answers with an error instead of a row
  const byKey = new Map(heads?.rows?.map(row => [row.key, row]))
  const isSingleId = ids.length === 1 && heads?.rows && !heads.error
  return {
    pasts,
    headOf: id => {
      const head = /** @type {any} */ (byKey.get(id)) ?? (isSingleId ? { error: 'not_found' } : undefined)
      return head && (head.error && head.error !== 'not_found' ? failureOf(head) : { doc: head.doc })
    }
  }
}

/** Reads heads and past in two requests. */
async function readApart (couch, ids, runs, options) {
  const { leaves, failed } = await couch.tryLeaves(ids, { ...options, limits: { tries: 1 } })
  return {
    pasts: await couch.tryRanges(runs.map(rangeOf), options),
    headOf: id => failed.has(id) ? failureOf(failed.get(id)) : { doc: winnerOf(leaves.get(id)) }
  }
}

const failureOf = ({ error, reason }) => ({ error, reason })

const rangeOf = run => ({ startkey: pastRange(run[0]).startkey, endkey: pastRange(run[run.length - 1]).endkey })

/** Groups the ids of heads by shared range, in the order of the range. */
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

/** Whether few other ids lie between the ids of two tiles. */
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
    // any other id is not a version
    if (isExactTime(time)) moments.push({ id: version, time, current: false })
  }
  if (!doc?._deleted && isExactTime(doc?.time)) moments.push({ id, time: doc.time, current: true })
  return timeline(moments)
}
