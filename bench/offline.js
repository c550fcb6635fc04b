// Measures taking an area offline in the browser: with tilecouch, with PouchDB's replication, and with one request per
// tile as leaflet.offline does. Also the time to read a tile from the device, and the cost of an estimate and a
// refresh.
import { tileRanges } from '../core/index.js'
import { publish } from '../loader/index.js'
import { budget, median, percentiles } from './measure.js'
import { openPage } from './offline/browser.js'
import { newStore, stoppable } from './stoppable.js'
import { noiseTile, random } from './tiles.js'

const LAYER = 'bench'
const BYTES = 10_000 // a tile
const BBOX = [7, 47, 9.6, 48.2] // at zoom 14 slightly larger than needed: the remaining places stay empty
const ZOOM = 14
const TARGET = 4 // times PouchDB.replicate, DESIGN.md 7
const READS = 100

export const run = ({ server, quick, log }) => stoppable(log, async ({ signal, closing }) => {
  const scale = quick ? { tiles: 1000, rounds: 2 } : { tiles: 5000, rounds: 3 }
  const url = `${server}/bench_offline`
  const { store, tiles } = await storeOf(url, { ...scale, signal, closing })
  const origin = new URL(server).origin
  const { page, version } = await openPage(origin, closing)
  const job = { remote: `${origin}/bench_offline`, area: { layer: LAYER, bbox: BBOX, zooms: ZOOM }, tiles }
  const ask = (verb, ...args) => {
    signal.throwIfAborted()
    return page.evaluate(([name, parameters]) => /** @type {any} */ (globalThis).bench[name](...parameters),
      /** @type {[string, any[]]} */ ([verb, args]))
  }

  const estimate = await ask('estimate', job)
  log(
    `estimate: ${estimate.tiles} tiles, ${estimate.bytes} bytes, in ${Math.round(estimate.ms)} ms and ` +
      `${estimate.requests} requests\n`
  )

  const names = await page.evaluate(() => /** @type {any} */ (globalThis).bench.names)
  const results = Object.fromEntries(names.map(name => [name, { rates: [], longestTasks: [], reads: [] }]))
  let status
  for (let round = 0; round < scale.rounds; round++) {
    for (const name of names) {
      const { tiles: count, ms, longestTask } = await ask('take', name, job)
      if (count !== tiles.length) throw new Error(`${name}: ${count} of ${tiles.length} tiles`)
      const next = random(round)
      const sampleTiles = Array.from({ length: READS }, () => tiles[Math.floor(next() * tiles.length)])
      results[name].rates.push(Math.round(count / ms * 1000))
      results[name].longestTasks.push(longestTask)
      results[name].reads.push(...await ask('read', name, job, sampleTiles))
      log(
        `  round ${round + 1}  ${name.padEnd(20)} ${String(results[name].rates.at(-1)).padStart(5)}/s   longest task ` +
          `${longestTask} ms`
      )
      if (name === 'tilecouch') status = await ask('status')
      if (name !== 'tilecouch' || round < scale.rounds - 1) await ask('end', name)
    }
  }
  const changed = await newEdition(store, tiles, signal)
  const refresh = { wanted: changed, ...await ask('refresh') }
  log(
    `\nrefresh after an edition that changed ${changed} tiles: ${refresh.changed.tiles} taken in ` +
      `${Math.round(refresh.ms)} ms`
  )
  await ask('end', 'tilecouch')

  const figures = Object.fromEntries(Object.entries(results).map(([name, { rates, longestTasks, reads }]) => [name, {
    rates, median: median(rates), min: Math.min(...rates), max: Math.max(...rates),
    longestTask: median(longestTasks), read: percentiles(reads)
  }]))
  log('')
  for (const [name, { read }] of Object.entries(figures)) {
    log(`  reading from the device  ${name.padEnd(20)} p50 ${read.p50} ms  p99 ${read.p99} ms`)
  }
  const ownMedian = figures.tilecouch.median
  const budgets = [
    ...['replicate', 'replicate, tuned'].map(
      name => budget(`offline area / PouchDB.${name}`, TARGET, ownMedian / figures[name].median, 'x')
    ),
    isWithin(`estimate / bytes of the images taken`, estimate.bytes, status.bytes)
  ]
  return { ...scale, bytes: BYTES, browser: `Chromium ${version}`, estimate, figures, refresh, budgets }
})

const isWithin = (what, figure, expected) => {
  const difference = Math.abs(figure / expected - 1) * 100
  return { what, target: 'within 1 %', figure: `${difference.toFixed(2)} % off`, met: difference <= 1 }
}

async function storeOf (url, { tiles: count, signal, closing }) {
  const store = await newStore(url, closing, {})
  await store.defineLayer(LAYER, { name: 'Tiles of a benchmark', format: 'png', minzoom: ZOOM, maxzoom: ZOOM })
  const tiles = placesOf(count)
  const { failed } = await store.write(
    tiles.map((tile, index) => ({ ...tile, time: '2024-03-01T00:00:00Z', bytes: noiseTile(index, BYTES) })), { signal }
  )
  if (failed) throw new Error(`${failed} tiles were not written`)
  await publish(store)
  return { store, tiles }
}

function placesOf (count) {
  const [{ x0, x1, y0, y1 }] = tileRanges(/** @type {any} */ (BBOX), ZOOM)
  const rows = y1 - y0 + 1
  if ((x1 - x0 + 1) * rows < count) throw new Error(`only ${(x1 - x0 + 1) * rows} tiles fit`)
  return Array.from({ length: count },
    (_, index) => ({ layer: LAYER, z: ZOOM, x: x0 + Math.floor(index / rows), y: y0 + index % rows }))
}

/** Writes a new edition that changes a tenth of the tiles, and returns their number. */
async function newEdition (store, tiles, signal) {
  const changed = tiles.filter((_, index) => index % 10 === 0)
  await store.write(changed.map(
    (tile, index) => ({ ...tile, time: '2024-06-01T00:00:00Z', bytes: noiseTile(1e6 + index, BYTES) })
  ), { signal })
  return changed.length
}
