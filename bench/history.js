// Measures how long it takes to read the past of a view of the map, at 10 thousand, 100 thousand and a million
// versions.
import { SHORT, STAGES, VIEW, deploy, documentsOf, fill, newTiles } from './history/data.js'
import { QUERY, SMALL, measureViewport } from './history/viewport.js'
import { thousands } from './plots/words.js'
import { newStore, stoppable } from './stoppable.js'

const LIMIT = 30 // milliseconds at 1 M versions, DESIGN.md 7
const FULL = { stages: STAGES, rounds: 300, warm: 8 }
const QUICK = { stages: SHORT, rounds: 30, warm: 2 }

export const run = ({ server, restart, quick, log }) => stoppable(log, async ({ signal, closing }) => {
  const scale = quick ? QUICK : FULL
  const options = { ...scale, restart, log, signal }
  // The smallest store is kept. It is measured in turns with each larger one.
  const small = await newStore(`${server}/bench_history_small`, closing)
  await fill(small, documentsOf(newTiles(scale.stages[0])), options)
  await deploy(small, options)
  const sizes = await growing(await newStore(`${server}/bench_history`, closing), small, options)
  const budgets = budgetsOf(sizes.stages)
  return { view: `${VIEW.columns} x ${VIEW.rows}`, ...sizes, budgets }
})

/** Fills one database in steps and runs the same queries at every size. */
async function growing (store, small, { stages: targets, rounds, warm, restart, log, signal }) {
  const stages = []
  for (const [at, stage] of targets.entries()) {
    log(`\n${thousands(stage.versions)} versions`)
    const target = stage.versions - (targets[at - 1]?.versions ?? 0)
    const loaded =
      await fill(store, documentsOf(newTiles(stage, targets[at - 1])), { signal, onProgress: milestones(log, target) })
    log(
      `  ${thousands(loaded.documents)} documents in ${loaded.seconds.toFixed(1)} s ` +
        `(${Math.round(loaded.documents / loaded.seconds)}/s)`
    )
    const index =
      await deploy(store, { signal, onProgress: percent => { if (percent) log(`  index at ${percent} %`) } })
    log(`  index built in ${index.toFixed(1)} s (${Math.round(loaded.documents / index)}/s), nothing compacted by hand`)
    const measured = await measureViewport(store, stage,
      { rounds, warm, restart, signal, ...(at && { small, smallStage: targets[0] }) })
    if (measured.first) log(`  first queries after a restart: ${measured.first.join(', ')} ms`)
    report(log, measured.results)
    const info = await store.info()
    const { view_index: view } = await store.couch.request({ path: '_design/versions/_info' })
    stages.push({
      ...measured, load: loaded.seconds, index, database: info.sizes.file, indexFile: view.sizes.file, q: info.cluster.q
    })
  }
  return { rounds, stages }
}

function budgetsOf (stages) {
  const [first, last] = [stages[0], stages.at(-1)]
  const p50 = last.results[QUERY].ms.p50
  const growth = p50 / last.results[SMALL].ms.p50
  const log = Math.log(last.versions) / Math.log(first.versions)
  return [
    {
      what: `history of a view of ${VIEW.columns} x ${VIEW.rows} tiles, ${thousands(last.versions)} versions, median`,
      target: `<= ${LIMIT} ms`, figure: `${p50.toFixed(1)} ms`, met: p50 <= LIMIT
    },
    {
      what: `that / the same at ${thousands(first.versions)} versions, in turns; target: ratio of the logarithms`,
      target: `<= ${log.toFixed(2)}x`, figure: `${growth.toFixed(2)}x`, met: growth <= log
    }
  ]
}

function report (log, results) {
  for (const [name, { ms, bytes }] of Object.entries(results)) {
    const size = bytes ? `${(bytes.p50 / 1000).toFixed(0)} kB` : ''
    log(
      `  ${name.padEnd(72)} p50 ${ms.p50.toFixed(1).padStart(7)}  p90 ${ms.p90.toFixed(1).padStart(7)}  p99 ` +
        `${ms.p99.toFixed(1).padStart(7)}  max ${ms.max.toFixed(1).padStart(7)} ms  ${size}`
    )
  }
}

function milestones (log, target) {
  const start = performance.now()
  let nextMilestone = target >= 100_000 ? target / 10 : Infinity
  return written => {
    if (written < nextMilestone) return
    nextMilestone += target / 10
    log(
      `  ${thousands(written).padStart(9)} of ${thousands(target)} documents, ` +
        `${((performance.now() - start) / 1000).toFixed(0)} s, ${Math.round(process.memoryUsage().rss / 1e6)} MB here`
    )
  }
}
