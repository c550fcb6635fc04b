// The tables of the results of bench/cluster.js, for docs/benchmarks/cluster.md.
import { MEASURES } from '../cluster.js'
import { brief, machineLine, rounds, thousands } from '../plots/words.js'

/** @param {any} result bench/results/cluster.json @param {import('../plots/words.js').Table} table */
export const tables = (result, table) => ({
  clusterMachine: `${machineLine(result)}; ${thousands(result.tiles)} tiles of ${thousands(result.bytes)} bytes, ` +
    `q=${result.shards}, medians of ${rounds(result.rounds)}.`,
  clusterCosts: table(
    ['', ...result.results.map(({ name }) => name)],
    Object.entries(MEASURES).map(([measure, unit]) =>
      [`${measure}, ${unit}`, ...result.results.map(({ figures }) => brief(figures[measure]))])
  )
})

export const plots = () => ({})
