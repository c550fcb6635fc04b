// Finds the past versions that were still visible at a time: for each tile the version with the greatest time up to
// that one, unless the head is not newer than that time. Mirrors with `since` use it. It reads many tiles in two
// requests from the primary index, which every store has and which is always current.
import { chunks } from '../lists.js'
import { compareIds, headId, isTileId, parseTileId } from '../ids.js'

export const visiblePastDefaults = {
  ranges: 200, // of ids per request; a range costs CouchDB as much as about forty rows
  near: 8, // rows of the map between two tiles that one range may cover
  depth: 8, // most versions of a tile that is read in one range with its neighbours
  slack: 20, // more rows of a range
  docs: 1000 // documents whose leaves are read at once
}

/**
 * @typedef {import('../couch/client.js').CouchClient} CouchClient
 * @typedef {{startkey: string, endkey: string, descending?: boolean, skip?: number, limit: number}} Range
 * @typedef {{column: string, digits: number, y: number, id: string}} Place
 */

/**
 * For Replication: finds the versions from before `since` that belong to a mirror, by ids of changed documents of their
 * tiles.
 *
 * A tile is read after its change, so the last change of a tile finds its final state. If a version from before `since`
 * is replaced by another one from before `since`, it stays in the mirror, where it is not visible from `since` on.
 * Deletions at the source are copied. (In a cluster the answering node may be behind the one that announced the change,
 * as with any read.)
 * @param {CouchClient} couch the source
 * @param {string} since exact time
 * @returns {(ids: string[], signal?: AbortSignal) => Promise<{id: string, revs: string[]}[]>}
 */
export const visiblePastOf = (couch, since) => async (ids, signal) => {
  const tiles = [...new Set(ids.map(headId))]
  const pastIds = await pastAt(couch, tiles, since, signal)
  const leaves = await readLeaves(couch, [...pastIds.keys(), ...pastIds.values()], signal)
  const rows = []
  for (const [head, id] of pastIds) {
    const time = /** @type {string} */ (parseTileId(id).time)
    // a head of the same time will be replaced: its copy is already in the past
    const hides = leaf => leaf.time > time && leaf.time <= since
    const heads = (leaves.get(head) ?? []).filter(leaf => !leaf._deleted)
    if (heads.length && heads.every(hides)) continue
    const revs = (leaves.get(id) ?? []).map(({ _rev: rev }) => rev)
    if (revs.length) rows.push({ id, revs })
  }
  return rows
}

/** Whether an id belongs to a past version up to a time. Other documents may sort between such ids. */
const isPast = (id, since) => isTileId(id) && id.includes('@') && id.split('@')[1] <= since

/**
 * The past version with the greatest time up to `since`, of each tile that has one.
 * @param {CouchClient} couch @param {string[]} tiles ids of heads @param {string} since @param {AbortSignal} [signal]
 * @returns {Promise<Map<string, string>>} id of the head -> id of the version
 */
async function pastAt (couch, tiles, since, signal) {
  /** @type {Map<string, string>} */
  const pastIds = new Map()
  const singleIds = /** @type {string[]} */ ([])
  const runs = []
  for (const run of runsOf(tiles)) {
    if (run.length === 1) singleIds.push(run[0].id)
    else runs.push(run)
  }
  const answers = await readRanges(couch, runs.map(rangeOf), signal)
  for (const [index, run] of runs.entries()) {
    const { limit } = rangeOf(run)
    const rows = answers[index]
    // all rows up to `end` were read; no id of a tile sorts after ~
    const end = rows.length < limit ? '~' : rows[limit - 1].id
    const past = new Map(run.filter(({ id }) => `${id}@~` < end).map(({ id }) => [id, '']))
    for (const { id } of run) if (!past.has(id)) singleIds.push(id)
    // ascending: the last time is the greatest
    for (const { id } of rows) if (past.has(headId(id)) && isPast(id, since)) past.set(headId(id), id)
    for (const [head, id] of past) if (id) pastIds.set(head, id)
  }
  /** @type {Range[]} */
  let ranges = singleIds.map(id => ({ startkey: `${id}@${since}`, endkey: `${id}@`, descending: true, limit: 1 }))
  while (ranges.length) {
    const more = []
    for (const [index, rows] of (await readRanges(couch, ranges, signal)).entries()) {
      const past = rows.find(({ id }) => isPast(id, since))
      if (past) pastIds.set(headId(past.id), past.id)
      else if (rows.length === ranges[index].limit) { // other documents have ids like versions: continue after them
        more.push({ ...ranges[index], startkey: rows[rows.length - 1].id, skip: 1, limit: visiblePastDefaults.docs })
      }
    }
    ranges = more
  }
  return pastIds
}

/** Groups neighbours in one column whose ids sort one after the other: their rows have the same number of digits. */
function runsOf (tiles) {
  const places = tiles.map(id => {
    const { layer, z, x, y } = parseTileId(id)
    return { column: `${layer}:${z}:${x}`, digits: `${y}`.length, y, id }
  })
  places.sort((a, b) => compareIds(a.column, b.column) || a.y - b.y)
  const runs = /** @type {Place[][]} */ ([])
  for (const place of places) {
    const run = runs.at(-1)
    const last = run?.at(-1)
    const isInColumn = last && last.column === place.column && last.digits === place.digits
    if (run && isInColumn && place.y - last.y <= visiblePastDefaults.near) run.push(place)
    else runs.push([place])
  }
  return runs
}

/** @param {Place[]} run @returns {Range} */
function rangeOf (run) {
  const [first, last] = [run[0], run[run.length - 1]]
  const { depth, slack } = visiblePastDefaults
  return { startkey: `${first.id}@`, endkey: `${last.id}@~`, limit: depth * (last.y - first.y + 1) + slack }
}

const readRanges = (couch, ranges, signal) => couch.ranges(ranges, signal, { most: visiblePastDefaults.ranges })

/**
 * Reads all leaves of documents, also deleted ones, without bytes.
 * @param {CouchClient} couch @param {string[]} ids @param {AbortSignal} [signal]
 * @returns {Promise<Map<string, any[]>>}
 */
export async function readLeaves (couch, ids, signal) {
  const leaves = new Map()
  for (const batch of chunks(ids, visiblePastDefaults.docs)) {
    for (const [id, docs] of await couch.leaves(batch, { signal })) leaves.set(id, docs)
  }
  return leaves
}
