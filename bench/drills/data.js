// The store that the drills are about, and what it measures.
import { Store, compact, publish, warmIndexes } from '../../loader/index.js'
import { noiseTile, random } from '../tiles.js'

export const LAYER = 'drill'
const TIMES = ['2023-01-01T00:00:00Z', '2023-07-01T00:00:00Z', '2024-01-01T00:00:00Z']
const CHANGED = 0.3 // of the tiles in each later edition
const BYTES = 10_000 // a tile
const SIDE = 200

/** Seconds that something took, and what it answered. */
export async function timed (work) {
  const start = performance.now()
  const answer = await work()
  return { seconds: +((performance.now() - start) / 1000).toFixed(1), answer }
}

/** The versions of an edition. @param {number} edition 0, 1, … @param {number} tiles */
export function * editionOf (edition, tiles, time = TIMES[edition]) {
  const next = random(edition)
  for (let index = 0; index < tiles; index++) {
    if (edition && next() > CHANGED) continue
    yield { layer: LAYER, z: 14, x: 1000 + Math.floor(index / SIDE), y: 1000 + index % SIDE, time, bytes: noiseTile(edition * 1e6 + index, BYTES) }
  }
}

/** @param {{server: {url: string}, tiles: number, signal: AbortSignal}} stage */
export async function fill ({ server, tiles, signal }) {
  const url = `${server.url}/drill`
  const { seconds } = await timed(async () => {
    const store = await Store.create(url, { public: false })
    await store.defineLayer(LAYER, { name: 'Drill', format: 'png', minzoom: 14, maxzoom: 14 })
    for (const [edition, time] of TIMES.entries()) {
      await store.write(editionOf(edition, tiles), { signal, stored: time })
      await store.putEdition(LAYER, time, { title: `Edition ${edition + 1}` })
    }
    await publish(store)
    await warmIndexes(store)
  })
  return { url, seconds }
}

/** What a store measures on disk, compacted. */
export async function sizesOf (url, log) {
  const store = await Store.open(url)
  const { seconds } = await timed(() => compact(store, { when: 'always' }))
  const { sizes, doc_count: documents } = await store.info()
  const { versions, bytes } = await store.stats(LAYER)
  const views = {}
  for (const name of ['versions', 'sizes', 'lifecycle']) views[name] = (await store.couch.request({ path: `_design/${name}/_info` })).view_index.sizes.active
  const figures = {
    versions, documents, imageBytes: bytes, file: sizes.file, ofImages: +(sizes.file / bytes).toFixed(3), compaction: seconds,
    bytesPerVersion: Object.fromEntries(Object.entries(views).map(([name, size]) => [name, Math.round(size / versions)]))
  }
  log(`compacted: ${JSON.stringify(figures)}`)
  return figures
}

/** What is there, told shortly: counts and bytes from the index, and every invariant. */
export async function contentOf (url) {
  const { tiles, versions, bytes, first, last } = await (await Store.open(url)).stats(LAYER)
  return JSON.stringify({ tiles, versions, bytes, first, last })
}
