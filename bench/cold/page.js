// What bench/cold.js measured, for docs/benchmarks/cold.md.
import { budgetCells, budgetHead, machineLine, ms, range, rounds as inRounds, thousands } from '../plots/words.js'

/** @param {any} result bench/results/cold.json @param {import('../plots/words.js').Table} table */
export function tables (result, table) {
  const { tiles, bytes, rounds, views, singles, results, budgets } = result
  const rows = Object.entries(results).flatMap(([row, each]) => Object.entries(each).map(([name, figures], at) => [
    at ? '' : row, name, range(figures.rate), ['p50', 'p90', 'p99'].map(rank => ms(figures.ms[rank])).join(' / '), ms(figures.mean)
  ]))
  return {
    coldMachine: `${machineLine(result)}; ${thousands(tiles)} tiles of ${thousands(bytes)} bytes; ${inRounds(rounds)}, ${views} views a person, ${singles} single tiles.`,
    coldBudgets: table(budgetHead, budgetCells(budgets)),
    coldFigures: table(['', '', 'tiles a second: median (lowest–highest)', 'milliseconds a view, p50 / p90 / p99', 'mean'], rows)
  }
}

export const plots = () => ({})
