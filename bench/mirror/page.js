// What bench/mirror.js measured, for docs/benchmarks/mirror.md.
import { groupedBars, spans } from '../plots/charts.js'
import { judged, judgedHead, machineLine, range, rounds as inRounds, thousands } from '../plots/words.js'

/** @param {any} result bench/results/mirror.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { tiles, rounds, changes, servers, sizes, lag, memory, budgets } = result
  const names = Object.keys(sizes[0].results)
  const kinds = sizes.map(({ bytes }) => `${bytes / 1000} kB a tile`)
  return {
    mirrorMachine: `${machineLine(result)}, ${servers === 2 ? 'two servers on one machine' : 'one server for both sides'}; ${thousands(tiles)} tiles, ${inRounds(rounds)}; ${thousands(changes)} changes for the lag, ${thousands(memory.tiles)} tiles for the memory.`,
    mirrorBudgets: table(judgedHead, judged(budgets)),
    mirrorRates: table(['documents a second', ...kinds], names.map(name => [name, ...sizes.map(({ results }) => range(results[name], '/s'))])),
    mirrorLeft: table(['missing afterwards, as CouchDB’s replicator counts', ...kinds], names.map(name => [name, ...sizes.map(({ left }) => left[name])])),
    mirrorLag: table(['from confirmed at the source to told by the target', 'p50', 'p90', 'p99', 'max'], Object.entries(lag).map(([name, { p50, p90, p99, max }]) => [name, ...[p50, p90, p99, max].map(ms => `${ms} ms`)]))
  }
}

export const plots = ({ sizes, lag }) => ({
  'mirror-rates': groupedBars({
    title: 'Copying a store from one CouchDB to another', unit: 'documents a second, median, lowest and highest round',
    rows: sizes.flatMap(({ bytes, results }) => Object.entries(results).map(([name, { median, min, max }]) => ({ group: `${bytes / 1000} kB a tile`, name, value: median, low: min, high: max })))
  }),
  'mirror-lag': spans({ title: 'How long a change takes to arrive', unit: 'milliseconds', rows: Object.entries(lag).map(([name, figures]) => ({ name, ...figures, ours: name.startsWith('tilecouch') })) })
})
