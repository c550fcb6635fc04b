// Finds the past versions that were still visible at a time: of each tile the version with the greatest time up to
// then, unless the head is as old. Mirrors with `since` use it. It reads many tiles in two requests, from the primary
// index alone, which every store has and which is never behind.
import { chunks } from '../lists.js'
import { compareIds, headId, isTileId, parseTileId } from '../ids.js'

export const visiblePastDefaults = {
  ranges: 200, // of ids in a request; one costs CouchDB as much as some forty rows
  near: 8, // rows of the map between two tiles that one range may cover
  depth: 8, // versions that a tile may have to be read with its neighbours
  slack: 20, // rows of a range beyond those
  docs: 1000 // documents whose leaves are read at once
}

/**
 * @typedef {import('../couch/client.js').CouchClient} CouchClient
 * @typedef {{startkey: string, endkey: string, descending?: boolean, skip?: number, limit: number}} Range
 * @typedef {{column: string, digits: number, y: number, id: string}} Place
 */

/**
 * For Replication: finds the versions from before `since` that belong to a mirror, given ids of changed documents of
 * their tiles.
 *
 * A tile is read after its change was, so the last change of a tile finds its final state. A version that another one
 * from before `since` has replaced stays in the mirror: it is not visible from `since` on. Deletions at the
 * source are copied. (In a cluster the node that answers may be behind the one that announced the change, as with any
 * read.)
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
    // a head of the same time is about to be replaced: its copy is in the past already
    const hides = leaf => leaf.time > time && leaf.time <= since
    const heads = (leaves.get(head) ?? []).filter(leaf => !leaf._deleted)
    if (heads.length && heads.every(hides)) continue
    const revs = (leaves.get(id) ?? []).map(({ _rev: rev }) => rev)
    if (revs.length) rows.push({ id, revs })
  }
  return rows
}

/** Whether an id is of a past version up to that time. Other documents may sort between them. */
const isPast = (id, since) => isTileId(id) && id.includes('@') && id.split('@')[1] <= since

/**
 * The past version with the greatest time up to `since`, of each tile that has one.
 * @param {CouchClient} couch @param {string[]} tiles ids of heads @param {string} since @param {AbortSignal} [signal]
 * @returns {Promise<Map<string, string>>} id of the head -> of the version
 */
async function pastAt (couch, tiles, since, signal) {
  /** @type {Map<string, string>} */
  const pastIds = new Map()
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
    // every row up to here is known; no id of a tile sorts after ~
    const end = rows.length < limit ? '~' : rows[limit - 1].id
    const past = new Map(run.filter(({ id }) => `${id}@~` < end).map(({ id }) => [id, '']))
    for (const { id } of run) if (!past.has(id)) alone.push(id)
    // ascending: the last is the greatest
    for (const { id } of rows) if (past.has(headId(id)) && isPast(id, since)) past.set(headId(id), id)
    for (const [head, id] of past) if (id) pastIds.set(head, id)
  }
  /** @type {Range[]} */
  let ranges = alone.map(id => ({ startkey: `${id}@${since}`, endkey: `${id}@`, descending: true, limit: 1 }))
  while (ranges.length) {
    const further = []
    for (const [at, rows] of (await ask(couch, ranges, signal)).entries()) {
      const past = rows.find(({ id }) => isPast(id, since))
      if (past) pastIds.set(headId(past.id), past.id)
      else if (rows.length === ranges[at].limit) { // other documents have ids like versions: go on after them
        further.push({ ...ranges[at], startkey: rows[rows.length - 1].id, skip: 1, limit: visiblePastDefaults.docs })
      }
    }
    ranges = further
  }
  return pastIds
}

/** Groups neighbours in one column whose ids follow one another: those with equally many digits. */
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
    const isBeside = last && last.column === place.column && last.digits === place.digits
    if (run && isBeside && place.y - last.y <= visiblePastDefaults.near) run.push(place)
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

const ask = (couch, ranges, signal) => couch.ranges(ranges, signal, { most: visiblePastDefaults.ranges })

/**
 * Every leaf of documents, deleted ones included, without their bytes.
 * @param {CouchClient} couch @param {string[]} ids @param {AbortSignal} [signal]
 * @returns {Promise<Map<string, any[]>>}
 */
export async function readLeaves (couch, ids, signal) {
  const leaves = new Map()
  for (const part of chunks(ids, visiblePastDefaults.docs)) {
    for (const [id, own] of await couch.leaves(part, { signal })) leaves.set(id, own)
  }
  return leaves
}
