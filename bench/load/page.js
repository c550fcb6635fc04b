// What bench/load.js measured, for docs/benchmarks/load.md.
import { bars } from '../plots/charts.js'
import { budgetCells, budgetHead, machineLine, rounds, thousands } from '../plots/words.js'

/** @typedef {import('../plots/words.js').Table} Table */

const rates = (results, table) => table(['what', 'median', 'lowest', 'highest'], Object.entries(results).map(([name, { median, min, max }]) => [name, ...[median, min, max].map(rate => `${thousands(rate)}/s`)]))

/** @param {any} result bench/results/load.json @param {Table} table */
export const tables = (result, table) => ({
  loadMachine: `${machineLine(result)}; ${thousands(result.tiles)} tiles of ${thousands(result.bytes)} bytes, ${rounds(result.rounds)}.`,
  loadBudgets: table(budgetHead, budgetCells(result.budgets)),
  first: rates(result.first, table),
  second: rates(result.second, table)
})

const rows = results => Object.entries(results).map(([name, { median, min, max }]) => ({ name, value: median, low: min, high: max, ours: !/^raw|^one PUT/.test(name) }))

export const plots = ({ first, second }) => ({
  'load-first': bars({ title: 'First load', unit: 'tiles a second, median, lowest and highest round', rows: rows(first) }),
  'load-second': bars({ title: 'Second edition', unit: 'documents a second, median, lowest and highest round', rows: rows(second) })
})
