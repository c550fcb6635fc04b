// What bench/serve-memory.js measured, for docs/benchmarks/serve.md.
import { lines } from '../plots/charts.js'
import { judged, judgedHead, machineLine, thousands } from '../plots/words.js'

/** @param {any} result bench/results/serve-memory.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { tiles, memory, requests, seconds, longest, changes, tenths, peak, budgets } = result
  return {
    serveMemoryMachine: `${machineLine(result)}; ${thousands(requests)} requests in ${thousands(seconds)} s over ${thousands(tiles)} tiles with two versions each, \`--memory ${memory}\`, ${thousands(changes)} tiles changed meanwhile; at most ${peak} MB.`,
    serveMemoryBudgets: table(judgedHead, judged(budgets)),
    serveMemoryEnded: seconds < longest ? '' : `This run was ended after ${thousands(longest)} s, before all its requests were made: that alone counts as falling short.`,
    serveMemory: table(['tenth', ...tenths.map((_, at) => at + 1)], [['resident MB, median', ...tenths.map(Math.round)]])
  }
}

export const plots = ({ requests, tenths }) => ({
  'serve-memory-tenths': lines({
    title: 'Memory of a gateway', x: { title: 'requests answered' }, y: { title: 'resident memory, MB, median of each tenth' },
    rows: tenths.map((rss, at) => ({ series: 'gateway', x: Math.round((at + 1) * requests / tenths.length), y: rss }))
  })
})
