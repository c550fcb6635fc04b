// Every leaf of documents, those that were ended as well.
import { leavesOf } from '../store/leaves.js'

/**
 * @param {import('../store/couch.js').Couch} couch
 * @param {string[]} ids
 * @param {AbortSignal} [signal]
 * @returns {Promise<Map<string, {living: any[], ended: any[]}>>} without bytes; nothing of documents that there never were
 */
export async function readLeaves (couch, ids, signal) {
  const found = new Map()
  if (!ids.length) return found
  const answer = await couch.request({ method: 'POST', path: '_bulk_get', body: { docs: ids.map(id => ({ id })) }, signal })
  for (const doc of leavesOf(answer)) {
    const leaves = found.get(doc._id) ?? found.set(doc._id, { living: [], ended: [] }).get(doc._id)
    leaves[doc._deleted ? 'ended' : 'living'].push(doc)
  }
  return found
}
