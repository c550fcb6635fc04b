// Repairs tiles whose documents are valid, but do not make one timeline. Each tile is read again with its whole past,
// and a write never destroys anything:
//
//   - tiles whose versions are out of order, or that have no head, are settled, as when conflicts are resolved
//   - if a version is in the past twice, the later document is deleted
//
// A document with wrong fields or bytes stays as it is: its right content is not known here.
import { byLayer } from '../../core/ids.js'
import { readTileLeaves } from '../../core/store/documents.js'
import { peerOf } from '../store/peer.js'
import { deterministicAccess, settleAll } from '../store/settle.js'
import { endTwins, faultsIn, faultsOf } from './tile.js'

const ROUNDS = 6 // for a tile: one repair may uncover another fault

/**
 * @param {import('../store/index.js').Store} store
 * @param {string[]} ids of heads
 * @param {{signal?: AbortSignal, onLeft: (id: string, reason: string) => void}} options
 * @returns {Promise<Set<string>>} faults that remain, as `code id`
 */
export async function repairTimelines ({ couch }, ids, { signal, onLeft }) {
  const access = deterministicAccess(couch)
  let writes = 0
  const onSettled = settled => {
    for (const [id, { done, error, odd }] of settled) {
      writes += done.length
      if (error && !odd) onLeft(id, error.message)
    }
  }
  for (let round = 0; round < ROUNDS; round++) {
    const writesBefore = writes
    for (const [layer, tileIds] of byLayer(ids)) await settleAll(couch, layer, tileIds, { access, signal, onSettled })
    const tiles = await readTileLeaves(couch, ids, signal)
    const soundTiles = tiles.filter(({ heads, pasts }) => [...heads, ...pasts].every(doc => !faultsOf(doc).length))
    const tombstones = soundTiles.flatMap(endTwins)
    const refused = tombstones.length ? await peerOf(couch).write(tombstones, signal) : [] // as a replicator does
    for (const { id, reason, error } of refused) onLeft(id, reason || error)
    writes += tombstones.length - refused.length
    if (writes === writesBefore) break
  }
  return faultsIn(await readTileLeaves(couch, ids, signal))
}
