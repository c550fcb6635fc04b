// What bench/load.js measured, for docs/benchmarks/load.md.
import { bars } from '../plots/charts.js'
import { machineLine, range, rounds, thousands } from '../plots/words.js'

const rates = (results, table) =>
  table(['', 'a second: median (lowest–highest)'], Object.entries(results).map(([name, rate]) => [name, range(rate)]))

/** @param {any} result bench/results/load.json @param {import('../plots/words.js').Table} table */
export const tables = (result, table) => ({
  loadMachine: `${machineLine(result)}; ${thousands(result.tiles)} tiles of ${thousands(result.bytes)} bytes, ` +
    `${rounds(result.rounds)}.`,
  first: rates(result.first, table),
  second: rates(result.second, table)
})

const rows = results => Object.entries(results)
  .map(
    ([name, { median, min, max }]) => ({ name, value: median, low: min, high: max, ours: !/^raw|^one PUT/.test(name) })
  )

export const plots = ({ first, second }) => ({
  'load-first': bars(
    { title: 'First load', unit: 'tiles a second, median, lowest and highest round', rows: rows(first) }
  ),
  'load-second': bars(
    { title: 'Second edition', unit: 'documents a second, median, lowest and highest round', rows: rows(second) }
  )
})
