// Layers for tests of downloads: pictures that tell their place and time, in realistic numbers.
import { T, history, tilesOf } from '../client/gallery.js'
import { image, vectorTile } from '../sample-tiles.js'

export { T, tilesOf }

/** All tiles up to a zoom: 5,461 up to zoom 6, 1,365 up to 5, 341 up to 4. */
export const downTo = z => Array.from({ length: z + 1 }, (_, zoom) => tilesOf(zoom)).flat()

/** Tiles of the deepest zoom that are gone at step 3. */
const GONE = [[6, 40, 20], [6, 41, 20], [6, 0, 30], [6, 63, 30]]

const TWICE = { 1: tilesOf(3), 2: tilesOf(3, (x, y) => x % 2 === 0 && y % 2 === 0) }

/** Fields of the documents, and the tiles that each step writes. */
export const layers = {
  // 5,461 tiles; every fourth tile of the deepest zoom has a past, and four are gone
  world: {
    fields: { name: 'World', minzoom: 0, maxzoom: 6 },
    steps: { 1: downTo(6), 2: tilesOf(6, (x, y) => x % 2 === 0 && y % 2 === 0), 3: GONE.map(tile => [...tile, true]) }
  },
  // 341 tiles, twice each
  small: { fields: { name: 'Small', minzoom: 0, maxzoom: 4 }, steps: { 1: downTo(4), 2: downTo(4) } },
  // 1,365 tiles without a past
  plain: { fields: { name: 'Plain', minzoom: 0, maxzoom: 5 }, steps: { 1: downTo(5) } },
  // 341 tiles of some 5 kB: they fill a device without many documents
  heavy: { fields: { minzoom: 0, maxzoom: 4 }, steps: { 1: downTo(4) }, bytes: (step, [z, x, y]) =>
    image('png', z * 1000 + x * 16 + y, 48) },
  // other kinds of images, 64 each, a quarter of them twice
  photos: { fields: { minzoom: 3, maxzoom: 3 }, steps: TWICE, bytes: (step, [, x, y]) =>
    image(x % 2 ? 'jpeg' : 'webp', step * 64 + x * 8 + y, 16) },
  roads: { fields: { minzoom: 3, maxzoom: 3, format: 'pbf' }, steps: TWICE, bytes: (step, [, x, y]) =>
    vectorTile(step * 64 + x * 8 + y) },
  large: { fields: { minzoom: 3, maxzoom: 3, tileSize: 512 }, steps: TWICE },
  // tiles that are gone and come back; one tile is never anything but gone
  gone: {
    fields: { minzoom: 3, maxzoom: 3 },
    steps: { 1: tilesOf(3, x => x < 6), 2: tilesOf(3, x => x < 3)
      .map(tile => [...tile, true]), 3: [...tilesOf(3, x => x === 0), [3, 7, 7, true]] }
  }
}

/** @param {import('../../../loader/index.js').Store} store @param {string[]} names */
export async function writeWorld (store, names) {
  for (const name of names) {
    await store.defineLayer(name, layers[name].fields)
    await load(store, name, layers[name].steps)
  }
}

/** Loads editions: step -> tiles. */
export async function load (store, layer, steps) {
  for (const [step, tiles] of Object.entries(steps)) {
    const time = T(+step)
    await store.putEdition(layer, time, { started: time, finished: undefined })
    const { bytes } = layers[layer]
    const versions = bytes
      ? await Promise.all(
        tiles.map(async tile => ({ layer, z: tile[0], x: tile[1], y: tile[2], time, bytes: await bytes(+step, tile) }))
      )
      : await history(layer, { [step]: tiles })
    const { failed } = await store.write(versions)
    if (failed) throw new Error(`${failed} tiles were not written`)
    await store.putEdition(layer, time, { finished: time })
  }
}
