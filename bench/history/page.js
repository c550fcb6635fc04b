// The tables and plots of the results of bench/history.js, for docs/benchmarks/history.md.
import { lines } from '../plots/charts.js'
import { machineLine, thousands } from '../plots/words.js'

const percentileText = figures => figures
  ? ['p50', 'p99'].map(rank => figures.ms[rank].toFixed(figures.ms.p50 < 10 ? 1 : 0)).join(' / ')
  : ''

const DEEP = '100 versions a tile' // only in the plot

/** @param {any} result bench/results/history.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { rounds, stages } = result
  const largest = stages[stages.length - 1]
  const sizes = stages.map(({ versions }) => `${thousands(versions)} versions`)
  return {
    historyMachine: `${machineLine(result)}; ${rounds} random views a size, ${stages[0].q} shards.`,
    historyViewport: table(
      ['milliseconds, p50 / p99', ...sizes],
      Object.keys(largest.results)
        .filter(name => !name.endsWith(DEEP))
        .map(name => [name, ...stages.map(({ results }) => percentileText(results[name]))])
    )
  }
}

// the rows that the plot shows, with shorter names
const DRAWN = {
  'POST …/by_tile/queries, plain fetch': 'POST …/by_tile/queries',
  'the same, history client into its index': 'history client into its index',
  'GET times.json?bbox&z': 'GET times.json?bbox&z',
  'POST …/by_tile/queries, plain fetch, 100 versions a tile': 'POST …/by_tile/queries, 100 versions a tile',
  'GET times.json?bbox&z, 100 versions a tile': 'GET times.json?bbox&z, 100 versions a tile'
}

export function plots ({ stages }) {
  return {
    'history-growth': lines({
      title: 'The past of a view of 10 x 8 tiles', x: { title: 'versions in the store', log: true },
      y: { title: 'milliseconds: median, and a band up to the 99th percentile', log: true },
      rows: stages.flatMap(({ versions, results }) => Object.entries(DRAWN).filter(([name]) => results[name]).map(
        ([name, series]) => ({ name, series, ms: results[name].ms })
      ).map(({ series, ms }) => ({ series, x: versions, y: ms.p50, low: ms.p50, high: ms.p99 })))
    })
  }
}
