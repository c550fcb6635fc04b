// Which tiles the store has and need not be asked for.
import { expiryOf, tileId } from '../../core/index.js'

/**
 * @typedef {object} Head what a seed knows of the newest version of a tile
 * @property {string} id
 * @property {string} rev
 * @property {string} time
 * @property {string | null} digest null when gone
 * @property {Record<string, any>} [origin]
 */

/**
 * The tiles of some groups that must be asked for, with their heads; groups of which nothing is left are left out.
 * @param {import('../store/index.js').Store} store
 * @param {Record<string, any>} doc the layer
 * @param {import('./walk.js').Group[]} groups
 * @param {{now: string, before?: string, signal?: AbortSignal}} options before: what was stored or checked earlier is asked for again
 * @returns {Promise<{jobs: Job[], fresh: number}>}
 *
 * @typedef {{z: number, x: number, y: number, id: string, head?: Head}} Wanted
 * @typedef {{tiles: Wanted[]}} Job one request
 */
export async function findStale (store, doc, groups, { now, before, signal }) {
  const ids = groups.flat().map(({ z, x, y }) => tileId(doc.layer, z, x, y))
  const rows = await store.couch.docs(ids, { signal })
  let fresh = 0
  let index = 0
  const jobs = []
  for (const group of groups) {
    const tiles = []
    for (const { z, x, y } of group) {
      const { id, doc: head } = rows[index++]
      if (head && isFresh(head, doc, now, before)) fresh++
      else tiles.push({ z, x, y, id, ...(head && { head: headOf(head) }) })
    }
    if (tiles.length) jobs.push({ tiles })
  }
  return { jobs, fresh }
}

/** A version that the upstream confirmed says so in its origin: since when it stands does not change by that. */
export function isFresh (head, doc, now, before = '') {
  const checked = head.origin?.checked ?? ''
  const known = checked > (head.stored ?? '') ? checked : head.stored ?? ''
  if (known < before) return false
  const expiry = expiryOf(head, doc)
  return expiry === null || expiry > now
}

/** @returns {Head} */
const headOf = ({ _id, _rev, time, origin, _attachments }) => ({ id: _id, rev: _rev, time, digest: _attachments?.tile?.digest ?? null, origin })
