// Checks that the memory of a load stays flat. It generates the tiles during the load and watches its process.
import { newStore, stoppable } from './stoppable.js'
import { noiseTile } from './tiles.js'

const LIMIT = 200 // MB, DESIGN.md 7

export const run = ({ server, quick, log }) => stoppable(log, async ({ signal, closing }) => {
  const tiles = quick ? 20_000 : 100_000
  const store = await newStore(`${server}/bench_memory`, closing)
  const samples = []
  let peak = 0
  const timer = setInterval(() => { peak = Math.max(peak, process.memoryUsage().rss / 1e6) }, 50)
  const start = performance.now()
  try {
    const summary = await store.write(generateTiles(tiles), {
      signal,
      onProgress: ({ tiles: done }) => {
        if (done < (samples.length + 1) * tiles / 10) return
        samples.push({ tiles: done, rss: Math.round(process.memoryUsage().rss / 1e6) })
        log(`  ${String(done).padStart(7)} tiles  ${samples.at(-1).rss} MB`)
      }
    })
    const seconds = (performance.now() - start) / 1000
    log(
      `\n${summary.created} tiles in ${seconds.toFixed(1)} s (${Math.round(tiles / seconds)}/s, making them ` +
        `included), peak ${Math.round(peak)} MB`
    )
    const met = peak <= LIMIT && summary.created === tiles
    return { tiles, seconds, peak: Math.round(peak), samples, budgets: [
      { what: 'memory of a load', target: `<= ${LIMIT} MB`, figure: `${Math.round(peak)} MB`, met }
    ] }
  } finally {
    clearInterval(timer)
  }
})

function * generateTiles (tiles) {
  const side = Math.ceil(Math.sqrt(tiles))
  for (let index = 0; index < tiles; index++) {
    yield { layer: 'bench', z: 14, x: 1000 + Math.floor(index / side), y: 1000 +
      index % side, time: '2024-01-01T00:00:00Z', bytes: noiseTile(index) }
  }
}
