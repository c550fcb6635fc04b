// One store that grows to a million tiles: what loading, indexing, keeping and asking cost at every size, and what CouchDB reads
// for it, which says why a curve bends. What views of a long past cost is measured by the histories' benchmark.
import { Store } from '../loader/store/index.js'
import { AT, HISTORY, SMALL } from './growth/asks.js'
import { FULL, QUICK, SHARE, bytesOf } from './growth/data.js'
import { processOf } from './growth/process.js'
import { FIXED, grow } from './growth/stages.js'
import { OLD } from './block.js'
import { dropping, stoppable } from './stoppable.js'

const LIMIT = 50 // milliseconds for the history of a view, DESIGN.md 7
export const MISSING = 'only on Linux, of a CouchDB of the same user on the same machine'

/** @param {{server: string, quick: boolean, log: (text: string) => void}} options */
export const run = ({ server, quick, log }) => stoppable(log, async ({ signal, closing }) => {
  const scale = quick ? { sizes: QUICK, rounds: 40, counted: 20 } : { sizes: FULL, rounds: 400, counted: 200 }
  const { sizes, ...rounds } = scale
  const pid = await processOf(server)
  if (!pid) log(`memory and reads of CouchDB: not measured, ${MISSING}`)
  const options = { smallest: sizes[0], pid, signal }
  log('Warming up: the smallest size, which stays beside the others')
  const small = await newStore(`${server}/bench_growth_small`, closing)
  await grow(small, { ...options, rounds: 1, counted: 1, stage: sizes[0], log: () => {} })
  const store = await newStore(`${server}/bench_growth`, closing)
  const stages = []
  for (const [at, stage] of sizes.entries()) {
    stages.push(await grow(store, { ...options, ...rounds, stage, before: sizes[at - 1], small, log }))
  }
  const { cluster } = await store.info()
  const budgets = judge(stages)
  log('')
  for (const { what, target, figure, met } of budgets) log(`${met ? 'pass' : 'FALLS SHORT'}  ${what}: ${figure} (target ${target})`)
  return {
    tiles: sizes.map(({ tiles }) => tiles), ...rounds, bytes: bytesOf({ x: 0, y: 0 }, OLD).length, share: 1 / SHARE, settings: { ...FIXED, q: cluster.q },
    missing: pid ? {} : { 'memory and reads of CouchDB': MISSING }, stages, budgets
  }
})

async function newStore (url, closing) {
  await (await Store.create(url)).destroy() // of a run that was killed
  const store = await Store.create(url, { public: false })
  closing.push(dropping(store))
  return store
}

/**
 * The history of a view against the budget of DESIGN.md 7, in turns with the smallest store; one tile of the past by the same rule.
 * @param {{tiles: number, results: Record<string, {ms: {p50: number}}>}[]} stages
 */
export function judge (stages) {
  const [first, last] = [stages[0], stages[stages.length - 1]]
  const many = last.tiles.toLocaleString('en-US')
  const log = Math.log(last.tiles) / Math.log(first.tiles)
  const median = name => last.results[name].ms.p50
  const grown = name => median(name) / median(name + SMALL)
  return [
    { what: `${HISTORY}, ${many} tiles, median`, target: `<= ${LIMIT} ms`, figure: `${median(HISTORY).toFixed(1)} ms`, met: median(HISTORY) <= LIMIT },
    ...[HISTORY, AT].map(name => ({
      what: `${name}, ${many} tiles / ${first.tiles.toLocaleString('en-US')} tiles, in turns; target: ratio of the logarithms`,
      target: `<= ${log.toFixed(2)}x`, figure: `${grown(name).toFixed(2)}x`, met: grown(name) <= log
    }))
  ]
}
