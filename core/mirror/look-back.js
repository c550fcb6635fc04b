// What of the past was still to be seen at a time: of each tile the version with the greatest time up to then, unless the head
// is itself that old. Of many tiles in two requests, from the primary index alone: it is there wherever a store is, and never behind.
import { leavesOf } from '../couch/answers.js'
import { headId, isTileId, parseTileId } from '../ids.js'
import { askQueries } from '../couch/queries.js'

export const lookBackDefaults = {
  ranges: 200, // of ids in a request; one costs CouchDB as much as some forty rows
  near: 8, // rows of the map between two tiles that are read as well, so that both are in one range
  depth: 8, // versions a tile has at most, so that it is read with its neighbours
  slack: 20, // rows of a range beyond those
  docs: 1000 // documents whose revisions are asked for at once
}

/**
 * @typedef {{request: (request: any) => Promise<any>}} Asking
 * @typedef {{startkey: string, endkey: string, descending?: boolean, skip?: number, limit: number}} Range
 * @typedef {{column: string, digits: number, y: number, id: string}} Place
 */

/**
 * As Replication takes it: answers the versions from before `since` that belong to a mirror, of the tiles that the ids are of.
 *
 * The tiles of a change are looked at as they are when it is read, which is not before the change: the last change of a tile finds
 * it as it stays. A version that was in force until another of before `since` was loaded after it is not taken away again: nobody
 * who asks from `since` on sees it. What is deleted at the source is deleted at the mirror. (In a cluster a copy that answers here may
 * be behind the one that told of the change, as any of its reads may be.)
 * @param {Asking} couch the source
 * @param {string} since exact time
 * @returns {(ids: string[], signal?: AbortSignal) => Promise<{id: string, revs: string[]}[]>}
 */
export const lookBackOf = (couch, since) => async (ids, signal) => {
  const tiles = [...new Set(ids.map(headId))]
  const found = await pastAt(couch, tiles, since, signal)
  const leaves = await readLeaves(couch, [...found.keys(), ...found.values()], signal)
  const rows = []
  for (const [head, id] of found) {
    const time = /** @type {string} */ (parseTileId(id).time)
    // a head of the same time is one whose copy stands in the past already: the next moment it may be a newer one
    const hides = leaf => leaf.time > time && leaf.time <= since
    const heads = (leaves.get(head) ?? []).filter(leaf => !leaf._deleted)
    if (heads.length && heads.every(hides)) continue
    const revs = (leaves.get(id) ?? []).map(({ _rev: rev }) => rev)
    if (revs.length) rows.push({ id, revs })
  }
  return rows
}


/** Whether it is a past version that began by then. What stands among them need not be one. */
const isPast = (id, since) => isTileId(id) && id.includes('@') && id.split('@')[1] <= since

/**
 * The past version with the greatest time up to `since`, of each tile that has one.
 * @param {Asking} couch @param {string[]} tiles ids of heads @param {string} since @param {AbortSignal} [signal]
 * @returns {Promise<Map<string, string>>} id of the head -> of the version
 */
async function pastAt (couch, tiles, since, signal) {
  /** @type {Map<string, string>} */
  const found = new Map()
  const alone = /** @type {string[]} */ ([])
  const runs = []
  for (const run of runsOf(tiles)) {
    if (run.length === 1) alone.push(run[0].id)
    else runs.push(run)
  }
  const answers = await ask(couch, runs.map(rangeOf), signal)
  for (const [at, run] of runs.entries()) {
    const { limit } = rangeOf(run)
    const rows = answers[at]
    const end = rows.length < limit ? '~' : rows[limit - 1].id // up to here every row is known; no id of a tile sorts after a ~
    const past = new Map(run.filter(({ id }) => `${id}@~` < end).map(({ id }) => [id, '']))
    for (const { id } of run) if (!past.has(id)) alone.push(id)
    for (const { id } of rows) if (past.has(headId(id)) && isPast(id, since)) past.set(headId(id), id) // ascending: the last is the greatest
    for (const [head, id] of past) if (id) found.set(head, id)
  }
  /** @type {Range[]} */
  let ranges = alone.map(id => ({ startkey: `${id}@${since}`, endkey: `${id}@`, descending: true, limit: 1 }))
  while (ranges.length) {
    const on = []
    for (const [at, rows] of (await ask(couch, ranges, signal)).entries()) {
      const past = rows.find(({ id }) => isPast(id, since))
      if (past) found.set(headId(past.id), past.id)
      // somebody else's documents are called as if they were versions: on beyond them
      else if (rows.length === ranges[at].limit) on.push({ ...ranges[at], startkey: rows[rows.length - 1].id, skip: 1, limit: lookBackDefaults.docs })
    }
    ranges = on
  }
  return found
}

/** Neighbours in one column whose ids follow one another: those of equally many digits. @param {string[]} tiles */
function runsOf (tiles) {
  const places = tiles.map(id => {
    const { layer, z, x, y } = parseTileId(id)
    return { column: `${layer}:${z}:${x}`, digits: `${y}`.length, y, id }
  })
  places.sort((a, b) => a.column < b.column ? -1 : a.column > b.column ? 1 : a.y - b.y)
  const runs = /** @type {Place[][]} */ ([])
  for (const place of places) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    if (run && last && last.column === place.column && last.digits === place.digits && place.y - last.y <= lookBackDefaults.near) run.push(place)
    else runs.push([place])
  }
  return runs
}

/** @param {Place[]} run @returns {Range} */
function rangeOf (run) {
  const [first, last] = [run[0], run[run.length - 1]]
  const { depth, slack } = lookBackDefaults
  return { startkey: `${first.id}@`, endkey: `${last.id}@~`, limit: depth * (last.y - first.y + 1) + slack }
}

/** @param {Asking} couch @param {Range[]} ranges @param {AbortSignal} [signal] @returns {Promise<{id: string}[][]>} the rows of each */
const ask = (couch, ranges, signal) => askQueries(couch, '_all_docs', ranges, { most: lookBackDefaults.ranges, signal })

/**
 * Every leaf of documents, the deleted ones as well, without their bytes.
 * @param {Asking} couch @param {string[]} ids @param {AbortSignal} [signal]
 * @returns {Promise<Map<string, any[]>>}
 */
export async function readLeaves (couch, ids, signal) {
  const leaves = new Map()
  for (let at = 0; at < ids.length; at += lookBackDefaults.docs) {
    for (const [id, own] of await leavesOf(couch, ids.slice(at, at + lookBackDefaults.docs), { signal })) leaves.set(id, own)
  }
  return leaves
}
