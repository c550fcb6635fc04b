// Every leaf of documents, those that were ended as well.
import { pastRange } from '../../core/index.js'

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string[]} ids
 * @param {AbortSignal} [signal]
 * @returns {Promise<Map<string, {living: any[], ended: any[]}>>} without bytes; nothing of documents that there never were
 */
export async function readLeaves (couch, ids, signal) {
  const found = new Map()
  for (const [id, leaves] of await couch.leaves(ids, { signal })) {
    if (leaves.length) found.set(id, { living: leaves.filter(doc => !doc._deleted), ended: leaves.filter(doc => doc._deleted) })
  }
  return found
}

/**
 * Living leaves of tiles, without bytes.
 * @param {import('../store/couch.js').Couch} couch
 * @param {string[]} ids of heads
 * @param {AbortSignal} [signal]
 * @returns {Promise<{id: string, heads: any[], pasts: any[]}[]>} pasts: in the order of their ids
 */
export async function readTiles (couch, ids, signal) {
  const heads = await readLeaves(couch, ids, signal)
  const ranges = await couch.ranges(ids.map(id => ({ ...pastRange(id), include_docs: true, conflicts: true })), signal)
  const pasts = await readLeaves(couch, ranges.flat().filter(({ doc }) => doc?._conflicts).map(({ id }) => id), signal)
  return ids.map((id, at) => ({
    id,
    heads: heads.get(id)?.living ?? [],
    pasts: ranges[at].filter(({ doc }) => doc).flatMap(({ id: past, doc }) => doc._conflicts ? pasts.get(past)?.living ?? [] : [doc])
  }))
}
