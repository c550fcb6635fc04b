// The data of bench/export.js: a block of tiles of which some are equal, as sea is, and a second edition in which a
// tenth differs.
import { compact } from '../../loader/maintain/compact.js'
import { publish } from '../../loader/couchapp/publish.js'
import { LAYER, NEW, OLD, bytesOf, placesOf } from '../block.js'
import { newStore } from '../stoppable.js'

export const SEA = 5 // one tile out of SEA is sea: a single picture
export const CHANGED = 10 // one tile out of CHANGED differs in the second edition

const pictureOf = (index, time) => index % SEA === 0
  ? bytesOf(0, OLD) : bytesOf(index, time === NEW && index % CHANGED === 3 ? NEW : OLD)

/** @param {number} count tiles */
export function * edition (count, time) {
  for (const { z, x, y, index } of placesOf(count)) yield { layer: LAYER, z, x, y, time, bytes: pictureOf(index, time) }
}

/** The number of different pictures of an edition. */
export const distinctOf = count => Array.from({ length: count }, (_, index) => index)
  .filter(index => index % SEA).length + 1

/** A published store with both editions and its indexes built. */
export async function fillStore (url, count, { signal, closing, log }) {
  const store = await newStore(url, closing)
  await store.defineLayer(LAYER, { name: 'Tiles of a benchmark', format: 'png', minzoom: 14, maxzoom: 14 })
  for (const time of [OLD, NEW]) {
    const { failed, created, advanced } = await store.write(edition(count, time), { signal, stored: time })
    if (failed) throw new Error(`${failed} tiles were not written`)
    await store.putEdition(LAYER, time, { complete: true, started: time, finished: time, tiles: count })
    log(`  ${LAYER}@${time}: ${created + advanced} tiles written`)
  }
  await publish(store, { signal })
  await compact(store, { when: 'always', signal })
  return store
}
