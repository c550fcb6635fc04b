// The store that is mirrored: seeded tiles of one size, in a database of this run.
import { newStore } from '../stoppable.js'
import { noiseTile } from '../tiles.js'

export const LAYER = 'bench'
const TIME = '2024-03-01T00:00:00Z'
const SIDE = 200

export async function storeOf (url, { tiles, bytes, signal, closing }) {
  const store = await newStore(url, closing)
  await store.defineLayer(LAYER, { name: 'Tiles of a benchmark', format: 'png', minzoom: 14, maxzoom: 14 })
  const { failed } = await store.write(generateTiles(tiles, bytes), { signal, stored: TIME })
  if (failed) throw new Error(`${failed} tiles were not written`)
  return store
}

function * generateTiles (tiles, bytes) {
  for (let index = 0; index < tiles; index++) {
    yield { layer: LAYER, z: 14, x: 1000 + Math.floor(index / SIDE), y: 1000 +
      index % SIDE, time: TIME, bytes: noiseTile(index, bytes) }
  }
}
