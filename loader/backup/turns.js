// Of a store that is never quiet the feed is read to its end four times, one after the other. What a writer does second is taken from an
// earlier reading than what he does first: so nothing is there without what was written before it for its sake.
//   removal         past versions, then the head, then the layer
//   a head that falls back   the head is written, then the past copy goes
//   a load          the layer; the past copy of a head, then the head; its edition at the end
import { isTileId } from '../../core/index.js'

export const TURNS = 4

/**
 * The last reading in which such a change is taken; of later ones it is left for the next backup.
 * @param {{id: string, deleted: boolean}} row
 */
export function turnOf ({ id, deleted }) {
  const isTile = isTileId(id)
  const isPast = isTile && id.includes('@')
  if (deleted) return isPast ? 1 : 0
  if (isPast || id.startsWith('layer:')) return 3
  return isTile ? 2 : 0
}
