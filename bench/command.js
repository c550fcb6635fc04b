// Measures the waiting time at the command line: the start of commands, and the whole first load of an MBTiles file
// until the map is published, compared with raw `_bulk_docs` of the same documents.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import pMap from 'p-map'
import { tileDocument } from '../core/store/documents.js'
import { Couch } from '../loader/store/couch.js'
import { prepareTile } from '../loader/store/tile.js'
import { LAYER, placesOf, versions, writeMbtiles } from './block.js'
import { interleave, median } from './measure.js'
import { thousands } from './plots/words.js'
import { plain, writeBulk } from './raw.js'
import { dropping, newStore, stoppable, temporaryFolder } from './stoppable.js'
import { noiseTile } from './tiles.js'

const PROGRAM = fileURLToPath(new URL('../server/bin.js', import.meta.url))
const BYTES = 4200 // of a tile
const TIME = '2024-01-01T00:00:00Z'
const LIMIT = 200 // MB, DESIGN.md 7
const WATCH = 20 // milliseconds between two samples of the memory of a command
const STARTS = 10 // runs of each command
/** The allowed ratio of the time of a load to the time of the raw writes, by the number of tiles. */
const TARGETS = new Map([[10_000, 1.7], [100_000, 1.5]])

export const RAW = 'raw _bulk_docs 200x4'
export const COMMAND = 'tilecouch load'

export const run = ({ server, quick, log }) => stoppable(log, async ({ signal, closing }) => {
  const folder = await temporaryFolder('bench-command', closing)
  const url = `${server}/bench_command`
  await newStore(url, closing)

  log(`The start of a command, medians of ${STARTS}`)
  const starts = []
  for (const args of [['--version'], ['--help'], ['info', '--db', url]]) {
    const times = []
    for (let turn = 0; turn < STARTS; turn++) times.push((await runCommand(args, { folder, signal })).seconds)
    starts.push({ command: `tilecouch ${args[0]}`, seconds: median(times) })
    log(`  ${args[0].padEnd(12)} ${median(times).toFixed(3)} s`)
  }

  const [{ seconds: start }] = starts
  const loads = []
  for (const tiles of quick ? [1000] : [10_000, 100_000]) {
    log(`\n${tiles} tiles of ${BYTES} bytes`)
    loads.push({ tiles, ...await measureLoad({ tiles, start, url, folder, signal, log }) })
  }
  const peak = Math.max(...loads.map(load => load.peak))
  log(`\nmemory of a load: at most ${peak} MB`)
  return { bytes: BYTES, starts, loads, budgets: [
    ...loads.filter(({ tiles }) => TARGETS.has(tiles)).map(({ tiles, ratio }) => (
      atMost(`whole load of ${thousands(tiles)} tiles / raw _bulk_docs, time`, TARGETS.get(tiles), ratio, 'x')
    )),
    ...starts.map(({ command, seconds }) => atMost(`start of ${command}`, 0.15, seconds, ' s')),
    { what: 'memory of the command load', target: `<= ${LIMIT} MB`, figure: `${peak} MB`, met: peak <= LIMIT }
  ] }
})

const atMost = (what, target, figure, unit) =>
  ({ what, target: `<= ${target}${unit}`, figure: `${figure.toFixed(2)}${unit}`, met: figure <= target })

/** @param {{tiles: number, start: number, [name: string]: any}} options start: seconds that a command needs to start */
async function measureLoad ({ tiles, start, url, folder, signal, log }) {
  const places = placesOf(tiles)
  const file = path.join(folder, `${tiles}.mbtiles`)
  const tileOf = index => noiseTile(index, BYTES)
  writeMbtiles(file, places, tileOf)
  const prepared = await pMap(versions(places, TIME, tileOf), prepareTile, { concurrency: 10 })
  const peaks = []
  const results = await interleave([
    {
      name: RAW,
      before: () => newStore(url),
      run: store => writeBulk(store.couch, documents(prepared), { batch: 200, concurrency: 4, signal })
    },
    {
      name: COMMAND,
      before: dropping(new Couch(url)),
      run: async () => {
        const { peak } = await runCommand(['load', file, '--layer', LAYER, '--time', TIME, '--db', url],
          { folder, signal })
        peaks.push(peak)
        return tiles
      }
    }
  ], 3, log, signal)
  const seconds = Object.fromEntries(Object.entries(results)
    .map(([name, { rates }]) => [name, rates.map(rate => tiles / rate)]))
  const ratio = median(seconds[COMMAND].map((time, round) => (time - start) / seconds[RAW][round]))
  return { seconds, ratio, peak: Math.max(...peaks) }
}

function * documents (prepared) {
  for (const tile of prepared) yield plain(tileDocument(tile, { current: true, stored: TIME }))
}

/** @returns {Promise<{seconds: number, peak: number}>} peak: MB of memory */
async function runCommand (args, { folder, signal }) {
  const start = performance.now()
  const child = spawn(process.execPath, [PROGRAM, ...args],
    { cwd: folder, signal, stdio: ['ignore', 'ignore', 'pipe'] })
  let [peak, errors] = [0, '']
  child.stderr.setEncoding('utf8').on('data', text => { errors += text })
  const timer = setInterval(() => { peak = Math.max(peak, memoryOf(child.pid)) }, WATCH)
  try {
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`tilecouch ${args[0]} ended with ${code}: ${errors}`)
  } finally {
    clearInterval(timer)
  }
  return { seconds: (performance.now() - start) / 1000, peak: Math.round(peak) }
}

/** The peak memory of a process so far, in MB, or 0 if the system does not report it. */
function memoryOf (pid) {
  try {
    const [, kilobytes = '0'] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? []
    return Number(kilobytes) * 1024 / 1e6
  } catch {
    return 0
  }
}
